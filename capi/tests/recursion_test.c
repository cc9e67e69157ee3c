#include "capi/tests/function_code.h"

/* Callbacks that call themselves without end, and custom ops whose outputs contradict `infer`. */

typedef tenon_error* tensor_code(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                                 size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs);

static tensor_code recur; /* Calls itself by the API that its payload's `way` selects. */

enum way {
  BY_COND,
  BY_CASE,
  BY_WHILE,
  BY_SCAN,
  BY_GRADIENTS,
  BY_CUSTOM_GRADIENT,
  BY_BACKWARD,
  BY_HOST_CALL,
  BY_FUNCTION,
  BY_OP,
  BY_OTHER_OP,
  N_WAYS
};

struct recursion {
  enum way way;
  tenon_function* function;
  uint32_t op, other_op;
};

static tenon_error* ignore_backward(void* payload, tenon_scope* inner,
                                    const tenon_backward_args* args, tenon_tensor** out_grads,
                                    size_t n_grads) {
  (void)n_grads;
  if (!payload) return tenon_neg(inner, args->cotangents[0], &out_grads[0]);
  return recur(payload, inner, args->cotangents, 1, out_grads, 1);
}

static tenon_error* always(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                           size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  (void)payload;
  (void)inner;
  (void)inputs;
  (void)n_inputs;
  (void)n_outputs;
  out_outputs[0] = tenon_scalar_bool(true);
  return NULL;
}

static tenon_error* negate(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                           size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  (void)payload;
  (void)n_inputs;
  (void)n_outputs;
  return tenon_neg(inner, inputs[0], &out_outputs[0]);
}

/* The payload of a block that has no inputs: the recursion, and the tensor to use as input. */
struct with_input {
  struct recursion* recursion;
  tenon_tensor* input;
};
static tenon_error* recur_with_input(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                                     size_t n_inputs, tenon_tensor** out_outputs,
                                     size_t n_outputs) {
  struct with_input* with = payload;
  (void)inputs;
  (void)n_inputs;
  return recur(with->recursion, inner, &with->input, 1, out_outputs, n_outputs);
}

static tenon_error* differentiate(struct recursion* recursion, tenon_scope* inner, tenon_tensor* x,
                                  tenon_tensor** out) {
  tenon_tensor_function forward = {negate, NULL, NULL};
  tenon_backward_function backward = {ignore_backward, NULL, NULL};
  tenon_value* source = tenon_tensor_as_value(x);
  tenon_tape* tape = NULL;
  tenon_tensor* y = NULL;
  tenon_error* error = NULL;
  backward.payload = recursion;
  CHECK_OK(tenon_tape_create(inner, NULL, &tape));
  CHECK_OK(tenon_tape_watch(tape, source));
  error = tenon_custom_gradient(inner, forward, &x, 1, backward, &y, 1);
  if (!error) error = tenon_tape_gradient(inner, tape, &y, 1, NULL, &source, 1, NULL, out);
  tenon_tensor_release(y);
  tenon_tape_release(tape);
  return error;
}

static tenon_error* recur(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                          size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  struct recursion* recursion = payload;
  struct with_input with;
  tenon_tensor_function self = {recur, NULL, NULL};
  tenon_backward_function backward = {ignore_backward, NULL, NULL};
  tenon_block block = {recur_with_input, NULL}, condition = {always, NULL}, body = {recur, NULL};
  tenon_tensor* yes = tenon_scalar_bool(true);
  tenon_tensor* zero = tenon_scalar_i64(0);
  tenon_error* error = NULL;
  (void)n_inputs;
  (void)n_outputs;
  with.recursion = recursion;
  with.input = inputs[0];
  block.payload = &with;
  self.payload = body.payload = recursion;
  switch (recursion->way) {
    case BY_COND:
      error = tenon_cond(inner, yes, block, block, out_outputs, 1, NULL);
      break;
    case BY_CASE:
      error = tenon_case(inner, zero, &block, 1, out_outputs, 1, NULL);
      break;
    case BY_WHILE:
      error = tenon_while_loop(inner, condition, body, inputs, 1, NULL, out_outputs);
      break;
    case BY_SCAN:
      error = tenon_scan(inner, body, inputs, 1, inputs, 1, NULL, out_outputs, NULL, 0, NULL);
      break;
    case BY_GRADIENTS:
      error = tenon_gradients(inner, self, inputs, 1, NULL, out_outputs, 1, NULL, NULL);
      break;
    case BY_CUSTOM_GRADIENT:
      error = tenon_custom_gradient(inner, self, inputs, 1, backward, out_outputs, 1);
      break;
    case BY_BACKWARD:
      error = differentiate(recursion, inner, inputs[0], &out_outputs[0]);
      break;
    case BY_HOST_CALL:
      error = tenon_host_call(inner, self, inputs, 1, inputs, out_outputs, 1);
      break;
    case BY_FUNCTION:
      error =
          tenon_function_call(inner, recursion->function, inputs, 1, NULL, 0, out_outputs, 1, NULL);
      break;
    case BY_OP:
      error = tenon_call(inner, recursion->op, NULL, inputs, 1, out_outputs, 1);
      break;
    default:
      error = tenon_call(inner, recursion->other_op, NULL, inputs, 1, out_outputs, 1);
  }
  tenon_tensor_release(yes);
  tenon_tensor_release(zero);
  return error;
}

