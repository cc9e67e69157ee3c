#include "capi/tests/function_code.h"

/* Callbacks that use or release the objects of the call that runs them. */

typedef tenon_error* tensor_code(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                                 size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs);

static tenon_tensor_function function_by(tensor_code* code, void* payload) {
  tenon_tensor_function made = {code, NULL, NULL};
  made.payload = payload;
  return made;
}

static tenon_error* negate(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                           size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  (void)payload;
  (void)n_inputs;
  (void)n_outputs;
  return tenon_neg(inner, inputs[0], &out_outputs[0]);
}

/* ---- tapes that are reset, used or released during the backward pass ---- */

struct tape_user {
  tenon_tape* tape;
  const char* refused; /* Text that the error must contain; NULL: no error. */
  int asks_again;
};

static tenon_error* reset_in_backward(void* payload, tenon_scope* inner,
                                      const tenon_backward_args* args, tenon_tensor** out_grads,
                                      size_t n_grads) {
  struct tape_user* user = payload;
  (void)n_grads;
  CHECK_ERROR(tenon_tape_reset(user->tape), TENON_FAILED_PRECONDITION, "is computing gradients");
  return tenon_neg(inner, args->cotangents[0], &out_grads[0]);
}

static tenon_error* ask_in_backward(void* payload, tenon_scope* inner,
                                    const tenon_backward_args* args, tenon_tensor** out_grads,
                                    size_t n_grads) {
  struct tape_user* user = payload;
  tenon_value* source = tenon_tensor_as_value(args->inputs[0]);
  tenon_tensor* g = NULL;
  (void)n_grads;
  if (user->asks_again) {
    user->asks_again = 0;
    CHECK_ERROR(
        tenon_tape_gradient(inner, user->tape, args->outputs, 1, NULL, &source, 1, NULL, &g),
        TENON_FAILED_PRECONDITION, "create it as persistent");
    CHECK_ERROR(tenon_tape_resume(user->tape), TENON_FAILED_PRECONDITION,
                "create it as persistent");
    CHECK_ERROR(tenon_tape_watch(user->tape, source), TENON_FAILED_PRECONDITION,
                "create it as persistent");
  }
  return tenon_neg(inner, args->cotangents[0], &out_grads[0]);
}

static tenon_error* release_in_backward(void* payload, tenon_scope* inner,
                                        const tenon_backward_args* args, tenon_tensor** out_grads,
                                        size_t n_grads) {
  struct tape_user* user = payload;
  (void)n_grads;
  tenon_tape_release(user->tape);
  user->tape = NULL;
  return tenon_neg(inner, args->cotangents[0], &out_grads[0]);
}

typedef tenon_error* backward_code(void* payload, tenon_scope* inner,
                                   const tenon_backward_args* args, tenon_tensor** out_grads,
                                   size_t n_grads);

/* Differentiates -(-x) with `code` as the derivative of each negation. */
static void gradient_through(backward_code* code, bool persistent, int as_jacobian) {
  struct tape_user user = {0};
  tenon_tape_options options = TENON_TAPE_OPTIONS_DEFAULT;
  tenon_backward_function backward = {code, NULL, NULL};
  tenon_tensor *x = F32(1), *y = NULL, *z = NULL, *g = NULL;
  tenon_value* source = tenon_tensor_as_value(x);
  backward.payload = &user;
  user.asks_again = 1;
  options.persistent = persistent;

  CHECK_OK(tenon_tape_create(scope(), &options, &user.tape));
  CHECK_OK(tenon_tape_watch(user.tape, source));
  CHECK_OK(tenon_custom_gradient(scope(), function_by(negate, NULL), &x, 1, backward, &y, 1));
  CHECK_OK(tenon_custom_gradient(scope(), function_by(negate, NULL), &y, 1, backward, &z, 1));
  if (as_jacobian) {
    CHECK_OK(tenon_tape_jacobian(scope(), user.tape, z, &source, 1, NULL, &g));
  } else {
    CHECK_OK(tenon_tape_gradient(scope(), user.tape, &z, 1, NULL, &source, 1, NULL, &g));
  }
  CHECK_VALUES(g, 1);
  if (user.tape) CHECK_OK(tenon_tape_reset(user.tape));
  tenon_tape_release(user.tape);
  tenon_tensor_release(g);
  tenon_tensor_release(z);
  tenon_tensor_release(y);
  tenon_tensor_release(x);
}

static void a_tape_cannot_be_reset_while_computing_gradients(void) {
  gradient_through(reset_in_backward, false, 0);
  gradient_through(reset_in_backward, true, 0);
  gradient_through(reset_in_backward, false, 1);
}

static void a_derivative_cannot_use_the_tape_that_its_gradient_consumes(void) {
  gradient_through(ask_in_backward, false, 0);
}

