/* Computes the absolute value with a branch on a value. tenon_cond() makes the branch part of the
 * trace, which then serves both calls. A C `if` would select one side for all calls. */

#include "examples/c/eager_and_traced.h"

BLOCK(as_it_is) {
  (void)in, (void)n_in, (void)max_out;
  return tenon_identity(scope, payload, &out[0]);
}

BLOCK(negated) {
  (void)in, (void)n_in, (void)max_out;
  return tenon_neg(scope, payload, &out[0]);
}

CODE(absolute) {
  const tenon_block then_block = {as_it_is, in[0]}, else_block = {negated, in[0]};
  tenon_tensor *zero = tenon_scalar_f64(0), *is_positive = NULL;
  (void)n_in, (void)statics, (void)n_statics, (void)max_out;
  ++*(int*)payload;
  must(tenon_greater_equal(scope, in[0], zero, &is_positive));
  must(tenon_cond(scope, is_positive, then_block, else_block, out, 1, NULL));
  tenon_tensor_release(is_positive);
  tenon_tensor_release(zero);
  return NULL;
}

static void example(tenon_scope* scope) {
  int runs = 0;
  const tenon_function_body body = {absolute, &runs, NULL};
  tenon_function* f = function_of(scope, body, NULL);
  tenon_tensor *above = f32_number(scope, 3), *below = f32_number(scope, -4);
  show_last(scope, "abs(3): ", call(scope, f, &above, 1));
  show_last(scope, "abs(-4): ", call(scope, f, &below, 1));
  printf("the code ran %d times\n", runs);
  tenon_tensor_release(above);
  tenon_tensor_release(below);
  tenon_function_release(f);
}

int main(void) { return run_eager_and_traced(example); }
