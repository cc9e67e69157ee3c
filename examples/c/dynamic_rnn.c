/* A recurrent network over a sequence of any length. A loop over the steps collects its outputs in
 * a list of tensors. One trace serves every length. */

#include "examples/c/eager_and_traced.h"

enum { kInputs = 2, kHidden = 2 };

typedef struct network {
  tenon_tensor *in_weights, *state_weights; /* The factors of the inputs and of the state. */
  /* Set while the network runs: the list of the inputs, [batch, input] for each step, and the
   * number of steps. */
  tenon_tensor *steps, *n_steps;
} network;

BLOCK(is_inside) {
  (void)n_in, (void)max_out;
  return tenon_less(scope, in[0], ((network*)payload)->n_steps, &out[0]);
}

/* The loop body. The carried values are the number of the step, the state, and the list of all
 * states. */
BLOCK(take_step) {
  const network* net = payload;
  tenon_tensor *one = tenon_scalar_i64(1), *x = NULL, *from_x = NULL, *from_h = NULL, *sum = NULL;
  (void)n_in, (void)max_out;
  must(tenon_list_get(scope, net->steps, in[0], &x));
  must(tenon_matmul(scope, x, net->in_weights, NULL, &from_x));
  must(tenon_matmul(scope, in[1], net->state_weights, NULL, &from_h));
  must(tenon_add(scope, from_x, from_h, &sum));
  must(tenon_add(scope, in[0], one, &out[0]));
  must(tenon_tanh(scope, sum, &out[1]));
  must(tenon_list_set(scope, in[2], in[0], out[1], &out[2]));
  tenon_tensor* all[] = {one, x, from_x, from_h, sum};
  for (size_t i = 0; i < 5; ++i) tenon_tensor_release(all[i]);
  return NULL;
}

/* Maps [batch, time, input] to [batch, time, state]. */
CODE(run_network) {
  const int64_t swapped[] = {1, 0, 2};
  const int64_t first = 0, second = 1;
  tenon_transpose_attrs time_first = TENON_TRANSPOSE_ATTRS_DEFAULT;
  tenon_slice_attrs leading = TENON_SLICE_ATTRS_DEFAULT;
  network* net = payload;
  const tenon_block condition = {is_inside, net}, body = {take_step, net};
  tenon_tensor *by_time = NULL, *shape = NULL, *size = NULL, *x0 = NULL, *zero = NULL;
  tenon_tensor *initial[3], *found[3], *states = NULL;
  (void)n_in, (void)statics, (void)n_statics, (void)max_out;
  time_first.perm = swapped;
  time_first.n_perm = 3;
  leading.starts = &first;
  leading.ends = &second;
  leading.n_starts = leading.n_ends = 1;
  must(tenon_transpose(scope, in[0], &time_first, &by_time));
  must(tenon_list_unstack(scope, by_time, &net->steps));
  must(tenon_shape(scope, by_time, &shape));
  must(tenon_slice(scope, shape, &leading, &size));
  must(tenon_squeeze(scope, size, NULL, &net->n_steps));

  /* The initial state: zeros, with one row for each row of the input at step 0. */
  initial[0] = tenon_scalar_i64(0);
  must(tenon_list_get(scope, net->steps, initial[0], &x0));
  zero = tenon_scalar_f64(0);
  must(tenon_mul(scope, x0, zero, &initial[1]));
  must(tenon_list_create_like(scope, initial[1], 0, &initial[2]));
  must(tenon_while_loop(scope, condition, body, initial, 3, NULL, found));
  must(tenon_list_stack(scope, found[2], net->n_steps, &states));
  must(tenon_transpose(scope, states, &time_first, &out[0]));

  tenon_tensor* all[] = {by_time, shape, size, x0, zero, states, net->steps, net->n_steps};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) tenon_tensor_release(all[i]);
  for (size_t i = 0; i < 3; ++i) {
    tenon_tensor_release(initial[i]);
    tenon_tensor_release(found[i]);
  }
  return NULL;
}

/* Two sequences of `n_steps` steps: 1, 2, 3 and so on. */
static tenon_tensor* sequences(tenon_scope* scope, int64_t n_steps) {
  const int64_t shape[] = {2, n_steps, kInputs};
  float values[2 * 8 * kInputs];
  const size_t n = (size_t)(2 * n_steps * kInputs);
  tenon_tensor* x = NULL;
  for (size_t i = 0; i < n; ++i) values[i] = (float)(i + 1);
  must(tenon_tensor_from_data(scope, TENON_FLOAT32, shape, 3, values, n * sizeof *values, &x));
  return x;
}

static void example(tenon_scope* scope) {
  const float in_weights[] = {0.125f, -0.25f, -0.0625f, 0.25f},
              state_weights[] = {1, 0.5f, -0.5f, 1};
  const int64_t shape[] = {TENON_SIZE_UNKNOWN, TENON_SIZE_UNKNOWN, kInputs};
  network net = {f32_matrix(scope, in_weights, 2, 2), f32_matrix(scope, state_weights, 2, 2), NULL,
                 NULL};
  const tenon_function_body body = {run_network, &net, NULL};
  tenon_input_spec spec = {0};
  tenon_function_options options = TENON_FUNCTION_OPTIONS_DEFAULT;
  spec.dtype = TENON_FLOAT32;
  spec.rank = 3;
  spec.shape = shape;
  options.signature = &spec;
  options.n_signature = 1;
  tenon_function* f = function_of(scope, body, &options);
  for (int64_t n_steps = 1; n_steps < 4; n_steps += 2) {
    tenon_tensor* x = sequences(scope, n_steps);
    show_last(scope, "", call(scope, f, &x, 1));
    tenon_tensor_release(x);
  }
  printf("traces: %zu\n", tenon_function_count_traces(f));
  tenon_tensor_release(net.in_weights);
  tenon_tensor_release(net.state_weights);
  tenon_function_release(f);
}

int main(void) { return run_eager_and_traced(example); }
