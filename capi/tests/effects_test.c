#include "capi/tests/function_code.h"

/* ---- collecting printed text -------------------------------------------- */

static char printed[1000];
static int print_destroyed;

static void keep_text(void* payload, tenon_string text) {
  CHECK(payload == printed);
  strncat(printed, text.data, text.size);
}
static void on_print_destroy(void* payload) {
  CHECK(payload == printed);
  ++print_destroyed;
}

static void keep_prints(void) {
  const tenon_print_callback callback = {keep_text, printed, on_print_destroy};
  CHECK_OK(tenon_context_set_print(context(), callback));
  printed[0] = 0;
}
#define CHECK_PRINTED(text)        \
  CHECK(!strcmp(printed, (text))); \
  printed[0] = 0

/* Runs the code twice eagerly and three times inside a function. Each run must pass all checks. */
static void everywhere(struct code* code, tenon_tensor* input, tenon_code expected,
                       const char* message, void (*check)(void)) {
  tenon_function* f;
  int run;
  f = function_of(code, NULL);
  for (run = 0; run < 5; ++run) {
    tenon_tensor* y = NULL;
    tenon_error* error;
    tenon_context_run_functions_eagerly(context(), run < 2);
    error = tenon_function_call(scope(), f, &input, 1, NULL, 0, &y, 1, NULL);
    if (expected == TENON_OK) {
      CHECK_OK(error);
      CHECK(y != NULL);
    } else {
      CHECK_ERROR(error, expected, message);
      CHECK(y == NULL);
    }
    check();
    tenon_tensor_release(y);
  }
  tenon_function_release(f);
}

/* ---- print -------------------------------------------------------------- */

static tenon_error* print_twice(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                                tenon_tensor** out) {
  tenon_format_options options = TENON_FORMAT_OPTIONS_DEFAULT;
  tenon_error* error = tenon_print(inner, tenon_str("x is {}"), inputs, 1, NULL);
  (void)code;
  if (!error) error = tenon_neg(inner, inputs[0], out);
  options.precision = 1;
  if (!error) error = tenon_print(inner, tenon_str(""), out, 1, &options);
  return error;
}

static void a_trace_lists_its_effects(void) {
  struct code code = {.run = print_twice};
  tenon_tensor *x = F32(1, 2), *y = NULL;
  tenon_trace* trace = NULL;
  tenon_function* f = function_of(&code, NULL);
  keep_prints();
  CHECK_OK(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL));
  CHECK_OK(tenon_function_get_trace(f, 0, &trace));
  CHECK(tenon_trace_count_effects(trace) == 2);
  CHECK_TEXT(tenon_trace_effect(trace, 1), "print");
  CHECK(tenon_trace_effect(trace, 2).size == 0);
  CHECK(tenon_trace_count_effects(NULL) == 0);
  tenon_trace_release(trace);
  tenon_function_release(f);
  tenon_tensor_release(y);
  tenon_tensor_release(x);
}

static void printed_twice(void) { CHECK_PRINTED("x is [1.25 2.  ]\n[-1.2 -2. ]\n"); }

static void functions_print_when_they_run(void) {
  struct code code = {.run = print_twice};
  tenon_tensor* x = F32(1.25, 2);
  keep_prints();
  everywhere(&code, x, TENON_OK, NULL, printed_twice);
  tenon_tensor_release(x);
}

