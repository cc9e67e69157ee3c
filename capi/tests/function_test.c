#include "capi/tests/function_code.h"

/* ---- calls -------------------------------------------------------------- */

static void functions_are_traced_once_per_signature(void) {
  struct code code = {.run = product};
  tenon_function* f = function_of(&code, NULL);
  tenon_tensor* inputs[2] = {F32(1, 2, 3), NULL};
  int i;

  for (i = 1; i <= 3; ++i) {
    tenon_tensor* y = NULL;
    inputs[1] = tenon_scalar_f64(i);
    CHECK_OK(tenon_function_call(scope(), f, inputs, 2, NULL, 0, &y, 1, NULL));
    CHECK_VALUES(y, 1.0 * i, 2.0 * i, 3.0 * i);
    tenon_tensor_release(y);
    tenon_tensor_release(inputs[1]);
  }

  CHECK(code.runs == 1);
  CHECK(code.was_tracing);
  CHECK(!tenon_scope_is_tracing(scope()));
  CHECK(tenon_function_count_traces(f) == 1);
  tenon_tensor_release(inputs[0]);
  tenon_function_retain(f);
  tenon_function_release(f);
  CHECK(code.destroyed == 0);
  tenon_function_release(f);
  CHECK(code.destroyed == 1);
}

/* A body that returns its input times the static argument "factor", and its input. */
static tenon_error* scaled(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                           tenon_tensor** out_outputs) {
  tenon_tensor* factor = NULL;
  tenon_error* error;
  size_t i;
  for (i = 0; i < code->n_statics; ++i) {
    if (strcmp(code->statics[i].name.data, "factor") != 0) continue;
    factor = tenon_scalar_f64(code->statics[i].float_value);
  }
  error = tenon_mul(inner, inputs[0], factor, &out_outputs[0]);
  tenon_tensor_release(factor);
  tenon_tensor_retain(inputs[0]);
  out_outputs[1] = inputs[0];
  return error;
}

static tenon_static number(const char* name, double value) {
  tenon_static made = {0};
  made.kind = TENON_STATIC_FLOAT;
  made.name = tenon_str(name);
  made.float_value = value;
  return made;
}

