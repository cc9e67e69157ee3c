#include <errno.h>

#include "capi/tests/function_code.h"

/* ---- a program to save -------------------------------------------------- */

/* A body that returns x * w. */
static tenon_error* scaled(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                           tenon_tensor** out_outputs) {
  tenon_tensor* w = NULL;
  tenon_error* error = tenon_variable_read(inner, code->variable, &w);
  if (!error) error = tenon_mul(inner, inputs[0], w, &out_outputs[0]);
  tenon_tensor_release(w);
  return error;
}

/* A body that returns the loss sum((x w - y)^2) and assigns w - d loss / d w to w. */
static tenon_error* train(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                          tenon_tensor** out_outputs) {
  tenon_value* source = tenon_variable_as_value(code->variable);
  tenon_tape* tape = NULL;
  tenon_tensor *y = NULL, *difference = NULL, *squared = NULL, *slope = NULL, *w = NULL,
               *next = NULL;
  tenon_error* error = tenon_tape_create(inner, NULL, &tape);
  if (!error) error = scaled(code, inner, inputs, &y);
  if (!error) error = tenon_sub(inner, y, inputs[1], &difference);
  if (!error) error = tenon_mul(inner, difference, difference, &squared);
  if (!error) error = tenon_sum(inner, squared, NULL, &out_outputs[0]);
  if (!error) {
    error = tenon_tape_gradient(inner, tape, &out_outputs[0], 1, NULL, &source, 1, NULL, &slope);
  }
  if (!error) error = tenon_variable_read(inner, code->variable, &w);
  if (!error) error = tenon_sub(inner, w, slope, &next);
  if (!error) error = tenon_variable_assign(inner, code->variable, next);
  tenon_tape_release(tape);
  tenon_tensor_release(y);
  tenon_tensor_release(difference);
  tenon_tensor_release(squared);
  tenon_tensor_release(slope);
  tenon_tensor_release(w);
  tenon_tensor_release(next);
  return error;
}

static tenon_trace* trace_of(tenon_error* (*run)(struct code*, tenon_scope*, tenon_tensor* const*,
                                                 tenon_tensor**),
                             tenon_variable* w, size_t n_inputs) {
  static const int64_t shape[2] = {TENON_SIZE_UNKNOWN, 2};
  static const tenon_string names[2] = {TENON_STR("n"), TENON_STR("")};
  const tenon_input_spec specs[2] = {{TENON_STR("x"), TENON_FLOAT32, 2, shape, names, false},
                                     {TENON_STR("y"), TENON_FLOAT32, 2, shape, names, false}};
  static struct code codes[2];
  struct code* code = &codes[n_inputs - 1];
  tenon_function* f;
  tenon_trace* trace = NULL;
  memset(code, 0, sizeof *code);
  code->run = run;
  code->variable = w;
  f = function_of(code, NULL);
  CHECK_OK(tenon_function_trace(scope(), f, specs, n_inputs, NULL, 0, &trace));
  tenon_function_release(f);
  return trace;
}

/* Saves the functions "scaled" and "train". They share the variable "w", whose value is (3, 5). */
static void save(const char* path) {
  const tenon_string names[2] = {TENON_STR("scaled"), TENON_STR("train")};
  tenon_variable_options options = TENON_VARIABLE_OPTIONS_DEFAULT;
  tenon_tensor* initial = F32(3, 5);
  tenon_variable* w = NULL;
  tenon_trace* traces[2];
  options.name = tenon_str("w");
  CHECK_OK(tenon_variable_create(scope(), initial, &options, &w));
  traces[0] = trace_of(scaled, w, 1);
  traces[1] = trace_of(train, w, 2);
  CHECK_OK(tenon_program_save(scope(), tenon_str(path), names, traces, 2));
  tenon_trace_release(traces[0]);
  tenon_trace_release(traces[1]);
  tenon_variable_release(w);
  tenon_tensor_release(initial);
}

