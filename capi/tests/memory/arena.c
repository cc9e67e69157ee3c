#include "capi/tests/memory/arena.h"

#include <stdio.h>
#include <string.h>

#include "capi/tests/memory/failing_malloc.h"
#include "capi/tests/memory/scenarios.h"

static int n_problems;
static uint64_t hash;

int count_problems(void) { return n_problems; }

/* ---- repeating failed calls --------------------------------------------- */

int must_repeat(tenon_error* error, const char* call, const char* file, int line) {
  const tenon_code code = tenon_error_code(error);
  if (!error) return 0;
  if (code != TENON_OUT_OF_MEMORY || tenon_error_message(error).size == 0) {
    ++n_problems;
    printf("%s:%d: %s\n  failed with %s: %s\n", file, line, call, tenon_code_name(code).data,
           tenon_error_message(error).data);
  }
  fail_allocations(0, 0);
  tenon_error_release(error);
  return 1;
}

int failed_again(tenon_error* error, const char* call, const char* file, int line) {
  if (!error) return 0;
  ++n_problems;
  printf("%s:%d: %s\n  failed again with %s: %s\n", file, line, call,
         tenon_code_name(tenon_error_code(error)).data, tenon_error_message(error).data);
  tenon_error_release(error);
  return 1;
}

tenon_tensor* scalar(double value) {
  tenon_tensor* made = tenon_scalar_f64(value);
  if (made) return made;
  fail_allocations(0, 0);
  return tenon_scalar_f64(value);
}

/* ---- objects of a scenario ---------------------------------------------- */

/* Returns the slot for a new tensor. If the last call failed, its slot is NULL, and next() returns
 * that slot again. */
tenon_tensor** next(struct arena* own) {
  if (own->tensors[own->n]) ++own->n;
  return &own->tensors[own->n];
}

/* Returns the tensor in the latest slot. next() and last() may be arguments of one call, in any
 * order of evaluation. Therefore last() ignores a slot that is still empty. */
tenon_tensor* last(const struct arena* own) {
  return own->tensors[own->tensors[own->n] || own->n == 0 ? own->n : own->n - 1];
}

int begin(struct arena* own, const char* device) {
  memset(own, 0, sizeof *own);
  hash = 0xcbf29ce484222325u;
  DO(tenon_context_create(NULL, &own->context));
  DO(tenon_scope_create(own->context, tenon_str(device), &own->scope));
  return 1;
end:
  return 0;
}

uint64_t finish(struct arena* own) {
  int i;
  for (i = 0; i <= own->n; ++i) tenon_tensor_release(own->tensors[i]);
  tenon_scope_release(own->scope);
  tenon_context_release(own->context);
  return hash;
}

