#include "capi/tests/function_code.h"

/* Traced tensors that are used after their tracing has ended, and inline scalars in a trace. */

/* ---- traced tensors after tracing --------------------------------------- */

/* Keeps a handle of a traced tensor in `code->escaped`. */
static tenon_error* leak(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                         tenon_tensor** out_outputs) {
  CHECK_OK(tenon_neg(inner, inputs[0], &code->escaped));
  return tenon_exp(inner, inputs[0], &out_outputs[0]);
}

/* Traces a function that computes -x, and returns the traced tensor after the tracing has ended.
 * Its size is dynamic (`is_open`) or fixed. */
static tenon_tensor* escaped(int is_open) {
  struct code code = {0};
  tenon_function_options options = TENON_FUNCTION_OPTIONS_DEFAULT;
  const int64_t size = TENON_SIZE_UNKNOWN;
  tenon_input_spec spec = {TENON_STR("x"), TENON_FLOAT32, 1, NULL, NULL, false};
  tenon_tensor *x = F32(1, 2), *y = NULL;
  tenon_function* f;
  spec.shape = &size;
  options.signature = &spec;
  options.n_signature = 1;
  code.run = leak;
  f = function_of(&code, is_open ? &options : NULL);
  CHECK_OK(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL));
  tenon_tensor_release(y);
  tenon_tensor_release(x);
  tenon_function_release(f);
  return code.escaped;
}

static tenon_error* give_it(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                            size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  (void)inner;
  (void)inputs;
  (void)n_inputs;
  (void)n_outputs;
  tenon_tensor_retain(payload);
  out_outputs[0] = payload;
  return NULL;
}

static tenon_error* use_it(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                           tenon_tensor** out_outputs) {
  return tenon_add(inner, inputs[0], code->escaped, &out_outputs[0]);
}

static tenon_error* return_it(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                              tenon_tensor** out_outputs) {
  (void)inner;
  (void)inputs;
  tenon_tensor_retain(code->escaped);
  out_outputs[0] = code->escaped;
  return NULL;
}

static tenon_error* assign_it(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                              tenon_tensor** out_outputs) {
  (void)inputs;
  (void)out_outputs;
  return tenon_variable_assign(inner, code->variable, code->escaped);
}

static tenon_error* mask_by_it(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                               tenon_tensor** out_outputs) {
  tenon_tensor* pair[2];
  (void)inputs;
  pair[0] = pair[1] = code->escaped;
  return tenon_call(inner, TENON_OP_boolean_mask, NULL, pair, 2, out_outputs, 1);
}

#define REFUSED(call) CHECK_ERROR(call, TENON_FAILED_PRECONDITION, "belongs to a")

static void refuse_everywhere(tenon_tensor* t) {
  tenon_tensor *x = F32(1, 2), *y = NULL, *g = NULL, *yes = tenon_scalar_bool(true);
  tenon_value *value = tenon_tensor_as_value(t), *own = tenon_tensor_as_value(x);
  tenon_tensor_function given = {give_it, NULL, NULL};
  tenon_block block = {give_it, NULL};
  tenon_variable *v = NULL, *made = NULL;
  tenon_tape* tape = NULL;
  struct code code = {0};
  tenon_error* (*const bodies[])(struct code*, tenon_scope*, tenon_tensor* const*,
                                 tenon_tensor**) = {use_it, return_it, assign_it, mask_by_it};
  size_t i;
  given.payload = block.payload = t;
  CHECK_OK(tenon_variable_create(scope(), x, NULL, &v));
  CHECK_OK(tenon_tape_create(scope(), NULL, &tape));

  REFUSED(tenon_variable_assign(scope(), v, t));
  REFUSED(tenon_variable_create(scope(), t, NULL, &made));
  REFUSED(tenon_tape_watch(tape, value));
  REFUSED(tenon_tape_gradient(scope(), tape, &t, 1, NULL, &own, 1, NULL, &g));
  REFUSED(tenon_tape_gradient(scope(), tape, &x, 1, NULL, &value, 1, NULL, &g));
  REFUSED(tenon_neg(scope(), t, &y));
  REFUSED(tenon_shape(scope(), t, &y));
  REFUSED(tenon_gradients(scope(), given, &x, 1, NULL, &y, 1, &g, NULL));
  REFUSED(tenon_gradients(scope(), given, &t, 1, NULL, &y, 1, &g, NULL));
  REFUSED(tenon_cond(scope(), yes, block, block, &y, 1, NULL));
  REFUSED(tenon_host_call(scope(), given, &x, 1, &x, &y, 1));
  REFUSED(tenon_host_call(scope(), given, &x, 1, &t, &y, 1));
  REFUSED(tenon_list_unstack(scope(), t, &y));
  REFUSED(tenon_list_create_like(scope(), t, 0, &y));
  for (i = 0; i < sizeof bodies / sizeof bodies[0]; ++i) {
    tenon_function* f;
    code.run = bodies[i];
    code.escaped = t;
    code.variable = v;
    f = function_of(&code, NULL);
    CHECK_ERROR(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL),
                TENON_FAILED_PRECONDITION, "belongs to another trace");
    REFUSED(tenon_function_call(scope(), f, &t, 1, NULL, 0, &y, 1, NULL));
    tenon_function_release(f);
  }
  CHECK(!y && !g && !made);

  CHECK_OK(tenon_variable_read(scope(), v, &y));
  CHECK_VALUES(y, 1, 2);
  tenon_tensor_release(y);
  tenon_tensor_release(yes);
  tenon_tape_release(tape);
  tenon_variable_release(v);
  tenon_tensor_release(x);
  tenon_tensor_release(t);
}