/* Calls save() and opens the program. */
static tenon_program* reopened(const char* path) {
  tenon_program* program = NULL;
  save(path);
  CHECK_OK(tenon_program_open(scope(), tenon_str(path), NULL, &program));
  return program;
}

/* Calls a function that has one output. */
static tenon_tensor* call(tenon_program* program, const char* name, tenon_tensor* const* inputs,
                          size_t n_inputs) {
  tenon_function* function = NULL;
  tenon_tensor* y = NULL;
  CHECK_OK(tenon_program_get_function(program, tenon_str(name), &function));
  CHECK_OK(tenon_function_call(scope(), function, inputs, n_inputs, NULL, 0, &y, 1, NULL));
  tenon_function_release(function);
  return y;
}

/* ---- the opened program ------------------------------------------------- */

static void saved_functions_are_read_back(void) {
  tenon_program* program = reopened("functions");
  tenon_tensor *x = make_f32_matrix(2, 2, (const float[]){1, 2, 3, 4}), *y;

  CHECK(tenon_program_count_functions(program) == 2);
  y = call(program, "scaled", &x, 1);
  CHECK_VALUES(y, 3, 10, 9, 20);
  tenon_tensor_release(y);

  tenon_program_retain(program);
  tenon_program_release(program);
  CHECK(tenon_program_count_functions(program) == 2);
  tenon_program_release(program);
  tenon_tensor_release(x);
}

static void functions_outlive_their_program(void) {
  tenon_program* program = reopened("outlive");
  tenon_tensor *x = make_f32_matrix(1, 2, (const float[]){1, 2}), *y = NULL;
  tenon_function* function = NULL;
  CHECK_OK(tenon_program_get_function(program, tenon_str("scaled"), &function));
  tenon_program_release(program);
  CHECK_OK(tenon_function_call(scope(), function, &x, 1, NULL, 0, &y, 1, NULL));
  CHECK_VALUES(y, 3, 10);
  tenon_function_release(function);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
}

/* Returns the index of a function of the program. */
static size_t index_of(const tenon_program* program, const char* name) {
  size_t i;
  for (i = 0; i < tenon_program_count_functions(program); ++i) {
    if (!strcmp(tenon_program_function_name(program, i).data, name)) return i;
  }
  CHECK(!"a function of that name");
  return 0;
}

static void programs_list_their_inputs_and_outputs(void) {
  tenon_program* program = reopened("specs");
  const size_t at = index_of(program, "train");
  const tenon_input_spec* inputs = tenon_program_inputs(program, at, 0);
  const tenon_input_spec* outputs = tenon_program_outputs(program, at, 0);
  tenon_function* function = NULL;
  tenon_trace* trace = NULL;
  tenon_string text = {NULL, 0};

  CHECK(tenon_program_count_inputs(program, at, 0) == 2);
  CHECK_TEXT(inputs[0].name, "x");
  CHECK_TEXT(inputs[1].name, "y");
  CHECK(inputs[1].dtype == TENON_FLOAT32 && inputs[1].rank == 2 && !inputs[1].is_scalar);
  CHECK(inputs[1].shape[0] == TENON_SIZE_UNKNOWN && inputs[1].shape[1] == 2);
  CHECK_TEXT(inputs[1].size_names[0], "n");
  CHECK(tenon_program_count_outputs(program, at, 0) == 1);
  CHECK(outputs[0].dtype == TENON_FLOAT32 && outputs[0].rank == 0);

  /* The signature's inputs can be passed to tenon_function_trace() unchanged. */
  CHECK_OK(tenon_program_get_function(program, tenon_str("train"), &function));
  CHECK_OK(tenon_function_trace(scope(), function, inputs, 2, NULL, 0, &trace));
  CHECK(tenon_trace_count_inputs(trace) == 2);
  CHECK(tenon_trace_count_variables(trace) == 1);

  CHECK_OK(tenon_program_describe(program, &text));
  CHECK_CONTAINS(text, "\"functions\"");
  CHECK_CONTAINS(text, "f32[n,2]");
  tenon_string_release(text);
  tenon_trace_release(trace);
  tenon_function_release(function);
  tenon_program_release(program);
}

