/* Tests tenon_call_sized(): calls with size attributes that are given as tensors. */

#include "capi/tests/function_code.h"

static tenon_tensor* int64s(size_t rank, int64_t n, const int64_t* values) {
  tenon_tensor* tensor = NULL;
  const size_t bytes = (rank ? (size_t)n : 1) * sizeof *values;
  CHECK_OK(tenon_tensor_from_data(scope(), TENON_INT64, &n, rank, values, bytes, &tensor));
  return tensor;
}

static tenon_error* fill_with_one(tenon_scope* inner, tenon_size_argument size,
                                  tenon_tensor** out_ones) {
  tenon_tensor* one = tenon_scalar_f64(1);
  tenon_error* error = tenon_call_sized(inner, TENON_OP_fill, NULL, &size, 1, &one, 1, out_ones, 1);
  tenon_tensor_release(one);
  return error;
}

/* A body that returns a vector of ones, one element longer than the input. */
static tenon_error* one_more(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                             tenon_tensor** out) {
  tenon_tensor *shape = NULL, *more = NULL, *one = tenon_scalar_i64(1);
  tenon_size_argument size = {TENON_STR("shape"), NULL};
  tenon_error* error;
  (void)code;
  CHECK_OK(tenon_shape(inner, inputs[0], &shape));
  CHECK_OK(tenon_add(inner, shape, one, &more));
  size.sizes = more;
  error = fill_with_one(inner, size, out);
  tenon_tensor_release(shape);
  tenon_tensor_release(more);
  tenon_tensor_release(one);
  return error;
}

static void one_trace_serves_computed_sizes(void) {
  const float values[] = {1, 2, 3, 4, 5, 6};
  struct code code = {0};
  tenon_function* f;
  size_t n;
  code.run = one_more;
  f = function_of(&code, NULL);
  for (n = 1; n <= 6; ++n) {
    tenon_tensor *x = make_f32(values, n), *y = NULL;
    CHECK_OK(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL));
    CHECK(size_of(y, 0) == (int64_t)n + 1);
    tenon_tensor_release(x);
    tenon_tensor_release(y);
  }
  CHECK(code.runs <= 3); /* Two traces with a fixed length and one with a dynamic length. */
  tenon_function_release(f);
}

static void eager_calls_read_sizes_from_tensors(void) {
  const int64_t values[] = {2, 3};
  tenon_tensor *sizes = int64s(1, 2, values), *y = NULL;
  tenon_size_argument size = {TENON_STR("shape"), NULL};
  size.sizes = sizes;

  CHECK_OK(fill_with_one(scope(), size, &y));

  CHECK_VALUES(y, 1, 1, 1, 1, 1, 1);
  tenon_tensor_release(y);
  tenon_tensor_release(sizes);
}

static void invalid_size_arguments_are_errors(void) {
  const int64_t two = 2, negative = -3;
  tenon_tensor *one = tenon_scalar_f64(1), *y = GARBAGE(tenon_tensor);
  tenon_tensor *list = int64s(1, 1, &two), *single = int64s(0, 0, &two),
               *below = int64s(1, 1, &negative), *floats = F32(2);
  tenon_size_argument sizes[2] = {{TENON_STR("shape"), NULL}, {TENON_STR("shape"), NULL}};
  sizes[0].sizes = sizes[1].sizes = list;
  CHECK_ERROR(tenon_call_sized(scope(), TENON_OP_fill, NULL, sizes, 2, &one, 1, &y, 1),
              TENON_INVALID_ARGUMENT, "sets the attribute \"shape\" twice");
  CHECK(y == NULL);
  CHECK_ERROR(tenon_call_sized(scope(), TENON_OP_fill, NULL, NULL, 1, &one, 1, &y, 1),
              TENON_INVALID_ARGUMENT, "sizes");
  sizes[0].sizes = single;
  CHECK_ERROR(fill_with_one(scope(), sizes[0], &y), TENON_INVALID_ARGUMENT,
              "shape must be i64 of one axis, but is i64[]");
  sizes[0].sizes = floats;
  CHECK_ERROR(fill_with_one(scope(), sizes[0], &y), TENON_INVALID_ARGUMENT, "but is f32[1]");
  sizes[0].sizes = below;
  CHECK_ERROR(fill_with_one(scope(), sizes[0], &y), TENON_INVALID_ARGUMENT, "-3");
  sizes[0].sizes = NULL;
  CHECK_ERROR(fill_with_one(scope(), sizes[0], &y), TENON_INVALID_ARGUMENT, "sizes[0].sizes");
  sizes[0].sizes = list;
  sizes[0].attribute = tenon_str("dtype");
  CHECK_ERROR(fill_with_one(scope(), sizes[0], &y), TENON_INVALID_ARGUMENT,
              "fill has no size attribute \"dtype\"");
  tenon_tensor_release(one);
  tenon_tensor_release(list);
  tenon_tensor_release(single);
  tenon_tensor_release(below);
  tenon_tensor_release(floats);
}

int main(void) {
  RUN(one_trace_serves_computed_sizes);
  RUN(eager_calls_read_sizes_from_tensors);
  RUN(invalid_size_arguments_are_errors);
  return report();
}
