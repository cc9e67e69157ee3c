#include "examples/c/png.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* A buffer of bytes that can be appended to. */
typedef struct buffer {
  uint8_t* bytes;
  size_t size;
} buffer;

static void append(buffer* b, const void* bytes, size_t size) {
  uint8_t* grown = realloc(b->bytes, b->size + size + 1);
  if (!grown) abort();
  b->bytes = grown;
  if (size) memcpy(b->bytes + b->size, bytes, size);
  b->size += size;
}

static void append_u32(buffer* b, uint32_t value) {
  const uint8_t bytes[] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                           (uint8_t)value};
  append(b, bytes, sizeof bytes);
}

/* Appends a chunk: length, type, data, and the checksum of type and data. */
static void append_chunk(buffer* png, const char* type, const uint8_t* data, size_t size) {
  append_u32(png, (uint32_t)size);
  const size_t checked = png->size;
  append(png, type, 4);
  append(png, data, size);
  append_u32(png, (uint32_t)crc32(0, png->bytes + checked, (uInt)(size + 4)));
}

static buffer encode(const uint8_t* pixels, size_t width, size_t height) {
  static const uint8_t signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  /* 8-bit grey, zlib compression, a filter per row, not interlaced. */
  static const uint8_t format[] = {8, 0, 0, 0, 0};
  static const uint8_t no_filter = 0;
  buffer rows = {NULL, 0}, head = {NULL, 0}, png = {NULL, 0};
  for (size_t y = 0; y < height; ++y) {
    append(&rows, &no_filter, 1);
    append(&rows, pixels + y * width, width);
  }
  uLongf packed_size = compressBound((uLong)rows.size);
  uint8_t* packed = malloc(packed_size);
  if (!packed || compress2(packed, &packed_size, rows.bytes, (uLong)rows.size, 9) != Z_OK) abort();

  append_u32(&head, (uint32_t)width);
  append_u32(&head, (uint32_t)height);
  append(&head, format, sizeof format);
  append(&png, signature, sizeof signature);
  append_chunk(&png, "IHDR", head.bytes, head.size);
  append_chunk(&png, "IDAT", packed, packed_size);
  append_chunk(&png, "IEND", NULL, 0);
  free(packed);
  free(head.bytes);
  free(rows.bytes);
  return png;
}

static void write_base64(FILE* out, const uint8_t* bytes, size_t size) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < size; i += 3) {
    const size_t left = size - i;
    const uint32_t word = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                          (left > 2 ? bytes[i + 2] : 0u);
    putc(digits[word >> 18], out);
    putc(digits[word >> 12 & 63], out);
    putc(left > 1 ? digits[word >> 6 & 63] : '=', out);
    putc(left > 2 ? digits[word & 63] : '=', out);
  }
}

void png_write_uri(FILE* out, const uint8_t* pixels, size_t width, size_t height) {
  buffer png = encode(pixels, width, height);
  fputs("data:image/png;base64,", out);
  write_base64(out, png.bytes, png.size);
  free(png.bytes);
}

void png_write(FILE* out, const uint8_t* pixels, size_t width, size_t height) {
  buffer png = encode(pixels, width, height);
  fwrite(png.bytes, 1, png.size, out);
  free(png.bytes);
}