static tenon_variable* variable_of(const tenon_program* program, const char* name) {
  size_t i;
  for (i = 0; i < tenon_program_count_variables(program); ++i) {
    tenon_variable* variable = tenon_program_variable(program, i);
    if (!strcmp(tenon_variable_name(variable).data, name)) return variable;
  }
  CHECK(!"a variable of that name");
  return NULL;
}

static void program_functions_read_assigned_variables(void) {
  tenon_program* program = reopened("assigned");
  tenon_variable* w = variable_of(program, "w");
  tenon_tensor *x = make_f32_matrix(1, 2, (const float[]){1, 2}), *other = F32(7, 8), *y;
  CHECK(tenon_variable_is_trainable(w));
  CHECK_OK(tenon_variable_assign(scope(), w, other));
  y = call(program, "scaled", &x, 1);
  CHECK_VALUES(y, 7, 16);
  tenon_tensor_release(y);
  tenon_tensor_release(x);
  tenon_tensor_release(other);
  tenon_program_release(program);
}

/* Training assigns (3, 5) - 2 x (x w - y) to w. The function "scaled" then uses the new w. */
static void saved_training_functions_train_when_called(void) {
  tenon_program* program = reopened("training");
  tenon_tensor *in[2], *loss, *y;
  in[0] = make_f32_matrix(1, 2, (const float[]){1, 2});
  in[1] = make_f32_matrix(1, 2, (const float[]){1, 4});

  loss = call(program, "train", in, 2);
  y = call(program, "scaled", in, 1);

  CHECK_VALUES(loss, 2 * 2 + 6 * 6);
  CHECK_VALUES(y, 3 - 2 * 2, (5 - 2 * 2 * 6) * 2);
  tenon_tensor_release(loss);
  tenon_tensor_release(y);
  tenon_tensor_release(in[0]);
  tenon_tensor_release(in[1]);
  tenon_program_release(program);
}

static void program_functions_have_gradients(void) {
  tenon_program* program = reopened("gradients");
  tenon_value* w = tenon_variable_as_value(variable_of(program, "w"));
  tenon_tensor *x = make_f32_matrix(1, 2, (const float[]){1, 2}), *y, *slope = NULL;
  tenon_tape* tape = NULL;
  CHECK_OK(tenon_tape_create(scope(), NULL, &tape));
  y = call(program, "scaled", &x, 1);
  CHECK_OK(tenon_tape_gradient(scope(), tape, &y, 1, NULL, &w, 1, NULL, &slope));
  CHECK_VALUES(slope, 1, 2);
  tenon_tape_release(tape);
  tenon_tensor_release(slope);
  tenon_tensor_release(y);
  tenon_tensor_release(x);
  tenon_program_release(program);
}

/* Saves one of the two functions of a trained program as another program. */
static void programs_can_be_saved_again(void) {
  const tenon_string name = TENON_STR("alone");
  tenon_program *program = reopened("again"), *second = NULL;
  tenon_variable* w = variable_of(program, "w");
  tenon_tensor *other = F32(-1, 1), *x = make_f32_matrix(1, 2, (const float[]){1, 2}), *y;
  tenon_function* function = NULL;
  tenon_trace* trace = NULL;
  const size_t at = index_of(program, "scaled");
  CHECK_OK(tenon_variable_assign(scope(), w, other));
  CHECK_OK(tenon_program_get_function(program, tenon_str("scaled"), &function));
  CHECK_OK(tenon_function_trace(scope(), function, tenon_program_inputs(program, at, 0), 1, NULL, 0,
                                &trace));
  CHECK_OK(tenon_program_save(scope(), tenon_str("again_alone"), &name, &trace, 1));
  CHECK_OK(tenon_program_open(scope(), tenon_str("again_alone"), NULL, &second));

  CHECK(tenon_program_count_functions(second) == 1);
  CHECK_TEXT(tenon_program_function_name(second, 0), "alone");
  y = call(second, "", &x, 1);
  CHECK_VALUES(y, -1, 2);

  tenon_tensor_release(y);
  tenon_tensor_release(x);
  tenon_tensor_release(other);
  tenon_trace_release(trace);
  tenon_function_release(function);
  tenon_program_release(second);
  tenon_program_release(program);
}

