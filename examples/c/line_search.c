/* Modifies the pixels of a small image until a classifier assigns it another class. The length of
 * each step is halved until the objective decreases by at least the amount that the gradient
 * predicts (Armijo's rule). The number of iterations therefore depends on the values of tensors. */

#include "examples/c/must.h"

enum { kPixels = 4, kClasses = 3, kWanted = 2 };

/* The objective, -log p(target class | image). */
static tenon_error* objective(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                              size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  tenon_tensor* weights = payload;
  const int64_t start = kWanted, end = kWanted + 1;
  tenon_slice_attrs wanted = TENON_SLICE_ATTRS_DEFAULT;
  tenon_tensor *logits = NULL, *log_p = NULL, *part = NULL, *scalar = NULL;
  (void)n_inputs, (void)n_outputs;
  wanted.starts = &start;
  wanted.n_starts = 1;
  wanted.ends = &end;
  wanted.n_ends = 1;
  must(tenon_matmul(scope, weights, inputs[0], NULL, &logits));
  must(tenon_log_softmax(scope, logits, NULL, &log_p));
  must(tenon_slice(scope, log_p, &wanted, &part));
  must(tenon_squeeze(scope, part, NULL, &scalar));
  tenon_error* error = tenon_neg(scope, scalar, &out_outputs[0]);
  tenon_tensor_release(scalar);
  tenon_tensor_release(part);
  tenon_tensor_release(log_p);
  tenon_tensor_release(logits);
  return error;
}

/* Returns the objective and, if `out_gradient` is not NULL, its gradient. */
static double evaluate(tenon_scope* scope, tenon_tensor* weights, tenon_tensor* image,
                       tenon_tensor** out_gradient) {
  const tenon_tensor_function function = {objective, weights, NULL};
  tenon_tensor* value = NULL;
  if (out_gradient) {
    must(tenon_gradients(scope, function, &image, 1, NULL, &value, 1, out_gradient, NULL));
  } else {
    must(objective(weights, scope, &image, 1, &value, 1));
  }
  const double result = number(scope, value);
  tenon_tensor_release(value);
  return result;
}

static double squared_norm(tenon_scope* scope, tenon_tensor* x) {
  tenon_tensor *squares = NULL, *sum = NULL;
  must(tenon_square(scope, x, &squares));
  must(tenon_sum(scope, squares, NULL, &sum));
  const double result = number(scope, sum);
  tenon_tensor_release(sum);
  tenon_tensor_release(squares);
  return result;
}

/* Computes image - rate * gradient. */
static tenon_tensor* moved(tenon_scope* scope, tenon_tensor* image, tenon_tensor* gradient,
                           double rate) {
  tenon_tensor* scale = tenon_scalar_f64(rate);
  tenon_tensor* result = NULL;
  must(tenon_sgd(scope, image, gradient, scale, &result));
  tenon_tensor_release(scale);
  return result;
}

int main(void) {
  const float weight_values[kClasses * kPixels] = {2, -1, 0, 1, 0, 1, -2, 1, -1, 0, 1, -1};
  const float image_values[kPixels] = {1, 0.5f, -0.5f, 0.25f};
  tenon_context* context = NULL;

  must(tenon_context_create(NULL, &context));
  tenon_scope* scope = tenon_context_default_scope(context);
  tenon_tensor* weights = f32_matrix(scope, weight_values, kClasses, kPixels);
  tenon_tensor* image = f32_vector(scope, image_values, kPixels);

  for (int step = 0; step < 10; ++step) {
    tenon_tensor* gradient = NULL;
    const double start = evaluate(scope, weights, image, &gradient);
    const double norm = squared_norm(scope, gradient);
    printf("-log p: %.4f\n", start);

    double rate = 1;
    tenon_tensor* next = moved(scope, image, gradient, rate);
    while (evaluate(scope, weights, next, NULL) > start - rate * norm / 2) {
      rate /= 2;
      tenon_tensor_release(next);
      next = moved(scope, image, gradient, rate);
    }
    tenon_tensor_release(gradient);
    tenon_tensor_release(image);
    image = next;
  }

  tenon_tensor_release(image);
  tenon_tensor_release(weights);
  tenon_context_release(context);
  return 0;
}
