#include <tenon/introspect.h>

#include "capi/tests/check.h"

static void an_op_is_found_by_name(void) {
  uint32_t op = 0;

  CHECK_OK(tenon_op_find(NULL, tenon_str("softmax"), &op));
  CHECK(op == TENON_OP_softmax);
  CHECK_OK(tenon_op_find(context(), tenon_str("add"), &op));
  CHECK(op == TENON_OP_add);
  CHECK_TEXT(tenon_op_name(NULL, TENON_OP_add), "add");
  CHECK_TEXT(tenon_op_name(context(), 999999), "");
  CHECK_ERROR(tenon_op_find(context(), tenon_str("unicorn"), &op), TENON_NOT_FOUND,
              "unknown op \"unicorn\"");
  CHECK(op == 0);
}

static void tenon_call_takes_the_number_of_an_op(void) {
  tenon_tensor* inputs[2];
  tenon_tensor* sum = NULL;
  inputs[0] = F32(1, 2);
  inputs[1] = F32(10, 20);

  CHECK_OK(tenon_call(scope(), TENON_OP_add, NULL, inputs, 2, &sum, 1));

  CHECK_VALUES(sum, 11, 22);
  tenon_tensor_release(inputs[0]);
  tenon_tensor_release(inputs[1]);
  tenon_tensor_release(sum);
}

static void trailing_outputs_may_be_omitted(void) {
  const int64_t two[2] = {2, 2};
  const int64_t shape[4] = {1, 1, 2, 2};
  tenon_max_pool_attrs attrs = TENON_MAX_POOL_ATTRS_DEFAULT;
  tenon_tensor* x = NULL;
  tenon_tensor* y = NULL;
  tenon_tensor* three[3] = {GARBAGE(tenon_tensor), GARBAGE(tenon_tensor), GARBAGE(tenon_tensor)};
  attrs.kernel_shape = two;
  attrs.n_kernel_shape = 2;
  CHECK_OK(tenon_tensor_from_data(scope(), TENON_FLOAT32, shape, 4, (const float[]){1, 4, 3, 2}, 16,
                                  &x));

  CHECK_OK(tenon_call(scope(), TENON_OP_max_pool, &attrs, &x, 1, &y, 1));
  CHECK_VALUES(y, 4);
  CHECK_ERROR(tenon_call(scope(), TENON_OP_max_pool, &attrs, &x, 1, three, 3),
              TENON_INVALID_ARGUMENT, "max_pool: 3 outputs were requested, but the op has 2");
  CHECK(three[0] == NULL && three[1] == NULL && three[2] == NULL);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
}

/* For ops such as split, the attributes determine the number of outputs. It is an error to request
 * fewer outputs. */
static void all_outputs_of_split_must_be_requested(void) {
  tenon_split_attrs halves = TENON_SPLIT_ATTRS_DEFAULT;
  tenon_tensor* x = F32(1, 2, 3, 4);
  tenon_tensor* parts[3] = {NULL, NULL, NULL};
  tenon_tensor* pair[2];
  halves.num_outputs = 2;
  pair[0] = x;
  pair[1] = x;

  CHECK_ERROR(tenon_split(scope(), x, &halves, parts, 1), TENON_INVALID_ARGUMENT,
              "split: 1 outputs were requested, but the op has 2");
  CHECK_ERROR(tenon_split(scope(), x, &halves, parts, 3), TENON_INVALID_ARGUMENT,
              "split: 3 outputs were requested, but the op has 2");
  CHECK_ERROR(tenon_unstack(scope(), x, NULL, parts, 3), TENON_INVALID_ARGUMENT,
              "unstack: 3 outputs were requested, but the op has 4");
  CHECK_ERROR(tenon_call(scope(), TENON_OP_meshgrid, NULL, pair, 2, parts, 1),
              TENON_INVALID_ARGUMENT, "meshgrid: 1 outputs were requested, but the op has 2");
  CHECK(parts[0] == NULL);
  CHECK_OK(tenon_split(scope(), x, &halves, parts, 2));
  CHECK_VALUES(parts[1], 3, 4);
  tenon_tensor_release(parts[0]);
  tenon_tensor_release(parts[1]);
  tenon_tensor_release(x);
}