static void a_tape_may_be_released_while_computing_gradients(void) {
  gradient_through(release_in_backward, false, 1);
}

/* ---- tapes that a callback creates -------------------------------------- */

/* Computes x * d(x + y)/dy, where y is the input of the callback and x is a captured tensor. If y
 * were the same handle as x, the derivative would be 2 instead of 1. */
struct nested {
  tenon_tensor* outside;
  tenon_tape* left;
  int leaves;
};

static tenon_error* derive_sum(struct nested* nested, tenon_scope* inner, tenon_tensor* y,
                               tenon_tensor** out) {
  tenon_tape* tape = NULL;
  tenon_value* source = tenon_tensor_as_value(y);
  tenon_tensor* sum = NULL;
  CHECK_OK(tenon_tape_create(inner, NULL, &tape));
  CHECK_OK(tenon_tape_watch(tape, source));
  CHECK_OK(tenon_add(inner, nested->outside, y, &sum));
  CHECK_OK(tenon_tape_gradient(inner, tape, &sum, 1, NULL, &source, 1, NULL, out));
  tenon_tensor_release(sum);
  if (nested->leaves) {
    CHECK_OK(tenon_tape_create(inner, NULL, &nested->left));
  }
  tenon_tape_release(tape);
  return NULL;
}

static tenon_error* derive_in_callback(void* payload, tenon_scope* inner,
                                       tenon_tensor* const* inputs, size_t n_inputs,
                                       tenon_tensor** out_outputs, size_t n_outputs) {
  (void)n_inputs;
  (void)n_outputs;
  return derive_sum(payload, inner, inputs[0], &out_outputs[0]);
}

static tenon_error* derive_in_body(struct code* code, tenon_scope* inner,
                                   tenon_tensor* const* inputs, tenon_tensor** out_outputs) {
  struct nested nested = {0};
  nested.outside = code->escaped;
  return derive_sum(&nested, inner, inputs[0], &out_outputs[0]);
}

static tenon_error* derive_in_backward(void* payload, tenon_scope* inner,
                                       const tenon_backward_args* args, tenon_tensor** out_grads,
                                       size_t n_grads) {
  (void)n_grads;
  return derive_sum(payload, inner, args->inputs[0], &out_grads[0]);
}

static tenon_error* decompose_by_tape(void* payload, tenon_scope* inner, const void* attrs,
                                      tenon_tensor* const* inputs, size_t n_inputs,
                                      tenon_tensor** out_outputs, size_t n_outputs) {
  (void)attrs;
  return derive_in_callback(payload, inner, inputs, n_inputs, out_outputs, n_outputs);
}

static tenon_error* once(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                         size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  (void)payload;
  (void)n_inputs;
  (void)n_outputs;
  return with_scalar(inner, TENON_OP_less, inputs[1], tenon_scalar_f64(1), &out_outputs[0]);
}

static tenon_error* derive_once(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                                size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  CHECK_OK(with_scalar(inner, TENON_OP_add, inputs[1], tenon_scalar_f64(1), &out_outputs[1]));
  return derive_in_callback(payload, inner, inputs, n_inputs, out_outputs, n_outputs);
}

static tenon_error* derive_element(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                                   size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  return derive_in_callback(payload, inner, inputs, n_inputs, out_outputs, n_outputs);
}

static tenon_error* sum_with_outside(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                                     size_t n_inputs, tenon_tensor** out_outputs,
                                     size_t n_outputs) {
  (void)n_inputs;
  (void)n_outputs;
  return tenon_add(inner, ((struct nested*)payload)->outside, inputs[0], &out_outputs[0]);
}

static void check_one(tenon_tensor** y) {
  CHECK_VALUES(*y, 1);
  tenon_tensor_release(*y);
  *y = NULL;
}

