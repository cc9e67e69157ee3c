#include "capi/tests/function_code.h"

static void functions_can_be_traced_without_running(void) {
  struct code code = {.run = product};
  tenon_function* f = function_of(&code, NULL);
  const int64_t shape[1] = {3}, huge[2] = {INT64_MAX, 4}, negative[1] = {-2};
  tenon_input_spec specs[2] = {{TENON_STR("a"), TENON_FLOAT32, 1, NULL, NULL, false},
                               {TENON_STR(""), TENON_FLOAT32, 0, NULL, NULL, true}};
  tenon_tensor *inputs[2] = {F32(1, 2, 3), tenon_scalar_f64(2)}, *y = NULL;
  tenon_trace *trace = NULL, *other = NULL;
  specs[0].shape = shape;

  CHECK_OK(tenon_function_trace(scope(), f, specs, 2, NULL, 0, &trace));
  CHECK(code.runs == 1);
  CHECK_OK(tenon_function_call(scope(), f, inputs, 2, NULL, 0, &y, 1, NULL));
  CHECK_VALUES(y, 2, 4, 6);
  tenon_tensor_release(y);
  CHECK(code.runs == 1);
  CHECK_OK(tenon_function_trace(scope(), f, specs, 2, NULL, 0, &other));
  CHECK(other == trace);
  tenon_trace_release(other);

  /* A trace may outlive its function. */
  CHECK_ERROR(tenon_function_get_trace(f, 1, &other), TENON_OUT_OF_RANGE, "there are 1 traces");
  tenon_trace_retain(trace);
  tenon_function_release(f);
  tenon_trace_release(trace);
  CHECK_OK(tenon_trace_call(scope(), trace, inputs, 2, &y, 1));
  CHECK_VALUES(y, 2, 4, 6);
  tenon_tensor_release(y);
  CHECK_ERROR(tenon_trace_call(scope(), trace, inputs, 1, &y, 1), TENON_INVALID_ARGUMENT,
              "the trace accepts (a: f32[3], x1: f32), but the inputs are (f32[3])");
  CHECK_ERROR(tenon_trace_call(scope(), trace, inputs, 2, &y, 0), TENON_INVALID_ARGUMENT,
              "the trace has 1 outputs, but 0 were requested");
  CHECK_ERROR(tenon_trace_call(scope(), NULL, inputs, 2, &y, 1), TENON_INVALID_ARGUMENT,
              "trace is NULL");
  CHECK_ERROR(tenon_trace_text(trace, NULL), TENON_INVALID_ARGUMENT, "out_text");
  CHECK_ERROR(tenon_trace_stages(trace, NULL), TENON_INVALID_ARGUMENT, "out_text");
  tenon_trace_release(trace);

  f = function_of(&code, NULL);
  specs[0].shape = negative;
  CHECK_ERROR(tenon_function_trace(scope(), f, specs, 2, NULL, 0, &trace), TENON_INVALID_ARGUMENT,
              "-2");
  specs[0].rank = 2;
  specs[0].shape = huge;
  CHECK_ERROR(tenon_function_trace(scope(), f, specs, 2, NULL, 0, &trace), TENON_INVALID_ARGUMENT,
              "");
  specs[0].shape = NULL;
  CHECK_ERROR(tenon_function_trace(scope(), f, specs, 2, NULL, 0, &trace), TENON_INVALID_ARGUMENT,
              "shape is NULL");
  specs[0].rank = 0;
  specs[0].dtype = 77;
  CHECK_ERROR(tenon_function_trace(scope(), f, specs, 2, NULL, 0, &trace), TENON_INVALID_ARGUMENT,
              "dtype");
  specs[0].dtype = TENON_INT8;
  specs[0].is_scalar = true;
  CHECK_ERROR(tenon_function_trace(scope(), f, specs, 2, NULL, 0, &trace), TENON_INVALID_ARGUMENT,
              "a scalar of i8");
  CHECK_ERROR(tenon_function_trace(scope(), f, NULL, 2, NULL, 0, &trace), TENON_INVALID_ARGUMENT,
              "specs is NULL");
  tenon_tensor_release(inputs[0]);
  tenon_tensor_release(inputs[1]);
  tenon_function_release(f);
}