static void invalid_prints_are_errors(void) {
  tenon_format_options options = TENON_FORMAT_OPTIONS_DEFAULT;
  tenon_tensor* x = F32(1);
  keep_prints();
  CHECK_ERROR(tenon_print(scope(), tenon_str("{} {}"), &x, 1, NULL), TENON_INVALID_ARGUMENT,
              "the format \"{} {}\" has 2 placeholders for 1 values");
  CHECK_ERROR(tenon_print(scope(), tenon_str("{"), NULL, 0, NULL), TENON_INVALID_ARGUMENT,
              "write it twice");
  CHECK_ERROR(tenon_print(scope(), tenon_str("{}"), NULL, 1, NULL), TENON_INVALID_ARGUMENT,
              "values");
  options.precision = -1;
  CHECK_ERROR(tenon_print(scope(), tenon_str("{}"), &x, 1, &options), TENON_INVALID_ARGUMENT,
              "options.precision");
  CHECK_ERROR(tenon_print(NULL, tenon_str(""), NULL, 0, NULL), TENON_INVALID_ARGUMENT, "scope");
  CHECK_PRINTED("");
  options = (tenon_format_options)TENON_FORMAT_OPTIONS_DEFAULT;
  options.long_form = true;
  CHECK_OK(tenon_print(scope(), tenon_str("{{}} {}"), &x, 1, &options));
  CHECK(!strncmp(printed, "{} [1.] : f32[1] on ", 20));
  tenon_tensor_release(x);
}

static void a_print_callback_is_destroyed_once(void) {
  const tenon_print_callback none = {NULL, NULL, NULL},
                             other = {keep_text, printed, on_print_destroy};
  print_destroyed = 0;
  keep_prints();
  CHECK(print_destroyed == 0);
  CHECK_OK(tenon_context_set_print(context(), none));
  CHECK(print_destroyed == 1);
  CHECK_ERROR(tenon_context_set_print(NULL, other), TENON_INVALID_ARGUMENT, "context");
  CHECK(print_destroyed == 2);
}

/* ---- assert ------------------------------------------------------------- */

static tenon_tensor* held_by(tenon_variable* variable) {
  tenon_tensor* value = NULL;
  CHECK_OK(tenon_variable_read(scope(), variable, &value));
  return value;
}

/* Assigns x, asserts that it is below 3, and assigns -x. */
static tenon_error* assign_assert_assign(struct code* code, tenon_scope* inner,
                                         tenon_tensor* const* inputs, tenon_tensor** out) {
  tenon_tensor *three = tenon_scalar_f64(3), *below = NULL, *y = NULL;
  tenon_error* error = tenon_variable_assign(inner, code->variable, inputs[0]);
  if (!error) error = tenon_less(inner, inputs[0], three, &below);
  if (!error) error = tenon_assert(inner, below, tenon_str("{} is not below"), inputs, 1);
  if (!error) error = tenon_neg(inner, inputs[0], &y);
  if (!error) error = tenon_variable_assign(inner, code->variable, y);
  if (!error) {
    tenon_tensor_retain(y);
    *out = y;
  }
  tenon_tensor_release(three);
  tenon_tensor_release(below);
  tenon_tensor_release(y);
  return error;
}

static tenon_variable* watched;
static void holds_what_was_assigned_before(void) {
  tenon_tensor* value = held_by(watched);
  CHECK_VALUES(value, 1, 5);
  tenon_tensor_release(value);
}
static void holds_what_was_assigned_last(void) {
  tenon_tensor* value = held_by(watched);
  CHECK_VALUES(value, -1, -2);
  tenon_tensor_release(value);
}

static void an_assertion_stops_a_function(void) {
  struct code code = {.run = assign_assert_assign};
  tenon_tensor *small = F32(1, 2), *large = F32(1, 5);
  CHECK_OK(tenon_variable_create(scope(), small, NULL, &watched));
  code.variable = watched;
  everywhere(&code, small, TENON_OK, NULL, holds_what_was_assigned_last);
  everywhere(&code, large, TENON_FAILED_PRECONDITION, "assert: [1. 5.] is not below",
             holds_what_was_assigned_before);
  tenon_variable_release(watched);
  tenon_tensor_release(small);
  tenon_tensor_release(large);
}