static void functions_distinguish_static_arguments(void) {
  struct code code = {.run = scaled};
  tenon_function_options options = TENON_FUNCTION_OPTIONS_DEFAULT;
  tenon_static factor = number("factor", 2), other = number("", 0), items[2];
  tenon_tensor *x = F32(1, 2), *outputs[2];
  tenon_function* f;
  int kind;
  options.defaults = &factor;
  options.n_defaults = 1;
  f = function_of(&code, &options);
  factor.float_value = 3; /* The function has copied the default. */

  CHECK_OK(tenon_function_call(scope(), f, &x, 1, NULL, 0, outputs, 2, NULL));
  CHECK_VALUES(outputs[0], 2, 4);
  CHECK_VALUES(outputs[1], 1, 2);
  tenon_tensor_release(outputs[0]);
  tenon_tensor_release(outputs[1]);
  factor.float_value = 2; /* Equals the default: no new trace. */
  CHECK_OK(tenon_function_call(scope(), f, &x, 1, &factor, 1, outputs, 2, NULL));
  tenon_tensor_release(outputs[0]);
  tenon_tensor_release(outputs[1]);
  CHECK(code.runs == 1);

  /* Static arguments of different kinds are different keys, even if all have the value 1. */
  other.int_value = 1;
  other.float_value = 1;
  other.string_value = tenon_str("color");
  for (kind = TENON_STATIC_NONE; kind <= TENON_STATIC_ENUM; ++kind) {
    other.kind = kind;
    CHECK_OK(tenon_function_call(scope(), f, &x, 1, &other, 1, outputs, 2, NULL));
    tenon_tensor_release(outputs[0]);
    tenon_tensor_release(outputs[1]);
  }
  CHECK(code.runs == 7);

  /* Two lists with different orders of items are different keys; two such maps are the same key. */
  items[0] = number("a", 1);
  items[1] = number("b", 2);
  other.items = items;
  other.n_items = 2;
  for (kind = TENON_STATIC_LIST; kind <= TENON_STATIC_MAP; ++kind) {
    int i;
    other.kind = kind;
    for (i = 0; i < 2; ++i) {
      const tenon_static first = items[0];
      CHECK_OK(tenon_function_call(scope(), f, &x, 1, &other, 1, outputs, 2, NULL));
      tenon_tensor_release(outputs[0]);
      tenon_tensor_release(outputs[1]);
      items[0] = items[1];
      items[1] = first;
    }
  }
  CHECK(code.runs == 10);

  /* Each handle is a key of its own: static handles are compared by pointer. */
  other.kind = TENON_STATIC_HANDLE;
  other.handle = x;
  CHECK_OK(tenon_function_call(scope(), f, &x, 1, &other, 1, outputs, 2, NULL));
  tenon_tensor_release(outputs[0]);
  tenon_tensor_release(outputs[1]);
  other.handle = f;
  CHECK_OK(tenon_function_call(scope(), f, &x, 1, &other, 1, outputs, 2, NULL));
  tenon_tensor_release(outputs[0]);
  tenon_tensor_release(outputs[1]);
  CHECK(code.runs == 12);

  other.handle = scope();
  CHECK_ERROR(tenon_function_call(scope(), f, &x, 1, &other, 1, outputs, 2, NULL),
              TENON_INVALID_ARGUMENT, "not a tensor, variable, generator or function");
  other.handle = NULL;
  CHECK_ERROR(tenon_function_call(scope(), f, &x, 1, &other, 1, outputs, 2, NULL),
              TENON_INVALID_ARGUMENT, "statics contain a NULL handle");
  other.kind = 99;
  CHECK_ERROR(tenon_function_call(scope(), f, &x, 1, &other, 1, outputs, 2, NULL),
              TENON_INVALID_ARGUMENT, "of unknown kind 99");
  CHECK_ERROR(tenon_function_call(scope(), f, &x, 1, NULL, 1, outputs, 2, NULL),
              TENON_INVALID_ARGUMENT, "statics are NULL");
  items[0] = items[1] = factor;
  CHECK_ERROR(tenon_function_call(scope(), f, &x, 1, items, 2, outputs, 2, NULL),
              TENON_INVALID_ARGUMENT, "factor twice");
  other.kind = TENON_STATIC_LIST;
  other.items = &other; /* A list that contains itself. */
  other.n_items = 1;
  CHECK_ERROR(tenon_function_call(scope(), f, &x, 1, &other, 1, outputs, 2, NULL),
              TENON_INVALID_ARGUMENT, "nested");
  tenon_tensor_release(x);
  tenon_function_release(f);
}

static void functions_report_their_number_of_outputs(void) {
  struct code code = {.run = scaled};
  const tenon_static factor = number("factor", 2);
  tenon_function* f = function_of(&code, NULL);
  tenon_tensor *x = F32(1), *outputs[3];
  size_t n = 7;

  CHECK_OK(tenon_function_call(scope(), f, &x, 1, &factor, 1, outputs, 3, &n));
  CHECK(n == 2);
  CHECK(outputs[2] == NULL);
  tenon_tensor_release(outputs[0]);
  tenon_tensor_release(outputs[1]);
  CHECK_ERROR(tenon_function_call(scope(), f, &x, 1, &factor, 1, outputs, 1, &n),
              TENON_INVALID_ARGUMENT, "function f has 2 outputs, but 1 were requested");
  CHECK(n == 0);
  CHECK_ERROR(tenon_function_call(scope(), f, &x, 1, &factor, 1, outputs, 3, NULL),
              TENON_INVALID_ARGUMENT, "function f has 2 outputs, but 3 were requested");
  tenon_tensor_release(x);
  tenon_function_release(f);
}

