/* The first program: a product and its gradient, computed immediately on the default device. */

#include <stdio.h>
#include <stdlib.h>
#include <tenon/tenon.h>

/* Exits with the error's message, which names the op, the rule and the values. */
static void must(tenon_error* error) {
  if (!error) return;
  fprintf(stderr, "%s\n", tenon_error_message(error).data);
  exit(1);
}

static void print(tenon_scope* scope, const char* name, tenon_tensor* x) {
  tenon_string text = {NULL, 0};
  must(tenon_tensor_format(scope, x, NULL, &text));
  printf("%s =\n%s\n", name, text.data);
  tenon_string_release(text);
}

int main(void) {
  const float values[] = {1, 2, 3, 4};
  const int64_t shape[] = {2, 2};
  tenon_context* context = NULL;
  tenon_device* device = NULL;
  tenon_tensor *x = NULL, *y = NULL, *dx = NULL;
  tenon_tape* tape = NULL;

  must(tenon_context_create(NULL, &context));
  must(tenon_context_get_device(context, 0, &device));
  tenon_scope* scope = tenon_context_default_scope(context);
  must(tenon_scope_set_device(scope, tenon_device_name(device)));

  must(tenon_tensor_from_data(scope, TENON_FLOAT32, shape, 2, values, sizeof values, &x));
  tenon_value* source = tenon_tensor_as_value(x);
  must(tenon_tape_create(scope, NULL, &tape));
  must(tenon_tape_watch(tape, source));
  must(tenon_matmul(scope, x, x, NULL, &y));
  must(tenon_tape_gradient(scope, tape, &y, 1, NULL, &source, 1, NULL, &dx));

  print(scope, "x x", y);
  print(scope, "d sum(x x) / dx", dx);

  tenon_tape_release(tape);
  tenon_tensor_release(dx);
  tenon_tensor_release(y);
  tenon_tensor_release(x);
  tenon_device_release(device);
  tenon_context_release(context);
  return 0;
}