void add_bytes(const void* data, size_t size) {
  const unsigned char* bytes = data;
  size_t i;
  for (i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3u;
}

void add_text(tenon_string text) { add_bytes(text.data, text.size); }

/* Adds the elements of the tensor to the hash of the scenario's results. */
void add(struct arena* own, tenon_tensor* x) {
  tenon_format_options options = TENON_FORMAT_OPTIONS_DEFAULT;
  tenon_string text = {NULL, 0};
  options.threshold = 1 << 20;
  options.precision = 17;
  DO(tenon_tensor_format(own->scope, x, &options, &text));
  add_text(text);
end:
  tenon_string_release(text);
}

/* Creates an f32[rows,columns] tensor with small numbers. */
tenon_tensor* matrix(struct arena* own, int64_t rows, int64_t columns) {
  static float values[1 << 16];
  const int64_t shape[2] = {rows, columns};
  int64_t i;
  for (i = 0; i < rows * columns; ++i) values[i] = (float)(i * 7 % 11) * 0.25f - 1;
  DO(tenon_tensor_from_data(own->scope, TENON_FLOAT32, shape, 2, values,
                            (size_t)(rows * columns) * sizeof *values, next(own)));
  return last(own);
end:
  return NULL;
}

/* ---- a step of training ------------------------------------------------- */

tenon_error* loss(tenon_scope* scope, tenon_tensor* x, tenon_tensor* w, tenon_tensor** out_loss) {
  tenon_tensor *y = NULL, *bent = NULL, *squared = NULL;
  tenon_error* error = NULL;
  TRY(tenon_matmul(scope, x, w, NULL, &y));
  TRY(tenon_tanh(scope, y, &bent));
  TRY(tenon_square(scope, bent, &squared));
  TRY(tenon_sum(scope, squared, NULL, out_loss));
end:
  tenon_tensor_release(y);
  tenon_tensor_release(bent);
  tenon_tensor_release(squared);
  return error;
}

/* Returns the error with which a callback fails if it cannot create a scalar. */
static tenon_error* no_memory(void) {
  return tenon_error_create(TENON_OUT_OF_MEMORY, tenon_str("no memory for a scalar"));
}

static tenon_error* is_below_three(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                                   size_t n_inputs, tenon_tensor** out_outputs, size_t max) {
  tenon_tensor* three = tenon_scalar_f64(3);
  tenon_error* error = three ? tenon_less(scope, inputs[0], three, &out_outputs[0]) : no_memory();
  (void)payload;
  (void)n_inputs;
  (void)max;
  tenon_tensor_release(three);
  return error;
}

static tenon_error* add_one(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                            size_t n_inputs, tenon_tensor** out_outputs, size_t max) {
  tenon_tensor* one = tenon_scalar_f64(1);
  tenon_error* error = one ? tenon_add(scope, inputs[0], one, &out_outputs[0]) : no_memory();
  (void)payload;
  (void)n_inputs;
  (void)max;
  tenon_tensor_release(one);
  return error;
}

/* The body of the training function: assigns w - dloss/dw to `state`, where w is an input. A
 * repeated step thus has the same result. Has constants to fold, a tape, a loop and an assignment.
 */
static tenon_error* step(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                         size_t n_inputs, const tenon_static* statics, size_t n_statics,
                         tenon_tensor** out_outputs, size_t max_outputs) {
  tenon_tensor *ones = NULL, *twos = NULL, *w = NULL, *y = NULL, *g = NULL, *moved = NULL;
  tenon_tensor* one = tenon_scalar_f64(1);
  tenon_tape* tape = NULL;
  tenon_value* source;
  const int64_t shape[2] = {3, 2};
  tenon_fill_attrs fill = TENON_FILL_ATTRS_DEFAULT;
  const tenon_block condition = {is_below_three, NULL}, body = {add_one, NULL};
  tenon_error* error = NULL;
  (void)n_inputs;
  (void)statics;
  (void)n_statics;
  (void)max_outputs;
  fill.shape = shape;
  fill.n_shape = 2;
  TRY(one ? tenon_fill(scope, one, &fill, &ones) : no_memory());
  TRY(tenon_add(scope, ones, ones, &twos));
  TRY(tenon_mul(scope, inputs[1], twos, &w));
  TRY(tenon_tape_create(scope, NULL, &tape));
  source = tenon_tensor_as_value(w);
  TRY(tenon_tape_watch(tape, source));
  TRY(loss(scope, inputs[0], w, &y));
  TRY(tenon_tape_gradient(scope, tape, &y, 1, NULL, &source, 1, NULL, &g));
  TRY(tenon_sub(scope, w, g, &moved));
  TRY(tenon_variable_assign(scope, payload, moved));
  TRY(tenon_while_loop(scope, condition, body, &y, 1, NULL, &out_outputs[0]));
end:
  tenon_tape_release(tape);
  tenon_tensor_release(one);
  tenon_tensor_release(ones);
  tenon_tensor_release(twos);
  tenon_tensor_release(w);
  tenon_tensor_release(y);
  tenon_tensor_release(g);
  tenon_tensor_release(moved);
  return error;
}

int begin_training(struct training* made, const char* device) {
  tenon_function_body body = {step, NULL, NULL};
  tenon_variable_options options = TENON_VARIABLE_OPTIONS_DEFAULT;
  memset(made, 0, sizeof *made);
  if (!begin(&made->own, device)) return 0;
  made->inputs[0] = matrix(&made->own, 4, 3);
  made->inputs[1] = matrix(&made->own, 3, 2);
  if (!made->inputs[0] || !made->inputs[1]) return 0;
  options.name = tenon_str("state");
  DO(tenon_variable_create(made->own.scope, made->inputs[1], &options, &made->state));
  body.payload = made->state;
  DO(tenon_function_create(made->own.context, tenon_str("step"), body, NULL, &made->function));
  return 1;
end:
  return 0;
}

uint64_t finish_training(struct training* made) {
  tenon_function_release(made->function);
  tenon_variable_release(made->state);
  return finish(&made->own);
}