/* A body that returns sum(inputs[0]) divided by its length, which the body reads as a number. */
static tenon_error* average(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                            tenon_tensor** out_outputs) {
  tenon_tensor *total = NULL, *length = NULL;
  int64_t n = 0;
  tenon_error* error = tenon_tensor_size(inputs[0], 0, &n);
  (void)code;
  if (!error) error = tenon_sum(inner, inputs[0], NULL, &total);
  if (!error) length = tenon_scalar_f64((double)n);
  if (!error) error = tenon_div(inner, total, length, &out_outputs[0]);
  tenon_tensor_release(total);
  tenon_tensor_release(length);
  return error;
}

static void functions_specialise_for_sizes_that_the_host_reads(void) {
  struct code code = {.run = average};
  const float ones[] = {1, 1, 1, 1, 1, 1, 1};
  tenon_function* f = function_of(&code, NULL);
  size_t n;
  for (n = 2; n < 8; ++n) {
    tenon_tensor *x = make_f32(ones, n), *y = NULL;
    CHECK_OK(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL));
    CHECK_VALUES(y, 1);
    tenon_tensor_release(x);
    tenon_tensor_release(y);
  }
  tenon_function_release(f);
}

static void one_trace_serves_all_values_of_unknown_sizes(void) {
  struct code code = {.run = product};
  tenon_function_options options = TENON_FUNCTION_OPTIONS_DEFAULT;
  const int64_t shape[2] = {TENON_SIZE_UNKNOWN, 2};
  const tenon_string names[2] = {TENON_STR("n"), TENON_STR("")};
  const tenon_string wrong[2] = {TENON_STR("2 n"), TENON_STR("")};
  const float values[] = {1, 2, 3, 4, 5, 6};
  tenon_input_spec specs[2] = {{TENON_STR("rows"), TENON_FLOAT32, 2, NULL, NULL, false},
                               {TENON_STR("rate"), TENON_FLOAT32, 0, NULL, NULL, true}};
  tenon_tensor *inputs[2], *y = NULL;
  tenon_trace* trace = NULL;
  tenon_string text = TENON_STR("");
  tenon_function* f;
  int rows;
  specs[0].shape = shape;
  specs[0].size_names = names;
  options.signature = specs;
  options.n_signature = 2;
  f = function_of(&code, &options);

  inputs[1] = tenon_scalar_f64(10);
  for (rows = 1; rows <= 3; ++rows) {
    inputs[0] = make_f32_matrix(rows, 2, values);
    CHECK_OK(tenon_function_call(scope(), f, inputs, 2, NULL, 0, &y, 1, NULL));
    CHECK(size_of(y, 0) == rows);
    tenon_tensor_release(y);
    tenon_tensor_release(inputs[0]);
  }
  CHECK(code.runs == 1);
  CHECK_OK(tenon_function_get_trace(f, 0, &trace));
  CHECK_OK(tenon_trace_text(trace, &text));
  CHECK_TEXT(text, "(rows: f32[n,2], rate: f32) {\n  v0 = mul(rows, rate)\n  return v0\n}\n");
  tenon_string_release(text);
  CHECK_OK(tenon_trace_stages(trace, &text));
  CHECK(strstr(text.data, "Graph:\n  (rows: f32[n,2], rate: f32) {\n") == text.data);
  tenon_string_release(text);
  tenon_trace_release(trace);

  inputs[0] = F32(1);
  CHECK_ERROR(tenon_function_call(scope(), f, inputs, 2, NULL, 0, &y, 1, NULL),
              TENON_INVALID_ARGUMENT, "function f: rows must be f32[n,2], but is f32[1]");
  CHECK_ERROR(tenon_function_call(scope(), f, inputs, 1, NULL, 0, &y, 1, NULL),
              TENON_INVALID_ARGUMENT, "takes 2 inputs, but got 1");
  specs[0].size_names = wrong;
  CHECK_ERROR(tenon_function_trace(scope(), f, specs, 2, NULL, 0, &trace), TENON_INVALID_ARGUMENT,
              "a size named \"2 n\", which is not an identifier");
  tenon_tensor_release(inputs[0]);
  tenon_tensor_release(inputs[1]);
  tenon_function_release(f);
}

