/* Computes x + 0 + 1 + ... + 999 by a loop of a thousand iterations with one addition each. When
 * traced, the loop is one node of the trace and runs entirely in the core. */

#include "examples/c/eager_and_traced.h"

enum { kTrips = 1000 };

BLOCK(is_inside) {
  tenon_tensor* n = tenon_scalar_i64(kTrips);
  (void)payload, (void)n_in, (void)max_out;
  tenon_error* error = tenon_less(scope, in[0], n, &out[0]);
  tenon_tensor_release(n);
  return error;
}

BLOCK(add_index) {
  tenon_tensor *one = tenon_scalar_i64(1), *i = NULL;
  tenon_cast_attrs to_float = TENON_CAST_ATTRS_DEFAULT;
  (void)payload, (void)n_in, (void)max_out;
  to_float.to = TENON_FLOAT32;
  must(tenon_add(scope, in[0], one, &out[0]));
  must(tenon_cast(scope, in[0], &to_float, &i));
  must(tenon_add(scope, in[1], i, &out[1]));
  tenon_tensor_release(one);
  tenon_tensor_release(i);
  return NULL;
}

CODE(add_all) {
  const tenon_block condition = {is_inside, NULL}, body = {add_index, NULL};
  tenon_tensor *initial[] = {tenon_scalar_i64(0), in[0]}, *found[2];
  (void)payload, (void)n_in, (void)statics, (void)n_statics, (void)max_out;
  must(tenon_while_loop(scope, condition, body, initial, 2, NULL, found));
  out[0] = found[1];
  tenon_tensor_release(found[0]);
  tenon_tensor_release(initial[0]);
  return NULL;
}

static void example(tenon_scope* scope) {
  const tenon_function_body body = {add_all, NULL, NULL};
  tenon_function* f = function_of(scope, body, NULL);
  tenon_tensor* x = f32_number(scope, 0.5f);
  show_last(scope, "0.5 + 0 + ... + 999: ", call(scope, f, &x, 1));
  printf("traces: %zu\n", tenon_function_count_traces(f));
  tenon_tensor_release(x);
  tenon_function_release(f);
}

int main(void) { return run_eager_and_traced(example); }