/* ---- variables ---------------------------------------------------------- */

/* A body that adds its input to a variable, which the first call creates. Returns no outputs. */
static tenon_error* accumulate(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                               tenon_tensor** out_outputs) {
  (void)out_outputs;
  tenon_tensor *value = NULL, *sum = NULL;
  tenon_error* error = NULL;
  (void)out_outputs;
  if (!code->variable) {
    tenon_variable_options options = TENON_VARIABLE_OPTIONS_DEFAULT;
    options.name = tenon_str("total");
    error = tenon_variable_create(inner, inputs[0], &options, &code->variable);
  }
  if (!error) error = tenon_variable_read(inner, code->variable, &value);
  if (!error) error = tenon_add(inner, value, inputs[0], &sum);
  if (!error) error = tenon_variable_assign(inner, code->variable, sum);
  tenon_tensor_release(value);
  tenon_tensor_release(sum);
  return error;
}

/* A body that creates a variable in each call, which is an error. */
static tenon_error* wasteful(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                             tenon_tensor** out_outputs) {
  (void)code;
  tenon_variable_options options = TENON_VARIABLE_OPTIONS_DEFAULT;
  tenon_variable* variable = NULL;
  tenon_error* error;
  options.name = tenon_str("bias");
  error = tenon_variable_create(inner, inputs[0], &options, &variable);
  if (!error) error = tenon_variable_read(inner, variable, &out_outputs[0]);
  tenon_variable_release(variable);
  return error;
}

static void functions_may_create_variables_in_the_first_call(void) {
  struct code code = {.run = accumulate};
  tenon_function* f = function_of(&code, NULL);
  tenon_trace* trace = NULL;
  tenon_tensor *x = F32(1, 10), *value = NULL;

  CHECK_OK(tenon_function_call(scope(), f, &x, 1, NULL, 0, NULL, 0, NULL));
  CHECK(code.runs == 2);
  CHECK_OK(tenon_function_call(scope(), f, &x, 1, NULL, 0, NULL, 0, NULL));
  CHECK(code.runs == 2);
  CHECK_OK(tenon_variable_read(scope(), code.variable, &value));
  CHECK_VALUES(value, 3, 30);

  CHECK_OK(tenon_function_find_trace(scope(), f, &x, 1, NULL, 0, &trace));
  CHECK(tenon_trace_count_variables(trace) == 1);
  CHECK(tenon_trace_variable(trace, 0) == code.variable);
  CHECK(tenon_trace_variable(trace, 1) == NULL);
  CHECK(tenon_trace_count_effects(trace) == 0);
  CHECK(tenon_trace_effect(trace, 0).size == 0);
  CHECK(tenon_trace_count_inputs(trace) == 1);
  CHECK(tenon_trace_count_outputs(trace) == 0);
  tenon_trace_release(trace);
  tenon_tensor_release(value);
  tenon_tensor_release(x);
  tenon_function_release(f);
  tenon_variable_release(code.variable);
}

static void creating_variables_in_every_call_is_an_error(void) {
  struct code code = {.run = wasteful};
  tenon_function* f = function_of(&code, NULL);
  tenon_tensor *x = F32(1), *y = GARBAGE(tenon_tensor);

  CHECK_ERROR(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL),
              TENON_FAILED_PRECONDITION, "function f creates variable bias in every call");
  CHECK(y == NULL);
  CHECK(tenon_function_count_traces(f) == 0);
  tenon_tensor_release(x);
  tenon_function_release(f);
}

/* ---- calls inside a traced body ----------------------------------------- */

/* A body that calls the function code->inner, and keeps a handle of an input after tracing. */
static tenon_error* outer(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                          tenon_tensor** out_outputs) {
  tenon_tensor_release(code->escaped);
  tenon_tensor_retain(inputs[0]);
  code->escaped = inputs[0];
  return tenon_function_call(inner, code->inner, inputs, 2, NULL, 0, out_outputs, 1, NULL);
}

