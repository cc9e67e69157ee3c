/* A matrix product is computed when it is called, and can be printed immediately: no graph, no
 * session. */

#include "examples/c/must.h"

int main(void) {
  const float two[] = {2};
  tenon_context* context = NULL;
  tenon_tensor* m = NULL;

  must(tenon_context_create(NULL, &context));
  tenon_scope* scope = tenon_context_default_scope(context);
  tenon_tensor* x = f32_matrix(scope, two, 1, 1);

  must(tenon_matmul(scope, x, x, NULL, &m));
  show(scope, "", m);

  tenon_tensor_release(m);
  tenon_tensor_release(x);
  tenon_context_release(context);
  return 0;
}
