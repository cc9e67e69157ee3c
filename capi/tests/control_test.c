#include "capi/tests/function_code.h"

/* Calls `run` either eagerly or inside a function (`traced`), and returns its output. */
static tenon_tensor* result_of(tenon_error* (*run)(struct code*, tenon_scope*, tenon_tensor* const*,
                                                   tenon_tensor**),
                               tenon_tensor* input, int traced) {
  struct code code = {0};
  tenon_tensor* y = NULL;
  code.run = run;
  if (traced) {
    tenon_function* f = function_of(&code, NULL);
    CHECK_OK(tenon_function_call(scope(), f, &input, 1, NULL, 0, &y, 1, NULL));
    tenon_function_release(f);
  } else {
    CHECK_OK(run(&code, scope(), &input, &y));
  }
  return y;
}

/* ---- blocks: invalid outputs and errors --------------------------------- */

static tenon_error* square(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                           size_t n_inputs, tenon_tensor** out_outputs, size_t max_outputs) {
  tenon_tensor* x = payload;
  (void)inputs;
  CHECK(n_inputs == 0 && max_outputs == 1);
  return tenon_mul(inner, x, x, &out_outputs[0]);
}

static tenon_error* negative(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                             size_t n_inputs, tenon_tensor** out_outputs, size_t max_outputs) {
  (void)inputs;
  (void)n_inputs;
  (void)max_outputs;
  return tenon_neg(inner, payload, &out_outputs[0]);
}

static tenon_error* fails(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                          size_t n_inputs, tenon_tensor** out_outputs, size_t max_outputs) {
  (void)payload;
  (void)inner;
  (void)inputs;
  (void)n_inputs;
  (void)out_outputs;
  (void)max_outputs;
  return tenon_error_create(TENON_OUT_OF_RANGE, tenon_str("not today"));
}

static tenon_block block_of(tenon_error* (*function)(void* payload, tenon_scope* scope,
                                                     tenon_tensor* const* inputs, size_t n_inputs,
                                                     tenon_tensor** out_outputs,
                                                     size_t max_outputs),
                            void* payload) {
  tenon_block block;
  block.function = function;
  block.payload = payload;
  return block;
}

/* ---- cond --------------------------------------------------------------- */

static tenon_error* square_or_negative(struct code* code, tenon_scope* inner,
                                       tenon_tensor* const* inputs, tenon_tensor** out_outputs) {
  tenon_tensor *zero = tenon_scalar_f64(0), *positive = NULL;
  tenon_error* error = tenon_greater(inner, inputs[0], zero, &positive);
  (void)code;
  tenon_tensor_release(zero);
  if (!error) {
    error = tenon_cond(inner, positive, block_of(square, inputs[0]), block_of(negative, inputs[0]),
                       out_outputs, 1, NULL);
  }
  tenon_tensor_release(positive);
  return error;
}

static tenon_tensor* f32_scalar(float value) {
  tenon_tensor* x = NULL;
  CHECK_OK(tenon_tensor_from_data(scope(), TENON_FLOAT32, NULL, 0, &value, sizeof value, &x));
  return x;
}

static void cond_selects_a_branch_by_value(void) {
  int traced;
  for (traced = 0; traced < 2; ++traced) {
    tenon_tensor *a = f32_scalar(3), *b = f32_scalar(-4), *y;
    y = result_of(square_or_negative, a, traced);
    CHECK_VALUES(y, 9);
    tenon_tensor_release(y);
    y = result_of(square_or_negative, b, traced);
    CHECK_VALUES(y, 4);
    tenon_tensor_release(y);
    tenon_tensor_release(a);
    tenon_tensor_release(b);
  }
}

static void invalid_cond_calls_are_errors(void) {
  tenon_tensor *x = f32_scalar(1), *yes = tenon_scalar_bool(true), *out[2] = {NULL, NULL};
  const tenon_block ok = block_of(negative, x), none = block_of(NULL, NULL);
  size_t n = 7;

  CHECK_ERROR(tenon_cond(scope(), x, ok, ok, out, 1, NULL), TENON_INVALID_ARGUMENT, "cond: ");
  CHECK_ERROR(tenon_cond(scope(), x, ok, ok, out, 1, NULL), TENON_INVALID_ARGUMENT, "bool[]");
  CHECK_ERROR(tenon_cond(scope(), yes, none, ok, out, 1, NULL), TENON_INVALID_ARGUMENT,
              "cond: then_block has no function");
  CHECK_ERROR(tenon_cond(scope(), yes, ok, none, out, 1, NULL), TENON_INVALID_ARGUMENT,
              "else_block has no function");
  CHECK_ERROR(tenon_cond(scope(), yes, ok, ok, out, 2, NULL), TENON_INVALID_ARGUMENT,
              "cond: then_block must return 2 outputs, but returns 1");
  CHECK_ERROR(tenon_cond(scope(), yes, ok, ok, NULL, 1, NULL), TENON_INVALID_ARGUMENT,
              "out_outputs");
  CHECK_ERROR(tenon_cond(scope(), NULL, ok, ok, out, 1, NULL), TENON_INVALID_ARGUMENT, "predicate");
  CHECK_ERROR(tenon_cond(NULL, yes, ok, ok, out, 1, NULL), TENON_INVALID_ARGUMENT, "scope");
  CHECK_ERROR(tenon_cond(scope(), yes, block_of(fails, NULL), ok, out, 2, &n), TENON_OUT_OF_RANGE,
              "not today");
  CHECK(n == 0 && !out[0]);
  CHECK_OK(tenon_cond(scope(), yes, ok, ok, out, 2, &n));
  CHECK(n == 1);
  CHECK_VALUES(out[0], -1);
  tenon_tensor_release(out[0]);
  tenon_tensor_release(x);
  tenon_tensor_release(yes);
}