static tenon_error* recur_in_op(void* payload, tenon_scope* inner, const void* attrs,
                                tenon_tensor* const* inputs, size_t n_inputs,
                                tenon_tensor** out_outputs, size_t n_outputs) {
  (void)attrs;
  return recur(payload, inner, inputs, n_inputs, out_outputs, n_outputs);
}

static tenon_error* call_first_op(void* payload, tenon_scope* inner, const void* attrs,
                                  tenon_tensor* const* inputs, size_t n_inputs,
                                  tenon_tensor** out_outputs, size_t n_outputs) {
  struct recursion* recursion = payload;
  (void)attrs;
  return tenon_call(inner, recursion->op, NULL, inputs, n_inputs, out_outputs, n_outputs);
}

static tenon_error* recur_in_body(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                                  size_t n_inputs, const tenon_static* statics, size_t n_statics,
                                  tenon_tensor** out_outputs, size_t max_outputs) {
  struct recursion* recursion = payload;
  tenon_tensor_function host = {recur, NULL, NULL};
  (void)statics;
  (void)n_statics;
  (void)n_inputs;
  (void)max_outputs;
  host.payload = recursion;
  /* The callback recurses when the trace runs, not while it is traced. */
  return tenon_host_call(inner, host, inputs, 1, inputs, out_outputs, 1);
}

static uint32_t register_op(const char* name, void* payload,
                            tenon_error* (*decompose)(void* payload, tenon_scope* inner,
                                                      const void* attrs,
                                                      tenon_tensor* const* inputs, size_t n_inputs,
                                                      tenon_tensor** out_outputs,
                                                      size_t n_outputs)) {
  tenon_custom_op op;
  uint32_t id = 0;
  memset(&op, 0, sizeof op);
  op.struct_size = sizeof op;
  op.n_inputs = op.n_outputs = 1;
  op.name = tenon_str(name);
  op.infer = infer_same;
  op.decompose = decompose;
  op.payload = payload;
  CHECK_OK(tenon_op_register(context(), &op, &id));
  return id;
}

static void callbacks_that_call_themselves_without_end_fail(void) {
  struct recursion recursion = {0};
  tenon_function_body body = {recur_in_body, NULL, NULL};
  tenon_tensor *x = F32(3), *y = NULL;
  int way;
  body.payload = &recursion;
  CHECK_OK(tenon_function_create(context(), tenon_str("f"), body, NULL, &recursion.function));
  recursion.op = register_op("test.recur", &recursion, recur_in_op);
  recursion.other_op = register_op("test.other", &recursion, call_first_op);
  for (way = 0; way < N_WAYS; ++way) {
    recursion.way = (enum way)way;
    if (!device_has(TENON_FEATURE_HOST_BLOCKING) && (way == BY_HOST_CALL || way == BY_FUNCTION)) {
      continue;
    }
    CHECK_ERROR(recur(&recursion, scope(), &x, 1, &y, 1), TENON_FAILED_PRECONDITION,
                "call itself without end?");
    CHECK(!y);
  }
  /* A failed recursion must not affect later calls. */
  CHECK_OK(tenon_neg(scope(), x, &y));
  CHECK_VALUES(y, -3);
  tenon_tensor_release(y);
  tenon_function_release(recursion.function);
  tenon_tensor_release(x);
}

static tenon_error* traced_recursion(struct code* code, tenon_scope* inner,
                                     tenon_tensor* const* inputs, tenon_tensor** out_outputs) {
  return recur(code->escaped, inner, inputs, 1, out_outputs, 1);
}

