#include "capi/tests/function_code.h"

/* ---- a program whose function has several signatures -------------------- */

/* A body that assigns w + x * by to w, where `by` is a static argument. Returns the old value of w,
 * cast to the dtype of x. */
static tenon_error* step(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                         tenon_tensor** out_outputs) {
  tenon_cast_attrs cast = TENON_CAST_ATTRS_DEFAULT;
  tenon_tensor *w = NULL, *x = NULL, *more = NULL, *next = NULL;
  tenon_tensor* by = tenon_scalar_f64(code->statics[0].float_value);
  tenon_error* error = tenon_variable_read(inner, code->variable, &w);
  cast.to = TENON_FLOAT32;
  if (!error) error = tenon_cast(inner, inputs[0], &cast, &x);
  if (!error) error = tenon_mul(inner, x, by, &more);
  if (!error) error = tenon_add(inner, w, more, &next);
  if (!error) error = tenon_variable_assign(inner, code->variable, next);
  cast.to = tenon_tensor_dtype(inputs[0]);
  if (!error) error = tenon_cast(inner, w, &cast, &out_outputs[0]);
  tenon_tensor_release(by);
  tenon_tensor_release(w);
  tenon_tensor_release(x);
  tenon_tensor_release(more);
  tenon_tensor_release(next);
  return error;
}

static tenon_static by(double value) {
  tenon_static made = {TENON_STATIC_FLOAT, 0, TENON_STR("by"), 0, 0, TENON_STR(""), NULL, NULL};
  made.float_value = value;
  return made;
}

static tenon_trace* trace_of(tenon_function* f, tenon_dtype dtype, const tenon_static* statics) {
  static const int64_t shape[1] = {2};
  const tenon_input_spec spec = {TENON_STR("x"), dtype, 1, shape, NULL, false};
  tenon_trace* trace = NULL;
  CHECK_OK(tenon_function_trace(scope(), f, &spec, 1, statics, statics ? 1 : 0, &trace));
  return trace;
}

/* Saves "step" with three signatures: f32 and u8 with the default, by = 1, and f32 with by = 10.
 * Opens the program. */
static tenon_program* reopened(const char* path) {
  const tenon_string names[3] = {TENON_STR("step"), TENON_STR("step"), TENON_STR("step")};
  tenon_function_options options = TENON_FUNCTION_OPTIONS_DEFAULT;
  tenon_variable_options named = TENON_VARIABLE_OPTIONS_DEFAULT;
  const tenon_static one = by(1), ten = by(10);
  struct code code = {.run = step};
  tenon_tensor* initial = F32(3, 5);
  tenon_program* program = NULL;
  tenon_trace* traces[3];
  tenon_function* f;
  size_t i;
  named.name = tenon_str("w");
  CHECK_OK(tenon_variable_create(scope(), initial, &named, &code.variable));
  options.defaults = &one;
  options.n_defaults = 1;
  f = function_of(&code, &options);
  traces[0] = trace_of(f, TENON_FLOAT32, NULL);
  traces[1] = trace_of(f, TENON_UINT8, NULL);
  traces[2] = trace_of(f, TENON_FLOAT32, &ten);
  CHECK_OK(tenon_program_save(scope(), tenon_str(path), names, traces, 3));
  CHECK_OK(tenon_program_open(scope(), tenon_str(path), NULL, &program));
  for (i = 0; i < 3; ++i) tenon_trace_release(traces[i]);
  tenon_function_release(f);
  tenon_variable_release(code.variable);
  tenon_tensor_release(initial);
  return program;
}

static tenon_function* step_of(tenon_program* program) {
  tenon_function* f = NULL;
  CHECK_OK(tenon_program_get_function(program, tenon_str("step"), &f));
  return f;
}

/* ---- the opened program ------------------------------------------------- */

static void each_call_uses_its_matching_signature(void) {
  tenon_program* program = reopened("each_call");
  tenon_function* f = step_of(program);
  const tenon_static ten = by(10);
  const uint8_t bytes[2] = {1, 2};
  const int64_t shape[1] = {2};
  tenon_tensor *x = F32(1, 2), *whole = NULL, *y = NULL, *w = NULL;
  CHECK_OK(tenon_tensor_from_data(scope(), TENON_UINT8, shape, 1, bytes, 2, &whole));

  CHECK_OK(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL));
  CHECK_VALUES(y, 3, 5);
  tenon_tensor_release(y);
  CHECK_OK(tenon_function_call(scope(), f, &whole, 1, NULL, 0, &y, 1, NULL));
  CHECK(tenon_tensor_dtype(y) == TENON_UINT8);
  tenon_tensor_release(y);
  CHECK_OK(tenon_function_call(scope(), f, &x, 1, &ten, 1, &y, 1, NULL));
  CHECK_VALUES(y, 5, 9);
  tenon_tensor_release(y);

  CHECK(tenon_program_count_variables(program) == 1);
  CHECK_OK(tenon_variable_read(scope(), tenon_program_variable(program, 0), &w));
  CHECK_VALUES(w, 15, 29);
  CHECK(tenon_function_count_traces(f) == 3);
  tenon_tensor_release(w);
  tenon_tensor_release(whole);
  tenon_tensor_release(x);
  tenon_function_release(f);
  tenon_program_release(program);
}