/* ---- case --------------------------------------------------------------- */

static tenon_error* one_of_three(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                                 tenon_tensor** out_outputs) {
  tenon_block blocks[3];
  blocks[0] = block_of(square, code->escaped);
  blocks[1] = block_of(negative, code->escaped);
  blocks[2] = block_of(square, inputs[0]);
  return tenon_case(inner, inputs[0], blocks, 3, out_outputs, 1, NULL);
}

static void case_selects_a_block_by_index(void) {
  tenon_tensor* x = NULL;
  tenon_block blocks[2];
  struct code code = {.run = one_of_three};
  tenon_function* f = function_of(&code, NULL);
  int64_t i;
  const int64_t three = 3;
  CHECK_OK(tenon_tensor_from_data(scope(), TENON_INT64, NULL, 0, &three, sizeof three, &x));
  code.escaped = x;

  for (i = -1; i < 4; ++i) {
    const double want = i == 0 ? 9 : i == 1 ? -3 : (double)(i * i);
    tenon_tensor *index = NULL, *y = NULL;
    CHECK_OK(tenon_tensor_from_data(scope(), TENON_INT64, NULL, 0, &i, sizeof i, &index));
    CHECK_OK(one_of_three(&code, scope(), &index, &y));
    CHECK_VALUES(y, want);
    tenon_tensor_release(y);
    CHECK_OK(tenon_function_call(scope(), f, &index, 1, NULL, 0, &y, 1, NULL));
    CHECK_VALUES(y, want);
    tenon_tensor_release(y);
    tenon_tensor_release(index);
  }
  CHECK(code.runs == 1);

  blocks[0] = block_of(square, x);
  blocks[1] = block_of(NULL, NULL);
  CHECK_ERROR(tenon_case(scope(), x, blocks, 0, &code.escaped, 1, NULL), TENON_INVALID_ARGUMENT,
              "n_blocks");
  CHECK_ERROR(tenon_case(scope(), x, NULL, 1, &code.escaped, 1, NULL), TENON_INVALID_ARGUMENT,
              "blocks");
  CHECK_ERROR(tenon_case(scope(), x, blocks, 2, &code.escaped, 1, NULL), TENON_INVALID_ARGUMENT,
              "case: a block has no function");
  tenon_tensor_release(x);
  x = f32_scalar(1);
  CHECK_ERROR(tenon_case(scope(), x, blocks, 1, &code.escaped, 1, NULL), TENON_INVALID_ARGUMENT,
              "i64[]");
  tenon_tensor_release(x);
  tenon_function_release(f);
}

/* ---- while_loop --------------------------------------------------------- */

static tenon_error* below_100(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                              size_t n_inputs, tenon_tensor** out_outputs, size_t max_outputs) {
  tenon_tensor* limit = tenon_scalar_f64(100);
  tenon_error* error = tenon_less(inner, inputs[0], limit, &out_outputs[0]);
  (void)payload;
  (void)n_inputs;
  CHECK(max_outputs == 1);
  tenon_tensor_release(limit);
  return error;
}

static tenon_error* doubled(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                            size_t n_inputs, tenon_tensor** out_outputs, size_t max_outputs) {
  (void)payload;
  (void)n_inputs;
  (void)max_outputs;
  return tenon_add(inner, inputs[0], inputs[0], &out_outputs[0]);
}

static const tenon_while_options* loop_options;

static tenon_error* doubled_to_100(struct code* code, tenon_scope* inner,
                                   tenon_tensor* const* inputs, tenon_tensor** out_outputs) {
  (void)code;
  return tenon_while_loop(inner, block_of(below_100, NULL), block_of(doubled, NULL), inputs, 1,
                          loop_options, out_outputs);
}

