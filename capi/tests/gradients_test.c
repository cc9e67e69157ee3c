#include "capi/tests/check.h"

struct model {
  tenon_variable* weight;
  tenon_variable* bias;
  int destroyed;
};

static void on_destroy(void* payload) { ++((struct model*)payload)->destroyed; }

/* The callback under test: returns weight * x + bias, and weight * x. */
static tenon_error* line(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                         size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  struct model* model = payload;
  tenon_tensor *w = NULL, *b = NULL;
  tenon_error* error;
  (void)n_inputs;
  (void)n_outputs;
  error = tenon_variable_read(inner, model->weight, &w);
  if (!error) error = tenon_variable_read(inner, model->bias, &b);
  if (!error) error = tenon_mul(inner, w, inputs[0], &out_outputs[1]);
  if (!error) error = tenon_add(inner, out_outputs[1], b, &out_outputs[0]);
  tenon_tensor_release(w);
  tenon_tensor_release(b);
  return error;
}

static tenon_variable* variable_of(double value) {
  tenon_tensor* scalar = tenon_scalar_f64(value);
  tenon_variable* variable = NULL;
  CHECK_OK(tenon_variable_create(scope(), scalar, NULL, &variable));
  tenon_tensor_release(scalar);
  return variable;
}

static void gradients_are_with_respect_to_arguments_and_variables(void) {
  struct model model = {NULL, NULL, 0};
  tenon_tensor_function function = {line, NULL, on_destroy};
  tenon_tensor* x = F32(5);
  tenon_tensor* outputs[2] = {NULL, NULL};
  tenon_tensor* dx = NULL;
  tenon_variable_gradients* list = NULL;
  function.payload = &model;
  model.weight = variable_of(2);
  model.bias = variable_of(1);

  CHECK_OK(tenon_gradients(scope(), function, &x, 1, NULL, outputs, 2, &dx, &list));

  CHECK_VALUES(outputs[0], 11);
  CHECK_VALUES(outputs[1], 10);
  CHECK_VALUES(dx, 2);
  CHECK(tenon_variable_gradients_count(list) == 2);
  CHECK(tenon_variable_gradients_variable(list, 0) == model.weight);
  CHECK(tenon_variable_gradients_variable(list, 1) == model.bias);
  CHECK_VALUES(tenon_variable_gradients_gradient(list, 0), 5);
  CHECK_VALUES(tenon_variable_gradients_gradient(list, 1), 1);
  CHECK(tenon_variable_gradients_variable(list, 2) == NULL);
  CHECK(tenon_variable_gradients_gradient(list, 2) == NULL);
  CHECK(model.destroyed == 1);
  tenon_variable_gradients_retain(list);
  tenon_variable_gradients_release(list);
  tenon_variable_gradients_release(list);
  tenon_tensor_release(x);
  tenon_tensor_release(dx);
  tenon_tensor_release(outputs[0]);
  tenon_tensor_release(outputs[1]);
  tenon_variable_release(model.weight);
  tenon_variable_release(model.bias);
}

static tenon_error* cube(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                         size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  tenon_tensor* square = NULL;
  tenon_error* error = tenon_mul(inner, inputs[0], inputs[0], &square);
  (void)payload;
  (void)n_inputs;
  (void)n_outputs;
  if (!error) error = tenon_mul(inner, square, inputs[0], &out_outputs[0]);
  tenon_tensor_release(square);
  return error;
}

/* A callback that returns the derivative of cube by calling tenon_gradients(), so that it can be
 * differentiated again. */
static tenon_error* slope(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                          size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  const tenon_tensor_function function = {cube, NULL, NULL};
  tenon_tensor* y = NULL;
  tenon_error* error =
      tenon_gradients(inner, function, inputs, n_inputs, NULL, &y, 1, out_outputs, NULL);
  (void)payload;
  (void)n_outputs;
  tenon_tensor_release(y);
  return error;
}

static void tenon_gradients_may_be_nested(void) {
  const tenon_tensor_function function = {slope, NULL, NULL};
  tenon_tensor* x = F32(2);
  tenon_tensor *dx = NULL, *ddx = NULL;

  CHECK_OK(tenon_gradients(scope(), function, &x, 1, NULL, &dx, 1, &ddx, NULL));

  CHECK_VALUES(dx, 12);
  CHECK_VALUES(ddx, 12);
  tenon_tensor_release(x);
  tenon_tensor_release(dx);
  tenon_tensor_release(ddx);
}

