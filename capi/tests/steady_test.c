#include "capi/tests/check.h"
#include "capi/tests/function_code.h"

#if defined(__linux__)
#include <malloc.h>
#include <unistd.h>
#endif

/* Number of steps: a million on the CPU, a tenth of that on other devices, and a hundredth under
 * sanitizers, which delay the reuse of freed memory. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { kSteps = 10000, kIsExact = 0 };
#else
enum { kSteps = 1000000, kIsExact = 1 };
#endif

/* Returns the resident memory of the process in bytes; 0 if unknown. */
static long resident_bytes(void) {
  long pages = 0;
#if defined(__linux__)
  FILE* file = fopen("/proc/self/statm", "r");
  if (file && fscanf(file, "%*s %ld", &pages) != 1) pages = 0;
  if (file) fclose(file);
  pages *= sysconf(_SC_PAGESIZE);
#endif
  return pages;
}

/* Returns the number of bytes that the process has allocated and not freed; 0 if unknown. */
static long allocated_bytes(void) {
  long bytes = 0;
#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 33)
  const struct mallinfo2 all = mallinfo2();
  bytes = (long)(all.uordblks + all.hblkhd);
#endif
#endif
  return bytes;
}

static tenon_variable* make_variable(float value) {
  tenon_variable* variable = NULL;
  tenon_tensor* initial = F32(value);
  CHECK_OK(tenon_variable_create(scope(), initial, NULL, &variable));
  tenon_tensor_release(initial);
  return variable;
}

/* Assigns variable - rate * gradient to the variable. */
static void descend(tenon_variable* variable, tenon_tensor* gradient, tenon_tensor* rate) {
  tenon_tensor *value = NULL, *step = NULL, *next = NULL;
  CHECK_OK(tenon_variable_read(scope(), variable, &value));
  CHECK_OK(tenon_mul(scope(), gradient, rate, &step));
  CHECK_OK(tenon_sub(scope(), value, step, &next));
  CHECK_OK(tenon_variable_assign(scope(), variable, next));
  tenon_tensor_release(value);
  tenon_tensor_release(step);
  tenon_tensor_release(next);
}

/* Makes one training step of a least-squares fit of y = w x + b. */
static void train(tenon_tensor* x, tenon_tensor* y, tenon_variable** parameters,
                  tenon_tensor* rate) {
  tenon_tape* tape = NULL;
  tenon_tensor *w = NULL, *b = NULL, *wx = NULL, *guess = NULL, *error = NULL, *squares = NULL;
  tenon_tensor *loss = NULL, *gradients[2] = {NULL, NULL};
  tenon_value* sources[2];
  sources[0] = tenon_variable_as_value(parameters[0]);
  sources[1] = tenon_variable_as_value(parameters[1]);

  CHECK_OK(tenon_tape_create(scope(), NULL, &tape));
  CHECK_OK(tenon_variable_read(scope(), parameters[0], &w));
  CHECK_OK(tenon_variable_read(scope(), parameters[1], &b));
  CHECK_OK(tenon_mul(scope(), x, w, &wx));
  CHECK_OK(tenon_add(scope(), wx, b, &guess));
  CHECK_OK(tenon_sub(scope(), guess, y, &error));
  CHECK_OK(tenon_square(scope(), error, &squares));
  CHECK_OK(tenon_sum(scope(), squares, NULL, &loss));
  CHECK_OK(tenon_tape_gradient(scope(), tape, &loss, 1, NULL, sources, 2, NULL, gradients));
  tenon_tape_release(tape);
  descend(parameters[0], gradients[0], rate);
  descend(parameters[1], gradients[1], rate);

  tenon_tensor_release(w);
  tenon_tensor_release(b);
  tenon_tensor_release(wx);
  tenon_tensor_release(guess);
  tenon_tensor_release(error);
  tenon_tensor_release(squares);
  tenon_tensor_release(loss);
  tenon_tensor_release(gradients[0]);
  tenon_tensor_release(gradients[1]);
}