/* ---- errors ------------------------------------------------------------- */

/* Writes a protocol buffer field that holds bytes. */
static size_t put(char* to, int number, const char* bytes, size_t size) {
  to[0] = (char)(number << 3 | 2);
  to[1] = (char)size;
  memcpy(to + 2, bytes, size);
  return size + 2;
}

/* Writes an ONNX file of operator set 20 whose nodes "first" and "second" have unsupported ops. */
static void write_unknown_ops(const char* path) {
  char model[120], graph[100], node[40];
  size_t n_model = 0, n_graph = 0, n_node;
  FILE* file = fopen(path, "wb");
  CHECK(file != NULL);
  if (!file) return;
  n_node = put(node, 2, "a", 1);
  n_node += put(node + n_node, 3, "first", 5);
  n_node += put(node + n_node, 4, "Frobnicate", 10);
  n_graph += put(graph + n_graph, 1, node, n_node);
  n_node = put(node, 2, "b", 1);
  n_node += put(node + n_node, 3, "second", 6);
  n_node += put(node + n_node, 4, "Quux", 4);
  n_graph += put(graph + n_graph, 1, node, n_node);
  n_graph += put(graph + n_graph, 2, "g", 1);
  n_graph += put(graph + n_graph, 12,
                 "\x0a\x01"
                 "a",
                 3);
  memcpy(model, "\x08\x0a\x42\x02\x10\x14", 6); /* IR version 10, operator set 20. */
  n_model = 6;
  n_model += put(model + n_model, 7, graph, n_graph);
  CHECK(fwrite(model, 1, n_model, file) == n_model);
  CHECK(fclose(file) == 0);
}

/* Writes an ONNX file that computes y = -x for x: f32[2], but declares y: f32[7]. */
static void write_wrong_shape(const char* path) {
  static const unsigned char model[] = {
      8,   10, 66, 2,   16, 20,  58, 50, 10,  11, 10, 1,  120, 18, 1,  121, 34, 3,  78, 101,
      103, 18, 1,  103, 90, 15,  10, 1,  120, 18, 10, 10, 8,   8,  1,  18,  4,  10, 2,  8,
      2,   98, 15, 10,  1,  121, 18, 10, 10,  8,  8,  1,  18,  4,  10, 2,   8,  7};
  FILE* file = fopen(path, "wb");
  CHECK(file != NULL);
  if (!file) return;
  CHECK(fwrite(model, 1, sizeof model, file) == sizeof model);
  CHECK(fclose(file) == 0);
}

static void strict_programs_refuse_wrong_declared_shapes(void) {
  tenon_program_options options = TENON_PROGRAM_OPTIONS_DEFAULT;
  tenon_program *lenient, *strict;
  tenon_function* function = NULL;
  tenon_tensor *x = F32(1, -2), *y;
  write_wrong_shape("wrong.onnx");

  CHECK_OK(tenon_program_open(scope(), tenon_str("wrong.onnx"), &options, &lenient));
  y = call(lenient, "", &x, 1);
  CHECK_VALUES(y, -1, 2);
  tenon_tensor_release(y);

  options.strict = true;
  CHECK_OK(tenon_program_open(scope(), tenon_str("wrong.onnx"), &options, &strict));
  CHECK_OK(tenon_program_get_function(strict, tenon_str(""), &function));
  y = GARBAGE(tenon_tensor);
  CHECK_ERROR(tenon_function_call(scope(), function, &x, 1, NULL, 0, &y, 1, NULL), TENON_DATA_LOSS,
              "the value \"y\" is declared to be f32[7], but is f32[2]");

  tenon_function_release(function);
  tenon_tensor_release(x);
  tenon_program_release(strict);
  tenon_program_release(lenient);
}

