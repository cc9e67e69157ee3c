/* Computes y = A x + b ten times, each time with a new variable. A variable is an object: it is
 * freed when its last owner releases it, and the device's memory usage returns to what it was. */

#include "examples/c/must.h"

static tenon_tensor* affine(tenon_scope* scope) {
  const float a_values[] = {10, 10, 11, 1};
  const float x_values[] = {1, 0, 0, 1};
  tenon_tensor* a = f32_matrix(scope, a_values, 2, 2);
  tenon_tensor* x = f32_matrix(scope, x_values, 2, 2);
  tenon_tensor* twelve = f32_number(scope, 12);
  tenon_variable* b = NULL;
  tenon_tensor *product = NULL, *b_value = NULL, *y = NULL;

  must(tenon_variable_create(scope, twelve, NULL, &b));
  must(tenon_matmul(scope, a, x, NULL, &product));
  must(tenon_variable_read(scope, b, &b_value));
  must(tenon_add(scope, product, b_value, &y));

  tenon_tensor_release(b_value);
  tenon_tensor_release(product);
  tenon_variable_release(b);
  tenon_tensor_release(twelve);
  tenon_tensor_release(x);
  tenon_tensor_release(a);
  return y;
}

int main(void) {
  tenon_context* context = NULL;
  tenon_device* device = NULL;

  must(tenon_context_create(NULL, &context));
  tenon_scope* scope = tenon_context_default_scope(context);
  must(tenon_scope_get_device(scope, &device));
  const tenon_memory_info before = memory_of(device);

  for (int call = 0; call < 10; ++call) {
    tenon_tensor* y = affine(scope);
    show(scope, "", y);
    tenon_tensor_release(y);
  }

  const tenon_memory_info after = memory_of(device);
  printf("bytes left in memory: %llu\n",
         (unsigned long long)(after.live_bytes - before.live_bytes));
  printf("buffers left in memory: %llu\n",
         (unsigned long long)(after.live_buffers - before.live_buffers));

  tenon_device_release(device);
  tenon_context_release(context);
  return 0;
}
