#include "capi/tests/check.h"

/* ---- custom gradients --------------------------------------------------- */

static int destroyed;
static void on_destroy(void* payload) {
  (void)payload;
  ++destroyed;
}

static tenon_error* same(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                         size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  (void)payload;
  (void)inner;
  (void)n_inputs;
  (void)n_outputs;
  tenon_tensor_retain(inputs[0]);
  out_outputs[0] = inputs[0];
  return NULL;
}

/* A derivative that differs from the correct one: three times the cotangent, times the input. */
static tenon_error* thrice(void* payload, tenon_scope* inner, const tenon_backward_args* args,
                           tenon_tensor** out_grads, size_t n_grads) {
  tenon_tensor* three = tenon_scalar_f64(3);
  tenon_tensor* product = NULL;
  tenon_error* error = tenon_mul(inner, args->cotangents[0], args->inputs[0], &product);
  (void)payload;
  (void)n_grads;
  if (!error) error = tenon_mul(inner, product, three, &out_grads[0]);
  tenon_tensor_release(three);
  tenon_tensor_release(product);
  return error;
}

static tenon_error* of_another_type(void* payload, tenon_scope* inner,
                                    const tenon_backward_args* args, tenon_tensor** out_grads,
                                    size_t n_grads) {
  (void)payload;
  (void)inner;
  (void)args;
  (void)n_grads;
  out_grads[0] = make_i32(1, 1);
  return NULL;
}

static void a_custom_gradient_replaces_the_derivative_of_the_called_ops(void) {
  const tenon_tensor_function forward = {same, NULL, on_destroy};
  const tenon_backward_function backward = {thrice, NULL, on_destroy};
  tenon_tensor* x = F32(2);
  tenon_value* source = tenon_tensor_as_value(x);
  tenon_tape *outer = NULL, *inner = NULL;
  tenon_tensor *y = NULL, *dx = NULL, *ddx = NULL;
  destroyed = 0;
  CHECK_OK(tenon_tape_create(scope(), NULL, &outer));
  CHECK_OK(tenon_tape_create(scope(), NULL, &inner));
  CHECK_OK(tenon_tape_watch(outer, source));
  CHECK_OK(tenon_tape_watch(inner, source));

  CHECK_OK(tenon_custom_gradient(scope(), forward, &x, 1, backward, &y, 1));
  CHECK(destroyed == 1); /* The tapes may still call the derivative. */
  CHECK_OK(tenon_tape_gradient(scope(), inner, &y, 1, NULL, &source, 1, NULL, &dx));
  CHECK_OK(tenon_tape_gradient(scope(), outer, &dx, 1, NULL, &source, 1, NULL, &ddx));

  CHECK_VALUES(y, 2);
  CHECK_VALUES(dx, 6);
  CHECK_VALUES(ddx, 3);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_tensor_release(dx);
  tenon_tensor_release(ddx);
  tenon_tape_release(outer);
  tenon_tape_release(inner);
  CHECK(destroyed == 2);
}

static void without_a_tape_no_residuals_are_saved(void) {
  const tenon_tensor_function forward = {same, NULL, on_destroy};
  tenon_backward_function backward = {thrice, NULL, on_destroy};
  tenon_tensor* x = F32(2);
  tenon_tensor* y = NULL;
  destroyed = 0;

  CHECK_OK(tenon_custom_gradient(scope(), forward, &x, 1, backward, &y, 1));
  CHECK(destroyed == 2);
  tenon_tensor_release(y);
  backward.function = NULL;
  CHECK_ERROR(tenon_custom_gradient(scope(), forward, &x, 1, backward, &y, 1),
              TENON_INVALID_ARGUMENT, "backward.function is NULL");
  CHECK(destroyed == 4 && y == NULL);
  tenon_tensor_release(x);
}

static void a_custom_gradient_of_the_wrong_type_is_an_error(void) {
  const tenon_tensor_function forward = {same, NULL, NULL};
  const tenon_backward_function backward = {of_another_type, NULL, NULL};
  tenon_tensor* x = F32(2);
  tenon_value* source = tenon_tensor_as_value(x);
  tenon_tape* tape = NULL;
  tenon_tensor *y = NULL, *dx = GARBAGE(tenon_tensor);
  CHECK_OK(tenon_tape_create(scope(), NULL, &tape));
  CHECK_OK(tenon_tape_watch(tape, source));
  CHECK_OK(tenon_custom_gradient(scope(), forward, &x, 1, backward, &y, 1));

  CHECK_ERROR(tenon_tape_gradient(scope(), tape, &y, 1, NULL, &source, 1, NULL, &dx),
              TENON_INVALID_ARGUMENT,
              "the derivative returned i32[1,1] for input 0, but the input is f32[1]");

  CHECK(dx == NULL);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_tape_release(tape);
}

