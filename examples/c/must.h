/* must.h - helpers that the examples share: must() exits if a call fails, and other functions make
 * and print tensors. */

#ifndef EXAMPLES_MUST_H_
#define EXAMPLES_MUST_H_

#include <stdio.h>
#include <stdlib.h>
#include <tenon/tenon.h>

/* Exits with the error's message, if there is an error. */
static inline void must(tenon_error* error) {
  if (!error) return;
  fprintf(stderr, "%s\n", tenon_error_message(error).data);
  exit(1);
}

/* Prints a label, and a tensor as NumPy does. */
static inline void show(tenon_scope* scope, const char* label, tenon_tensor* x) {
  tenon_string text = {NULL, 0};
  must(tenon_tensor_format(scope, x, NULL, &text));
  printf("%s%s\n", label, text.data);
  tenon_string_release(text);
}

/* A float32 vector of `count` elements. */
static inline tenon_tensor* f32_vector(tenon_scope* scope, const float* values, int64_t count) {
  tenon_tensor* x = NULL;
  must(tenon_tensor_from_data(scope, TENON_FLOAT32, &count, 1, values,
                              (size_t)count * sizeof *values, &x));
  return x;
}

/* A float32 matrix from row-major elements. */
static inline tenon_tensor* f32_matrix(tenon_scope* scope, const float* values, int64_t rows,
                                       int64_t columns) {
  const int64_t shape[] = {rows, columns};
  tenon_tensor* x = NULL;
  must(tenon_tensor_from_data(scope, TENON_FLOAT32, shape, 2, values,
                              (size_t)(rows * columns) * sizeof *values, &x));
  return x;
}

/* A float32 tensor of rank 0. */
static inline tenon_tensor* f32_number(tenon_scope* scope, float value) {
  tenon_tensor* x = NULL;
  must(tenon_tensor_from_data(scope, TENON_FLOAT32, NULL, 0, &value, sizeof value, &x));
  return x;
}

/* Returns the value of a tensor with one element. */
static inline double number(tenon_scope* scope, tenon_tensor* x) {
  double value = 0;
  must(tenon_tensor_item_f64(scope, x, &value));
  return value;
}

/* The current memory usage of a device. */
static inline tenon_memory_info memory_of(tenon_device* device) {
  tenon_memory_info info = {0};
  info.struct_size = sizeof info;
  must(tenon_device_describe_memory(device, &info));
  return info;
}

#endif /* EXAMPLES_MUST_H_ */