static void integer_arguments_have_no_gradient(void) {
  const tenon_tensor_function function = {cube, NULL, NULL};
  tenon_tensor* inputs[2];
  tenon_tensor* y = NULL;
  tenon_tensor* grads[2] = {GARBAGE(tenon_tensor), GARBAGE(tenon_tensor)};
  inputs[0] = F32(2);
  inputs[1] = make_i32(1, 1);

  CHECK_OK(tenon_gradients(scope(), function, inputs, 2, NULL, &y, 1, grads, NULL));

  CHECK_VALUES(grads[0], 12);
  CHECK(grads[1] == NULL);
  tenon_tensor_release(inputs[0]);
  tenon_tensor_release(inputs[1]);
  tenon_tensor_release(y);
  tenon_tensor_release(grads[0]);
}

static tenon_error* product(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                            size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  (void)payload;
  (void)n_inputs;
  (void)n_outputs;
  return tenon_mul(inner, inputs[0], inputs[1], &out_outputs[0]);
}

static void one_tensor_as_two_arguments_has_two_gradients(void) {
  tenon_tensor_function function = {product, NULL, NULL};
  tenon_tensor* inputs[2];
  tenon_tensor *y = NULL, *grads[2] = {NULL, NULL}, *both = NULL;
  tenon_tape* tape = NULL;
  tenon_value* source;
  inputs[0] = inputs[1] = F32(5);
  source = tenon_tensor_as_value(inputs[0]);
  CHECK_OK(tenon_tape_create(scope(), NULL, &tape));
  CHECK_OK(tenon_tape_watch(tape, source));

  CHECK_OK(tenon_gradients(scope(), function, inputs, 2, NULL, &y, 1, grads, NULL));

  CHECK_VALUES(grads[0], 5);
  CHECK_VALUES(grads[1], 5);
  /* For the outer tape, both arguments are the tensor x, so its gradient is their sum. */
  CHECK_OK(tenon_tape_gradient(scope(), tape, &y, 1, NULL, &source, 1, NULL, &both));
  CHECK_VALUES(both, 10);
  tenon_tape_release(tape);
  tenon_tensor_release(inputs[0]);
  tenon_tensor_release(y);
  tenon_tensor_release(grads[0]);
  tenon_tensor_release(grads[1]);
  tenon_tensor_release(both);
}

/* Multiplies a float16 tensor by both inputs, which are the same inline scalar. Each use must adopt
 * the dtype float16. */
static tenon_error* halves_times_both(void* payload, tenon_scope* inner,
                                      tenon_tensor* const* inputs, size_t n_inputs,
                                      tenon_tensor** out_outputs, size_t n_outputs) {
  tenon_tensor* once = NULL;
  tenon_error* error = tenon_mul(inner, payload, inputs[0], &once);
  (void)n_inputs;
  (void)n_outputs;
  if (!error) error = tenon_mul(inner, once, inputs[1], &out_outputs[0]);
  tenon_tensor_release(once);
  return error;
}

static void one_scalar_as_two_arguments_stays_a_scalar(void) {
  const uint16_t bits = 0x4200; /* The number 3. */
  tenon_tensor_function function = {halves_times_both, NULL, NULL};
  tenon_tensor *half = NULL, *y = NULL, *grads[2] = {NULL, NULL}, *both = NULL;
  tenon_tensor* inputs[2];
  tenon_tape* tape = NULL;
  tenon_value* source;
  CHECK_OK(tenon_tensor_from_data(scope(), TENON_FLOAT16, NULL, 0, &bits, sizeof bits, &half));
  function.payload = half;
  inputs[0] = inputs[1] = tenon_scalar_f64(5);
  source = tenon_tensor_as_value(inputs[0]);
  CHECK_OK(tenon_tape_create(scope(), NULL, &tape));
  CHECK_OK(tenon_tape_watch(tape, source));

  CHECK_OK(tenon_gradients(scope(), function, inputs, 2, NULL, &y, 1, grads, NULL));

  CHECK(tenon_tensor_dtype(y) == TENON_FLOAT16);
  CHECK_VALUES(y, 75);
  CHECK_VALUES(grads[0], 15);
  CHECK_VALUES(grads[1], 15);
  CHECK_OK(tenon_tape_gradient(scope(), tape, &y, 1, NULL, &source, 1, NULL, &both));
  CHECK_VALUES(both, 30);
  tenon_tape_release(tape);
  tenon_tensor_release(half);
  tenon_tensor_release(inputs[0]);
  tenon_tensor_release(y);
  tenon_tensor_release(grads[0]);
  tenon_tensor_release(grads[1]);
  tenon_tensor_release(both);
}