static void functions_generalise_sizes_and_explain_their_traces(void) {
  struct code code = {.run = product};
  tenon_function* f = function_of(&code, NULL);
  const float values[] = {1, 2, 3, 4, 5, 6};
  tenon_string text = TENON_STR("");
  int n;

  for (n = 2; n <= 6; ++n) {
    tenon_tensor *x = make_f32(values, (size_t)n), *y = NULL, *inputs[2];
    inputs[0] = inputs[1] = x;
    CHECK_OK(tenon_function_call(scope(), f, inputs, 2, NULL, 0, &y, 1, NULL));
    tenon_tensor_release(x);
    tenon_tensor_release(y);
  }

  CHECK(code.runs == 3);
  CHECK_OK(tenon_function_explain(f, &text));
  CHECK_CONTAINS(text, "function f: 3 traces, 5 calls");
  CHECK_CONTAINS(text, "made because x0 is f32[3], not f32[2]");
  CHECK_CONTAINS(text, "x0: f32[x0_0]");
  tenon_string_release(text);
  CHECK_ERROR(tenon_function_explain(f, NULL), TENON_INVALID_ARGUMENT, "out_text");
  CHECK_ERROR(tenon_function_explain(NULL, &text), TENON_INVALID_ARGUMENT, "function is NULL");
  tenon_function_release(f);
}

static void functions_run_eagerly_if_requested(void) {
  struct code code = {.run = product};
  tenon_function* f = function_of(&code, NULL);
  tenon_tensor *x = F32(3), *inputs[2], *y = NULL;
  inputs[0] = inputs[1] = x;

  tenon_context_run_functions_eagerly(context(), true);
  CHECK_OK(tenon_function_call(scope(), f, inputs, 2, NULL, 0, &y, 1, NULL));
  CHECK_VALUES(y, 9);
  CHECK(!code.was_tracing);
  CHECK(tenon_function_count_traces(f) == 0);
  tenon_context_run_functions_eagerly(context(), false);
  tenon_context_run_functions_eagerly(NULL, true);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_function_release(f);
}

static void a_function_call_is_differentiated_as_one_op(void) {
  struct code code = {.run = product};
  tenon_function* f = function_of(&code, NULL);
  tenon_tensor *x = F32(3), *w = F32(5), *inputs[2], *y = NULL, *grads[2];
  tenon_value* sources[2];
  tenon_tape* tape = NULL;
  inputs[0] = x;
  inputs[1] = w;
  sources[0] = tenon_tensor_as_value(x);
  sources[1] = tenon_tensor_as_value(w);

  CHECK_OK(tenon_tape_create(scope(), NULL, &tape));
  CHECK_OK(tenon_tape_watch(tape, sources[0]));
  CHECK_OK(tenon_tape_watch(tape, sources[1]));
  CHECK_OK(tenon_function_call(scope(), f, inputs, 2, NULL, 0, &y, 1, NULL));
  CHECK_OK(tenon_tape_gradient(scope(), tape, &y, 1, NULL, sources, 2, NULL, grads));
  CHECK_VALUES(grads[0], 5);
  CHECK_VALUES(grads[1], 3);
  tenon_tensor_release(grads[0]);
  tenon_tensor_release(grads[1]);
  tenon_tensor_release(x);
  tenon_tensor_release(w);
  tenon_tensor_release(y);
  tenon_tape_release(tape);
  tenon_function_release(f);
}

/* ---- errors of bodies and callers --------------------------------------- */