static tenon_error* endless(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                            tenon_tensor** out_outputs) {
  return tenon_function_call(inner, code->inner, inputs, 1, NULL, 0, out_outputs, 1, NULL);
}

/* A body that tries to read its input, which has no value while it is traced. */
static tenon_error* curious(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                            tenon_tensor** out_outputs) {
  (void)code;
  (void)out_outputs;
  tenon_string text = TENON_STR("");
  const int64_t* sizes = NULL;
  int64_t n = 1;
  double value;
  (void)out_outputs;
  CHECK(tenon_tensor_rank(inputs[0]) == 2);
  CHECK_ERROR(tenon_tensor_size(inputs[0], 0, &n), TENON_FAILED_PRECONDITION,
              "axis 0 of rows has size rows_0");
  CHECK_ERROR(tenon_tensor_read_shape(inputs[0], &sizes, NULL), TENON_FAILED_PRECONDITION,
              "tenon_shape");
  CHECK(sizes == NULL && n == 0);
  CHECK(size_of(inputs[0], 1) == 2);
  CHECK(tenon_tensor_strides(inputs[0])[0] == 2 && tenon_tensor_strides(inputs[0])[1] == 1);
  CHECK(tenon_tensor_data(inputs[0]) == NULL);
  CHECK_OK(tenon_tensor_format(inner, inputs[0], NULL, &text));
  CHECK_TEXT(text, "rows : f32[?,2]");
  tenon_string_release(text);
  return tenon_tensor_item_f64(inner, inputs[0], &value);
}

static void functions_may_call_functions(void) {
  struct code inside = {.run = product}, outside = {.run = outer};
  tenon_function *inner = function_of(&inside, NULL), *f;
  tenon_tensor *inputs[2], *y = NULL;
  tenon_string text = TENON_STR("");
  inputs[0] = F32(3);
  inputs[1] = F32(5);
  outside.inner = inner;
  f = function_of(&outside, NULL);

  CHECK_OK(tenon_function_call(scope(), f, inputs, 2, NULL, 0, &y, 1, NULL));
  CHECK_VALUES(y, 15);
  CHECK(inside.runs == 1);
  CHECK(tenon_function_count_traces(inner) == 0); /* inner was traced as part of f. */
  tenon_tensor_release(y);

  /* After tracing, a traced tensor has no value. */
  CHECK_OK(tenon_tensor_format(scope(), outside.escaped, NULL, &text));
  CHECK_TEXT(text, "x0 : f32[1]");
  tenon_string_release(text);
  CHECK_ERROR(tenon_exp(scope(), outside.escaped, &y), TENON_FAILED_PRECONDITION,
              "belongs to a trace of function f and has no value");
  tenon_tensor_release(outside.escaped);
  tenon_function_release(f);
  tenon_function_release(inner);
  tenon_tensor_release(inputs[0]);
  tenon_tensor_release(inputs[1]);
}

static void endless_recursion_names_the_function(void) {
  struct code code = {.run = endless};
  tenon_function* f = function_of(&code, NULL);
  tenon_tensor *x = F32(3), *y = NULL;
  code.inner = f;

  CHECK_ERROR(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL),
              TENON_FAILED_PRECONDITION, "Does f call itself without end?");
  tenon_function_release(f);
  tenon_tensor_release(x);
}

/* A body that returns sum(x) / n, where the getters return n. */
static tenon_error* mean_by_getters(struct code* code, tenon_scope* inner,
                                    tenon_tensor* const* inputs, tenon_tensor** out_outputs) {
  tenon_tensor *n = tenon_scalar_f64((double)tenon_tensor_shape(inputs[0])[0]), *sum = NULL;
  tenon_error* error = tenon_sum(inner, inputs[0], NULL, &sum);
  (void)code;
  CHECK(tenon_tensor_count(inputs[0]) == tenon_tensor_shape(inputs[0])[0]);
  CHECK(tenon_tensor_bytes(inputs[0]) == 4 * (size_t)tenon_tensor_shape(inputs[0])[0]);
  CHECK(tenon_tensor_strides(inputs[0])[0] == 1);
  if (!error) error = tenon_div(inner, sum, n, &out_outputs[0]);
  tenon_tensor_release(sum);
  tenon_tensor_release(n);
  return error;
}