/* ---- custom ops --------------------------------------------------------- */

static tenon_error* compute_scale(void* payload, const void* attrs, const tenon_host_array* inputs,
                                  size_t n_inputs, const tenon_host_array* outputs,
                                  size_t n_outputs) {
  const struct scale_attrs* scale = attrs;
  const float* x = inputs[0].data;
  float* y = outputs[0].data;
  size_t i;
  (void)payload;
  (void)n_inputs;
  (void)n_outputs;
  for (i = 0; i < inputs[0].size / sizeof *x; ++i) y[i] = x[i] * scale->factor;
  return NULL;
}

static tenon_error* decompose_cube(void* payload, tenon_scope* inner, const void* attrs,
                                   tenon_tensor* const* inputs, size_t n_inputs,
                                   tenon_tensor** out_outputs, size_t n_outputs) {
  tenon_tensor* square = NULL;
  tenon_error* error = tenon_mul(inner, inputs[0], inputs[0], &square);
  (void)payload;
  (void)attrs;
  (void)n_inputs;
  (void)n_outputs;
  if (!error) error = tenon_mul(inner, square, inputs[0], &out_outputs[0]);
  tenon_tensor_release(square);
  return error;
}

static tenon_custom_op scale_op(void) {
  tenon_custom_op op;
  memset(&op, 0, sizeof op);
  op.struct_size = sizeof op;
  op.n_inputs = 1;
  op.n_outputs = 1;
  op.attrs_size = sizeof(struct scale_attrs);
  op.name = tenon_str("test.scale");
  op.infer = infer_same;
  op.compute = compute_scale;
  op.destroy = on_destroy;
  return op;
}

static tenon_tensor* gradient_of_op(uint32_t id, const void* attrs, tenon_tensor* x) {
  tenon_value* source = tenon_tensor_as_value(x);
  tenon_tape* tape = NULL;
  tenon_tensor *y = NULL, *dx = NULL;
  CHECK_OK(tenon_tape_create(scope(), NULL, &tape));
  CHECK_OK(tenon_tape_watch(tape, source));
  CHECK_OK(tenon_call(scope(), id, attrs, &x, 1, &y, 1));
  CHECK_OK(tenon_tape_gradient(scope(), tape, &y, 1, NULL, &source, 1, NULL, &dx));
  tenon_tensor_release(y);
  tenon_tape_release(tape);
  return dx;
}

static void a_custom_op_computes_in_host_memory(void) {
  tenon_custom_op op = scale_op();
  struct scale_attrs attrs = {sizeof attrs, 2.5f};
  tenon_tensor* x = F32(1, 2);
  tenon_tensor* y = NULL;
  tenon_tensor* dx;
  uint32_t id = 0;
  uint32_t found = 0;
  op.backward = backward_scale;

  CHECK_OK(tenon_op_register(context(), &op, &id));
  CHECK(id >= 0x80000000u);
  CHECK_OK(tenon_op_find(context(), tenon_str("test.scale"), &found));
  CHECK(found == id);
  CHECK_TEXT(tenon_op_name(context(), id), "test.scale");
  CHECK_OK(tenon_call(scope(), id, &attrs, &x, 1, &y, 1));
  dx = gradient_of_op(id, &attrs, x);

  CHECK_VALUES(y, 2.5, 5);
  CHECK_VALUES(dx, 2.5, 2.5);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_tensor_release(dx);
}

static void differentiating_a_custom_op_without_a_derivative_is_an_error(void) {
  tenon_custom_op op = scale_op();
  tenon_tensor* x = F32(1);
  tenon_value* source = tenon_tensor_as_value(x);
  tenon_tape* tape = NULL;
  tenon_tensor *y = NULL, *dx = GARBAGE(tenon_tensor);
  uint32_t id = 0;
  CHECK_OK(tenon_op_register(context(), &op, &id));
  CHECK_OK(tenon_tape_create(scope(), NULL, &tape));
  CHECK_OK(tenon_tape_watch(tape, source));
  CHECK_OK(tenon_call(scope(), id, NULL, &x, 1, &y, 1));
  CHECK_VALUES(y, 0); /* The default factor is zero. */

  CHECK_ERROR(tenon_tape_gradient(scope(), tape, &y, 1, NULL, &source, 1, NULL, &dx),
              TENON_UNIMPLEMENTED, "test.scale: no gradient");

  CHECK(dx == NULL);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_tape_release(tape);
}