static tenon_error* broken(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                           tenon_tensor** out_outputs) {
  (void)code;
  (void)inner;
  (void)inner;
  tenon_tensor_retain(inputs[0]);
  out_outputs[1] = inputs[0]; /* Output 0 stays NULL. */
  return NULL;
}

static void functions_refuse_invalid_arguments(void) {
  struct code code = {.run = broken};
  tenon_function_body made = {NULL, NULL, on_destroy};
  tenon_function_options options = TENON_FUNCTION_OPTIONS_DEFAULT;
  tenon_static unnamed = number("", 1);
  tenon_function* f = GARBAGE(tenon_function);
  tenon_trace* trace = GARBAGE(tenon_trace);
  tenon_tensor *x = F32(1), *y = GARBAGE(tenon_tensor);
  made.payload = &code;

  CHECK_ERROR(tenon_function_create(context(), tenon_str("f"), made, NULL, &f),
              TENON_INVALID_ARGUMENT, "body.function is NULL");
  CHECK(f == NULL);
  CHECK(code.destroyed == 1);
  made.function = run_code;
  CHECK_ERROR(tenon_function_create(NULL, tenon_str("f"), made, NULL, &f), TENON_INVALID_ARGUMENT,
              "context is NULL");
  CHECK_ERROR(tenon_function_create(context(), tenon_str("f"), made, NULL, NULL),
              TENON_INVALID_ARGUMENT, "out_function is NULL");
  options.defaults = &unnamed;
  options.n_defaults = 1;
  CHECK_ERROR(tenon_function_create(context(), tenon_str("f"), made, &options, &f),
              TENON_INVALID_ARGUMENT, "without a name");
  options.n_defaults = 0;
  options.max_outputs = 5000;
  CHECK_ERROR(tenon_function_create(context(), tenon_str("f"), made, &options, &f),
              TENON_INVALID_ARGUMENT, "max_outputs must be at most 4096");
  CHECK(code.destroyed == 5);

  f = function_of(&code, NULL);
  CHECK_ERROR(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL), TENON_INVALID_ARGUMENT,
              "left output 0 NULL and filled 1");
  CHECK(y == NULL);
  CHECK_ERROR(tenon_function_call(scope(), NULL, &x, 1, NULL, 0, &y, 1, NULL),
              TENON_INVALID_ARGUMENT, "function is NULL");
  CHECK_ERROR(tenon_function_call(scope(), (tenon_function*)x, &x, 1, NULL, 0, &y, 1, NULL),
              TENON_INVALID_ARGUMENT, "function is not a function");
  CHECK_ERROR(tenon_function_call(scope(), f, NULL, 1, NULL, 0, &y, 1, NULL),
              TENON_INVALID_ARGUMENT, "inputs is NULL");
  CHECK_ERROR(tenon_function_call(scope(), f, &x, 1, NULL, 0, NULL, 1, NULL),
              TENON_INVALID_ARGUMENT, "out_outputs is NULL");
  CHECK_ERROR(tenon_function_find_trace(scope(), f, &x, 1, NULL, 0, NULL), TENON_INVALID_ARGUMENT,
              "out_trace is NULL");
  CHECK_ERROR(tenon_function_find_trace(scope(), NULL, &x, 1, NULL, 0, &trace),
              TENON_INVALID_ARGUMENT, "function is NULL");
  CHECK(trace == NULL);
  CHECK_ERROR(tenon_function_get_trace(NULL, 0, &trace), TENON_INVALID_ARGUMENT,
              "function is NULL");
  CHECK(tenon_function_count_traces(NULL) == 0);
  CHECK(tenon_trace_count_inputs(NULL) == 0);
  CHECK(tenon_trace_count_outputs(NULL) == 0);
  CHECK(tenon_trace_count_variables(NULL) == 0);
  CHECK(tenon_trace_variable(NULL, 0) == NULL);
  CHECK(!tenon_scope_is_tracing(NULL));
  tenon_function_retain(NULL);
  tenon_function_release(NULL);
  tenon_trace_retain(NULL);
  tenon_trace_release(NULL);
  tenon_function_release(f);
  tenon_tensor_release(x);
}