static void while_loop_runs_while_its_condition_holds(void) {
  tenon_while_options options = TENON_WHILE_OPTIONS_DEFAULT;
  int run;
  for (run = 0; run < 8; ++run) {
    const int traced = run % 2;
    tenon_tensor *x = f32_scalar(3), *y;
    tenon_tape* tape = NULL;
    tenon_value* source = (tenon_value*)x;
    tenon_tensor* dx = NULL;
    /* Runs 0 and 1 use the default options. Later pairs of runs use one loop policy each. */
    loop_options = run < 2 ? NULL : &options;
    options.policy = run / 2 - 1;
    options.max_trips = 6;
    CHECK_OK(tenon_tape_create(scope(), NULL, &tape));
    CHECK_OK(tenon_tape_watch(tape, source));
    y = result_of(doubled_to_100, x, traced);
    CHECK_VALUES(y, 192);
    CHECK_OK(tenon_tape_gradient(scope(), tape, &y, 1, NULL, &source, 1, NULL, &dx));
    CHECK_VALUES(dx, 64);
    tenon_tape_release(tape);
    tenon_tensor_release(dx);
    tenon_tensor_release(y);
    tenon_tensor_release(x);
  }
  loop_options = NULL;
}

static void invalid_while_loops_are_errors(void) {
  tenon_tensor *x = f32_scalar(1), *out = NULL;
  const tenon_block holds = block_of(below_100, NULL), body = block_of(doubled, NULL);
  const tenon_block none = block_of(NULL, NULL);
  tenon_while_options options = TENON_WHILE_OPTIONS_DEFAULT;

  CHECK_ERROR(tenon_while_loop(scope(), none, body, &x, 1, NULL, &out), TENON_INVALID_ARGUMENT,
              "while_loop: condition has no function");
  CHECK_ERROR(tenon_while_loop(scope(), holds, none, &x, 1, NULL, &out), TENON_INVALID_ARGUMENT,
              "body has no function");
  CHECK_ERROR(tenon_while_loop(scope(), body, body, &x, 1, NULL, &out), TENON_INVALID_ARGUMENT,
              "must be bool[]");
  CHECK_ERROR(tenon_while_loop(scope(), holds, holds, &x, 1, NULL, &out), TENON_INVALID_ARGUMENT,
              "while_loop carries f32[] as value 0, but its body returns bool[]");
  CHECK_ERROR(tenon_while_loop(scope(), holds, body, NULL, 1, NULL, &out), TENON_INVALID_ARGUMENT,
              "initial");
  CHECK_ERROR(tenon_while_loop(scope(), holds, body, &x, 1, NULL, NULL), TENON_INVALID_ARGUMENT,
              "out_values");
  CHECK_ERROR(tenon_while_loop(scope(), holds, block_of(fails, NULL), &x, 1, NULL, &out),
              TENON_OUT_OF_RANGE, "not today");
  CHECK(!out);
  options.policy = 3;
  CHECK_ERROR(tenon_while_loop(scope(), holds, body, &x, 1, &options, &out), TENON_INVALID_ARGUMENT,
              "options.policy 3 is not a known policy");
  options.policy = TENON_LOOP_BOUNDED;
  CHECK_ERROR(tenon_while_loop(scope(), holds, body, &x, 1, &options, &out), TENON_INVALID_ARGUMENT,
              "requires max_trips");
  options.max_trips = 6;
  CHECK_ERROR(tenon_while_loop(scope(), holds, body, &x, 1, &options, &out), TENON_INVALID_ARGUMENT,
              "exceeds its maximum of 6 trips");
  tenon_tensor_release(x);
}

/* ---- scan --------------------------------------------------------------- */

/* Adds an element to the carried sum, and returns the sum also as an element to stack. */
static tenon_error* running_sum(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                                size_t n_inputs, tenon_tensor** out_outputs, size_t max_outputs) {
  tenon_error* error = tenon_add(inner, inputs[0], inputs[1], &out_outputs[0]);
  (void)payload;
  CHECK(n_inputs == 2 && max_outputs == 2);
  if (error) return error;
  tenon_tensor_retain(out_outputs[0]);
  out_outputs[1] = out_outputs[0];
  return NULL;
}

static tenon_error* sums(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                         tenon_tensor** out_outputs) {
  tenon_scan_options options = TENON_SCAN_OPTIONS_DEFAULT;
  tenon_tensor *zero = tenon_scalar_f64(0), *total = NULL;
  tenon_error* error;
  options.reverse = code->n_statics == 0 && code->escaped != NULL;
  error = tenon_scan(inner, block_of(running_sum, NULL), &zero, 1, inputs, 1, &options, &total,
                     out_outputs, 1, NULL);
  tenon_tensor_release(zero);
  tenon_tensor_release(total);
  return error;
}