static void traced_tensors_are_refused_outside_their_trace(void) { refuse_everywhere(escaped(0)); }
static void traced_tensors_of_unknown_size_are_refused_outside_their_trace(void) {
  refuse_everywhere(escaped(1));
}

/* Creates a variable whose initial value is computed in the trace, then returns an error. */
static tenon_error* make_and_fail(struct code* code, tenon_scope* inner,
                                  tenon_tensor* const* inputs, tenon_tensor** out_outputs) {
  tenon_tensor* y = NULL;
  (void)out_outputs;
  CHECK_OK(tenon_neg(inner, inputs[0], &y));
  CHECK_OK(tenon_variable_create(inner, y, NULL, &code->variable));
  tenon_tensor_release(y);
  return tenon_error_create(TENON_OUT_OF_RANGE, tenon_str("not today"));
}

static tenon_error* read_variable(struct code* code, tenon_scope* inner,
                                  tenon_tensor* const* inputs, tenon_tensor** out_outputs) {
  (void)inputs;
  return tenon_variable_read(inner, code->variable, &out_outputs[0]);
}

static void a_variable_of_a_failed_trace_has_no_value(void) {
  struct code code = {0};
  tenon_tensor *x = F32(3), *y = NULL;
  tenon_function* f;
  code.run = make_and_fail;
  f = function_of(&code, NULL);
  CHECK_ERROR(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL), TENON_OUT_OF_RANGE,
              "not today");
  tenon_function_release(f);
  CHECK_ERROR(tenon_variable_read(scope(), code.variable, &y), TENON_FAILED_PRECONDITION,
              "failed before it had a value");
  code.run = read_variable;
  f = function_of(&code, NULL);
  CHECK_ERROR(tenon_function_call(scope(), f, NULL, 0, NULL, 0, &y, 1, NULL),
              TENON_FAILED_PRECONDITION, "failed before it had a value");
  tenon_function_release(f);
  /* The variable can be used after a value is assigned to it. */
  CHECK_OK(tenon_variable_assign(scope(), code.variable, x));
  CHECK_OK(tenon_variable_read(scope(), code.variable, &y));
  CHECK_VALUES(y, 3);
  tenon_tensor_release(y);
  tenon_variable_release(code.variable);
  tenon_tensor_release(x);
}

/* ---- inline scalars ----------------------------------------------------- */

static tenon_error* double_it(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                              size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  (void)payload;
  (void)n_inputs;
  (void)n_outputs;
  return tenon_add(inner, inputs[0], inputs[0], &out_outputs[0]);
}

static tenon_error* is_small(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                             size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  (void)payload;
  (void)n_inputs;
  (void)n_outputs;
  return with_scalar(inner, TENON_OP_less, inputs[0], tenon_scalar_i64(10), &out_outputs[0]);
}

static tenon_error* never(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                          size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  (void)payload;
  (void)inner;
  (void)inputs;
  (void)n_inputs;
  (void)n_outputs;
  out_outputs[0] = tenon_scalar_bool(false);
  return NULL;
}

