/* Ordinary C control flow that depends on the values of tensors: the Collatz sequence from 6 to
 * 1. */

#include "examples/c/must.h"

/* Whether the result of a comparison op is true. */
static bool holds(tenon_scope* scope, tenon_tensor* comparison) {
  const bool result = number(scope, comparison) != 0;
  tenon_tensor_release(comparison);
  return result;
}

static bool is_one(tenon_scope* scope, tenon_tensor* a, tenon_tensor* one) {
  tenon_tensor* equal = NULL;
  must(tenon_equal(scope, a, one, &equal));
  return holds(scope, equal);
}

static bool is_even(tenon_scope* scope, tenon_tensor* a, tenon_tensor* zero, tenon_tensor* two) {
  tenon_tensor *rest = NULL, *equal = NULL;
  must(tenon_mod(scope, a, two, &rest));
  must(tenon_equal(scope, rest, zero, &equal));
  tenon_tensor_release(rest);
  return holds(scope, equal);
}

int main(void) {
  const int32_t six = 6;
  tenon_context* context = NULL;
  tenon_tensor* a = NULL;
  tenon_tensor* zero = tenon_scalar_i64(0);
  tenon_tensor* one = tenon_scalar_i64(1);
  tenon_tensor* two = tenon_scalar_i64(2);
  tenon_tensor* three = tenon_scalar_i64(3);

  must(tenon_context_create(NULL, &context));
  tenon_scope* scope = tenon_context_default_scope(context);
  must(tenon_tensor_from_data(scope, TENON_INT32, NULL, 0, &six, sizeof six, &a));

  while (!is_one(scope, a, one)) {
    tenon_tensor* next = NULL;
    if (is_even(scope, a, zero, two)) {
      must(tenon_div(scope, a, two, &next));
    } else {
      tenon_tensor* tripled = NULL;
      must(tenon_mul(scope, a, three, &tripled));
      must(tenon_add(scope, tripled, one, &next));
      tenon_tensor_release(tripled);
    }
    tenon_tensor_release(a);
    a = next;
    show(scope, "", a);
  }

  tenon_tensor_release(a);
  tenon_tensor_release(zero);
  tenon_tensor_release(one);
  tenon_tensor_release(two);
  tenon_tensor_release(three);
  tenon_context_release(context);
  return 0;
}
