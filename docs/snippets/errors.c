/* docs/errors.md: a failed call, its error, and the error of a lookup. */

#include "docs/snippets/snippet.h"

static void report(const tenon_error* error) {
  printf("code      %s\n", tenon_code_name(tenon_error_code(error)).data);
  printf("message   %s\n", tenon_error_message(error).data);
  printf("op        %s\n", tenon_error_op(error).data);
  printf("location  %s\n", tenon_error_location(error).data);
}

int main(void) {
  const float values[] = {1, 2, 3};
  tenon_context* context = NULL;
  must(tenon_context_create(NULL, &context));
  tenon_scope* scope = tenon_context_default_scope(context);
  tenon_tensor* x = vector(scope, values, 3);

  tenon_softmax_attrs attrs = TENON_SOFTMAX_ATTRS_DEFAULT;
  attrs.axis = 1;
  must(tenon_scope_set_location(scope, tenon_str("train.c:12")));

  tenon_tensor* y = NULL;
  tenon_error* error = tenon_softmax(scope, x, &attrs, &y);
  if (error) {
    report(error);
    printf("output    %s\n", y ? "a tensor" : "NULL");
    tenon_error_release(error);
  }

  /* Getters cannot fail: a handle that is not a tensor has no dtype and no axes. */
  printf("axes of NULL: %d\n", (int)tenon_tensor_rank(NULL));

  tenon_tensor_release(x);
  tenon_context_release(context);
  return 0;
}