static void many_training_steps_use_constant_memory(void) {
  tenon_tensor *x = F32(1, 2, 3, 4), *y = F32(0, -1, -2, -3), *rate = tenon_scalar_f64(0.01);
  tenon_variable* parameters[2];
  tenon_tensor* value = NULL;
  long early = 0, late = 0, early_allocated = 0, late_allocated = 0;
  uint64_t early_live = 0;
  /* Asynchronous devices make fewer steps, because each step switches threads, which is slow. */
  const int is_synchronous = device_has(TENON_FEATURE_SYNCHRONOUS);
  const int is_whole = kIsExact ? strncmp(device_name(), "cpu", 3) == 0 : is_synchronous;
  const int steps = is_whole ? kSteps : kSteps / 10;
  int i;
  parameters[0] = make_variable(0.3f);
  parameters[1] = make_variable(-0.3f);

  for (i = 0; i < steps; ++i) {
    train(x, y, parameters, rate);
    /* Waits every 16 steps, which bounds the memory of work that is enqueued but not finished. */
    if (i % 16 == 0) settle();
    if (i == steps / 10) {
      settle();
      early = resident_bytes();
      early_allocated = allocated_bytes();
      early_live = live_bytes();
    }
  }
  settle();
  late = resident_bytes();
  late_allocated = allocated_bytes();

  printf("resident after a tenth: %ld, at the end: %ld\n", early, late);
  printf("allocated after a tenth: %ld, at the end: %ld\n", early_allocated, late_allocated);
  CHECK(live_bytes() == early_live);
  if (kIsExact) CHECK(late_allocated - early_allocated < 64 * 1024);
  /* If threads free memory that other threads have allocated, the heap grows for some time before
   * its size is stable. */
  if (kIsExact && is_synchronous) CHECK(late - early < 256 * 1024);
  CHECK_OK(tenon_variable_read(scope(), parameters[0], &value));
  CHECK_NEAR(value, -1);
  tenon_tensor_release(value);
  tenon_variable_release(parameters[0]);
  tenon_variable_release(parameters[1]);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_tensor_release(rate);
}

/* A body that assigns variable - x * rate to the variable, and returns the sum of the new value. */
static tenon_error* step_of_function(struct code* code, tenon_scope* inner,
                                     tenon_tensor* const* inputs, tenon_tensor** out_outputs) {
  tenon_tensor *value = NULL, *step = NULL, *next = NULL;
  tenon_error* error = tenon_variable_read(inner, code->variable, &value);
  if (!error) error = tenon_mul(inner, inputs[0], inputs[1], &step);
  if (!error) error = tenon_sub(inner, value, step, &next);
  if (!error) error = tenon_variable_assign(inner, code->variable, next);
  if (!error) error = tenon_sum(inner, next, NULL, &out_outputs[0]);
  tenon_tensor_release(value);
  tenon_tensor_release(step);
  tenon_tensor_release(next);
  return error;
}

/* Calls a function with a different number each time. The device launches its kernels one by one
 * or replays a recording. */
static void many_function_calls_use_constant_memory(void) {
  struct code code;
  tenon_tensor* inputs[2];
  tenon_function* f;
  long early = 0, late = 0;
  uint64_t early_live = 0;
  const int calls = device_has(TENON_FEATURE_SYNCHRONOUS) ? kSteps / 10 : kSteps / 50;
  int i;
  memset(&code, 0, sizeof code);
  code.run = step_of_function;
  code.variable = make_variable(0);
  inputs[0] = F32(1);
  f = function_of(&code, NULL);
  for (i = 0; i < calls; ++i) {
    tenon_tensor* y = NULL;
    inputs[1] = tenon_scalar_f64(i % 2 == 0 ? 1 : -1);
    CHECK_OK(tenon_function_call(scope(), f, inputs, 2, NULL, 0, &y, 1, NULL));
    tenon_tensor_release(inputs[1]);
    tenon_tensor_release(y);
    if (i % 16 == 0) settle();
    if (i == calls / 10) {
      settle();
      early = allocated_bytes();
      early_live = live_bytes();
    }
  }
  settle();
  late = allocated_bytes();

  printf("allocated after a tenth: %ld, at the end: %ld\n", early, late);
  CHECK(code.runs == 1);
  CHECK(live_bytes() == early_live);
  if (kIsExact) CHECK(late - early < 64 * 1024);
  tenon_function_release(f);
  tenon_variable_release(code.variable);
  tenon_tensor_release(inputs[0]);
}

int main(void) {
  RUN(many_training_steps_use_constant_memory);
  RUN(many_function_calls_use_constant_memory);
  return report();
}
