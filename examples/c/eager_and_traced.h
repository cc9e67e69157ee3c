/* eager_and_traced.h - runs code eagerly and as a function: run_eager_and_traced() calls an example
 * twice, first in a context that runs functions eagerly, then in one that traces them. */

#ifndef EXAMPLES_EAGER_AND_TRACED_H_
#define EXAMPLES_EAGER_AND_TRACED_H_

#include "examples/c/must.h"

/* Declares a function with the signature that all code in these examples has: it maps tensors to
 * tensors. */
#define CODE(name)                                                                     \
  static tenon_error* name(void* payload, tenon_scope* scope, tenon_tensor* const* in, \
                           size_t n_in, const tenon_static* statics, size_t n_statics, \
                           tenon_tensor** out, size_t max_out)
#define BLOCK(name)                                                                    \
  static tenon_error* name(void* payload, tenon_scope* scope, tenon_tensor* const* in, \
                           size_t n_in, tenon_tensor** out, size_t max_out)

/* Makes a Tenon function from a body that the macro CODE declares; `options` may be NULL. */
static inline tenon_function* function_of(tenon_scope* scope, tenon_function_body body,
                                          const tenon_function_options* options) {
  tenon_function* function = NULL;
  must(tenon_function_create(tenon_scope_context(scope), tenon_str("example"), body, options,
                             &function));
  return function;
}

/* Calls a function and returns its only output. */
static inline tenon_tensor* call(tenon_scope* scope, tenon_function* function,
                                 tenon_tensor* const* inputs, size_t n_inputs) {
  tenon_tensor* output = NULL;
  must(tenon_function_call(scope, function, inputs, n_inputs, NULL, 0, &output, 1, NULL));
  return output;
}

/* Prints a tensor and releases it. */
static inline void show_last(tenon_scope* scope, const char* label, tenon_tensor* x) {
  show(scope, label, x);
  tenon_tensor_release(x);
}

/* Calls the example twice, each time in a new context: eagerly, and then traced. Returns 0 as the
 * exit status. */
static inline int run_eager_and_traced(void (*example)(tenon_scope* scope)) {
  for (int traced = 0; traced < 2; ++traced) {
    tenon_context* context = NULL;
    must(tenon_context_create(NULL, &context));
    tenon_context_run_functions_eagerly(context, !traced);
    printf("%s\n", traced ? "traced:" : "eager:");
    example(tenon_context_default_scope(context));
    tenon_context_release(context);
  }
  return 0;
}

#endif /* EXAMPLES_EAGER_AND_TRACED_H_ */