static void the_error_of_an_unmatched_call_lists_all_signatures(void) {
  tenon_program* program = reopened("fits_none");
  tenon_function* f = step_of(program);
  const tenon_static two = by(2);
  tenon_tensor *x = F32(1, 2), *longer = F32(1, 2, 3), *y = GARBAGE(tenon_tensor);

  CHECK_ERROR(tenon_function_call(scope(), f, &longer, 1, NULL, 0, &y, 1, NULL),
              TENON_INVALID_ARGUMENT,
              "function step has no signature for (f32[3]) with by=1.0. Its signatures are\n"
              "  (x: f32[2]) with by=1.0\n  (x: u8[2]) with by=1.0\n  (x: f32[2]) with by=10.0");
  CHECK(y == NULL);
  CHECK_ERROR(tenon_function_call(scope(), f, &x, 1, &two, 1, &y, 1, NULL), TENON_INVALID_ARGUMENT,
              "with by=2.0");
  tenon_tensor_release(longer);
  tenon_tensor_release(x);
  tenon_function_release(f);
  tenon_program_release(program);
}

static void signatures_are_listed_and_can_be_saved_again(void) {
  const tenon_string names[3] = {TENON_STR("again"), TENON_STR("again"), TENON_STR("again")};
  tenon_program *program = reopened("listed"), *second = NULL;
  tenon_function* f = step_of(program);
  tenon_string text = {NULL, 0};
  tenon_trace* traces[3];
  size_t i;

  CHECK(tenon_program_count_functions(program) == 1);
  CHECK(tenon_program_count_signatures(program, 0) == 3);
  CHECK(tenon_program_inputs(program, 0, 1)[0].dtype == TENON_UINT8);
  CHECK(tenon_program_outputs(program, 0, 1)[0].dtype == TENON_UINT8);
  CHECK(tenon_program_count_statics(program, 0, 2) == 1);
  CHECK_TEXT(tenon_program_statics(program, 0, 2)[0].name, "by");
  CHECK(tenon_program_statics(program, 0, 2)[0].float_value == 10);
  CHECK_OK(tenon_program_describe(program, &text));
  CHECK_CONTAINS(text, "\"defaults\":{\"by\":1.0}");
  CHECK_CONTAINS(text, "\"statics\":{\"by\":10.0}");
  tenon_string_release(text);

  for (i = 0; i < 3; ++i) {
    CHECK_OK(tenon_function_trace(scope(), f, tenon_program_inputs(program, 0, i), 1,
                                  tenon_program_statics(program, 0, i),
                                  tenon_program_count_statics(program, 0, i), &traces[i]));
  }
  CHECK_OK(tenon_program_save(scope(), tenon_str("listed_again"), names, traces, 3));
  CHECK_OK(tenon_program_open(scope(), tenon_str("listed_again"), NULL, &second));
  CHECK(tenon_program_count_signatures(second, 0) == 3);
  CHECK(tenon_program_statics(second, 0, 2)[0].float_value == 10);

  for (i = 0; i < 3; ++i) tenon_trace_release(traces[i]);
  tenon_function_release(f);
  tenon_program_release(second);
  tenon_program_release(program);
}

static void traces_with_object_static_arguments_cannot_be_saved(void) {
  const tenon_string name = TENON_STR("f");
  struct code code = {.run = product};
  tenon_static object = by(0);
  tenon_tensor* inputs[2];
  tenon_trace* trace = NULL;
  tenon_function* f = function_of(&code, NULL);
  inputs[0] = inputs[1] = F32(1, 2);
  object.kind = TENON_STATIC_HANDLE;
  object.handle = inputs[0];
  CHECK_OK(tenon_function_find_trace(scope(), f, inputs, 2, &object, 1, &trace));

  CHECK_ERROR(tenon_program_save(scope(), tenon_str("objects"), &name, &trace, 1),
              TENON_UNIMPLEMENTED, "the static argument by is an object");
  tenon_trace_release(trace);
  tenon_tensor_release(inputs[0]);
  tenon_function_release(f);
}

int main(void) {
  RUN(each_call_uses_its_matching_signature);
  RUN(the_error_of_an_unmatched_call_lists_all_signatures);
  RUN(signatures_are_listed_and_can_be_saved_again);
  RUN(traces_with_object_static_arguments_cannot_be_saved);
  return report();
}