static void unknown_ops_and_wrong_inputs_are_errors(void) {
  tenon_tensor* x = F32(1, 2);
  tenon_tensor* long_one = F32(1, 2, 3);
  tenon_tensor* integers = make_i32(1, 2);
  tenon_tensor* pair[2];
  tenon_tensor* y = GARBAGE(tenon_tensor);

  CHECK_ERROR(tenon_call(scope(), 999999, NULL, &x, 1, &y, 1), TENON_NOT_FOUND,
              "there is no op 999999");
  CHECK(y == NULL);
  CHECK_ERROR(tenon_call(scope(), 0xffffffffu, NULL, &x, 1, &y, 1), TENON_NOT_FOUND,
              "there is no op 4294967295");
  CHECK_ERROR(tenon_call(scope(), TENON_OP_add, NULL, &x, 1, &y, 1), TENON_INVALID_ARGUMENT,
              "add: takes 2 inputs, but got 1");
  CHECK_ERROR(tenon_call(scope(), TENON_OP_neg, NULL, NULL, 1, &y, 1), TENON_INVALID_ARGUMENT,
              "inputs is NULL");
  CHECK_ERROR(tenon_call(scope(), TENON_OP_neg, NULL, &x, 1, NULL, 1), TENON_INVALID_ARGUMENT,
              "out_outputs is NULL");
  pair[0] = x;
  pair[1] = NULL;
  CHECK_ERROR(tenon_call(scope(), TENON_OP_add, NULL, pair, 2, &y, 1), TENON_INVALID_ARGUMENT,
              "add: input 1 is not optional, but is NULL");
  pair[1] = long_one;
  CHECK_ERROR(tenon_call(scope(), TENON_OP_add, NULL, pair, 2, &y, 1), TENON_INVALID_ARGUMENT,
              "add: C");
  pair[1] = integers;
  CHECK_ERROR(tenon_call(scope(), TENON_OP_add, NULL, pair, 2, &y, 1), TENON_INVALID_ARGUMENT,
              "cast");
  pair[1] = (tenon_tensor*)scope();
  CHECK_ERROR(tenon_call(scope(), TENON_OP_add, NULL, pair, 2, &y, 1), TENON_INVALID_ARGUMENT,
              "add: inputs[1] is not a tensor");
  CHECK(y == NULL);
  tenon_tensor_release(x);
  tenon_tensor_release(long_one);
  tenon_tensor_release(integers);
}

static void wrong_attributes_are_errors(void) {
  tenon_cast_attrs attrs = TENON_CAST_ATTRS_DEFAULT;
  tenon_reshape_attrs reshape = TENON_RESHAPE_ATTRS_DEFAULT;
  const int64_t sizes[2] = {3, INT64_MAX};
  const int64_t negative[1] = {-5};
  struct {
    tenon_cast_attrs known;
    uint64_t newer;
  } larger;
  tenon_tensor* x = F32(1, 2);
  tenon_tensor* y = GARBAGE(tenon_tensor);

  attrs.to = 77;
  CHECK_ERROR(tenon_cast(scope(), x, &attrs, &y), TENON_INVALID_ARGUMENT, "cast:");
  CHECK(y == NULL);
  attrs.to = TENON_INT32;
  attrs.struct_size = 0;
  CHECK_ERROR(tenon_cast(scope(), x, &attrs, &y), TENON_INVALID_ARGUMENT,
              "cast: attrs has no struct_size");
  memset(&larger, 0, sizeof larger);
  larger.known.struct_size = sizeof larger;
  larger.known.to = TENON_INT32;
  larger.newer = 1;
  CHECK_ERROR(tenon_cast(scope(), x, &larger.known, &y), TENON_INVALID_ARGUMENT,
              "cast: attrs has fields that only a newer version of Tenon supports");
  reshape.shape = sizes;
  reshape.n_shape = 2;
  CHECK_ERROR(tenon_reshape(scope(), x, &reshape, &y), TENON_INVALID_ARGUMENT,
              "reshape: f32[3,9223372036854775807] has a size in bytes that exceeds int64");
  reshape.shape = negative;
  reshape.n_shape = 1;
  CHECK_ERROR(tenon_reshape(scope(), x, &reshape, &y), TENON_INVALID_ARGUMENT, "reshape: C");
  reshape.n_shape = 1000;
  reshape.shape = NULL;
  CHECK_ERROR(tenon_reshape(scope(), x, &reshape, &y), TENON_INVALID_ARGUMENT, "reshape: ");
  tenon_tensor_release(x);
}

