/* Calls in a process whose address space is exhausted, for example under `ulimit -v` or in a
 * container without overcommit. They must return OUT_OF_MEMORY without delay, and succeed when
 * memory is available again. Each case runs in a separate process. */

#define _GNU_SOURCE
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tenon/tenon.h>
#include <unistd.h>

enum { kSize = 1024, kSeconds = 60 };

static tenon_context* context;
static tenon_scope* scope;

static void must(tenon_error* error, const char* what) {
  if (!error) return;
  printf("  %s: %s\n", what, tenon_error_message(error).data);
  fflush(stdout);
  _exit(2);
}
#define MUST(call) must(call, #call)

static void check(int ok, const char* what) {
  if (ok) return;
  printf("  %s does not hold\n", what);
  fflush(stdout);
  _exit(3);
}
#define CHECK(condition) check(condition, #condition)

static void open_scope(void) {
  const char* device = getenv("TENON_TEST_DEVICE");
  MUST(tenon_context_create(NULL, &context));
  scope = tenon_context_default_scope(context);
  MUST(tenon_scope_set_device(scope, tenon_str(device ? device : "ref")));
}

/* Creates an f32[size,size] tensor: the identity matrix times `value`. */
static tenon_tensor* diagonal(int64_t size, float value) {
  const int64_t shape[2] = {size, size};
  float* data = calloc((size_t)(size * size), sizeof *data);
  tenon_tensor* x = NULL;
  int64_t i;
  for (i = 0; i < size; ++i) data[i * size + i] = value;
  MUST(tenon_tensor_from_data(scope, TENON_FLOAT32, shape, 2, data,
                              (size_t)(size * size) * sizeof *data, &x));
  free(data);
  return x;
}

static void limit_address_space(size_t more) {
  struct rlimit limit;
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld", &pages) != 1) _exit(77);
  fclose(file);
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + more;
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

static void lift_limit(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = limit.rlim_max;
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

/* ---- ops that allocate large work buffers ------------------------------- */

typedef tenon_error* (*op)(tenon_tensor* x, tenon_tensor** out_y);

static tenon_error* matmul(tenon_tensor* x, tenon_tensor** out_y) {
  return tenon_matmul(scope, x, x, NULL, out_y);
}
static tenon_error* cholesky(tenon_tensor* x, tenon_tensor** out_y) {
  return tenon_cholesky(scope, x, NULL, out_y);
}
static tenon_error* solve(tenon_tensor* x, tenon_tensor** out_y) {
  return tenon_solve(scope, x, x, out_y);
}
static tenon_error* qr(tenon_tensor* x, tenon_tensor** out_y) {
  return tenon_qr(scope, x, out_y, NULL);
}

/* Reads the n elements of y to the host and returns the first one. */
static double first_of(tenon_tensor* y, int64_t n) {
  static float values[kSize * kSize];
  MUST(tenon_tensor_read(scope, y, values, (size_t)n * sizeof *values));
  return values[0];
}

/* Calls the op on 4 times the identity matrix, with increasing amounts of available memory and
 * finally without a limit. Each call must fail with OUT_OF_MEMORY or return the expected result. */
static void test_op(op call, int64_t size, double expected) {
  static const size_t kRoom[] = {0, 1 << 16, 1 << 20, 8 << 20, 64 << 20};
  tenon_tensor *x, *y = NULL;
  size_t i;
  open_scope();
  x = diagonal(size, 4);
  for (i = 0; i < sizeof kRoom / sizeof *kRoom; ++i) {
    tenon_error* error;
    limit_address_space(kRoom[i]);
    error = call(x, &y);
    lift_limit();
    CHECK(!error || tenon_error_code(error) == TENON_OUT_OF_MEMORY);
    CHECK((error != NULL) == (y == NULL));
    if (y) CHECK(fabs(fabs(first_of(y, size * size)) - expected) < 1e-4);
    tenon_error_release(error);
    tenon_tensor_release(y);
    y = NULL;
  }
  MUST(call(x, &y));
  CHECK(fabs(fabs(first_of(y, size * size)) - expected) < 1e-4);
  tenon_tensor_release(y);
  tenon_tensor_release(x);
  tenon_context_release(context);
}

/* Tests matmul. Only `cpu` multiplies large matrices, for which it allocates memory to pack them.
 * Other devices do not allocate such memory, and would be slow. */
static void products(void) {
  const char* device = getenv("TENON_TEST_DEVICE");
  test_op(matmul, device && strcmp(device, "cpu") == 0 ? kSize : 128, 16);
}
static void cholesky_factors(void) { test_op(cholesky, 256, 2); }
static void solutions(void) { test_op(solve, 256, 1); }
static void qr_factors(void) { test_op(qr, 128, 1); }

/* ---- a failed allocation before the first successful call --------------- */

static void use_up_memory(void) {
  struct rlimit limit;
  size_t size;
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = 1;
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
  for (size = 1 << 20; size > 0; size /= 2) {
    while (malloc(size)) {
    }
  }
}

static void the_first_out_of_memory_error_is_complete(void) {
  const float values[16] = {0};
  const int64_t n = 16;
  tenon_tensor *x = NULL, *kept[4096];
  tenon_error* error = NULL;
  int i;
  open_scope();
  setvbuf(stdout, NULL, _IONBF, 0);
  MUST(tenon_tensor_from_data(scope, TENON_FLOAT32, &n, 1, values, sizeof values, &x));
  use_up_memory();
  for (i = 0; i < 4096 && !error; ++i) error = tenon_exp(scope, x, &kept[i]);
  CHECK(error != NULL && tenon_error_code(error) == TENON_OUT_OF_MEMORY);
  CHECK(tenon_error_message(error).size > 0);
  CHECK(strlen(tenon_error_message(error).data) == tenon_error_message(error).size);
  CHECK(tenon_error_cause(error) == NULL && tenon_error_op(error).data != NULL);
  tenon_error_release(error);
  lift_limit();
  MUST(tenon_exp(scope, x, &kept[i - 1]));
  CHECK(first_of(kept[i - 1], n) == 1);
}

/* ---- running cases in child processes ----------------------------------- */

static int run(const char* name, void (*test)(void)) {
  int status = 0;
  pid_t child;
  fflush(stdout);
  child = fork();
  if (child == 0) {
    alarm(kSeconds);
    test();
    fflush(stdout);
    _exit(0);
  }
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    printf("ok     %s\n", name);
    return 0;
  }
  printf("FAILED %s: %s\n", name,
         WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "a check does not hold");
  return 1;
}
#define RUN(test) run(#test, test)

int main(void) {
  return RUN(products) + RUN(cholesky_factors) + RUN(solutions) + RUN(qr_factors) +
         RUN(the_first_out_of_memory_error_is_complete);
}