static tenon_error* choose(tenon_scope* inner, tenon_tensor* x, int64_t index, tenon_tensor** out) {
  tenon_block blocks[3] = {{give_it, NULL}, {give_it, NULL}, {give_it, NULL}};
  tenon_tensor* which = tenon_scalar_i64(index);
  tenon_tensor* values[3] = {NULL, NULL, NULL};
  tenon_error* error;
  int i;
  for (i = 0; i < 3; ++i) {
    CHECK_OK(with_scalar(inner, TENON_OP_mul, x, tenon_scalar_i64(i + 1), &values[i]));
    blocks[i].payload = values[i];
  }
  error = tenon_case(inner, which, blocks, 3, out, 1, NULL);
  for (i = 0; i < 3; ++i) tenon_tensor_release(values[i]);
  tenon_tensor_release(which);
  return error;
}

/* Calls each function that takes an inline scalar as an index, as a predicate or as a value. */
static tenon_error* use_scalars(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                                tenon_tensor** out_outputs) {
  const int64_t indices[] = {0, 1, 2, 3, -1};
  tenon_tensor *three = tenon_scalar_i64(3), *yes = tenon_scalar_bool(true),
               *half = tenon_scalar_f64(0.5), *zero = tenon_scalar_i64(0), *list = NULL,
               *longer = NULL;
  tenon_block condition = {is_small, NULL}, stop = {never, NULL}, body = {double_it, NULL},
              mine = {give_it, NULL}, other = {give_it, NULL};
  size_t n = 0;
  (void)code;
  mine.payload = half;
  other.payload = three;
  for (; n < 5; ++n) CHECK_OK(choose(inner, inputs[0], indices[n], &out_outputs[n]));
  CHECK_OK(tenon_cond(inner, yes, mine, other, &out_outputs[n++], 1, NULL));
  CHECK_OK(tenon_while_loop(inner, condition, body, &three, 1, NULL, &out_outputs[n++]));
  CHECK_OK(tenon_while_loop(inner, stop, body, &half, 1, NULL, &out_outputs[n++]));
  CHECK_OK(tenon_list_create(inner, TENON_FLOAT32, NULL, 0, 0, &list));
  CHECK_OK(tenon_list_set(inner, list, zero, half, &longer));
  CHECK_OK(tenon_list_get(inner, longer, zero, &out_outputs[n++]));
  CHECK_OK(tenon_assert(inner, yes, tenon_str("{}"), &half, 1));
  CHECK_OK(tenon_gradients(inner, (tenon_tensor_function){double_it, NULL, NULL}, &half, 1, NULL,
                           &out_outputs[n], 1, &out_outputs[n + 1], NULL));
  n += 2;
  tenon_tensor_release(list);
  tenon_tensor_release(longer);
  tenon_tensor_release(three);
  tenon_tensor_release(yes);
  tenon_tensor_release(half);
  tenon_tensor_release(zero);
  return NULL;
}

static void inline_scalars_select_and_index_inside_functions(void) {
  const double want[] = {5, 10, 15, 15, 15, 0.5, 12, 0.5, 0.5, 1, 2};
  enum { N = sizeof want / sizeof want[0] };
  struct code code = {0};
  tenon_tensor *five, *x = NULL, *y[16] = {0};
  tenon_function* f;
  size_t i;
  int how;
  code.run = use_scalars;
  if (!device_has(TENON_FEATURE_HOST_BLOCKING)) return;
  five = F32(5);
  CHECK_OK(tenon_sum(scope(), five, NULL, &x));
  f = function_of(&code, NULL);
  for (how = 0; how < 4; ++how) {
    memset(y, 0, sizeof y);
    if (how == 0) {
      CHECK_OK(use_scalars(&code, scope(), &x, y));
    } else {
      CHECK_OK(tenon_function_call(scope(), f, &x, 1, NULL, 0, y, N, NULL));
    }
    for (i = 0; i < N; ++i) {
      CHECK_VALUES(y[i], want[i]);
      tenon_tensor_release(y[i]);
    }
  }
  tenon_function_release(f);
  tenon_tensor_release(x);
  tenon_tensor_release(five);
}

int main(void) {
  RUN(traced_tensors_are_refused_outside_their_trace);
  RUN(traced_tensors_of_unknown_size_are_refused_outside_their_trace);
  RUN(a_variable_of_a_failed_trace_has_no_value);
  RUN(inline_scalars_select_and_index_inside_functions);
  return report();
}
