/* idx.h - reads files of the MNIST family: gzipped IDX files of unsigned bytes. */

#ifndef EXAMPLES_IDX_H_
#define EXAMPLES_IDX_H_

#include <stddef.h>
#include <stdint.h>

enum { kImageSide = 28, kImagePixels = kImageSide * kImageSide, kClasses = 10 };

/* Images with their labels. */
typedef struct image_set {
  size_t count;
  uint8_t* pixels; /* `count` images of kImagePixels bytes each, row by row. */
  uint8_t* labels; /* `count` numbers below kClasses. */
} image_set;

/* Reads <folder>/<name>-images-idx3-ubyte.gz and its labels. Exits with a message if they cannot
 * be read or do not match. */
image_set image_set_read(const char* folder, const char* name);
void image_set_free(image_set* set);

#endif /* EXAMPLES_IDX_H_ */
