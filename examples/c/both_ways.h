/* both_ways.h - code that runs as it is written and as a function: run_both_ways() calls an example
 * twice, first with a context that runs functions eagerly, then with one that traces them. */

#ifndef EXAMPLES_BOTH_WAYS_H_
#define EXAMPLES_BOTH_WAYS_H_

#include "examples/c/must.h"

/* What every piece of code here is: it takes tensors, and gives some. */
#define CODE(name)                                                                     \
  static tenon_error* name(void* payload, tenon_scope* scope, tenon_tensor* const* in, \
                           size_t n_in, const tenon_static* statics, size_t n_statics, \
                           tenon_tensor** out, size_t max_out)
#define BLOCK(name)                                                                    \
  static tenon_error* name(void* payload, tenon_scope* scope, tenon_tensor* const* in, \
                           size_t n_in, tenon_tensor** out, size_t max_out)

/* A function of that code; `options` may be NULL. */
static inline tenon_function* function_of(tenon_scope* scope, tenon_function_body body,
                                          const tenon_function_options* options) {
  tenon_function* function = NULL;
  must(tenon_function_create(tenon_scope_context(scope), tenon_str("example"), body, options,
                             &function));
  return function;
}

/* Its only output. */
static inline tenon_tensor* call(tenon_scope* scope, tenon_function* function,
                                 tenon_tensor* const* inputs, size_t n_inputs) {
  tenon_tensor* output = NULL;
  must(tenon_function_call(scope, function, inputs, n_inputs, NULL, 0, &output, 1, NULL));
  return output;
}

/* Shows a tensor, and releases it. */
static inline void show_last(tenon_scope* scope, const char* label, tenon_tensor* x) {
  show(scope, label, x);
  tenon_tensor_release(x);
}

static inline int run_both_ways(void (*example)(tenon_scope* scope)) {
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

#endif /* EXAMPLES_BOTH_WAYS_H_ */