static void scan_iterates_over_the_first_axis(void) {
  int traced;
  for (traced = 0; traced < 2; ++traced) {
    tenon_tensor *x = F32(1, 2, 4), *y = result_of(sums, x, traced);
    CHECK_VALUES(y, 1, 3, 7);
    tenon_tensor_release(y);
    tenon_tensor_release(x);
  }
}

static void scan_iterates_in_reverse(void) {
  tenon_tensor *x = F32(1, 2, 4), *y = NULL;
  struct code code = {0};
  code.escaped = x;
  CHECK_OK(sums(&code, scope(), &x, &y));
  CHECK_VALUES(y, 7, 6, 4);
  tenon_tensor_release(y);
  tenon_tensor_release(x);
}

static void invalid_scans_are_errors(void) {
  tenon_tensor *x = F32(1, 2), *zero = f32_scalar(0), *total = NULL, *all[2] = {NULL, NULL};
  const tenon_block body = block_of(running_sum, NULL);
  size_t n = 0;

  CHECK_ERROR(tenon_scan(scope(), block_of(NULL, NULL), &zero, 1, &x, 1, NULL, &total, all, 1, &n),
              TENON_INVALID_ARGUMENT, "scan: body has no function");
  CHECK_ERROR(tenon_scan(scope(), body, &zero, 1, &x, 0, NULL, &total, all, 1, &n),
              TENON_INVALID_ARGUMENT, "n_xs");
  CHECK_ERROR(tenon_scan(scope(), body, &zero, 1, &zero, 1, NULL, &total, all, 1, &n),
              TENON_INVALID_ARGUMENT, "scan iterates over the first axis, but f32[] has none");
  CHECK_ERROR(tenon_scan(scope(), body, &zero, 1, &x, 1, NULL, NULL, all, 1, &n),
              TENON_INVALID_ARGUMENT, "out_carried");
  CHECK_ERROR(tenon_scan(scope(), body, &zero, 1, &x, 1, NULL, &total, NULL, 1, &n),
              TENON_INVALID_ARGUMENT, "out_stacked");
  CHECK(!total && !all[0]);
  CHECK_OK(tenon_scan(scope(), body, &zero, 1, &x, 1, NULL, &total, all, 1, &n));
  CHECK(n == 1);
  CHECK_VALUES(total, 3);
  tenon_tensor_release(total);
  tenon_tensor_release(all[0]);
  tenon_tensor_release(x);
  tenon_tensor_release(zero);
}

/* ---- shape -------------------------------------------------------------- */

static tenon_error* shape_of(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                             tenon_tensor** out_outputs) {
  (void)code;
  return tenon_shape(inner, inputs[0], &out_outputs[0]);
}

static void shape_returns_sizes_as_a_tensor(void) {
  struct code code = {.run = shape_of};
  const int64_t unknown = TENON_SIZE_UNKNOWN;
  tenon_input_spec spec = {0};
  tenon_function_options options = TENON_FUNCTION_OPTIONS_DEFAULT;
  tenon_function* f;
  tenon_tensor *x = F32(1, 2, 4), *y = NULL;
  spec.dtype = TENON_FLOAT32;
  spec.rank = 1;
  spec.shape = &unknown;
  options.signature = &spec;
  options.n_signature = 1;
  f = function_of(&code, &options);

  CHECK_OK(tenon_shape(scope(), x, &y));
  CHECK_VALUES(y, 3);
  tenon_tensor_release(y);
  CHECK_OK(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL));
  CHECK_VALUES(y, 3);
  tenon_tensor_release(y);
  tenon_tensor_release(x);
  x = F32(1, 2);
  CHECK_OK(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL));
  CHECK_VALUES(y, 2);
  CHECK(tenon_function_count_traces(f) == 1);
  tenon_tensor_release(y);

  CHECK_ERROR(tenon_shape(scope(), NULL, &y), TENON_INVALID_ARGUMENT, "tensor");
  CHECK(!y);
  CHECK_ERROR(tenon_shape(scope(), x, NULL), TENON_INVALID_ARGUMENT, "out_shape");
  tenon_tensor_release(x);
  tenon_function_release(f);
}

int main(void) {
  RUN(cond_selects_a_branch_by_value);
  RUN(invalid_cond_calls_are_errors);
  RUN(case_selects_a_block_by_index);
  RUN(while_loop_runs_while_its_condition_holds);
  RUN(invalid_while_loops_are_errors);
  RUN(scan_iterates_over_the_first_axis);
  RUN(scan_iterates_in_reverse);
  RUN(invalid_scans_are_errors);
  RUN(shape_returns_sizes_as_a_tensor);
  return report();
}