static void a_custom_op_is_differentiated_by_its_decomposition(void) {
  tenon_custom_op op = scale_op();
  tenon_tensor* x = F32(2);
  tenon_tensor* dx;
  uint32_t id = 0;
  op.name = tenon_str("test.cube");
  op.attrs_size = 0;
  op.compute = NULL;
  op.decompose = decompose_cube;

  CHECK_OK(tenon_op_register(context(), &op, &id));
  dx = gradient_of_op(id, NULL, x);

  CHECK_VALUES(dx, 12);
  tenon_tensor_release(x);
  tenon_tensor_release(dx);
}

static void errors_of_custom_op_callbacks_are_returned(void) {
  tenon_custom_op op = scale_op();
  struct {
    struct scale_attrs known;
    uint64_t more;
  } larger;
  tenon_tensor* x = make_i32(1, 1);
  tenon_tensor* f = F32(1);
  tenon_tensor* y = GARBAGE(tenon_tensor);
  uint32_t id = 0;
  CHECK_OK(tenon_op_register(context(), &op, &id));

  CHECK_ERROR(tenon_call(scope(), id, NULL, &x, 1, &y, 1), TENON_INVALID_ARGUMENT,
              "test.scale: C1: x must be f32 or f64");
  CHECK(y == NULL);
  memset(&larger, 0, sizeof larger);
  larger.known.struct_size = sizeof larger;
  CHECK_ERROR(tenon_call(scope(), id, &larger, &f, 1, &y, 1), TENON_INVALID_ARGUMENT,
              "test.scale: attrs has 16 bytes, but the attributes of test.scale have 8");
  tenon_tensor_release(x);
  tenon_tensor_release(f);
}

static void custom_ops_of_a_newer_version_are_refused(void) {
  struct {
    tenon_custom_op known;
    uint64_t newer;
  } larger;
  uint32_t id = 7;
  memset(&larger, 0, sizeof larger);
  larger.known = scale_op();
  larger.known.struct_size = sizeof larger;
  larger.newer = 1;
  destroyed = 0;
  CHECK_ERROR(tenon_op_register(context(), &larger.known, &id), TENON_INVALID_ARGUMENT,
              "op has fields that only a newer version of Tenon supports");
  CHECK(id == 0 && destroyed == 1);
}

static void custom_ops_without_required_fields_are_refused(void) {
  tenon_custom_op op = scale_op();
  uint32_t id = 7;
  destroyed = 0;

  op.name = tenon_str("Test");
  CHECK_ERROR(tenon_op_register(context(), &op, &id), TENON_INVALID_ARGUMENT,
              "op.name \"Test\" is not of the form");
  CHECK(id == 0 && destroyed == 1);
  op = scale_op();
  op.compute = NULL;
  CHECK_ERROR(tenon_op_register(context(), &op, &id), TENON_INVALID_ARGUMENT,
              "exactly one of compute and decompose, but test.scale has neither");
  op = scale_op();
  op.infer = NULL;
  CHECK_ERROR(tenon_op_register(context(), &op, &id), TENON_INVALID_ARGUMENT, "op.infer is NULL");
  op = scale_op();
  op.n_outputs = 0;
  CHECK_ERROR(tenon_op_register(context(), &op, &id), TENON_INVALID_ARGUMENT, "0 outputs");
  op = scale_op();
  op.name = tenon_str("add");
  CHECK_ERROR(tenon_op_register(context(), &op, &id), TENON_INVALID_ARGUMENT,
              "an op named add already exists");
  op = scale_op();
  CHECK_ERROR(tenon_op_register(NULL, &op, &id), TENON_INVALID_ARGUMENT, "context is NULL");
  CHECK(destroyed == 6);
  CHECK_ERROR(tenon_op_register(context(), NULL, &id), TENON_INVALID_ARGUMENT, "op is NULL");
}

int main(void) {
  RUN(a_custom_gradient_replaces_the_derivative_of_the_called_ops);
  RUN(without_a_tape_no_residuals_are_saved);
  RUN(a_custom_gradient_of_the_wrong_type_is_an_error);
  RUN(a_custom_op_computes_in_host_memory);
  RUN(differentiating_a_custom_op_without_a_derivative_is_an_error);
  RUN(a_custom_op_is_differentiated_by_its_decomposition);
  RUN(errors_of_custom_op_callbacks_are_returned);
  RUN(custom_ops_of_a_newer_version_are_refused);
  RUN(custom_ops_without_required_fields_are_refused);
  return report();
}