static void endless_recursion_fails_inside_functions(void) {
  struct recursion recursion = {0};
  struct code code = {0};
  tenon_tensor *x = F32(3), *y = NULL;
  int way;
  code.run = traced_recursion;
  code.escaped = (tenon_tensor*)&recursion; /* Read by traced_recursion(). */
  recursion.op = register_op("test.recur", &recursion, recur_in_op);
  recursion.other_op = register_op("test.other", &recursion, call_first_op);
  for (way = 0; way < N_WAYS; ++way) {
    tenon_function* f;
    recursion.way = (enum way)way;
    if (way == BY_WHILE || way == BY_FUNCTION) continue;
    if (!device_has(TENON_FEATURE_HOST_BLOCKING) && way == BY_HOST_CALL) continue;
    f = function_of(&code, NULL);
    CHECK_ERROR(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL),
                TENON_FAILED_PRECONDITION, "call itself without end?");
    CHECK(!y);
    tenon_function_release(f);
  }
  tenon_tensor_release(x);
}

/* ---- custom ops that contradict `infer` --------------------------------- */

static tenon_error* decompose_as_sum(void* payload, tenon_scope* inner, const void* attrs,
                                     tenon_tensor* const* inputs, size_t n_inputs,
                                     tenon_tensor** out_outputs, size_t n_outputs) {
  (void)payload;
  (void)attrs;
  (void)n_inputs;
  (void)n_outputs;
  return tenon_sum(inner, inputs[0], NULL, &out_outputs[0]);
}

static tenon_error* decompose_as_integers(void* payload, tenon_scope* inner, const void* attrs,
                                          tenon_tensor* const* inputs, size_t n_inputs,
                                          tenon_tensor** out_outputs, size_t n_outputs) {
  tenon_cast_attrs to = TENON_CAST_ATTRS_DEFAULT;
  (void)payload;
  (void)attrs;
  (void)n_inputs;
  (void)n_outputs;
  to.to = TENON_INT64;
  return tenon_cast(inner, inputs[0], &to, &out_outputs[0]);
}

static tenon_error* decompose_as_scalar(void* payload, tenon_scope* inner, const void* attrs,
                                        tenon_tensor* const* inputs, size_t n_inputs,
                                        tenon_tensor** out_outputs, size_t n_outputs) {
  (void)payload;
  (void)inner;
  (void)attrs;
  (void)inputs;
  (void)n_inputs;
  (void)n_outputs;
  out_outputs[0] = tenon_scalar_f64(7);
  return NULL;
}

static tenon_error* call_op(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                            tenon_tensor** out_outputs) {
  return tenon_call(inner, (uint32_t)(uintptr_t)code->escaped, NULL, inputs, 1, out_outputs, 1);
}

/* Calls the op eagerly, under a tape, and inside a function. */
static void check_op(uint32_t op, tenon_tensor* x, const char* error, double value) {
  struct code code = {0};
  tenon_tensor* y = NULL;
  int how;
  code.run = call_op;
  code.escaped = (tenon_tensor*)(uintptr_t)op;
  for (how = 0; how < 3; ++how) {
    tenon_tape* tape = NULL;
    tenon_function* f = function_of(&code, NULL);
    tenon_error* failed;
    if (how == 1) {
      CHECK_OK(tenon_tape_create(scope(), NULL, &tape));
      CHECK_OK(tenon_tape_watch(tape, tenon_tensor_as_value(x)));
    }
    failed = how < 2 ? tenon_call(scope(), op, NULL, &x, 1, &y, 1)
                     : tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL);
    if (error) {
      CHECK_ERROR(failed, TENON_INVALID_ARGUMENT, error);
      CHECK(!y);
    } else {
      CHECK_OK(failed);
      CHECK_VALUES(y, value);
      tenon_tensor_release(y);
      y = NULL;
    }
    tenon_function_release(f);
    tenon_tape_release(tape);
  }
}

static void decompose_must_return_the_types_that_infer_declares(void) {
  const float values[] = {1, 2, 3, 4};
  tenon_tensor *x = make_f32_matrix(2, 2, values), *one = F32(1), *scalar = NULL;
  check_op(register_op("test.sum", NULL, decompose_as_sum), x,
           "decompose returned f32[] as output 0, but infer declared f32[2,2]", 0);
  check_op(register_op("test.integers", NULL, decompose_as_integers), x,
           "decompose returned i64[2,2] as output 0, but infer declared f32[2,2]", 0);
  check_op(register_op("test.scalar", NULL, decompose_as_scalar), one,
           "decompose returned f32[] as output 0, but infer declared f32[1]", 0);
  /* `decompose` may return an inline scalar as an output of rank 0. */
  CHECK_OK(tenon_sum(scope(), one, NULL, &scalar));
  check_op(register_op("test.seven", NULL, decompose_as_scalar), scalar, NULL, 7);
  tenon_tensor_release(scalar);
  tenon_tensor_release(one);
  tenon_tensor_release(x);
}

int main(void) {
  RUN(callbacks_that_call_themselves_without_end_fail);
  RUN(endless_recursion_fails_inside_functions);
  RUN(decompose_must_return_the_types_that_infer_declares);
  return report();
}
