#include "capi/tests/memory/scenarios.h"

#include <string.h>
#include <tenon/tenon.h>

#include "capi/tests/memory/arena.h"

/* ---- ops ---------------------------------------------------------------- */

static uint64_t run_eager(const char* device) {
  struct arena own;
  tenon_tensor *x, *w, *three = NULL, *parts[2] = {NULL, NULL}, *mask = NULL;
  tenon_generator* generator = NULL;
  tenon_string text = {NULL, 0};
  const int64_t shape[2] = {2, 3}, flat[1] = {-1};
  const int64_t axis[1] = {0};
  tenon_sum_attrs sum = TENON_SUM_ATTRS_DEFAULT;
  tenon_cast_attrs cast = TENON_CAST_ATTRS_DEFAULT;
  tenon_split_attrs split = TENON_SPLIT_ATTRS_DEFAULT;
  tenon_reshape_attrs reshape = TENON_RESHAPE_ATTRS_DEFAULT;
  if (!begin(&own, device)) return finish(&own);
  if (!(x = matrix(&own, 4, 6)) || !(w = matrix(&own, 6, 4))) goto end;
  three = scalar(3);
  DO(tenon_matmul(own.scope, x, w, NULL, next(&own)));
  add(&own, last(&own));
  DO(tenon_cholesky(own.scope, last(&own), NULL, next(&own)));
  DO(tenon_softmax(own.scope, x, NULL, next(&own)));
  add(&own, last(&own));
  DO(tenon_mul(own.scope, last(&own), three, next(&own)));
  DO(tenon_pow(own.scope, last(&own), three, next(&own)));
  sum.axes = axis;
  sum.n_axes = 1;
  DO(tenon_sum(own.scope, last(&own), &sum, next(&own)));
  add(&own, last(&own));
  DO(tenon_layer_norm(own.scope, x, last(&own), NULL, NULL, next(&own), NULL, NULL));
  add(&own, last(&own));
  DO(tenon_transpose(own.scope, last(&own), NULL, next(&own)));
  cast.to = TENON_FLOAT16;
  DO(tenon_cast(own.scope, last(&own), &cast, next(&own)));
  add(&own, last(&own));
  split.num_outputs = 2;
  DO(tenon_split(own.scope, x, &split, parts, 2));
  DO(tenon_concat(own.scope, parts, 2, NULL, next(&own)));
  add(&own, last(&own));
  DO(tenon_greater(own.scope, x, three, &mask));
  DO(tenon_where(own.scope, mask, x, three, next(&own)));
  reshape.shape = flat;
  reshape.n_shape = 1;
  DO(tenon_reshape(own.scope, last(&own), &reshape, next(&own)));
  DO(tenon_sort(own.scope, last(&own), NULL, next(&own)));
  add(&own, last(&own));
  DO(tenon_unique(own.scope, last(&own), NULL, next(&own), NULL, NULL, NULL, NULL));
  DO(tenon_generator_create(own.scope, 7, &generator));
  DO(tenon_generator_normal(own.scope, generator, TENON_FLOAT32, shape, 2, 0, 1, next(&own)));
  add(&own, last(&own));
  DO(tenon_tensor_format(own.scope, last(&own), NULL, &text));
  add_text(text);
end:
  tenon_string_release(text);
  tenon_generator_release(generator);
  tenon_tensor_release(three);
  tenon_tensor_release(mask);
  tenon_tensor_release(parts[0]);
  tenon_tensor_release(parts[1]);
  return finish(&own);
}

/* ---- gradients ---------------------------------------------------------- */

static tenon_error* loss_of_inputs(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                                   size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  (void)payload;
  (void)n_inputs;
  (void)n_outputs;
  return loss(scope, inputs[0], inputs[1], &out_outputs[0]);
}

/* Computes the gradient of the loss with respect to `w`, and the gradient of that gradient's sum,
 * with two nested tapes. */
