/* cast: every element is converted through int64 or double, which represent all values of the
 * supported dtypes. */

#include <math.h>

#include "plain.h"
#include "rows.h"

enum { kChunk = 256 };

static bool is_float(tenon_dtype dtype) { return TENON_DTYPE_CODE(dtype) == TENON_CODE_FLOAT; }

/* Loads `n` elements from `x` that are `step` elements apart. */
static void load_ints(tenon_dtype dtype, const void* x, int64_t step, int64_t n, int64_t* to) {
#define LOAD(type) \
  for (int64_t i = 0; i < n; ++i) to[i] = ((const type*)x)[i * step]
  switch (dtype) {
    case TENON_INT32:
      LOAD(int32_t);
      break;
    case TENON_UINT32:
      LOAD(uint32_t);
      break;
    case TENON_INT64:
      LOAD(int64_t);
      break;
    case TENON_UINT8:
      LOAD(uint8_t);
      break;
    default: /* A bool is a byte, true if it is not zero. */
      for (int64_t i = 0; i < n; ++i) to[i] = ((const uint8_t*)x)[i * step] != 0;
      break;
  }
#undef LOAD
}

/* Stores integers as elements of `dtype`. Integer dtypes wrap; floats are rounded once. */
static void store_ints(tenon_dtype dtype, const int64_t* from, int64_t n, void* y) {
#define STORE(type) \
  for (int64_t i = 0; i < n; ++i) ((type*)y)[i] = (type)from[i]
  switch (dtype) {
    case TENON_FLOAT32:
      STORE(float);
      break;
    case TENON_INT32:
      STORE(int32_t);
      break;
    case TENON_UINT32:
      STORE(uint32_t);
      break;
    case TENON_INT64:
      STORE(int64_t);
      break;
    case TENON_UINT8:
      STORE(uint8_t);
      break;
    default:
      for (int64_t i = 0; i < n; ++i) ((uint8_t*)y)[i] = from[i] != 0;
      break;
  }
#undef STORE
}

/* Converts a float to an integer: truncates and then saturates. `past` is the smallest number that
 * is too large. NaN becomes 0. */
static int64_t to_int(float x, double least, double past, int64_t most) {
  if (isnan(x)) return 0;
  if (x < least) return (int64_t)least;
  return x >= past ? most : (int64_t)x;
}

static void store_floats(tenon_dtype dtype, const float* x, int64_t step, int64_t n, void* y) {
#define STORE(type, least, past, most) \
  for (int64_t i = 0; i < n; ++i) ((type*)y)[i] = (type)to_int(x[i * step], least, past, most)
  switch (dtype) {
    case TENON_FLOAT32:
      for (int64_t i = 0; i < n; ++i) ((float*)y)[i] = x[i * step];
      break;
    case TENON_INT32:
      STORE(int32_t, INT32_MIN, 0x1p31, INT32_MAX);
      break;
    case TENON_UINT32:
      STORE(uint32_t, 0, 0x1p32, UINT32_MAX);
      break;
    case TENON_INT64:
      STORE(int64_t, (double)INT64_MIN, 0x1p63, INT64_MAX);
      break;
    case TENON_UINT8:
      STORE(uint8_t, 0, 0x1p8, UINT8_MAX);
      break;
    default: /* NaN is not zero, so it is true. */
      for (int64_t i = 0; i < n; ++i) ((uint8_t*)y)[i] = x[i * step] != 0;
      break;
  }
#undef STORE
}

static void run_cast(const tenon_kernel_p* self, const tenon_launch* launch) {
  const tenon_view *x = &launch->inputs[0], *y = &launch->outputs[0];
  const int64_t x_bytes = PLAIN_BYTES(x->dtype), y_bytes = PLAIN_BYTES(y->dtype);
  const int64_t* strides[] = {plain_strides(x)};
  unsigned char* to = y->data; /* The output is dense and is written in order. */
  plain_rows rows;
  (void)self;
  for (plain_rows_begin(&rows, y->rank, y->sizes, 1, strides); !rows.done; plain_rows_next(&rows)) {
    const unsigned char* from = (const unsigned char*)x->data + rows.offset[0] * x_bytes;
    const int64_t step = rows.step[0];
    for (int64_t i = 0; i < rows.n; i += kChunk) {
      const int64_t n = rows.n - i < kChunk ? rows.n - i : kChunk;
      if (is_float(x->dtype)) {
        store_floats(y->dtype, (const float*)from + i * step, step, n, to);
      } else {
        int64_t chunk[kChunk];
        load_ints(x->dtype, from + i * step * x_bytes, step, n, chunk);
        store_ints(y->dtype, chunk, n, to);
      }
      to += n * y_bytes;
    }
  }
}

PLAIN_PREPARE(plain_prepare_cast) {
  const tenon_kernel_p made = {.run = run_cast};
  (void)request;
  (void)out_reason;
  return plain_make_kernel(device, &made, TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC,
                           out_kernel, out_traits);
}