static void unreadable_files_are_errors(void) {
  tenon_program* program = GARBAGE(tenon_program);
  tenon_error* error;
  FILE* file = fopen("nothing.onnx", "wb");
  CHECK(file != NULL && fputs("no model", file) >= 0 && fclose(file) == 0);
  write_unknown_ops("unknown.onnx");

  CHECK_ERROR(tenon_program_open(scope(), tenon_str("no_such_program"), NULL, &program),
              TENON_NOT_FOUND, "no_such_program");
  CHECK(program == NULL);
  CHECK_ERROR(tenon_program_open(scope(), tenon_str("nothing.onnx"), NULL, &program),
              TENON_DATA_LOSS, "nothing.onnx");
  /* The error lists both unsupported ops. */
  error = tenon_program_open(scope(), tenon_str("unknown.onnx"), NULL, &program);
  CHECK(tenon_error_code(error) == TENON_UNIMPLEMENTED);
  CHECK_CONTAINS(tenon_error_message(error), "Frobnicate");
  CHECK_CONTAINS(tenon_error_message(error), "first");
  CHECK_CONTAINS(tenon_error_message(error), "Quux");
  CHECK_CONTAINS(tenon_error_message(error), "second");
  tenon_error_release(error);
  /* The working folder contains no program. */
  CHECK_ERROR(tenon_program_open(scope(), tenon_str("."), NULL, &program), TENON_NOT_FOUND,
              "tenon.json");
  CHECK_ERROR(tenon_program_open(scope(), tenon_str("x"), NULL, NULL), TENON_INVALID_ARGUMENT,
              "out_program is NULL");
  CHECK_ERROR(tenon_program_open(NULL, tenon_str("x"), NULL, &program), TENON_INVALID_ARGUMENT,
              "scope is NULL");
}

static void missing_functions_are_errors(void) {
  size_t i;
  tenon_program* program = reopened("names");
  tenon_function* function = GARBAGE(tenon_function);
  tenon_string text = {NULL, 0};
  tenon_error* error = tenon_program_get_function(program, tenon_str("classify"), &function);
  CHECK(tenon_error_code(error) == TENON_NOT_FOUND);
  CHECK_CONTAINS(tenon_error_message(error), "classify");
  CHECK_CONTAINS(tenon_error_message(error), "scaled");
  CHECK_CONTAINS(tenon_error_message(error), "train");
  tenon_error_release(error);
  CHECK(function == NULL);
  /* The empty name selects the only function, so it is an error if there are two. */
  CHECK_ERROR(tenon_program_get_function(program, tenon_str(""), &function), TENON_NOT_FOUND, "");
  CHECK_ERROR(tenon_program_get_function(NULL, tenon_str("f"), &function), TENON_INVALID_ARGUMENT,
              "program is NULL");
  CHECK_ERROR(tenon_program_get_function(program, tenon_str("f"), NULL), TENON_INVALID_ARGUMENT,
              "out_function is NULL");
  CHECK_ERROR(tenon_program_describe(program, NULL), TENON_INVALID_ARGUMENT, "out_text is NULL");
  CHECK_ERROR(tenon_program_describe(NULL, &text), TENON_INVALID_ARGUMENT, "program is NULL");

  CHECK_TEXT(tenon_program_function_name(program, 2), "");
  CHECK(tenon_program_count_signatures(program, 0) == 1);
  CHECK(tenon_program_count_signatures(program, 2) == 0);
  for (i = 0; i < 2; ++i) { /* Function 2 and signature 1 do not exist. */
    const size_t f = i ? 0 : 2, of = i ? 1 : 0;
    CHECK(tenon_program_inputs(program, f, of) == NULL);
    CHECK(tenon_program_outputs(program, f, of) == NULL);
    CHECK(tenon_program_statics(program, f, of) == NULL);
    CHECK(tenon_program_count_inputs(program, f, of) == 0);
    CHECK(tenon_program_count_outputs(program, f, of) == 0);
    CHECK(tenon_program_count_statics(program, f, of) == 0);
  }
  CHECK(tenon_program_variable(program, tenon_program_count_variables(program)) == NULL);
  CHECK(tenon_program_count_functions(NULL) == 0 && tenon_program_count_variables(NULL) == 0);
  CHECK(tenon_program_inputs(NULL, 0, 0) == NULL);
  CHECK(tenon_program_count_functions((tenon_program*)scope()) == 0);
  tenon_program_release(program);
  tenon_program_retain(NULL);
  tenon_program_release(NULL);
}