static void traces_specialise_for_sizes_that_a_getter_reads(void) {
  const float values[] = {3, 3, 3, 3, 3, 3};
  struct code code = {.run = mean_by_getters};
  tenon_function* f = function_of(&code, NULL);
  size_t n;
  for (n = 1; n <= 6; ++n) {
    tenon_tensor *x = make_f32(values, n), *y = NULL;
    CHECK_OK(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL));
    CHECK_VALUES(y, 3);
    tenon_tensor_release(x);
    tenon_tensor_release(y);
  }
  tenon_function_release(f);
}

static void reading_an_unknown_size_of_the_signature_is_an_error(void) {
  const int64_t shape = TENON_SIZE_UNKNOWN;
  tenon_input_spec spec = {TENON_STR("x"), TENON_FLOAT32, 1, NULL, NULL, false};
  tenon_function_options options = TENON_FUNCTION_OPTIONS_DEFAULT;
  struct code code = {.run = mean_by_getters};
  tenon_function* f;
  tenon_trace* trace = NULL;
  tenon_tensor *x = F32(3, 3), *y = NULL;
  spec.shape = &shape;
  options.signature = &spec;
  options.n_signature = 1;
  f = function_of(&code, &options);

  CHECK_ERROR(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL),
              TENON_FAILED_PRECONDITION, "axis 0 of x has size x_0");
  CHECK_ERROR(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL),
              TENON_FAILED_PRECONDITION, "tenon_shape");
  CHECK_ERROR(tenon_function_trace(scope(), f, &spec, 1, NULL, 0, &trace),
              TENON_FAILED_PRECONDITION, "tenon_shape");
  tenon_tensor_release(x);
  tenon_function_release(f);
}

static void traced_tensors_have_no_values(void) {
  struct code code = {.run = curious};
  tenon_function_options options = TENON_FUNCTION_OPTIONS_DEFAULT;
  const int64_t shape[2] = {TENON_SIZE_UNKNOWN, 2};
  const float values[] = {1, 2};
  tenon_input_spec spec = {TENON_STR("rows"), TENON_FLOAT32, 2, NULL, NULL, false};
  tenon_tensor *x = make_f32_matrix(1, 2, values), *y = NULL;
  tenon_function* f;
  spec.shape = shape;
  options.signature = &spec;
  options.n_signature = 1;
  f = function_of(&code, &options);

  CHECK_ERROR(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL),
              TENON_FAILED_PRECONDITION, "belongs to a trace of function f and has no value");
  tenon_tensor_release(x);
  tenon_function_release(f);
}

/* A body that tries to export the memory of a traced tensor, and creates a variable from a scalar.
 */
static tenon_error* greedy(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                           tenon_tensor** out_outputs) {
  tenon_dlpack* lent = NULL;
  tenon_tensor* there = NULL;
  uint64_t bytes[1];
  CHECK_ERROR(tenon_tensor_to_dlpack(inner, inputs[0], NULL, &lent), TENON_FAILED_PRECONDITION,
              "belongs to a trace");
  CHECK_ERROR(tenon_tensor_read(inner, inputs[0], bytes, 4), TENON_FAILED_PRECONDITION,
              "belongs to a trace");
  CHECK_ERROR(tenon_tensor_copy_to(inner, inputs[0], tenon_str(device_name()), &there),
              TENON_FAILED_PRECONDITION, "belongs to a trace");
  if (!code->variable) {
    tenon_error* error = tenon_variable_create(inner, inputs[0], NULL, &code->variable);
    if (error) return error;
  }
  return tenon_variable_read(inner, code->variable, &out_outputs[0]);
}

