/* Small ONNX models that request far more memory than the machine has. Each model runs in a child
 * process, whose memory use is measured. */

#define _DEFAULT_SOURCE

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capi/tests/check.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MAX_MB = 1500, SECONDS = 10 };
#else
enum { MAX_MB = 500, SECONDS = 2 };
#endif

/* ---- a minimal writer of ONNX files -------------------------------------- */

typedef struct {
  char bytes[8192];
  size_t size;
} message;

static void put(message* to, const void* bytes, size_t n) {
  memcpy(to->bytes + to->size, bytes, n);
  to->size += n;
}
static void varint(message* to, uint64_t value) {
  do {
    const unsigned char byte = (unsigned char)((value & 127) | (value > 127 ? 128 : 0));
    put(to, &byte, 1);
    value >>= 7;
  } while (value != 0);
}
static void number(message* to, int field, uint64_t value) {
  varint(to, (uint64_t)field << 3);
  varint(to, value);
}
static void bytes(message* to, int field, const void* data, size_t n) {
  varint(to, (uint64_t)field << 3 | 2);
  varint(to, n);
  put(to, data, n);
}
static void text(message* to, int field, const char* value) {
  bytes(to, field, value, strlen(value));
}
static void nested(message* to, int field, const message* inner) {
  bytes(to, field, inner->bytes, inner->size);
}

static void add_node(message* to, int field, const char* op, const char* domain, const char* a,
                     const char* b, const char* out) {
  message node = {{0}, 0};
  text(&node, 1, a);
  if (b) text(&node, 1, b);
  text(&node, 2, out);
  text(&node, 4, op);
  if (domain) text(&node, 7, domain);
  nested(to, field, &node);
}

static void add_value(message* to, int field, const char* name, int rank) {
  message value = {{0}, 0}, type = {{0}, 0}, tensor = {{0}, 0}, shape = {{0}, 0}, dim = {{0}, 0};
  int i;
  number(&dim, 1, 3);
  for (i = 0; i < rank; ++i) nested(&shape, 1, &dim);
  number(&tensor, 1, 1);
  if (rank >= 0) nested(&tensor, 2, &shape);
  nested(&type, 1, &tensor);
  text(&value, 1, name);
  nested(&value, 2, &type);
  nested(to, field, &value);
}

static void add_operators(message* to, const char* domain, int version) {
  message set = {{0}, 0};
  text(&set, 1, domain);
  number(&set, 2, (uint64_t)version);
  nested(to, 8, &set);
}

/* A model in which Expand returns a view of 6 * 10^12 elements. Its inputs are x: f32[3] and the
 * sizes 10^6, 10^6, 2, 3. */
static message expanded(const char* op) {
  static const int64_t sizes[4] = {1000000, 1000000, 2, 3};
  message model = {{0}, 0}, graph = {{0}, 0}, tensor = {{0}, 0};
  number(&tensor, 1, 4);
  number(&tensor, 2, 7);
  text(&tensor, 8, "s");
  bytes(&tensor, 9, sizes, sizeof sizes);
  add_node(&graph, 1, "Expand", NULL, "x", "s", "t");
  add_node(&graph, 1, op, NULL, "t", NULL, "y");
  text(&graph, 2, "g");
  nested(&graph, 5, &tensor);
  add_value(&graph, 11, "x", 1);
  add_value(&graph, 12, "y", -1);
  number(&model, 1, 8);
  nested(&model, 7, &graph);
  add_operators(&model, "", 17);
  return model;
}

/* A model with a chain of functions. Each calls the previous one twice, so inlining doubles the
 * nodes. */
static message doubling(int times) {
  message model = {{0}, 0}, graph = {{0}, 0};
  char name[16], inner[16];
  int i;
  snprintf(name, sizeof name, "F%d", times);
  add_node(&graph, 1, name, "mine", "x", NULL, "y");
  text(&graph, 2, "g");
  add_value(&graph, 11, "x", 1);
  add_value(&graph, 12, "y", -1);
  number(&model, 1, 8);
  nested(&model, 7, &graph);
  add_operators(&model, "", 17);
  add_operators(&model, "mine", 1);
  for (i = 0; i <= times; ++i) {
    message function = {{0}, 0};
    snprintf(name, sizeof name, "F%d", i);
    snprintf(inner, sizeof inner, "F%d", i - 1);
    text(&function, 1, name);
    text(&function, 4, "a");
    text(&function, 5, "b");
    if (i == 0) {
      add_node(&function, 7, "Neg", NULL, "a", NULL, "b");
    } else {
      add_node(&function, 7, inner, "mine", "a", NULL, "c");
      add_node(&function, 7, inner, "mine", "c", NULL, "b");
    }
    {
      message set = {{0}, 0};
      text(&set, 1, "");
      number(&set, 2, 17);
      nested(&function, 9, &set);
    }
    text(&function, 10, "mine");
    nested(&model, 25, &function);
  }
  return model;
}

