/* docs/ownership.md: ownership, and when memory is freed. */

#include "docs/snippets/snippet.h"

static unsigned long long live_bytes(tenon_device* device) {
  tenon_memory_info info;
  info.struct_size = sizeof info;
  must(tenon_device_describe_memory(device, &info));
  return (unsigned long long)info.live_bytes;
}

static void released(void* payload) { printf("%s is released\n", (const char*)payload); }

int main(void) {
  const float values[] = {1, 2, 3, 4};
  const int64_t sizes[] = {2, 2};
  tenon_context* context = NULL;
  tenon_device* device = NULL;
  must(tenon_context_create(NULL, &context));
  tenon_scope* scope = tenon_context_default_scope(context);
  must(tenon_scope_get_device(scope, &device));

  /* A view shares the memory of its tensor, and keeps this memory allocated. */
  tenon_tensor *x = vector(scope, values, 4), *square = NULL;
  tenon_reshape_attrs shape = TENON_RESHAPE_ATTRS_DEFAULT;
  shape.shape = sizes;
  shape.n_shape = 2;
  must(tenon_reshape(scope, x, &shape, &square));
  printf("x and its view: %llu bytes\n", live_bytes(device));
  tenon_tensor_release(x);
  printf("the view alone: %llu bytes\n", live_bytes(device));
  tenon_tensor_release(square);
  printf("neither: %llu bytes\n", live_bytes(device));

  /* Imported memory: the deleter runs once, after the last use of the memory. */
  static float memory[16] = {1, 2, 3, 4};
  const int64_t count = 16;
  const tenon_deleter deleter = {released, "imported memory"};
  tenon_tensor* borrowed = NULL;
  must(tenon_tensor_from_host(scope, TENON_FLOAT32, &count, 1, NULL, memory, sizeof memory, deleter,
                              &borrowed));
  tenon_tensor_release(borrowed);

  /* The result may use the memory of a donated tensor, whose handle may then only be released. */
  tenon_tensor *a = vector(scope, values, 4), *b = NULL, *again = NULL;
  must(tenon_tensor_donate(a));
  must(tenon_relu(scope, a, &b));
  tenon_error* error = tenon_relu(scope, a, &again);
  printf("%s\n", tenon_error_message(error).data);
  tenon_error_release(error);
  tenon_tensor_release(a);
  tenon_tensor_release(b);

  printf("at the end: %llu bytes\n", live_bytes(device));
  tenon_device_release(device);
  tenon_context_release(context);
  return 0;
}