static void invalid_assertions_are_errors(void) {
  tenon_tensor *x = F32(1), *yes = tenon_scalar_bool(true), *no = tenon_scalar_bool(false);
  CHECK_OK(tenon_assert(scope(), yes, tenon_str("never"), NULL, 0));
  CHECK_ERROR(tenon_assert(scope(), no, tenon_str(""), NULL, 0), TENON_FAILED_PRECONDITION,
              "assert: the condition does not hold");
  CHECK_ERROR(tenon_assert(scope(), x, tenon_str(""), NULL, 0), TENON_INVALID_ARGUMENT,
              "C1: the condition must be bool, but is f32[1]");
  CHECK_ERROR(tenon_assert(scope(), NULL, tenon_str(""), NULL, 0), TENON_INVALID_ARGUMENT,
              "condition");
  CHECK_ERROR(tenon_assert(scope(), yes, tenon_str("{}"), NULL, 0), TENON_INVALID_ARGUMENT,
              "has 1 placeholders for 0 values");
  tenon_tensor_release(x);
  tenon_tensor_release(yes);
  tenon_tensor_release(no);
}

/* ---- host calls --------------------------------------------------------- */

/* Doubles x until it is at least 8. The number of iterations depends on the value of x. */
static tenon_error* to_eight(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                             size_t n_inputs, tenon_tensor** out, size_t n_outputs) {
  struct code* code = payload;
  tenon_tensor* y = inputs[0];
  double value = 0;
  tenon_error* error = tenon_tensor_item_f64(inner, y, &value);
  CHECK(n_inputs == 1 && n_outputs == 1);
  CHECK(!tenon_scope_is_tracing(inner));
  ++code->runs;
  tenon_tensor_retain(y);
  while (!error && value < 8) {
    tenon_tensor* next = NULL;
    error = tenon_add(inner, y, y, &next);
    tenon_tensor_release(y);
    y = next;
    value *= 2;
  }
  *out = y;
  return error;
}

static tenon_error* on_host(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                            tenon_tensor** out) {
  tenon_tensor_function host = {to_eight, NULL, on_destroy};
  host.payload = code;
  return tenon_host_call(inner, host, inputs, 1, inputs, out, 1);
}

static void host_calls_branch_on_values_and_have_gradients(void) {
  int traced;
  for (traced = 0; traced < 2; ++traced) {
    struct code code = {.run = on_host};
    tenon_function* f = function_of(&code, NULL);
    int call;
    tenon_context_run_functions_eagerly(context(), !traced);
    for (call = 0; call < 4; ++call) {
      tenon_tensor *x = F32(1.5), *y = NULL, *dx = NULL;
      tenon_value* source = (tenon_value*)x;
      tenon_tape* tape = NULL;
      CHECK_OK(tenon_tape_create(scope(), NULL, &tape));
      CHECK_OK(tenon_tape_watch(tape, source));
      code.runs = 0;
      CHECK_OK(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL));
      CHECK_VALUES(y, 12);
      CHECK_OK(tenon_tape_gradient(scope(), tape, &y, 1, NULL, &source, 1, NULL, &dx));
      CHECK_VALUES(dx, 8);
      /* In a function, the callback may run once for tracing. */
      CHECK(code.runs == (traced && call > 0 ? 1 : 2));
      tenon_tape_release(tape);
      tenon_tensor_release(dx);
      tenon_tensor_release(y);
      tenon_tensor_release(x);
    }
    tenon_context_run_functions_eagerly(context(), false);
    CHECK(code.destroyed == (traced ? 0 : 4));
    tenon_function_release(f);
    /* One payload belongs to the callback and one to the function. */
    CHECK(code.destroyed == (traced ? 2 : 5));
  }
}

static tenon_error* gives_nothing(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                                  size_t n_inputs, tenon_tensor** out, size_t n_outputs) {
  (void)inner, (void)inputs, (void)n_inputs, (void)out, (void)n_outputs;
  return payload ? tenon_error_create(TENON_OUT_OF_RANGE, tenon_str("not today")) : NULL;
}

