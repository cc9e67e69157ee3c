/* A variable is an object: its memory, also on a device, is freed when the last handle is
 * released. */

#include "examples/c/must.h"

static unsigned long long live_bytes(tenon_device* device) {
  return (unsigned long long)memory_of(device).live_bytes;
}

/* A variable of a million zeros on the scope's device. */
static tenon_variable* million(tenon_scope* scope) {
  const int64_t shape[] = {1000, 1000};
  tenon_fill_attrs attrs = TENON_FILL_ATTRS_DEFAULT;
  tenon_tensor* zero = tenon_scalar_f64(0);
  tenon_tensor* zeros = NULL;
  tenon_variable* result = NULL;
  attrs.shape = shape;
  attrs.n_shape = 2;
  must(tenon_fill(scope, zero, &attrs, &zeros));
  must(tenon_variable_create(scope, zeros, NULL, &result));
  tenon_tensor_release(zeros);
  tenon_tensor_release(zero);
  return result;
}

static void show_life_on(tenon_context* context, const char* name) {
  tenon_scope* scope = NULL;
  tenon_device* device = NULL;
  must(tenon_scope_create(context, tenon_str(name), &scope));
  must(tenon_scope_get_device(scope, &device));
  const unsigned long long before = live_bytes(device);

  tenon_variable* variable = million(scope);
  printf("%s with a variable: %llu bytes\n", name, live_bytes(device) - before);
  tenon_variable_retain(variable);
  tenon_variable_release(variable);
  printf("%s with one handle less: %llu bytes\n", name, live_bytes(device) - before);
  tenon_variable_release(variable);
  printf("%s with none: %llu bytes\n", name, live_bytes(device) - before);

  tenon_device_release(device);
  tenon_scope_release(scope);
}

int main(void) {
  tenon_context* context = NULL;
  must(tenon_context_create(NULL, &context));
  show_life_on(context, "cpu:0");
  show_life_on(context, "ref:0");
  tenon_context_release(context);
  return 0;
}
