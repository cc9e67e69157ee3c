/* A scope on a device creates tensors there: random tensors, and everything computed from them.
 * Mixing tensors of two devices is an error; copy one of them first. */

#include "examples/c/must.h"

static tenon_tensor* random_matrix(tenon_scope* scope) {
  const int64_t shape[] = {10, 10};
  tenon_generator* generator = NULL;
  tenon_tensor* x = NULL;
  must(tenon_generator_create(scope, 1, &generator));
  must(tenon_generator_uniform(scope, generator, TENON_FLOAT32, shape, 2, 0, 1, &x));
  tenon_generator_release(generator);
  return x;
}

static void say_where(const char* name, const tenon_tensor* x) {
  printf("%s is on %s\n", name, tenon_tensor_device_name(x).data);
}

int main(void) {
  tenon_context* context = NULL;
  tenon_scope* on_ref = NULL;
  tenon_tensor *y = NULL, *sum = NULL, *here = NULL;

  must(tenon_context_create(NULL, &context));
  tenon_scope* scope = tenon_context_default_scope(context);
  must(tenon_scope_create(context, tenon_str("ref"), &on_ref));

  tenon_tensor* x = random_matrix(on_ref);
  must(tenon_matmul(on_ref, x, x, NULL, &y));
  say_where("x", x);
  say_where("y", y);

  tenon_tensor* z = random_matrix(scope);
  say_where("z", z);
  tenon_error* error = tenon_add(scope, y, z, &sum);
  printf("%s\n", tenon_error_message(error).data);

  must(tenon_tensor_copy_to(scope, y, tenon_str("cpu:0"), &here));
  must(tenon_add(scope, here, z, &sum));
  say_where("y + z", sum);

  tenon_error_release(error);
  tenon_tensor_release(sum);
  tenon_tensor_release(here);
  tenon_tensor_release(z);
  tenon_tensor_release(y);
  tenon_tensor_release(x);
  tenon_scope_release(on_ref);
  tenon_context_release(context);
  return 0;
}