static void traced_tensors_have_no_memory(void) {
  struct code code = {.run = greedy};
  tenon_function* f = function_of(&code, NULL);
  tenon_tensor *x = tenon_scalar_f64(1.5), *y = NULL;

  CHECK_OK(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL));
  CHECK_VALUES(y, 1.5);
  CHECK(tenon_variable_dtype(code.variable) == TENON_FLOAT32);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_function_release(f);
  tenon_variable_release(code.variable);
}

/* Returns the square of its input. Its custom derivative is three times the input. */
static tenon_error* forward_of(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                               size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  (void)payload;
  (void)n_inputs;
  (void)n_outputs;
  return tenon_mul(inner, inputs[0], inputs[0], &out_outputs[0]);
}

static tenon_error* backward_of(void* payload, tenon_scope* inner, const tenon_backward_args* args,
                                tenon_tensor** out_grads, size_t n_grads) {
  tenon_tensor *three = tenon_scalar_f64(3), *product = NULL;
  tenon_error* error = tenon_mul(inner, args->cotangents[0], args->inputs[0], &product);
  (void)payload;
  CHECK(args->n_inputs == 1 && args->n_outputs == 1 && n_grads == 1);
  if (!error) error = tenon_mul(inner, product, three, &out_grads[0]);
  tenon_tensor_release(three);
  tenon_tensor_release(product);
  return error;
}

static tenon_error* customised(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                               tenon_tensor** out_outputs) {
  const tenon_tensor_function forward = {forward_of, code, on_destroy};
  const tenon_backward_function backward = {backward_of, code, on_destroy};
  return tenon_custom_gradient(inner, forward, inputs, 1, backward, out_outputs, 1);
}

static void functions_use_custom_gradients(void) {
  struct code code = {.run = customised};
  tenon_function* f = function_of(&code, NULL);
  tenon_tensor *x = F32(5), *y = NULL, *dx = NULL, *ddx = NULL;
  tenon_value* source = tenon_tensor_as_value(x);
  tenon_tape *outer = NULL, *inner = NULL;
  CHECK_OK(tenon_tape_create(scope(), NULL, &outer));
  CHECK_OK(tenon_tape_create(scope(), NULL, &inner));
  CHECK_OK(tenon_tape_watch(outer, source));
  CHECK_OK(tenon_tape_watch(inner, source));

  CHECK_OK(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL));
  CHECK_OK(tenon_tape_gradient(scope(), inner, &y, 1, NULL, &source, 1, NULL, &dx));
  CHECK_OK(tenon_tape_gradient(scope(), outer, &dx, 1, NULL, &source, 1, NULL, &ddx));
  CHECK_VALUES(y, 25);
  CHECK_VALUES(dx, 15);
  CHECK_VALUES(ddx, 3);
  CHECK(code.destroyed == 1); /* The trace still needs the derivative. */

  tenon_tape_release(inner);
  tenon_tape_release(outer);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_tensor_release(dx);
  tenon_tensor_release(ddx);
  tenon_function_release(f);
  CHECK(code.destroyed == 3);
}

/* A body with two gathers. The second one gathers from the output of the first. */
static tenon_error* gathered_twice(struct code* code, tenon_scope* inner,
                                   tenon_tensor* const* inputs, tenon_tensor** out) {
  tenon_tensor* once = NULL;
  tenon_error* error = tenon_gather(inner, inputs[0], inputs[1], NULL, &once);
  (void)code;
  if (!error) error = tenon_gather(inner, once, inputs[1], NULL, &out[0]);
  tenon_tensor_release(once);
  return error;
}

/* Returns the error of a call or, on an asynchronous device, the error of a wait. */
static tenon_error* call_and_wait(tenon_function* f, tenon_scope* where,
                                  tenon_tensor* const* inputs) {
  tenon_tensor* y = NULL;
  tenon_error* error = tenon_function_call(where, f, inputs, 2, NULL, 0, &y, 1, NULL);
  if (!error) error = tenon_scope_wait(where);
  tenon_tensor_release(y);
  return error;
}