static void gradients_of_functions_are_functions(void) {
  struct code code = {.run = product};
  tenon_function *f = function_of(&code, NULL), *df = NULL;
  tenon_tensor *inputs[2] = {F32(2, 3), F32(5, 7)}, *found[2] = {NULL, NULL};

  CHECK_OK(tenon_function_gradient(f, &df));
  tenon_function_release(f);
  CHECK_OK(tenon_function_call(scope(), df, inputs, 2, NULL, 0, found, 2, NULL));
  CHECK_VALUES(found[0], 5, 7);
  CHECK_VALUES(found[1], 2, 3);
  tenon_tensor_release(found[0]);
  tenon_tensor_release(found[1]);
  tenon_tensor_release(inputs[0]);
  inputs[0] = tenon_scalar_i64(1);
  tenon_tensor_release(inputs[1]);
  inputs[1] = tenon_scalar_i64(2);
  CHECK_ERROR(tenon_function_call(scope(), df, inputs, 2, NULL, 0, found, 2, NULL),
              TENON_INVALID_ARGUMENT, "function f has no floating input");
  tenon_tensor_release(inputs[0]);
  tenon_tensor_release(inputs[1]);
  tenon_function_release(df);
  CHECK(code.destroyed == 1);
  CHECK_ERROR(tenon_function_gradient(NULL, &df), TENON_INVALID_ARGUMENT, "function");
  CHECK(!df);
}

/* A body that returns exp(inputs[0])^2. The backward pass needs the intermediate value. */
static tenon_error* squared_exp(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                                tenon_tensor** out_outputs) {
  tenon_tensor* y = NULL;
  tenon_error* error = tenon_exp(inner, inputs[0], &y);
  (void)code;
  if (!error) error = tenon_mul(inner, y, y, &out_outputs[0]);
  tenon_tensor_release(y);
  return error;
}

static void residuals_stay_within_the_memory_budget(void) {
  struct code code = {.run = squared_exp};
  tenon_function_options options = TENON_FUNCTION_OPTIONS_DEFAULT;
  tenon_tensor *x = F32(0, 0, 0), *dx = NULL;
  int i;
  for (i = 0; i < 2; ++i) {
    tenon_function* f;
    tenon_tape* tape = NULL;
    tenon_value* source = tenon_tensor_as_value(x);
    tenon_tensor* y = NULL;
    if (i == 1) options.memory_budget_bytes = 0;
    f = function_of(&code, &options);
    CHECK_OK(tenon_tape_create(scope(), NULL, &tape));
    CHECK_OK(tenon_tape_watch(tape, source));
    CHECK_OK(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL));
    CHECK_OK(tenon_tape_gradient(scope(), tape, &y, 1, NULL, &source, 1, NULL, &dx));
    CHECK_VALUES(dx, 2, 2, 2);
    tenon_tensor_release(dx);
    tenon_tensor_release(y);
    tenon_tape_release(tape);
    tenon_function_release(f);
  }
  tenon_tensor_release(x);
}

int main(void) {
  RUN(functions_are_traced_once_per_signature);
  RUN(functions_distinguish_static_arguments);
  RUN(functions_report_their_number_of_outputs);
  RUN(functions_specialise_for_sizes_that_the_host_reads);
  RUN(one_trace_serves_all_values_of_unknown_sizes);
  RUN(functions_generalise_sizes_and_explain_their_traces);
  RUN(functions_run_eagerly_if_requested);
  RUN(a_function_call_is_differentiated_as_one_op);
  RUN(gradients_of_functions_are_functions);
  RUN(residuals_stay_within_the_memory_budget);
  RUN(functions_refuse_invalid_arguments);
  return report();
}