/* Passes the same tensor to callbacks as an argument and as a capture. */
static void arguments_are_distinct(int under_tape) {
  struct nested nested = {0};
  struct code code = {0};
  tenon_backward_function backward = {derive_in_backward, NULL, NULL};
  tenon_block condition = {once, NULL}, body = {derive_once, NULL},
              element = {derive_element, NULL};
  tenon_custom_op op;
  uint32_t id = 0;
  tenon_tensor *x = F32(5), *y = NULL, *g = NULL, *pair[2] = {NULL, NULL}, *zero = NULL;
  tenon_tensor* carried[2] = {NULL, NULL};
  tenon_value* source = tenon_tensor_as_value(x);
  tenon_tape* tape = NULL;
  tenon_function* f;
  nested.outside = x;
  code.run = derive_in_body;
  code.escaped = x;
  body.payload = element.payload = backward.payload = &nested;
  if (under_tape) {
    tenon_tape_options options = TENON_TAPE_OPTIONS_DEFAULT;
    options.persistent = true;
    CHECK_OK(tenon_tape_create(scope(), &options, &tape));
    CHECK_OK(tenon_tape_watch(tape, source));
  }

  CHECK_OK(tenon_gradients(scope(), function_by(sum_with_outside, &nested), &x, 1, NULL, &y, 1, &g,
                           NULL));
  check_one(&g);
  tenon_tensor_release(y);
  CHECK_OK(tenon_custom_gradient(scope(), function_by(derive_in_callback, &nested), &x, 1, backward,
                                 &y, 1));
  check_one(&y);
  f = function_of(&code, NULL);
  CHECK_OK(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL));
  check_one(&y);
  tenon_context_run_functions_eagerly(context(), true);
  CHECK_OK(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL));
  check_one(&y);
  tenon_context_run_functions_eagerly(context(), false);
  tenon_function_release(f);
  if (device_has(TENON_FEATURE_HOST_BLOCKING)) {
    CHECK_OK(tenon_host_call(scope(), function_by(derive_in_callback, &nested), &x, 1, &x, &y, 1));
    check_one(&y);
    zero = F32(0);
    CHECK_OK(tenon_sum(scope(), zero, NULL, &carried[1]));
    carried[0] = x;
    CHECK_OK(tenon_while_loop(scope(), condition, body, carried, 2, NULL, pair));
    check_one(&pair[0]);
    tenon_tensor_release(pair[1]);
    tenon_tensor_release(carried[1]);
    tenon_tensor_release(zero);
    CHECK_OK(tenon_scan(scope(), element, &x, 1, &x, 1, NULL, &y, NULL, 0, NULL));
    check_one(&y);
  }
  memset(&op, 0, sizeof op);
  op.struct_size = sizeof op;
  op.n_inputs = op.n_outputs = 1;
  op.name = tenon_str(under_tape ? "test.derive_under_tape" : "test.derive");
  op.infer = infer_same;
  op.decompose = decompose_by_tape;
  op.payload = &nested;
  CHECK_OK(tenon_op_register(context(), &op, &id));
  CHECK_OK(tenon_call(scope(), id, NULL, &x, 1, &y, 1));
  check_one(&y);

  /* The derivative of negate differentiates, too. Its result must be 1, not 2. */
  if (tape) {
    CHECK_OK(tenon_custom_gradient(scope(), function_by(negate, NULL), &x, 1, backward, &y, 1));
    CHECK_OK(tenon_tape_gradient(scope(), tape, &y, 1, NULL, &source, 1, NULL, &g));
    check_one(&g);
    tenon_tensor_release(y);
  }
  tenon_tape_release(tape);
  tenon_tensor_release(x);
}

static void callbacks_distinguish_arguments_from_captures(void) {
  arguments_are_distinct(0);
  arguments_are_distinct(1);
}

/* The argument is a new handle, but the outer tape still records that it comes from x. */
static void outer_tapes_track_arguments_of_callbacks(void) {
  struct nested nested = {0};
  tenon_tensor *x = F32(5), *y = NULL, *g = NULL, *dx = NULL, *outer = NULL;
  tenon_value* source = tenon_tensor_as_value(x);
  tenon_tape* tape = NULL;
  nested.outside = x;
  CHECK_OK(tenon_tape_create(scope(), NULL, &tape));
  CHECK_OK(tenon_tape_watch(tape, source));
  CHECK_OK(tenon_gradients(scope(), function_by(sum_with_outside, &nested), &x, 1, NULL, &y, 1, &g,
                           NULL));
  CHECK_OK(tenon_mul(scope(), y, g, &outer)); /* y = x + x and g = 1. */
  CHECK_OK(tenon_tape_gradient(scope(), tape, &outer, 1, NULL, &source, 1, NULL, &dx));
  CHECK_VALUES(dx, 2);
  tenon_tensor_release(dx);
  tenon_tensor_release(outer);
  tenon_tensor_release(g);
  tenon_tensor_release(y);
  tenon_tape_release(tape);
  tenon_tensor_release(x);
}

static void a_tape_that_outlives_its_callback_is_an_error(void) {
  struct nested nested = {0};
  tenon_backward_function backward = {derive_in_backward, NULL, NULL};
  tenon_tensor *x = F32(5), *y = NULL;
  nested.outside = x;
  nested.leaves = 1;
  backward.payload = &nested;
  CHECK_OK(tenon_custom_gradient(scope(), function_by(derive_in_callback, &nested), &x, 1, backward,
                                 &y, 1));
  CHECK(!tenon_tape_is_recording(nested.left));
  CHECK_ERROR(tenon_tape_watch(nested.left, tenon_tensor_as_value(x)), TENON_FAILED_PRECONDITION,
              "the callback that created the tape has ended");
  CHECK_ERROR(tenon_tape_resume(nested.left), TENON_FAILED_PRECONDITION,
              "the callback that created the tape has ended");
  CHECK_OK(tenon_tape_reset(nested.left));
  CHECK(tenon_tape_is_recording(nested.left));
  CHECK_OK(tenon_tape_watch(nested.left, tenon_tensor_as_value(x)));
  tenon_tape_release(nested.left);
  tenon_tensor_release(y);
  tenon_tensor_release(x);
}

