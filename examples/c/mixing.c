/* Mixes eager code and functions. An eager C loop, which ends depending on a value, calls a
 * function and its gradient. That function calls another function, which is traced into it. */

#include "examples/c/eager_and_traced.h"

/* Computes the distances of points from a line: w x - y. */
CODE(distances) {
  const float xs[] = {1, 2, 3}, ys[] = {2, 4, 6};
  tenon_tensor *x = f32_vector(scope, xs, 3), *y = f32_vector(scope, ys, 3), *wx = NULL;
  (void)payload, (void)n_in, (void)statics, (void)n_statics, (void)max_out;
  must(tenon_mul(scope, in[0], x, &wx));
  tenon_error* error = tenon_sub(scope, wx, y, &out[0]);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_tensor_release(wx);
  return error;
}

/* Computes the sum of the squared distances by a call of the function `distances`. */
CODE(loss) {
  tenon_tensor *distance = call(scope, payload, in, 1), *squares = NULL;
  (void)n_in, (void)statics, (void)n_statics, (void)max_out;
  must(tenon_square(scope, distance, &squares));
  tenon_error* error = tenon_sum(scope, squares, NULL, &out[0]);
  tenon_tensor_release(distance);
  tenon_tensor_release(squares);
  return error;
}

static void example(tenon_scope* scope) {
  const tenon_function_body inner_body = {distances, NULL, NULL};
  tenon_function* inner = function_of(scope, inner_body, NULL);
  const tenon_function_body body = {loss, inner, NULL};
  tenon_function *f = function_of(scope, body, NULL), *df = NULL;
  tenon_tensor *w = f32_number(scope, 0), *rate = tenon_scalar_f64(1.0 / 64);
  must(tenon_function_gradient(f, &df));
  for (double value = 1; value > 0.01;) {
    tenon_tensor *now = call(scope, f, &w, 1), *slope = call(scope, df, &w, 1), *next = NULL;
    value = number(scope, now);
    printf("loss %.4f\n", value);
    must(tenon_sgd(scope, w, slope, rate, &next));
    tenon_tensor_release(now);
    tenon_tensor_release(slope);
    tenon_tensor_release(w);
    w = next;
  }
  show_last(scope, "w: ", w);
  tenon_tensor_release(rate);
  tenon_function_release(df);
  tenon_function_release(f);
  tenon_function_release(inner);
}

int main(void) { return run_eager_and_traced(example); }
