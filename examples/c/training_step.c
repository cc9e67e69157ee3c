/* A training step as one function: the loss, its gradients by a tape inside the function, and
 * the optimizer's update of the variables. Fits y = w x + b to four points in a thousand calls. */

#include "examples/c/eager_and_traced.h"

typedef struct model {
  tenon_variable *w, *b;
} model;

static tenon_variable* variable(tenon_scope* scope, float initial) {
  tenon_tensor* value = f32_number(scope, initial);
  tenon_variable* result = NULL;
  must(tenon_variable_create(scope, value, NULL, &result));
  tenon_tensor_release(value);
  return result;
}

static tenon_tensor* loss_of(tenon_scope* scope, const model* m, tenon_tensor* x, tenon_tensor* y) {
  tenon_tensor *w = NULL, *b = NULL, *wx = NULL, *line = NULL, *error = NULL, *squares = NULL;
  tenon_tensor* loss = NULL;
  must(tenon_variable_read(scope, m->w, &w));
  must(tenon_variable_read(scope, m->b, &b));
  must(tenon_mul(scope, w, x, &wx));
  must(tenon_add(scope, wx, b, &line));
  must(tenon_sub(scope, line, y, &error));
  must(tenon_square(scope, error, &squares));
  must(tenon_sum(scope, squares, NULL, &loss));
  tenon_tensor* all[] = {w, b, wx, line, error, squares};
  for (size_t i = 0; i < 6; ++i) tenon_tensor_release(all[i]);
  return loss;
}

static void descend(tenon_scope* scope, tenon_variable* v, tenon_tensor* gradient) {
  tenon_tensor *rate = tenon_scalar_f64(0.01), *value = NULL, *next = NULL;
  must(tenon_variable_read(scope, v, &value));
  must(tenon_sgd(scope, value, gradient, rate, &next));
  must(tenon_variable_assign(scope, v, next));
  tenon_tensor_release(next);
  tenon_tensor_release(value);
  tenon_tensor_release(rate);
}

/* Makes one step for x and y. Returns the loss before the step. */
CODE(step) {
  const model* m = payload;
  tenon_value* sources[] = {tenon_variable_as_value(m->w), tenon_variable_as_value(m->b)};
  tenon_tensor* gradients[] = {NULL, NULL};
  tenon_tape* tape = NULL;
  (void)n_in, (void)statics, (void)n_statics, (void)max_out;
  must(tenon_tape_create(scope, NULL, &tape));
  out[0] = loss_of(scope, m, in[0], in[1]);
  must(tenon_tape_gradient(scope, tape, out, 1, NULL, sources, 2, NULL, gradients));
  tenon_tape_release(tape);
  descend(scope, m->w, gradients[0]);
  descend(scope, m->b, gradients[1]);
  tenon_tensor_release(gradients[0]);
  tenon_tensor_release(gradients[1]);
  return NULL;
}

static void show_variable(tenon_scope* scope, const char* label, tenon_variable* v) {
  tenon_tensor* value = NULL;
  must(tenon_variable_read(scope, v, &value));
  show_last(scope, label, value);
}

static void example(tenon_scope* scope) {
  const float xs[] = {1, 2, 3, 4}, ys[] = {0, -1, -2, -3};
  model m = {variable(scope, 0.3f), variable(scope, -0.3f)};
  const tenon_function_body body = {step, &m, NULL};
  tenon_function* f = function_of(scope, body, NULL);
  tenon_tensor* in[] = {f32_vector(scope, xs, 4), f32_vector(scope, ys, 4)};
  for (int i = 0; i < 1000; ++i) {
    tenon_tensor* loss = call(scope, f, in, 2);
    if (i % 250 == 0) printf("loss: %.5f\n", number(scope, loss));
    tenon_tensor_release(loss);
  }
  show_variable(scope, "w: ", m.w);
  show_variable(scope, "b: ", m.b);
  tenon_tensor_release(in[0]);
  tenon_tensor_release(in[1]);
  tenon_variable_release(m.w);
  tenon_variable_release(m.b);
  tenon_function_release(f);
}

int main(void) { return run_eager_and_traced(example); }
