#include "benches/bindings/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <tenon/tenon.h>
#include <time.h>

static void check(tenon_error* error) {
  if (!error) return;
  fprintf(stderr, "%s\n", tenon_error_message(error).data);
  exit(1);
}

static int64_t now(void) {
  struct timespec time;
  timespec_get(&time, TIME_UTC);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static tenon_scope* scope(void) {
  static tenon_scope* made;
  if (!made) {
    tenon_context* context = NULL;
    tenon_context_options options = TENON_CONTEXT_OPTIONS_DEFAULT;
    options.threads = 1;
    check(tenon_context_create(&options, &context));
    made = tenon_context_default_scope(context);
  }
  return made;
}

static tenon_tensor* tensor(const int64_t* shape, size_t rank, tenon_dtype dtype, const void* data,
                            size_t size) {
  tenon_tensor* x = NULL;
  check(tenon_tensor_from_data(scope(), dtype, shape, rank, data, size, &x));
  return x;
}

static tenon_tensor* one_element(float value) {
  const int64_t shape[] = {1};
  return tensor(shape, 1, TENON_FLOAT32, &value, sizeof value);
}

int64_t bench_c_eager_add(int64_t repetitions) {
  tenon_scope* const in = scope();
  tenon_tensor *a = one_element(1), *b = one_element(2);
  const int64_t start = now();
  for (int64_t i = 0; i < repetitions; ++i) {
    tenon_tensor* c = NULL;
    check(tenon_add(in, a, b, &c));
    tenon_tensor_release(c);
  }
  const int64_t passed = now() - start;
  tenon_tensor_release(a);
  tenon_tensor_release(b);
  return passed;
}

int64_t bench_c_recorded_add(int64_t repetitions) {
  tenon_scope* const in = scope();
  tenon_tensor *a = one_element(1), *b = one_element(2);
  tenon_tape* tape = NULL;
  check(tenon_tape_create(in, NULL, &tape));
  const int64_t start = now();
  for (int64_t i = 0; i < repetitions; i += kBenchBatch) {
    check(tenon_tape_watch(tape, tenon_tensor_as_value(a)));
    for (int k = 0; k < kBenchBatch; ++k) {
      tenon_tensor* c = NULL;
      check(tenon_add(in, a, b, &c));
      tenon_tensor_release(c);
    }
    check(tenon_tape_reset(tape));
  }
  const int64_t passed = now() - start;
  tenon_tape_release(tape);
  tenon_tensor_release(a);
  tenon_tensor_release(b);
  return passed;
}

static tenon_error* add_inputs(void* payload, tenon_scope* in, tenon_tensor* const* inputs,
                               size_t n_inputs, const tenon_static* statics, size_t n_statics,
                               tenon_tensor** out_outputs, size_t max_outputs) {
  (void)payload, (void)n_inputs, (void)statics, (void)n_statics, (void)max_outputs;
  return tenon_add(in, inputs[0], inputs[1], &out_outputs[0]);
}

int64_t bench_c_function_call(int64_t repetitions) {
  static tenon_function* function;
  tenon_scope* const in = scope();
  const tenon_function_body body = {add_inputs, NULL, NULL};
  if (!function) {
    check(tenon_function_create(tenon_scope_context(in), tenon_str("add"), body, NULL, &function));
  }
  tenon_tensor* inputs[] = {one_element(1), one_element(2)};
  const int64_t start = now();
  for (int64_t i = 0; i < repetitions; ++i) {
    tenon_tensor* c = NULL;
    check(tenon_function_call(in, function, inputs, 2, NULL, 0, &c, 1, NULL));
    tenon_tensor_release(c);
  }
  const int64_t passed = now() - start;
  tenon_tensor_release(inputs[0]);
  tenon_tensor_release(inputs[1]);
  return passed;
}

/* ---- the training step -------------------------------------------------- */

static tenon_tensor* filled(int64_t rows, int64_t columns) {
  const int64_t shape[] = {rows, columns};
  const size_t count = (size_t)(rows * columns);
  float* data = malloc(count * sizeof *data);
  if (!data) exit(1);
  for (size_t i = 0; i < count; ++i) data[i] = (float)(i % 7) * 0.01f - 0.03f;
  tenon_tensor* x = tensor(shape, 2, TENON_FLOAT32, data, count * sizeof *data);
  free(data);
  return x;
}

static tenon_variable* variable(int64_t rows, int64_t columns) {
  tenon_tensor* initial = filled(rows, columns);
  tenon_variable* made = NULL;
  check(tenon_variable_create(scope(), initial, NULL, &made));
  tenon_tensor_release(initial);
  return made;
}

static tenon_tensor* class_of_rows(void) {
  const int64_t shape[] = {kBenchRows};
  int32_t labels[kBenchRows];
  for (int32_t i = 0; i < kBenchRows; ++i) labels[i] = i % kBenchClasses;
  return tensor(shape, 1, TENON_INT32, labels, sizeof labels);
}

static tenon_tensor* product(tenon_scope* in, tenon_tensor* x, tenon_variable* weight) {
  tenon_tensor *w = NULL, *y = NULL;
  check(tenon_variable_read(in, weight, &w));
  check(tenon_matmul(in, x, w, NULL, &y));
  tenon_tensor_release(w);
  return y;
}

static void train(tenon_scope* in, tenon_variable** weights, tenon_tensor* x, tenon_tensor* labels,
                  tenon_tensor* rate) {
  tenon_tape* tape = NULL;
  check(tenon_tape_create(in, NULL, &tape));
  tenon_tensor *first = product(in, x, weights[0]), *active = NULL, *loss = NULL;
  check(tenon_relu(in, first, &active));
  tenon_tensor* logits = product(in, active, weights[1]);
  check(tenon_sparse_softmax_cross_entropy(in, logits, labels, NULL, &loss, NULL));
  tenon_value* sources[2];
  tenon_tensor* gradients[2];
  for (int i = 0; i < 2; ++i) sources[i] = tenon_variable_as_value(weights[i]);
  check(tenon_tape_gradient(in, tape, &loss, 1, NULL, sources, 2, NULL, gradients));
  for (int i = 0; i < 2; ++i) {
    tenon_tensor *before = NULL, *after = NULL;
    check(tenon_variable_read(in, weights[i], &before));
    check(tenon_sgd(in, before, gradients[i], rate, &after));
    check(tenon_variable_assign(in, weights[i], after));
    tenon_tensor_release(after);
    tenon_tensor_release(before);
    tenon_tensor_release(gradients[i]);
  }
  tenon_tape_release(tape);
  tenon_tensor_release(loss);
  tenon_tensor_release(logits);
  tenon_tensor_release(active);
  tenon_tensor_release(first);
}

int64_t bench_c_training_step(int64_t repetitions) {
  static tenon_variable* weights[2];
  static tenon_tensor *x, *labels, *rate;
  tenon_scope* const in = scope();
  if (!rate) {
    weights[0] = variable(kBenchFeatures, kBenchHidden);
    weights[1] = variable(kBenchHidden, kBenchClasses);
    x = filled(kBenchRows, kBenchFeatures);
    labels = class_of_rows();
    const float learning_rate = 0.01f;
    rate = tensor(NULL, 0, TENON_FLOAT32, &learning_rate, sizeof learning_rate);
  }
  const int64_t start = now();
  for (int64_t i = 0; i < repetitions; ++i) train(in, weights, x, labels, rate);
  return now() - start;
}
