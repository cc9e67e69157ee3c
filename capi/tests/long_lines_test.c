/* Sums and top-k along axes that may be too long for a device. The device must return the correct
 * result or UNIMPLEMENTED. */

#include "capi/tests/check.h"

static tenon_tensor* ones(tenon_dtype dtype, size_t rank, const int64_t* shape) {
  tenon_fill_attrs attrs = TENON_FILL_ATTRS_DEFAULT;
  tenon_tensor *one = tenon_scalar_i64(1), *result = NULL;
  attrs.shape = shape;
  attrs.n_shape = rank;
  attrs.dtype = dtype;
  CHECK_OK(tenon_fill(scope(), one, &attrs, &result));
  tenon_tensor_release(one);
  return result;
}

/* Checks the only element of y, unless the call or the read has returned UNIMPLEMENTED. Releases
 * `error` and y. */
static void check_sum(tenon_error* error, tenon_tensor* y, double expected) {
  tenon_cast_attrs attrs = TENON_CAST_ATTRS_DEFAULT;
  tenon_tensor* wide = NULL;
  double sum = 0;
  attrs.to = TENON_FLOAT64;
  if (!error) error = tenon_cast(scope(), y, &attrs, &wide);
  if (!error) error = tenon_tensor_read(scope(), wide, &sum, sizeof sum);
  if (error) {
    CHECK_ERROR(error, TENON_UNIMPLEMENTED, "iterations");
  } else {
    CHECK(sum == expected);
  }
  tenon_tensor_release(wide);
  tenon_tensor_release(y);
}

static void sums_of_long_windows_are_right_or_unimplemented(void) {
  const int64_t sizes[][4] = {{1, 1, 20000, 1}, {1, 1, 70000, 1}, {1, 1, 3, 200001}};
  size_t i;
  for (i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    tenon_window_sum_attrs attrs = TENON_WINDOW_SUM_ATTRS_DEFAULT;
    tenon_tensor *x = ones(TENON_FLOAT32, 4, sizes[i]), *y = NULL;
    tenon_error* error;
    attrs.kernel_shape = sizes[i] + 2;
    attrs.n_kernel_shape = 2;
    error = tenon_window_sum(scope(), x, &attrs, &y);
    check_sum(error, y, (double)(sizes[i][2] * sizes[i][3]));
    tenon_tensor_release(x);
  }
}

static void sums_of_many_products_are_right_or_unimplemented(void) {
  const int64_t deep[] = {20000, 600000};
  size_t i;
  for (i = 0; i < sizeof deep / sizeof *deep; ++i) {
    const int64_t row[] = {1, deep[i]}, column[] = {deep[i], 1};
    tenon_tensor *a = ones(TENON_INT8, 2, row), *b = ones(TENON_INT8, 2, column), *y = NULL;
    tenon_error* error = tenon_int8_matmul(scope(), a, b, NULL, NULL, &y);
    check_sum(error, y, (double)deep[i]);
    tenon_tensor_release(b);
    tenon_tensor_release(a);
  }
}

static void attention_with_many_features_is_right_or_unimplemented(void) {
  const int64_t shape[] = {1, 1, 1, 300000}, one[] = {1, 1, 1, 1};
  tenon_tensor *x = ones(TENON_FLOAT32, 4, shape), *v = ones(TENON_FLOAT32, 4, one), *y = NULL;
  tenon_error* error = tenon_attention(scope(), x, x, v, NULL, NULL, &y);
  check_sum(error, y, 1);
  tenon_tensor_release(v);
  tenon_tensor_release(x);
}

/* The input increases along the axis, so top-k must return all elements but the first five, which
 * are the smallest. With `sorted` off, they keep the order of their indices. */
static void top_k_of_a_long_axis_is_right_or_unimplemented(void) {
  enum { kLength = 700000, kChosen = kLength - 5 };
  const int64_t shape[] = {kLength};
  tenon_iota_attrs count = TENON_IOTA_ATTRS_DEFAULT;
  tenon_top_k_attrs attrs = TENON_TOP_K_ATTRS_DEFAULT;
  tenon_tensor *x = NULL, *values = NULL, *indices = NULL;
  int32_t* const got = malloc(kChosen * sizeof *got);
  int64_t* const places = malloc(kChosen * sizeof *places);
  int64_t i, n_wrong = 0;
  count.shape = shape;
  count.n_shape = 1;
  count.dtype = TENON_INT32;
  CHECK_OK(tenon_iota(scope(), &count, &x));
  attrs.k = kChosen;
  attrs.sorted = false;
  CHECK_OK(tenon_top_k(scope(), x, &attrs, &values, &indices));
  CHECK_OK(tenon_tensor_read(scope(), values, got, kChosen * sizeof *got));
  CHECK_OK(tenon_tensor_read(scope(), indices, places, kChosen * sizeof *places));
  for (i = 0; i < kChosen; ++i) n_wrong += got[i] != i + 5 || places[i] != i + 5;
  CHECK(n_wrong == 0);
  free(places);
  free(got);
  tenon_tensor_release(indices);
  tenon_tensor_release(values);
  tenon_tensor_release(x);
}

int main(void) {
  RUN(sums_of_long_windows_are_right_or_unimplemented);
  RUN(sums_of_many_products_are_right_or_unimplemented);
  RUN(attention_with_many_features_is_right_or_unimplemented);
  RUN(top_k_of_a_long_axis_is_right_or_unimplemented);
  return report();
}