static void attributes_may_be_strings(void) {
  const int64_t shape[2] = {2, 2};
  tenon_einsum_attrs attrs = TENON_EINSUM_ATTRS_DEFAULT;
  tenon_tensor* x[2] = {NULL, NULL};
  tenon_tensor* y = NULL;
  CHECK_OK(tenon_tensor_from_data(scope(), TENON_FLOAT32, shape, 2, (const float[]){1, 2, 3, 4}, 16,
                                  &x[0]));
  x[1] = F32(1, 10);

  attrs.equation = tenon_str("ij,j->i");
  CHECK_OK(tenon_einsum(scope(), x, 2, &attrs, &y));
  CHECK_VALUES(y, 21, 43);
  tenon_tensor_release(y);
  attrs.equation = tenon_str("ij,i->j");
  CHECK_OK(tenon_einsum(scope(), x, 2, &attrs, &y));
  CHECK_VALUES(y, 31, 42);
  tenon_tensor_release(y);
  attrs.equation = tenon_str("ij,k");
  attrs.equation.size = 2; /* The equation is "ij": its first 2 characters. */
  CHECK_OK(tenon_einsum(scope(), x, 1, &attrs, &y));
  CHECK_VALUES(y, 1, 2, 3, 4);
  tenon_tensor_release(y);
  CHECK_ERROR(tenon_einsum(scope(), x, 2, NULL, &y), TENON_INVALID_ARGUMENT, "einsum: C3");
  tenon_tensor_release(x[0]);
  tenon_tensor_release(x[1]);
}

static void an_index_error_names_the_index_and_its_range(void) {
  const int32_t seven = 7;
  const int64_t shape[1] = {1};
  tenon_gather_attrs attrs = TENON_GATHER_ATTRS_DEFAULT;
  tenon_tensor* x = F32(1, 2, 3);
  tenon_tensor* index = NULL;
  tenon_tensor* y = GARBAGE(tenon_tensor);
  CHECK_OK(tenon_tensor_from_data(scope(), TENON_INT32, shape, 1, &seven, 4, &index));

  CHECK_OK(tenon_scope_set_location(scope(), tenon_str("train.c:12")));
  if (device_has(TENON_FEATURE_SYNCHRONOUS)) {
    CHECK_ERROR(tenon_gather(scope(), x, index, &attrs, &y), TENON_OUT_OF_RANGE,
                "gather: C2: index 7 is outside [0, 3)");
    CHECK(y == NULL);
  } else { /* On asynchronous devices, the next wait or read reports the error, once. */
    tenon_error* error;
    CHECK_OK(tenon_gather(scope(), x, index, &attrs, &y));
    CHECK_OK(tenon_scope_set_location(scope(), tenon_str("train.c:13")));
    error = tenon_scope_wait(scope());
    CHECK_TEXT(tenon_error_op(error), "gather");
    CHECK_TEXT(tenon_error_location(error), "train.c:12");
    CHECK_TEXT(tenon_error_device(error), device_name());
    CHECK_ERROR(error, TENON_OUT_OF_RANGE, "gather: C2: index 7 is outside [0, 3)");
    CHECK_OK(tenon_scope_wait(scope()));
    CHECK_VALUES(y, 0);
    tenon_tensor_release(y);
  }
  CHECK_OK(tenon_neg(scope(), x, &y)); /* The error does not affect later calls. */
  CHECK_VALUES(y, -1, -2, -3);
  tenon_tensor_release(x);
  tenon_tensor_release(index);
  tenon_tensor_release(y);
}

