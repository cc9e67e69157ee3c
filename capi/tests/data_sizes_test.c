/* Ops whose output sizes depend on the values of their inputs, on asynchronous devices. */

#include "capi/tests/check.h"

static void check_shape(tenon_tensor* tensor, size_t rank, const int64_t* shape) {
  size_t i;
  CHECK(tenon_tensor_rank(tensor) == rank);
  for (i = 0; i < rank; ++i) CHECK(size_of(tensor, (int64_t)i) == shape[i]);
}

static void data_dependent_outputs_have_the_number_of_found_elements(void) {
  const float values[] = {0, 5, 6, 0, 0, 7};
  const int64_t shape[] = {2, 3};
  tenon_tensor* x = make_f32_matrix(2, 3, values);
  tenon_tensor *indices = NULL, *count = NULL;

  CHECK_OK(tenon_nonzero(scope(), x, NULL, &indices, &count));

  check_shape(indices, 2, shape);
  CHECK_VALUES(indices, 0, 0, 1, 1, 2, 2);
  CHECK_VALUES(count, 3);
  tenon_tensor_release(count);
  tenon_tensor_release(indices);
  tenon_tensor_release(x);
}

static void outputs_with_a_size_attribute_have_that_size(void) {
  tenon_nonzero_attrs attrs = TENON_NONZERO_ATTRS_DEFAULT;
  tenon_tensor* x = F32(0, 5, 6);
  tenon_tensor* indices = NULL;
  attrs.size = 4;
  attrs.fill = -1;

  CHECK_OK(tenon_nonzero(scope(), x, &attrs, &indices, NULL));

  CHECK_VALUES(indices, 1, 2, -1, -1);
  tenon_tensor_release(indices);
  tenon_tensor_release(x);
}

static void unique_returns_each_value_once(void) {
  tenon_tensor* x = F32(3, 1, 3, 3);
  tenon_tensor *values = NULL, *indices = NULL, *inverse = NULL, *counts = NULL, *count = NULL;

  CHECK_OK(tenon_unique(scope(), x, NULL, &values, &indices, &inverse, &counts, &count));

  CHECK_VALUES(values, 1, 3);
  CHECK_VALUES(indices, 1, 0);
  CHECK_VALUES(inverse, 1, 0, 1, 1);
  CHECK_VALUES(counts, 1, 3);
  CHECK_VALUES(count, 2);
  tenon_tensor_release(count);
  tenon_tensor_release(counts);
  tenon_tensor_release(inverse);
  tenon_tensor_release(indices);
  tenon_tensor_release(values);
  tenon_tensor_release(x);
}

static void boolean_mask_is_differentiable(void) {
  tenon_tape* tape = NULL;
  tenon_tensor *x = F32(1, 2, 3), *two = tenon_scalar_f64(2);
  tenon_tensor *mask = NULL, *y = NULL, *squares = NULL, *dx = NULL;
  tenon_value* source = tenon_tensor_as_value(x);
  CHECK_OK(tenon_greater_equal(scope(), x, two, &mask));
  CHECK_OK(tenon_tape_create(scope(), NULL, &tape));
  CHECK_OK(tenon_tape_watch(tape, source));

  CHECK_OK(tenon_boolean_mask(scope(), x, mask, NULL, &y, NULL));
  CHECK_OK(tenon_square(scope(), y, &squares));
  CHECK_OK(tenon_tape_gradient(scope(), tape, &squares, 1, NULL, &source, 1, NULL, &dx));

  CHECK_VALUES(y, 2, 3);
  CHECK_VALUES(dx, 0, 4, 6);
  tenon_tape_release(tape);
  tenon_tensor_release(dx);
  tenon_tensor_release(squares);
  tenon_tensor_release(y);
  tenon_tensor_release(mask);
  tenon_tensor_release(two);
  tenon_tensor_release(x);
}

int main(void) {
  RUN(data_dependent_outputs_have_the_number_of_found_elements);
  RUN(outputs_with_a_size_attribute_have_that_size);
  RUN(unique_returns_each_value_once);
  RUN(boolean_mask_is_differentiable);
  return report();
}
