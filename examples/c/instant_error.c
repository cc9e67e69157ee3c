/* An index out of range is reported by the call itself, with an error message that names the
 * index. */

#include "examples/c/must.h"

int main(void) {
  const int32_t elements[] = {0, 1, 2};
  const int32_t seven = 7;
  const int64_t three = 3;
  tenon_context* context = NULL;
  tenon_tensor *x = NULL, *index = NULL, *y = NULL;

  must(tenon_context_create(NULL, &context));
  tenon_scope* scope = tenon_context_default_scope(context);
  must(tenon_tensor_from_data(scope, TENON_INT32, &three, 1, elements, sizeof elements, &x));
  must(tenon_tensor_from_data(scope, TENON_INT32, NULL, 0, &seven, sizeof seven, &index));

  tenon_error* error = tenon_gather(scope, x, index, NULL, &y);
  printf("%s: %s\n", tenon_code_name(tenon_error_code(error)).data,
         tenon_error_message(error).data);
  printf("output: %s\n", y ? "a tensor" : "none");

  tenon_error_release(error);
  tenon_tensor_release(y);
  tenon_tensor_release(index);
  tenon_tensor_release(x);
  tenon_context_release(context);
  return 0;
}
