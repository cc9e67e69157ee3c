/* Minimises a function with a curved valley by steepest descent. Each step searches a length for
 * which the value has decreased and the slope has flattened sufficiently (Wolfe's conditions, which
 * depend on the values of tensors). */

#include <math.h>

#include "examples/c/must.h"

/* Rosenbrock's function, (1 - x)^2 + 5 (y - x^2)^2, for a vector (x, y). */
static tenon_error* valley(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                           size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  tenon_split_attrs halves = TENON_SPLIT_ATTRS_DEFAULT;
  tenon_tensor* xy[] = {NULL, NULL};
  tenon_tensor *one = tenon_scalar_i64(1), *five = tenon_scalar_i64(5);
  tenon_tensor *a = NULL, *a2 = NULL, *x2 = NULL, *b = NULL, *b2 = NULL, *steep = NULL;
  tenon_tensor* sum = NULL;
  (void)payload, (void)n_inputs, (void)n_outputs;
  halves.num_outputs = 2;
  must(tenon_split(scope, inputs[0], &halves, xy, 2));
  must(tenon_sub(scope, one, xy[0], &a));
  must(tenon_square(scope, a, &a2));
  must(tenon_square(scope, xy[0], &x2));
  must(tenon_sub(scope, xy[1], x2, &b));
  must(tenon_square(scope, b, &b2));
  must(tenon_mul(scope, five, b2, &steep));
  must(tenon_add(scope, a2, steep, &sum));
  tenon_error* error = tenon_squeeze(scope, sum, NULL, &out_outputs[0]);
  tenon_tensor* used[] = {xy[0], xy[1], one, five, a, a2, x2, b, b2, steep, sum};
  for (size_t i = 0; i < sizeof used / sizeof *used; ++i) tenon_tensor_release(used[i]);
  return error;
}

static double evaluate(tenon_scope* scope, tenon_tensor* x, tenon_tensor** out_gradient) {
  const tenon_tensor_function function = {valley, NULL, NULL};
  tenon_tensor* value = NULL;
  must(tenon_gradients(scope, function, &x, 1, NULL, &value, 1, out_gradient, NULL));
  const double result = number(scope, value);
  tenon_tensor_release(value);
  return result;
}

static double dot(tenon_scope* scope, tenon_tensor* a, tenon_tensor* b) {
  tenon_tensor* product = NULL;
  must(tenon_matmul(scope, a, b, NULL, &product));
  const double result = number(scope, product);
  tenon_tensor_release(product);
  return result;
}

/* Computes x - length * gradient. */
static tenon_tensor* moved(tenon_scope* scope, tenon_tensor* x, tenon_tensor* gradient,
                           double length) {
  tenon_tensor* scale = tenon_scalar_f64(length);
  tenon_tensor* result = NULL;
  must(tenon_sgd(scope, x, gradient, scale, &result));
  tenon_tensor_release(scale);
  return result;
}

/* Searches the length of a step from x along the negative gradient. */
static double search(tenon_scope* scope, tenon_tensor* x, double value, tenon_tensor* gradient) {
  const double slope = -dot(scope, gradient, gradient);
  double low = 0, high = INFINITY, length = 1;
  for (;;) {
    tenon_tensor* there = moved(scope, x, gradient, length);
    tenon_tensor* gradient_there = NULL;
    const double value_there = evaluate(scope, there, &gradient_there);
    const double slope_there = -dot(scope, gradient_there, gradient);
    tenon_tensor_release(gradient_there);
    tenon_tensor_release(there);

    if (value_there > value + 1e-4 * length * slope) {
      high = length;
    } else if (slope_there < 0.9 * slope) {
      low = length;
    } else {
      return length;
    }
    length = isinf(high) ? 2 * low : (low + high) / 2;
  }
}

int main(void) {
  const float start[] = {-1, 1.5f};
  tenon_context* context = NULL;

  must(tenon_context_create(NULL, &context));
  tenon_scope* scope = tenon_context_default_scope(context);
  tenon_tensor* x = f32_vector(scope, start, 2);

  for (int step = 0; step < 10; ++step) {
    tenon_tensor* gradient = NULL;
    const double value = evaluate(scope, x, &gradient);
    const double length = search(scope, x, value, gradient);
    printf("value %.4f, step %g\n", value, length);
    tenon_tensor* next = moved(scope, x, gradient, length);
    tenon_tensor_release(gradient);
    tenon_tensor_release(x);
    x = next;
  }

  tenon_tensor_release(x);
  tenon_context_release(context);
  return 0;
}