static void traces_that_cannot_be_saved_are_errors(void) {
  const tenon_string twice[2] = {TENON_STR("f"), TENON_STR("f")};
  const tenon_string outside = TENON_STR("../f");
  struct code code = {.run = product};
  tenon_function* f = function_of(&code, NULL);
  tenon_tensor* inputs[2];
  tenon_trace* traces[2] = {NULL, NULL};
  inputs[0] = inputs[1] = F32(1, 2);
  CHECK_OK(tenon_function_find_trace(scope(), f, inputs, 2, NULL, 0, &traces[0]));
  traces[1] = traces[0];

  CHECK_ERROR(tenon_program_save(scope(), tenon_str("unsaved"), twice, traces, 2),
              TENON_INVALID_ARGUMENT, "f");
  CHECK_ERROR(tenon_program_save(scope(), tenon_str("unsaved"), &outside, traces, 1),
              TENON_INVALID_ARGUMENT, "../f");
  CHECK_ERROR(tenon_program_save(scope(), tenon_str("unsaved"), twice, traces, 0),
              TENON_INVALID_ARGUMENT, "at least one function");
  CHECK_ERROR(tenon_program_save(scope(), tenon_str("unsaved"), NULL, traces, 1),
              TENON_INVALID_ARGUMENT, "names is NULL");
  CHECK_ERROR(tenon_program_save(scope(), tenon_str("unsaved"), twice, NULL, 1),
              TENON_INVALID_ARGUMENT, "traces is NULL");
  traces[1] = NULL;
  CHECK_ERROR(tenon_program_save(scope(), tenon_str("unsaved"), twice, traces, 2),
              TENON_INVALID_ARGUMENT, "traces[1]");
  CHECK_ERROR(tenon_program_save(scope(), tenon_str("no/such/folder/p"), twice, traces, 1),
              TENON_NOT_FOUND, "no/such/folder");
  /* The failed call has not written a file. */
  errno = 0;
  CHECK(fopen("unsaved/tenon.json", "rb") == NULL && errno == ENOENT);
  tenon_trace_release(traces[0]);
  tenon_tensor_release(inputs[0]);
  tenon_function_release(f);
}

int main(void) {
  RUN(saved_functions_are_read_back);
  RUN(functions_outlive_their_program);
  RUN(programs_list_their_inputs_and_outputs);
  RUN(program_functions_read_assigned_variables);
  RUN(saved_training_functions_train_when_called);
  RUN(program_functions_have_gradients);
  RUN(programs_can_be_saved_again);
  RUN(strict_programs_refuse_wrong_declared_shapes);
  RUN(unreadable_files_are_errors);
  RUN(missing_functions_are_errors);
  RUN(traces_that_cannot_be_saved_are_errors);
  return report();
}
