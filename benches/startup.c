/* Prints the milliseconds from main() to the first result. Loads all plugins that are beside
 * libtenon. */

#define _POSIX_C_SOURCE 199309L /* clock_gettime */

#include <stdio.h>
#include <tenon/tenon.h>
#include <time.h>

int main(void) {
  struct timespec from, to;
  clock_gettime(CLOCK_MONOTONIC, &from);

  tenon_context* context = NULL;
  tenon_error* error = tenon_context_create(NULL, &context);
  if (error) return 1;
  tenon_scope* scope = tenon_context_default_scope(context);
  const float value = 20.5f;
  const int64_t size = 1;
  float result = 0;
  tenon_tensor *x = NULL, *y = NULL;
  error = tenon_tensor_from_data(scope, TENON_FLOAT32, &size, 1, &value, sizeof value, &x);
  if (!error) error = tenon_add(scope, x, x, &y);
  if (!error) error = tenon_tensor_read(scope, y, &result, sizeof result);
  if (error || result != 41) {
    fprintf(stderr, "startup: %s\n", error ? tenon_error_message(error).data : "wrong sum");
    return 1;
  }
  clock_gettime(CLOCK_MONOTONIC, &to);
  printf("%.3f\n",
         (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_context_release(context);
  return 0;
}