/* Computes the gradients of an LSTM cell's new state h with respect to its old states h and c. */
static void cell_gradients(tenon_tensor* h, tenon_tensor* c, tenon_tensor** out_dh,
                           tenon_tensor** out_dc) {
  tenon_tensor* x = make_f32_matrix(1, 1, (const float[]){0.5f});
  tenon_tensor* w = make_f32_matrix(4, 1, (const float[]){0.1f, -0.2f, 0.3f, 0.4f});
  tenon_tensor* r = make_f32_matrix(4, 1, (const float[]){0.5f, 0.6f, -0.7f, 0.8f});
  tenon_tensor *new_h = NULL, *new_c = NULL;
  tenon_value* sources[2];
  tenon_tensor* grads[2] = {NULL, NULL};
  tenon_tape* tape = NULL;
  sources[0] = tenon_tensor_as_value(h);
  sources[1] = tenon_tensor_as_value(c);
  CHECK_OK(tenon_tape_create(scope(), NULL, &tape));
  CHECK_OK(tenon_tape_watch(tape, sources[0]));
  CHECK_OK(tenon_tape_watch(tape, sources[1]));
  CHECK_OK(tenon_lstm_cell(scope(), x, h, c, w, r, NULL, &new_h, &new_c));
  CHECK_OK(tenon_tape_gradient(scope(), tape, &new_h, 1, NULL, sources, 2, NULL, grads));
  *out_dh = grads[0];
  *out_dc = grads[1];
  tenon_tape_release(tape);
  tenon_tensor_release(x);
  tenon_tensor_release(w);
  tenon_tensor_release(r);
  tenon_tensor_release(new_h);
  tenon_tensor_release(new_c);
}

static void a_tensor_used_as_two_inputs_gets_the_sum_of_both_gradients(void) {
  tenon_tensor* state = make_f32_matrix(1, 1, (const float[]){0.9f});
  tenon_tensor* copy = make_f32_matrix(1, 1, (const float[]){0.9f});
  tenon_tensor *dh = NULL, *dc = NULL, *sum = NULL, *both = NULL, *again = NULL, *rest = NULL;
  cell_gradients(state, copy, &dh, &dc);
  CHECK_OK(tenon_add(scope(), dh, dc, &sum));

  cell_gradients(state, state, &both, &again);

  CHECK_OK(tenon_sub(scope(), both, sum, &rest));
  CHECK_NEAR(rest, 0);
  tenon_tensor_release(state);
  tenon_tensor_release(copy);
  tenon_tensor_release(dh);
  tenon_tensor_release(dc);
  tenon_tensor_release(sum);
  tenon_tensor_release(both);
  tenon_tensor_release(again);
  tenon_tensor_release(rest);
}

static tenon_error* gives_up(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                             size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  (void)payload;
  (void)n_inputs;
  (void)n_outputs;
  tenon_error_release(tenon_neg(inner, inputs[0], &out_outputs[0]));
  return tenon_error_create(TENON_UNAVAILABLE, tenon_str("not today"));
}

static tenon_error* does_nothing(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                                 size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  (void)payload;
  (void)inner;
  (void)inputs;
  (void)n_inputs;
  (void)out_outputs;
  (void)n_outputs;
  return NULL;
}

static void a_failed_function_returns_no_outputs(void) {
  struct model model = {NULL, NULL, 0};
  tenon_tensor_function function = {gives_up, NULL, on_destroy};
  tenon_tensor* x = F32(2);
  tenon_tensor* y = GARBAGE(tenon_tensor);
  tenon_tensor* dx = GARBAGE(tenon_tensor);
  function.payload = &model;

  CHECK_ERROR(tenon_gradients(scope(), function, &x, 1, NULL, &y, 1, &dx, NULL), TENON_UNAVAILABLE,
              "not today");
  CHECK(y == NULL && dx == NULL && model.destroyed == 1);
  function.function = does_nothing;
  CHECK_ERROR(tenon_gradients(scope(), function, &x, 1, NULL, &y, 1, &dx, NULL),
              TENON_INVALID_ARGUMENT, "left its output 0 without a tensor");
  function.function = NULL;
  CHECK_ERROR(tenon_gradients(scope(), function, &x, 1, NULL, &y, 1, &dx, NULL),
              TENON_INVALID_ARGUMENT, "function.function is NULL");
  function.function = cube;
  CHECK_ERROR(tenon_gradients(scope(), function, &x, 1, NULL, &y, 0, &dx, NULL),
              TENON_INVALID_ARGUMENT, "n_outputs must be at least 1");
  CHECK(model.destroyed == 4);
  tenon_tensor_release(x);
}

int main(void) {
  RUN(gradients_are_with_respect_to_arguments_and_variables);
  RUN(tenon_gradients_may_be_nested);
  RUN(integer_arguments_have_no_gradient);
  RUN(one_tensor_as_two_arguments_has_two_gradients);
  RUN(one_scalar_as_two_arguments_stays_a_scalar);
  RUN(a_tensor_used_as_two_inputs_gets_the_sum_of_both_gradients);
  RUN(a_failed_function_returns_no_outputs);
  return report();
}