static tenon_error* second_gradient(struct arena* own, tenon_tensor* x, tenon_tensor* w,
                                    tenon_tensor** out_gradient) {
  tenon_tape *outer = NULL, *inner = NULL;
  tenon_tensor *y = NULL, *g = NULL;
  tenon_value* source = tenon_tensor_as_value(w);
  tenon_error* error = NULL;
  TRY(tenon_tape_create(own->scope, NULL, &outer));
  TRY(tenon_tape_watch(outer, source));
  TRY(tenon_tape_create(own->scope, NULL, &inner));
  TRY(tenon_tape_watch(inner, source));
  TRY(loss(own->scope, x, w, &y));
  TRY(tenon_tape_gradient(own->scope, inner, &y, 1, NULL, &source, 1, NULL, &g));
  tenon_tape_release(inner);
  inner = NULL;
  TRY(tenon_tape_gradient(own->scope, outer, &g, 1, NULL, &source, 1, NULL, out_gradient));
end:
  tenon_tape_release(inner);
  tenon_tape_release(outer);
  tenon_tensor_release(y);
  tenon_tensor_release(g);
  return error;
}

static uint64_t run_tape(const char* device) {
  struct arena own;
  tenon_tensor *inputs[2], *grads[2] = {NULL, NULL}, *y = NULL;
  tenon_tape* tape = NULL;
  tenon_value* source;
  tenon_variable* variable = NULL;
  const tenon_tape_options persistent = {sizeof persistent, true, true};
  const tenon_tensor_function function = {loss_of_inputs, NULL, NULL};
  if (!begin(&own, device)) return finish(&own);
  inputs[0] = matrix(&own, 3, 4);
  inputs[1] = matrix(&own, 4, 2);
  if (!inputs[0] || !inputs[1]) goto end;
  DO(tenon_gradients(own.scope, function, inputs, 2, NULL, next(&own), 1, grads, NULL));
  add(&own, last(&own));
  add(&own, grads[0]);
  add(&own, grads[1]);
  DO(second_gradient(&own, inputs[0], inputs[1], next(&own)));
  add(&own, last(&own));
  DO(tenon_variable_create(own.scope, inputs[1], NULL, &variable));
  source = tenon_variable_as_value(variable);
  DO(tenon_tape_create(own.scope, &persistent, &tape));
  DO(tenon_variable_read(own.scope, variable, next(&own)));
  DO(tenon_matmul(own.scope, inputs[0], last(&own), NULL, next(&own)));
  DO(tenon_exp(own.scope, last(&own), next(&own)));
  y = last(&own);
  DO(tenon_tape_gradient(own.scope, tape, &y, 1, NULL, &source, 1, NULL, next(&own)));
  add(&own, last(&own));
  DO(tenon_tape_jacobian(own.scope, tape, y, &source, 1, NULL, next(&own)));
  add(&own, last(&own));
end:
  tenon_tape_release(tape);
  tenon_variable_release(variable);
  tenon_tensor_release(grads[0]);
  tenon_tensor_release(grads[1]);
  return finish(&own);
}

/* ---- functions ---------------------------------------------------------- */

static uint64_t run_function(const char* device) {
  struct training made;
  tenon_trace* trace = NULL;
  tenon_string text = {NULL, 0};
  tenon_function* gradient = NULL;
  int rows, i;
  if (!begin_training(&made, device)) goto end;
  for (rows = 4; rows < 8; ++rows) { /* From the third size on, sizes are dynamic. */
    made.inputs[0] = matrix(&made.own, rows, 3);
    if (!made.inputs[0]) goto end;
    for (i = 0; i < 2; ++i) {
      DO(tenon_function_call(made.own.scope, made.function, made.inputs, 2, NULL, 0,
                             next(&made.own), 1, NULL));
      add(&made.own, last(&made.own));
      DO(tenon_variable_read(made.own.scope, made.state, next(&made.own)));
      add(&made.own, last(&made.own));
    }
  }
  DO(tenon_function_find_trace(made.own.scope, made.function, made.inputs, 2, NULL, 0, &trace));
  DO(tenon_trace_text(trace, &text));
  add_text(text);
  tenon_string_release(text);
  text.data = NULL;
  DO(tenon_trace_stages(trace, &text));
  tenon_string_release(text);
  text.data = NULL;
  DO(tenon_function_explain(made.function, &text)); /* Not hashed: lists failed calls. */
end:
  tenon_string_release(text);
  tenon_trace_release(trace);
  tenon_function_release(gradient);
  return finish_training(&made);
}

