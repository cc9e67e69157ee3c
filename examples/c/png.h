/* png.h - writes greyscale pictures, embedded in a page or as files. */

#ifndef EXAMPLES_PNG_H_
#define EXAMPLES_PNG_H_

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writes a grey picture, row by row from the top, as a data URI that contains a PNG. */
void png_write_uri(FILE* out, const uint8_t* pixels, size_t width, size_t height);

/* Writes the picture as a file. */
void png_write(FILE* out, const uint8_t* pixels, size_t width, size_t height);

#endif /* EXAMPLES_PNG_H_ */