static void scopes_that_share_a_function_receive_their_own_errors(void) {
  struct code code = {0};
  const int64_t shape[1] = {2};
  const int32_t inside[2] = {1, 0}, outside[2] = {0, 7};
  tenon_tensor *good[2] = {F32(1, 2), NULL}, *bad[2] = {good[0], NULL};
  tenon_scope* other = NULL;
  tenon_function* f;
  int i;
  code.run = gathered_twice;
  f = function_of(&code, NULL);
  CHECK_OK(tenon_scope_create(context(), tenon_str(device_name()), &other));
  CHECK_OK(tenon_tensor_from_data(scope(), TENON_INT32, shape, 1, inside, sizeof inside, &good[1]));
  CHECK_OK(
      tenon_tensor_from_data(scope(), TENON_INT32, shape, 1, outside, sizeof outside, &bad[1]));

  /* On devices that support recordings, run 1 records the launches and run 2 replays them. */
  for (i = 0; i < 3; ++i) {
    CHECK_OK(call_and_wait(f, scope(), good));
    CHECK_OK(call_and_wait(f, other, good));
    CHECK_ERROR(call_and_wait(f, other, bad), TENON_OUT_OF_RANGE, "index 7 is outside [0, 2)");
    CHECK_OK(tenon_scope_wait(scope()));
    CHECK_ERROR(call_and_wait(f, scope(), bad), TENON_OUT_OF_RANGE, "index 7 is outside [0, 2)");
    CHECK_OK(tenon_scope_wait(other));
  }

  tenon_tensor_release(good[0]);
  tenon_tensor_release(good[1]);
  tenon_tensor_release(bad[1]);
  tenon_function_release(f);
  tenon_scope_release(other);
}

/* A tape keeps the values of donated inputs, so their memory is not reused. */
static void functions_are_differentiated_with_respect_to_donated_inputs(void) {
  struct code code = {.run = product};
  tenon_function* f = function_of(&code, NULL);
  tenon_tensor* x = F32(1, 2, 3);
  int i;
  for (i = 0; i < 4; ++i) {
    tenon_tensor *inputs[2] = {x, NULL}, *y = NULL, *dx = NULL;
    tenon_value* source = (tenon_value*)x;
    tenon_tape* tape = NULL;
    CHECK_OK(tenon_tape_create(scope(), NULL, &tape));
    CHECK_OK(tenon_tape_watch(tape, source));
    CHECK_OK(tenon_add(scope(), x, x, &inputs[1]));
    CHECK_OK(tenon_tensor_donate(inputs[1]));
    CHECK_OK(tenon_function_call(scope(), f, inputs, 2, NULL, 0, &y, 1, NULL));
    CHECK_VALUES(y, 2, 8, 18);
    CHECK_OK(tenon_tape_gradient(scope(), tape, &y, 1, NULL, &source, 1, NULL, &dx));
    CHECK_VALUES(dx, 4, 8, 12);
    tenon_tensor_release(dx);
    tenon_tensor_release(y);
    tenon_tensor_release(inputs[1]);
    tenon_tape_release(tape);
  }
  tenon_tensor_release(x);
  tenon_function_release(f);
}

int main(void) {
  RUN(functions_can_be_traced_without_running);
  RUN(functions_may_create_variables_in_the_first_call);
  RUN(creating_variables_in_every_call_is_an_error);
  RUN(functions_may_call_functions);
  RUN(endless_recursion_names_the_function);
  RUN(traces_specialise_for_sizes_that_a_getter_reads);
  RUN(reading_an_unknown_size_of_the_signature_is_an_error);
  RUN(traced_tensors_have_no_values);
  RUN(traced_tensors_have_no_memory);
  RUN(functions_use_custom_gradients);
  RUN(scopes_that_share_a_function_receive_their_own_errors);
  RUN(functions_are_differentiated_with_respect_to_donated_inputs);
  return report();
}