/* ---- callbacks that release the scope, context or function of their call - */

struct owner {
  tenon_context* context;
  tenon_scope* scope;
  tenon_tensor* tensor;
  tenon_function* function;
};

static void release_all(struct owner* owner) {
  tenon_tensor_release(owner->tensor);
  tenon_function_release(owner->function);
  tenon_scope_release(owner->scope);
  tenon_context_release(owner->context);
}

static tenon_error* release_in_callback(void* payload, tenon_scope* inner,
                                        tenon_tensor* const* inputs, size_t n_inputs,
                                        tenon_tensor** out_outputs, size_t n_outputs) {
  (void)n_inputs;
  (void)n_outputs;
  release_all(payload);
  return tenon_neg(inner, inputs[0], &out_outputs[0]);
}

static tenon_error* release_in_body(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                                    size_t n_inputs, const tenon_static* statics, size_t n_statics,
                                    tenon_tensor** out_outputs, size_t max_outputs) {
  (void)statics;
  (void)n_statics;
  return release_in_callback(payload, inner, inputs, n_inputs, out_outputs, max_outputs);
}

static tenon_error* decompose_and_release(void* payload, tenon_scope* inner, const void* attrs,
                                          tenon_tensor* const* inputs, size_t n_inputs,
                                          tenon_tensor** out_outputs, size_t n_outputs) {
  (void)attrs;
  return release_in_callback(payload, inner, inputs, n_inputs, out_outputs, n_outputs);
}

static struct owner make_owner(void) {
  struct owner owner = {0};
  const float value = 3;
  const int64_t size = 1;
  owner.context = create_context();
  CHECK_OK(tenon_scope_create(owner.context, tenon_str(device_name()), &owner.scope));
  CHECK_OK(tenon_tensor_from_data(owner.scope, TENON_FLOAT32, &size, 1, &value, 4, &owner.tensor));
  return owner;
}

static void callbacks_may_release_the_scope_and_function_of_their_call(void) {
  tenon_tensor* y = NULL;
  struct owner owner = make_owner();
  CHECK_OK(tenon_gradients(owner.scope, function_by(release_in_callback, &owner), &owner.tensor, 1,
                           NULL, &y, 1, NULL, NULL));
  CHECK(tenon_tensor_rank(y) == 1);
  tenon_tensor_release(y);

  owner = make_owner();
  {
    tenon_function_body body = {release_in_body, NULL, NULL};
    body.payload = &owner;
    CHECK_OK(tenon_function_create(owner.context, tenon_str("f"), body, NULL, &owner.function));
    CHECK_OK(
        tenon_function_call(owner.scope, owner.function, &owner.tensor, 1, NULL, 0, &y, 1, NULL));
    tenon_tensor_release(y);
  }

  owner = make_owner();
  {
    tenon_function_body body = {release_in_body, NULL, NULL};
    tenon_trace* trace = NULL;
    body.payload = &owner;
    CHECK_OK(tenon_function_create(owner.context, tenon_str("f"), body, NULL, &owner.function));
    CHECK_OK(
        tenon_function_find_trace(owner.scope, owner.function, &owner.tensor, 1, NULL, 0, &trace));
    tenon_trace_release(trace);
  }

  owner = make_owner();
  {
    tenon_custom_op op;
    uint32_t id = 0;
    memset(&op, 0, sizeof op);
    op.struct_size = sizeof op;
    op.n_inputs = op.n_outputs = 1;
    op.name = tenon_str("test.release");
    op.infer = infer_same;
    op.decompose = decompose_and_release;
    op.payload = &owner;
    CHECK_OK(tenon_op_register(owner.context, &op, &id));
    CHECK_OK(tenon_call(owner.scope, id, NULL, &owner.tensor, 1, &y, 1));
    tenon_tensor_release(y);
  }
}

int main(void) {
  RUN(a_tape_cannot_be_reset_while_computing_gradients);
  RUN(a_derivative_cannot_use_the_tape_that_its_gradient_consumes);
  RUN(a_tape_may_be_released_while_computing_gradients);
  RUN(callbacks_distinguish_arguments_from_captures);
  RUN(outer_tapes_track_arguments_of_callbacks);
  RUN(a_tape_that_outlives_its_callback_is_an_error);
  RUN(callbacks_may_release_the_scope_and_function_of_their_call);
  return report();
}
