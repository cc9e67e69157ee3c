/* Opens the program in the folder argv[1], calls its function `collatz` with 27, and prints the
 * result. */
#include <stdio.h>
#include <tenon/tenon.h>

static int failed(tenon_error* error) {
  if (!error) return 0;
  fprintf(stderr, "%.*s\n", (int)tenon_error_message(error).size, tenon_error_message(error).data);
  tenon_error_release(error);
  return 1;
}

int main(int argc, char** argv) {
  const int32_t start = 27;
  int32_t steps = 0;
  tenon_context* context = NULL;
  tenon_scope* scope = NULL;
  tenon_program* program = NULL;
  tenon_function* function = NULL;
  tenon_tensor *input = NULL, *output = NULL;
  if (argc != 2 || failed(tenon_context_create(NULL, &context))) return 1;
  scope = tenon_context_default_scope(context);
  if (failed(tenon_program_open(scope, tenon_str(argv[1]), NULL, &program)) ||
      failed(tenon_program_get_function(program, tenon_str("collatz"), &function)) ||
      failed(tenon_tensor_from_data(scope, TENON_INT32, NULL, 0, &start, sizeof start, &input)) ||
      failed(tenon_function_call(scope, function, &input, 1, NULL, 0, &output, 1, NULL)) ||
      failed(tenon_tensor_read(scope, output, &steps, sizeof steps)))
    return 1;
  printf("%d\n", (int)steps);
  tenon_tensor_release(output);
  tenon_tensor_release(input);
  tenon_function_release(function);
  tenon_program_release(program);
  tenon_context_release(context);
  return 0;
}