/* ---- running models in child processes ---------------------------------- */

enum { FINE = 0, OUT_OF_MEMORY = 10, REFUSED = 11, OTHER = 12, CRASHED = 13, UNDER_WAY = 14 };

static int outcome_of(tenon_error* error) {
  const tenon_code code = tenon_error_code(error);
  tenon_error_release(error);
  return code == TENON_OK              ? FINE
         : code == TENON_OUT_OF_MEMORY ? OUT_OF_MEMORY
         : code == TENON_DATA_LOSS     ? REFUSED
                                       : OTHER;
}

static int open_and_call(const char* path) {
  const float values[3] = {1, 2, 3};
  const int64_t shape[1] = {3};
  tenon_context* own = create_context();
  tenon_scope* where = tenon_context_default_scope(own);
  tenon_program* program = NULL;
  tenon_function* function = NULL;
  tenon_tensor *x = NULL, *y = NULL;
  int outcome = outcome_of(tenon_program_open(where, tenon_str(path), NULL, &program));
  if (outcome != FINE) return outcome;
  CHECK_OK(tenon_program_get_function(program, tenon_str(""), &function));
  CHECK_OK(tenon_tensor_from_data(where, TENON_FLOAT32, shape, 1, values, sizeof values, &x));
  outcome = outcome_of(tenon_function_call(where, function, &x, 1, NULL, 0, &y, 1, NULL));
  if (outcome == FINE) outcome = outcome_of(tenon_scope_wait(where));
  return outcome;
}

/* Runs the model in a child process with a time limit, and checks its peak memory. Returns the
 * outcome. A sum of 6 * 10^12 numbers would take hours, but allocates all its memory at the start.
 */
static int run_in_child(const message* model) {
  char path[] = "/tmp/tenon_hostile_XXXXXX";
  const int file = mkstemp(path);
  struct rusage usage;
  int status = 0, waited;
  pid_t child;
  CHECK(file >= 0 && write(file, model->bytes, model->size) == (ssize_t)model->size);
  close(file);
  child = fork();
  if (child == 0) _exit(open_and_call(path));
  CHECK(child > 0);
  memset(&usage, 0, sizeof usage);
  for (waited = 0; wait4(child, &status, WNOHANG, &usage) == 0; ++waited) {
    if (waited == SECONDS * 100) kill(child, SIGKILL);
    usleep(10000);
  }
  remove(path);
  CHECK(usage.ru_maxrss / 1024 < MAX_MB);
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  return waited > SECONDS * 100 ? UNDER_WAY : CRASHED;
}

static void reductions_of_vast_views_take_no_memory(void) {
  static const char* const ops[] = {"ReduceSum", "ReduceMax", "ReduceMean", "ReduceL2"};
  size_t i;
  for (i = 0; i < sizeof ops / sizeof *ops; ++i) {
    const message model = expanded(ops[i]);
    const int outcome = run_in_child(&model);
    if (outcome != UNDER_WAY && outcome != OUT_OF_MEMORY) printf("%s: %d\n", ops[i], outcome);
    CHECK(outcome == UNDER_WAY || outcome == OUT_OF_MEMORY);
  }
}

static void results_larger_than_memory_are_errors(void) {
  static const char* const ops[] = {"Exp", "Neg", "Softmax", "Sign"};
  size_t i;
  for (i = 0; i < sizeof ops / sizeof *ops; ++i) {
    const message model = expanded(ops[i]);
    const int outcome = run_in_child(&model);
    if (outcome != OUT_OF_MEMORY) printf("%s: %d\n", ops[i], outcome);
    CHECK(outcome == OUT_OF_MEMORY);
  }
}

static void functions_that_double_are_bounded(void) {
  static const int times[] = {3, 12, 19, 20, 63};
  size_t i;
  for (i = 0; i < sizeof times / sizeof *times; ++i) {
    const message model = doubling(times[i]);
    const int outcome = run_in_child(&model);
    CHECK(outcome == (times[i] <= 12 ? FINE : REFUSED));
  }
}

int main(void) {
  /* These tests fork, so they run before this process creates threads. Only the CPU devices run
   * models with large tensors. The model with doubling functions is rejected before any device runs
   * it. */
  if (!strcmp(device_name(), "cpu:0") || !strcmp(device_name(), "ref:0")) {
    reductions_of_vast_views_take_no_memory();
    results_larger_than_memory_are_errors();
  }
  functions_that_double_are_bounded();
  return report();
}
