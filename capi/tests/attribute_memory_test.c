/* Attributes, sizes and the values of scalars are keys of caches. Calls with many different values
 * must not use more memory once the caches are full. */

#include "capi/tests/check.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MEASURES = 0 }; /* Sanitizers do not reuse freed memory at once. */
#else
enum { MEASURES = 1 };
#endif

/* FULL calls exceed the capacity of every cache (4,096 entries). MORE calls follow. */
enum { FULL = 6000, MORE = 12000 };

static long resident_kb(void) {
  long pages = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (!file) return 0;
  if (fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
  fclose(file);
  return resident * 4;
}

/* Makes one call with the value `i` in its attributes or sizes. */
typedef tenon_error* (*step)(tenon_tensor* x, int i, tenon_tensor** out);

static void expect_flat(step call, tenon_tensor* x) {
  long before = 0;
  int i;
  /* Only `cpu` and `ref` make all calls. Other devices use the same caches but are much slower. */
  const int n = strcmp(device_name(), "cpu:0") && strcmp(device_name(), "ref:0") ? 20 : FULL + MORE;
  for (i = 0; i < n; ++i) {
    tenon_tensor* y = NULL;
    if (i == FULL) before = resident_kb();
    CHECK_OK(call(x, i, &y));
    tenon_tensor_release(y);
  }
  /* Without a limit, the cache would need about 1,000 bytes for each value: 12 MB. */
  if (MEASURES && n > FULL) CHECK(resident_kb() - before < 3000);
}

static tenon_error* leaky_relu(tenon_tensor* x, int i, tenon_tensor** out) {
  tenon_leaky_relu_attrs attrs = TENON_LEAKY_RELU_ATTRS_DEFAULT;
  attrs.alpha = i * 1e-3;
  return tenon_leaky_relu(scope(), x, &attrs, out);
}

static tenon_error* padded(tenon_tensor* x, int i, tenon_tensor** out) {
  tenon_pad_attrs attrs = TENON_PAD_ATTRS_DEFAULT;
  int64_t pads[2];
  pads[0] = i % 150;
  pads[1] = i / 150;
  attrs.pads = pads;
  attrs.n_pads = 2;
  return tenon_pad(scope(), x, NULL, &attrs, out);
}

static tenon_error* filled(tenon_tensor* x, int i, tenon_tensor** out) {
  tenon_fill_attrs attrs = TENON_FILL_ATTRS_DEFAULT;
  int64_t shape[2];
  tenon_tensor* value = tenon_scalar_f64(i);
  tenon_error* error;
  (void)x;
  shape[0] = 1 + i % 256;
  shape[1] = 1 + i / 256;
  attrs.shape = shape;
  attrs.n_shape = 2;
  error = tenon_fill(scope(), value, &attrs, out);
  tenon_tensor_release(value);
  return error;
}

static tenon_error* times_number(tenon_tensor* x, int i, tenon_tensor** out) {
  tenon_tensor* number = tenon_scalar_f64(i * 0.1);
  tenon_error* error = tenon_mul(scope(), x, number, out);
  tenon_tensor_release(number);
  return error;
}

static tenon_error* slice_from(tenon_tensor* x, int i, tenon_tensor** out) {
  tenon_slice_attrs attrs = TENON_SLICE_ATTRS_DEFAULT;
  int64_t begin = i, end = i + 3;
  attrs.starts = &begin;
  attrs.n_starts = 1;
  attrs.ends = &end;
  attrs.n_ends = 1;
  return tenon_slice(scope(), x, &attrs, out);
}

static tenon_error* clipped(tenon_tensor* x, int i, tenon_tensor** out) {
  tenon_hard_sigmoid_attrs attrs = TENON_HARD_SIGMOID_ATTRS_DEFAULT;
  attrs.alpha = i * 1e-3;
  return tenon_hard_sigmoid(scope(), x, &attrs, out);
}

/* Gradients of composites are also cached by attributes. */
static tenon_error* gradient_of_leaky_relu(tenon_tensor* x, int i, tenon_tensor** out) {
  tenon_tape* tape = NULL;
  tenon_tensor* y = NULL;
  tenon_value* source = tenon_tensor_as_value(x);
  tenon_error* error = tenon_tape_create(scope(), NULL, &tape);
  if (!error) error = tenon_tape_watch(tape, source);
  if (!error) error = leaky_relu(x, i, &y);
  if (!error) error = tenon_tape_gradient(scope(), tape, &y, 1, NULL, &source, 1, NULL, out);
  tenon_tensor_release(y);
  tenon_tape_release(tape);
  return error;
}

static void calls_with_many_attribute_values_use_constant_memory(void) {
  tenon_tensor* x = F32(-1, 2, 3);
  expect_flat(leaky_relu, x);
  expect_flat(clipped, x);
  expect_flat(padded, x);
  expect_flat(times_number, x);
  expect_flat(gradient_of_leaky_relu, x);
  tenon_tensor_release(x);
}

static void calls_with_many_sizes_use_constant_memory(void) {
  tenon_fill_attrs attrs = TENON_FILL_ATTRS_DEFAULT;
  const int64_t n = FULL + MORE + 3;
  tenon_tensor *one = tenon_scalar_f64(1), *x = NULL;
  attrs.shape = &n;
  attrs.n_shape = 1;
  CHECK_OK(tenon_fill(scope(), one, &attrs, &x));
  expect_flat(filled, x);
  expect_flat(slice_from, x);
  tenon_tensor_release(x);
  tenon_tensor_release(one);
}

int main(void) {
  RUN(calls_with_many_attribute_values_use_constant_memory);
  RUN(calls_with_many_sizes_use_constant_memory);
  return report();
}
