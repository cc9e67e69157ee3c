/* Fits y = W x + b to four points by gradient descent: a thousand steps with rate 0.01. */

#include "examples/c/must.h"

typedef struct model {
  tenon_variable* w;
  tenon_variable* b;
} model;

static tenon_variable* variable(tenon_scope* scope, float initial) {
  tenon_tensor* value = f32_vector(scope, &initial, 1);
  tenon_variable* result = NULL;
  must(tenon_variable_create(scope, value, NULL, &result));
  tenon_tensor_release(value);
  return result;
}

/* Returns the sum of the squared differences between y and the line at x. */
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
  tenon_tensor_release(squares);
  tenon_tensor_release(error);
  tenon_tensor_release(line);
  tenon_tensor_release(wx);
  tenon_tensor_release(b);
  tenon_tensor_release(w);
  return loss;
}

static void descend(tenon_scope* scope, tenon_variable* v, tenon_tensor* gradient,
                    tenon_tensor* rate) {
  tenon_tensor *value = NULL, *next = NULL;
  must(tenon_variable_read(scope, v, &value));
  must(tenon_sgd(scope, value, gradient, rate, &next));
  must(tenon_variable_assign(scope, v, next));
  tenon_tensor_release(next);
  tenon_tensor_release(value);
}

static void step(tenon_scope* scope, const model* m, tenon_tensor* x, tenon_tensor* y,
                 tenon_tensor* rate) {
  tenon_value* sources[] = {tenon_variable_as_value(m->w), tenon_variable_as_value(m->b)};
  tenon_tensor* gradients[] = {NULL, NULL};
  tenon_tape* tape = NULL;
  must(tenon_tape_create(scope, NULL, &tape));
  tenon_tensor* loss = loss_of(scope, m, x, y);
  must(tenon_tape_gradient(scope, tape, &loss, 1, NULL, sources, 2, NULL, gradients));
  tenon_tape_release(tape);
  descend(scope, m->w, gradients[0], rate);
  descend(scope, m->b, gradients[1], rate);
  tenon_tensor_release(gradients[0]);
  tenon_tensor_release(gradients[1]);
  tenon_tensor_release(loss);
}

static void show_variable(tenon_scope* scope, const char* label, tenon_variable* v) {
  tenon_tensor* value = NULL;
  must(tenon_variable_read(scope, v, &value));
  show(scope, label, value);
  tenon_tensor_release(value);
}

int main(void) {
  const float x_train[] = {1, 2, 3, 4};
  const float y_train[] = {0, -1, -2, -3};
  tenon_context* context = NULL;

  must(tenon_context_create(NULL, &context));
  tenon_scope* scope = tenon_context_default_scope(context);
  tenon_tensor* x = f32_vector(scope, x_train, 4);
  tenon_tensor* y = f32_vector(scope, y_train, 4);
  tenon_tensor* rate = tenon_scalar_f64(0.01);
  const model m = {variable(scope, 0.3f), variable(scope, -0.3f)};

  for (int i = 0; i < 1000; ++i) step(scope, &m, x, y, rate);

  tenon_tensor* loss = loss_of(scope, &m, x, y);
  show_variable(scope, "W: ", m.w);
  show_variable(scope, "b: ", m.b);
  printf("loss under 1e-9: %s\n", number(scope, loss) < 1e-9 ? "yes" : "no");

  tenon_tensor_release(loss);
  tenon_variable_release(m.w);
  tenon_variable_release(m.b);
  tenon_tensor_release(rate);
  tenon_tensor_release(y);
  tenon_tensor_release(x);
  tenon_context_release(context);
  return 0;
}
