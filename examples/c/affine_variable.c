/* Computes a x + b ten times. The constants a and x are made in the code, and the variable b in
 * its first call. When the code is traced, everything that depends only on constants is computed
 * once. */

#include "examples/c/eager_and_traced.h"

typedef struct affine {
  int runs;
  tenon_variable* b;
} affine;

CODE(a_x_plus_b) {
  const float a_values[] = {10, 10, 11, 1}, x_values[] = {1, 0, 0, 1};
  affine* self = payload;
  tenon_tensor *a = f32_matrix(scope, a_values, 2, 2), *x = f32_matrix(scope, x_values, 2, 2);
  tenon_tensor *ax = NULL, *b = NULL;
  (void)in, (void)n_in, (void)statics, (void)n_statics, (void)max_out;
  ++self->runs;
  if (!self->b) {
    tenon_tensor* twelve = f32_number(scope, 12);
    must(tenon_variable_create(scope, twelve, NULL, &self->b));
    tenon_tensor_release(twelve);
  }
  must(tenon_variable_read(scope, self->b, &b));
  must(tenon_matmul(scope, a, x, NULL, &ax));
  tenon_error* error = tenon_add(scope, ax, b, &out[0]);
  tenon_tensor_release(a);
  tenon_tensor_release(x);
  tenon_tensor_release(ax);
  tenon_tensor_release(b);
  return error;
}

static void example(tenon_scope* scope) {
  affine self = {0, NULL};
  const tenon_function_body body = {a_x_plus_b, &self, NULL};
  tenon_function* f = function_of(scope, body, NULL);
  tenon_tensor* y = NULL;
  for (int i = 0; i < 10; ++i) {
    tenon_tensor_release(y);
    y = call(scope, f, NULL, 0);
  }
  show_last(scope, "", y);
  printf("the code ran %d times\n", self.runs);
  tenon_variable_release(self.b);
  tenon_function_release(f);
}

int main(void) { return run_eager_and_traced(example); }