static void invalid_host_calls_are_errors(void) {
  tenon_tensor *x = F32(1), *two = F32(1, 2), *y = NULL;
  struct code code = {0};
  tenon_tensor_function none = {NULL, NULL, NULL}, empty = {gives_nothing, NULL, NULL},
                        failing = {gives_nothing, NULL, NULL}, eight = {to_eight, NULL, on_destroy};
  failing.payload = &code;
  eight.payload = &code;
  CHECK_ERROR(tenon_host_call(scope(), none, &x, 1, &x, &y, 1), TENON_INVALID_ARGUMENT,
              "function.function");
  CHECK_ERROR(tenon_host_call(scope(), empty, &x, 1, &x, &y, 1), TENON_INVALID_ARGUMENT,
              "the callback");
  CHECK_ERROR(tenon_host_call(scope(), failing, &x, 1, &x, &y, 1), TENON_OUT_OF_RANGE, "not today");
  CHECK_ERROR(tenon_host_call(scope(), eight, &x, 1, &two, &y, 1), TENON_INVALID_ARGUMENT,
              "the callback returned f32[1] as output 0, but f32[2] was declared");
  CHECK(code.destroyed == 1);
  CHECK_ERROR(tenon_host_call(scope(), eight, NULL, 1, &x, &y, 1), TENON_INVALID_ARGUMENT,
              "inputs");
  CHECK(code.destroyed == 2);
  CHECK_ERROR(tenon_host_call(scope(), eight, &x, 1, NULL, &y, 1), TENON_INVALID_ARGUMENT, "like");
  CHECK_ERROR(tenon_host_call(scope(), eight, &x, 1, &x, NULL, 1), TENON_INVALID_ARGUMENT,
              "out_outputs");
  CHECK(!y);
  tenon_tensor_release(x);
  tenon_tensor_release(two);
}

/* ---- effects of custom ops ---------------------------------------------- */

static uint32_t shown_op;

static tenon_error* same_type(void* payload, const void* attrs, const tenon_type* inputs,
                              size_t n_inputs, tenon_type* out_types, size_t n_outputs) {
  (void)payload, (void)attrs, (void)n_inputs, (void)n_outputs;
  out_types[0] = inputs[0];
  return NULL;
}
static tenon_error* show_and_copy(void* payload, const void* attrs, const tenon_host_array* inputs,
                                  size_t n_inputs, const tenon_host_array* outputs,
                                  size_t n_outputs) {
  (void)payload, (void)attrs, (void)n_inputs, (void)n_outputs;
  strcat(printed, "op\n");
  memcpy(outputs[0].data, inputs[0].data, inputs[0].size);
  return NULL;
}

/* Calls the same op twice, with a print before each call. The second result is unused. */
static tenon_error* prints_and_ops(struct code* code, tenon_scope* inner,
                                   tenon_tensor* const* inputs, tenon_tensor** out) {
  tenon_tensor* unused = NULL;
  tenon_error* error = tenon_print(inner, tenon_str("first"), NULL, 0, NULL);
  (void)code;
  if (!error) error = tenon_call(inner, shown_op, NULL, inputs, 1, out, 1);
  if (!error) error = tenon_print(inner, tenon_str("second"), NULL, 0, NULL);
  if (!error) error = tenon_call(inner, shown_op, NULL, inputs, 1, &unused, 1);
  tenon_tensor_release(unused);
  return error;
}
static void printed_in_order(void) { CHECK_PRINTED("first\nop\nsecond\nop\n"); }

static void custom_host_ops_run_in_program_order(void) {
  struct code code = {.run = prints_and_ops};
  tenon_custom_op op = {0};
  tenon_tensor* x = F32(1, 2);
  op.struct_size = sizeof op;
  op.name = tenon_str("test.show");
  op.n_inputs = op.n_outputs = 1;
  op.infer = same_type;
  op.compute = show_and_copy;
  CHECK_OK(tenon_op_register(context(), &op, &shown_op));
  keep_prints();
  everywhere(&code, x, TENON_OK, NULL, printed_in_order);
  tenon_tensor_release(x);
}

int main(void) {
  RUN(functions_print_when_they_run);
  RUN(a_trace_lists_its_effects);
  RUN(invalid_prints_are_errors);
  RUN(a_print_callback_is_destroyed_once);
  RUN(an_assertion_stops_a_function);
  RUN(invalid_assertions_are_errors);
  RUN(host_calls_branch_on_values_and_have_gradients);
  RUN(invalid_host_calls_are_errors);
  RUN(custom_host_ops_run_in_program_order);
  return report();
}