static void mixed_devices_are_an_error_that_names_both(void) {
  size_t n = 0;
  CHECK_OK(tenon_context_count_devices(context(), &n));
  if (n >= 2) {
    tenon_device *a = NULL, *b = NULL;
    tenon_tensor* x = F32(1);
    tenon_tensor* pair[2] = {NULL, NULL};
    tenon_tensor* y = GARBAGE(tenon_tensor);
    CHECK_OK(tenon_context_get_device(context(), 0, &a));
    CHECK_OK(tenon_context_get_device(context(), 1, &b));
    CHECK_OK(tenon_tensor_copy_to(scope(), x, tenon_device_name(a), &pair[0]));
    CHECK_OK(tenon_tensor_copy_to(scope(), x, tenon_device_name(b), &pair[1]));

    CHECK_ERROR(tenon_call(scope(), TENON_OP_add, NULL, pair, 2, &y, 1), TENON_INVALID_ARGUMENT,
                tenon_device_name(b).data);

    CHECK(y == NULL);
    tenon_tensor_release(x);
    tenon_tensor_release(pair[0]);
    tenon_tensor_release(pair[1]);
    tenon_device_release(a);
    tenon_device_release(b);
  }
}

static void tenon_op_infer_returns_types_without_computing(void) {
  tenon_softmax_attrs attrs = TENON_SOFTMAX_ATTRS_DEFAULT;
  tenon_type x;
  tenon_type y;
  size_t n = 0;
  memset(&x, 0, sizeof x);
  x.dtype = TENON_FLOAT32;
  x.rank = 2;
  x.shape[0] = 2;
  x.shape[1] = 3;

  CHECK_OK(tenon_op_infer(scope(), TENON_OP_softmax, NULL, &x, 1, &y, 1, &n));
  CHECK(n == 1 && y.dtype == TENON_FLOAT32 && y.rank == 2 && y.shape[1] == 3);
  attrs.axis = 2;
  CHECK_ERROR(tenon_op_infer(scope(), TENON_OP_softmax, &attrs, &x, 1, &y, 1, &n),
              TENON_INVALID_ARGUMENT, "softmax: C2");
  CHECK(n == 0);
  x.shape[0] = -2;
  CHECK_ERROR(tenon_op_infer(scope(), TENON_OP_softmax, NULL, &x, 1, &y, 1, &n),
              TENON_INVALID_ARGUMENT, "has a negative size");
}

static void tenon_explain_describes_how_a_call_would_run(void) {
  tenon_tensor* pair[2];
  tenon_string text = {NULL, 0};
  pair[0] = F32(1);
  pair[1] = F32(2);

  CHECK_OK(tenon_explain(scope(), TENON_OP_add, NULL, pair, 2, &text));

  CHECK_CONTAINS(text, "add -> f32[1] on ");
  tenon_string_release(text);
  CHECK(tenon_op_count() > 80);
  CHECK(tenon_op_at(0) == TENON_OP_neg);
  CHECK(tenon_op_at(100000) == 0);
  CHECK(tenon_host_table()->struct_size == sizeof(tenon_host));
  tenon_tensor_release(pair[0]);
  tenon_tensor_release(pair[1]);
}

int main(void) {
  RUN(an_op_is_found_by_name);
  RUN(tenon_call_takes_the_number_of_an_op);
  RUN(trailing_outputs_may_be_omitted);
  RUN(all_outputs_of_split_must_be_requested);
  RUN(unknown_ops_and_wrong_inputs_are_errors);
  RUN(wrong_attributes_are_errors);
  RUN(attributes_may_be_strings);
  RUN(an_index_error_names_the_index_and_its_range);
  RUN(mixed_devices_are_an_error_that_names_both);
  RUN(tenon_op_infer_returns_types_without_computing);
  RUN(tenon_explain_describes_how_a_call_would_run);
  return report();
}
