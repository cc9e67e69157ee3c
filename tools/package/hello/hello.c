#include <stdio.h>
#include <stdlib.h>
#include <tenon/tenon.h>

static void check(tenon_error* error) {
  if (!error) return;
  fprintf(stderr, "%s\n", tenon_error_message(error).data);
  exit(1);
}

int main(void) {
  const float a[] = {1, 2}, b[] = {10, 20};
  const int64_t shape[] = {2};
  tenon_context* context = NULL;
  tenon_tensor *x = NULL, *y = NULL, *sum = NULL;
  tenon_string text;
  check(tenon_context_create(NULL, &context));
  tenon_scope* scope = tenon_context_default_scope(context);
  check(tenon_tensor_from_data(scope, TENON_FLOAT32, shape, 1, a, sizeof a, &x));
  check(tenon_tensor_from_data(scope, TENON_FLOAT32, shape, 1, b, sizeof b, &y));
  check(tenon_add(scope, x, y, &sum));
  check(tenon_tensor_format(scope, sum, NULL, &text));
  printf("%s\n", text.data);
  tenon_string_release(text);
  tenon_tensor_release(sum);
  tenon_tensor_release(y);
  tenon_tensor_release(x);
  tenon_context_release(context);
}