/* ---- files -------------------------------------------------------------- */

static uint64_t run_save(const char* device) {
  struct training made;
  tenon_trace* trace = NULL;
  tenon_profiler* profiler = NULL;
  tenon_tensor* y = NULL;
  const tenon_string name = TENON_STR("step");
  tenon_string table = {NULL, 0}, bytes = {NULL, 0};
  const tenon_metadata metadata = {TENON_STR("made by"), TENON_STR("a test of memory")};
  if (!begin_training(&made, device)) goto end;
  DO(tenon_safetensors_save(made.own.scope, tenon_str("saved.safetensors"), &name, made.inputs, 1,
                            &metadata, 1));
  DO(tenon_safetensors_write(made.own.scope, &name, made.inputs, 1, &metadata, 1, &bytes));
  add_text(bytes);
  DO(tenon_function_find_trace(made.own.scope, made.function, made.inputs, 2, NULL, 0, &trace));
  DO(tenon_program_save(made.own.scope, tenon_str("saved"), &name, &trace, 1));
  DO(tenon_profiler_start(made.own.context, NULL, &profiler));
  DO(tenon_function_call(made.own.scope, made.function, made.inputs, 2, NULL, 0, &y, 1, NULL));
  add(&made.own, y);
  DO(tenon_profiler_stop(profiler));
  DO(tenon_profiler_table(profiler, &table));
  DO(tenon_profiler_write_trace(profiler, tenon_str("saved.json")));
end:
  tenon_string_release(table);
  tenon_string_release(bytes);
  tenon_tensor_release(y);
  tenon_profiler_release(profiler);
  tenon_trace_release(trace);
  return finish_training(&made);
}

/* Reads the files that run_save() wrote. */
static uint64_t run_load(const char* device) {
  struct arena own;
  tenon_safetensors* file = NULL;
  tenon_program* program = NULL;
  tenon_function* function = NULL;
  tenon_tensor* inputs[2];
  tenon_string text = {NULL, 0};
  const tenon_string name = TENON_STR("step");
  if (!begin(&own, device)) return finish(&own);
  inputs[0] = matrix(&own, 4, 3);
  inputs[1] = matrix(&own, 3, 2);
  if (!inputs[0] || !inputs[1]) goto end;
  DO(tenon_safetensors_open(tenon_str("saved.safetensors"), &file));
  add_text(tenon_safetensors_metadata(file, 0).value);
  DO(tenon_safetensors_load(own.scope, file, name, next(&own)));
  add(&own, last(&own));
  DO(tenon_program_open(own.scope, tenon_str("saved"), NULL, &program));
  DO(tenon_program_describe(program, &text));
  add_text(text);
  DO(tenon_program_get_function(program, name, &function));
  DO(tenon_function_call(own.scope, function, inputs, 2, NULL, 0, next(&own), 1, NULL));
  add(&own, last(&own));
  DO(tenon_variable_read(own.scope, tenon_program_variable(program, 0), next(&own)));
  add(&own, last(&own));
  tenon_program_release(program);
  program = NULL;
  DO(tenon_program_open(own.scope, tenon_str("saved/step.onnx"), NULL, &program));
end:
  tenon_string_release(text);
  tenon_function_release(function);
  tenon_program_release(program);
  tenon_safetensors_release(file);
  return finish(&own);
}

const struct scenario kScenarios[] = {
    {"eager", run_eager}, {"tape", run_tape}, {"function", run_function},
    {"save", run_save},   {"load", run_load},
};
const int kScenarioCount = sizeof kScenarios / sizeof *kScenarios;
