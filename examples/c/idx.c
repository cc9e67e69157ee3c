#include "examples/c/idx.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { kMaxRank = 3, kMaxElements = 1 << 30 };

/* An array of unsigned bytes with up to three axes. */
typedef struct idx {
  size_t rank;
  size_t shape[kMaxRank];
  uint8_t* bytes;
} idx;

static void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("fashion: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(1);
}

static void read_exactly(gzFile file, const char* path, void* data, size_t size) {
  if (gzread(file, data, (unsigned)size) != (int)size) {
    fail("%s: is truncated or not a gzip file", path);
  }
}

/* Reads a file: a header of {0, 0, type, rank}, then `rank` big-endian sizes, then the elements. */
static idx idx_read(const char* path) {
  uint8_t head[4];
  idx result = {0, {0, 0, 0}, NULL};
  size_t count = 1;
  gzFile file = gzopen(path, "rb");
  if (!file) fail("%s: %s", path, strerror(errno));

  read_exactly(file, path, head, sizeof head);
  if (head[0] || head[1] || head[2] != 8 || head[3] < 1 || head[3] > kMaxRank) {
    fail("%s: is not IDX of unsigned bytes with 1 to %d axes", path, kMaxRank);
  }
  result.rank = head[3];
  for (size_t i = 0; i < result.rank; ++i) {
    uint8_t size[4];
    read_exactly(file, path, size, sizeof size);
    result.shape[i] =
        (size_t)size[0] << 24 | (size_t)size[1] << 16 | (size_t)size[2] << 8 | size[3];
    if (result.shape[i] == 0 || result.shape[i] > kMaxElements / count) {
      fail("%s: axis %zu has %zu elements, which is 0 or too large", path, i, result.shape[i]);
    }
    count *= result.shape[i];
  }
  result.bytes = malloc(count);
  if (!result.bytes) fail("%s: no memory for %zu bytes", path, count);
  read_exactly(file, path, result.bytes, count);
  gzclose(file);
  return result;
}

static idx read_part(const char* folder, const char* name, const char* part, size_t rank) {
  char path[4096];
  if (snprintf(path, sizeof path, "%s/%s-%s-idx%zu-ubyte.gz", folder, name, part, rank) >=
      (int)sizeof path) {
    fail("%s: the path is too long", folder);
  }
  const idx result = idx_read(path);
  if (result.rank != rank) fail("%s: has %zu axes, not %zu", path, result.rank, rank);
  return result;
}

image_set image_set_read(const char* folder, const char* name) {
  const idx images = read_part(folder, name, "images", 3);
  const idx labels = read_part(folder, name, "labels", 1);
  if (images.shape[1] != kImageSide || images.shape[2] != kImageSide) {
    fail("%s: the images of '%s' are %zu by %zu, not %d by %d", folder, name, images.shape[1],
         images.shape[2], kImageSide, kImageSide);
  }
  if (images.shape[0] != labels.shape[0]) {
    fail("%s: '%s' has %zu images and %zu labels", folder, name, images.shape[0], labels.shape[0]);
  }
  for (size_t i = 0; i < labels.shape[0]; ++i) {
    if (labels.bytes[i] >= kClasses) {
      fail("%s: label %zu of '%s' is %d, not below %d", folder, i, name, labels.bytes[i], kClasses);
    }
  }
  const image_set set = {images.shape[0], images.bytes, labels.bytes};
  return set;
}

void image_set_free(image_set* set) {
  free(set->pixels);
  free(set->labels);
  memset(set, 0, sizeof *set);
}
