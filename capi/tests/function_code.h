/* Helpers for tests of functions: a function whose body counts its runs. */

#ifndef TENON_CAPI_TESTS_FUNCTION_CODE_H_
#define TENON_CAPI_TESTS_FUNCTION_CODE_H_

#include "capi/tests/check.h"

/* The payload of a function: the code to run, counters, and objects that the code uses. */
struct code {
  tenon_error* (*run)(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                      tenon_tensor** out_outputs);
  int runs;
  int destroyed;
  int was_tracing;
  const tenon_static* statics; /* Valid while the body runs. */
  size_t n_statics;
  tenon_variable* variable;
  tenon_function* inner;
  tenon_tensor* escaped;
};

static void on_destroy(void* payload) { ++((struct code*)payload)->destroyed; }

static tenon_error* run_code(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                             size_t n_inputs, const tenon_static* statics, size_t n_statics,
                             tenon_tensor** out_outputs, size_t max_outputs) {
  struct code* code = payload;
  (void)n_inputs;
  (void)max_outputs;
  ++code->runs;
  code->was_tracing = tenon_scope_is_tracing(inner);
  code->statics = statics;
  code->n_statics = n_statics;
  return code->run(code, inner, inputs, out_outputs);
}

/* Creates a function named "f" that runs `code->run`. */
static tenon_function* function_of(struct code* code, const tenon_function_options* options) {
  tenon_function_body made = {run_code, NULL, on_destroy};
  tenon_function* function = NULL;
  made.payload = code;
  CHECK_OK(tenon_function_create(context(), tenon_str("f"), made, options, &function));
  return function;
}

/* A body that returns inputs[0] * inputs[1]. */
static inline tenon_error* product(struct code* code, tenon_scope* inner,
                                   tenon_tensor* const* inputs, tenon_tensor** out_outputs) {
  (void)code;
  return tenon_mul(inner, inputs[0], inputs[1], &out_outputs[0]);
}

#endif /* TENON_CAPI_TESTS_FUNCTION_CODE_H_ */
