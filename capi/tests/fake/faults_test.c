/* Asynchronous work that fails after the call that enqueued it has returned. The plugin `fake`
 * injects the faults. */

#define _POSIX_C_SOURCE 200112L
#include <pthread.h>

#include "capi/tests/check.h"

static tenon_context* own;

static tenon_scope* there(void) { return tenon_context_default_scope(own); }

/* Creates a context whose fake device has the options `faults`, such as "fail_launch=2,visible=1".
 */
static void open_with(const char* faults) {
  tenon_context_options options;
  setenv("TENON_TEST_OPTIONS", faults, 1);
  options = test_options();
  CHECK_OK(tenon_context_create(&options, &own));
  CHECK_OK(tenon_scope_set_device(there(), tenon_str("fake")));
  unsetenv("TENON_TEST_OPTIONS");
}

static void close_all(tenon_tensor** tensors, size_t n) {
  size_t i;
  for (i = 0; i < n; ++i) tenon_tensor_release(tensors[i]);
  tenon_context_release(own);
  own = NULL;
}

static tenon_tensor* ones(tenon_scope* scope) {
  const int64_t shape[1] = {2};
  const float values[2] = {1, 1};
  tenon_tensor* x = NULL;
  CHECK_OK(tenon_tensor_from_data(scope, TENON_FLOAT32, shape, 1, values, sizeof values, &x));
  return x;
}

static int first_is(tenon_tensor* x, float expected) {
  float values[2] = {0, 0};
  CHECK_OK(tenon_tensor_read(there(), x, values, sizeof values));
  return values[0] == expected;
}

static void a_failed_launch_poisons_its_outputs_only(void) {
  tenon_tensor* t[5] = {0};
  float read[2];
  open_with("fail_launch=2,delay_us=2000");
  t[0] = ones(there());
  CHECK_OK(tenon_neg(there(), t[0], &t[1]));
  CHECK_OK(tenon_exp(there(), t[1], &t[2])); /* The launch of exp fails later. */
  CHECK_OK(tenon_neg(there(), t[2], &t[3])); /* The failure of exp is not known yet. */
  CHECK_OK(tenon_add(there(), t[1], t[0], &t[4]));

  CHECK_ERROR(tenon_tensor_read(there(), t[3], read, sizeof read), TENON_INTERNAL,
              "exp: launch 2 failed");
  CHECK_ERROR(tenon_tensor_read(there(), t[2], read, sizeof read), TENON_INTERNAL,
              "exp: launch 2 failed");
  CHECK(first_is(t[1], -1) && first_is(t[4], 0));
  CHECK_OK(tenon_scope_wait(there())); /* The reads have already reported the error. */

  close_all(t, 5);
}

static void a_wait_reports_a_failure_once(void) {
  tenon_tensor* t[3] = {0};
  tenon_tensor* used = GARBAGE(tenon_tensor);
  open_with("fail_launch=1");
  t[0] = ones(there());
  CHECK_OK(tenon_neg(there(), t[0], &t[1]));

  CHECK_ERROR(tenon_scope_wait(there()), TENON_INTERNAL, "neg: launch 1 failed");
  CHECK_OK(tenon_scope_wait(there()));

  /* The error names the launch that failed (neg), not the op that uses its output (exp). */
  CHECK_ERROR(tenon_exp(there(), t[1], &used), TENON_INTERNAL, "neg: launch 1 failed");
  CHECK(used == NULL);
  CHECK_OK(tenon_neg(there(), t[0], &t[2]));
  CHECK(first_is(t[2], -1));
  close_all(t, 3);
}

static void an_unattributed_failure_poisons_all_running_work(void) {
  tenon_tensor* t[3] = {0};
  float read[2];
  open_with("fail_launch=2,silent=1");
  t[0] = ones(there());
  CHECK_OK(tenon_scope_wait(there()));
  CHECK_OK(tenon_neg(there(), t[0], &t[1]));
  CHECK_OK(tenon_exp(there(), t[0], &t[2]));

  CHECK_ERROR(tenon_scope_wait(there()), TENON_INTERNAL, "launch 2 failed; in progress: neg, exp");

  CHECK_ERROR(tenon_tensor_read(there(), t[1], read, sizeof read), TENON_INTERNAL, "launch 2");
  CHECK_ERROR(tenon_tensor_read(there(), t[2], read, sizeof read), TENON_INTERNAL, "launch 2");
  CHECK(first_is(t[0], 1));
  close_all(t, 3);
}

static void a_failed_copy_is_distinguished_from_a_failed_launch(void) {
  tenon_tensor* t[4] = {0};
  float read[2];
  open_with("fail_launch=1,fail_copy=2,delay_us=2000");
  t[0] = ones(there());
  CHECK_OK(tenon_neg(there(), t[0], &t[1])); /* The launch of neg fails. */
  t[2] = ones(there());                      /* The copy from the host to t[2] fails. */
  CHECK_OK(tenon_neg(there(), t[2], &t[3]));

  CHECK_ERROR(tenon_tensor_read(there(), t[3], read, sizeof read), TENON_INTERNAL, "copy 2 failed");
  CHECK_ERROR(tenon_tensor_read(there(), t[2], read, sizeof read), TENON_INTERNAL, "copy 2 failed");
  CHECK_ERROR(tenon_tensor_read(there(), t[1], read, sizeof read), TENON_INTERNAL,
              "neg: launch 1 failed");
  close_all(t, 4);
}

static void a_launch_that_is_refused_fails_its_call(void) {
  tenon_tensor* t[2] = {0};
  tenon_tensor* refused = GARBAGE(tenon_tensor);
  open_with("fail_enqueue=1");
  t[0] = ones(there());

  CHECK_ERROR(tenon_neg(there(), t[0], &refused), TENON_INTERNAL, "neg: launch 1 was refused");

  CHECK(refused == NULL);
  CHECK_OK(tenon_neg(there(), t[0], &t[1]));
  CHECK(first_is(t[1], -1));
  close_all(t, 2);
}

static void a_synchronous_device_fails_its_call(void) {
  tenon_tensor* t[1] = {0};
  tenon_tensor* failed = GARBAGE(tenon_tensor);
  open_with("asynchronous=0,fail_launch=1");
  t[0] = ones(there());

  CHECK_ERROR(tenon_neg(there(), t[0], &failed), TENON_INTERNAL, "neg: launch 1 failed");

  CHECK(failed == NULL);
  close_all(t, 1);
}

static void check_lost(const char* options) {
  tenon_tensor* t[2] = {0};
  tenon_tensor* lost = GARBAGE(tenon_tensor);
  const int64_t shape[1] = {1};
  const float value = 1;
  float read[2];
  open_with(options);
  t[0] = ones(there());
  CHECK(first_is(t[0], 1));
  CHECK_OK(tenon_neg(there(), t[0], &t[1]));
  CHECK(first_is(t[1], -1));

  /* The device is lost now. Either this call of neg or the wait after it reports that. */
  tenon_error_release(tenon_neg(there(), t[1], &lost));
  tenon_tensor_release(lost);
  tenon_error_release(tenon_scope_wait(there()));

  CHECK_ERROR(tenon_neg(there(), t[0], &lost), TENON_DEVICE_LOST,
              "device fake:0 is lost; open it in a new context");
  CHECK_ERROR(tenon_tensor_read(there(), t[1], read, sizeof read), TENON_DEVICE_LOST, "is lost");
  CHECK_ERROR(tenon_tensor_from_data(there(), TENON_FLOAT32, shape, 1, &value, 4, &lost),
              TENON_DEVICE_LOST, "neg: the fake device was lost (option lose_at)");
  close_all(t, 2);
}

static void a_lost_device_fails_every_call(void) {
  check_lost("lose_at=2");
  check_lost("lose_at=2,blocking=0,delay_us=100");
}

static void exhausted_device_memory_is_an_error(void) {
  const int64_t shape[1] = {1 << 18};
  float* zeros = calloc(1 << 18, sizeof *zeros);
  tenon_tensor* t[2] = {0};
  tenon_tensor* none = GARBAGE(tenon_tensor);
  open_with("memory_bytes=2500000");
  CHECK_OK(tenon_tensor_from_data(there(), TENON_FLOAT32, shape, 1, zeros, 1 << 20, &t[0]));
  CHECK_OK(tenon_neg(there(), t[0], &t[1]));

  CHECK_ERROR(tenon_neg(there(), t[0], &none), TENON_OUT_OF_MEMORY,
              "the largest holders: 2 x 1048576 bytes");

  CHECK(none == NULL);
  tenon_tensor_release(t[1]);
  CHECK_OK(tenon_neg(there(), t[0], &t[1]));
  CHECK_OK(tenon_scope_wait(there()));
  close_all(t, 2);
  free(zeros);
}

static void a_failed_allocation_is_retried_once(void) {
  tenon_tensor* t[1] = {0};
  open_with("fail_allocate=1");

  t[0] = ones(there());

  CHECK(first_is(t[0], 1));
  close_all(t, 1);
}

/* Makes each call of the plugin fail in turn. Then either a call of the program fails, or all
 * results are correct. */
/* Opens a second scope of the context, whose calls run on a stream of their own. */
static tenon_scope* on_another_stream(void) {
  tenon_scope* other = NULL;
  tenon_device* device = NULL;
  tenon_stream* stream = NULL;
  CHECK_OK(tenon_scope_create(own, tenon_str("fake"), &other));
  CHECK_OK(tenon_scope_get_device(other, &device));
  CHECK_OK(tenon_stream_open(device, &stream));
  CHECK_OK(tenon_scope_set_stream(other, stream));
  tenon_stream_release(stream);
  tenon_device_release(device);
  return other;
}

/* `faults` make launch 1 (neg on the default stream) or the first copy fail. */
static void check_failure_on_another_stream(const char* faults, const char* message) {
  tenon_tensor* t[4] = {0};
  tenon_scope* other;
  float read[2] = {0, 0};
  open_with(faults);
  other = on_another_stream();
  t[0] = ones(there());
  CHECK_OK(tenon_neg(there(), t[0], &t[1]));
  CHECK_OK(tenon_exp(other, t[1], &t[2])); /* The failure is not known yet. */
  t[3] = ones(other);

  CHECK_ERROR(tenon_tensor_read(other, t[2], read, sizeof read), TENON_INTERNAL, message);
  CHECK_OK(tenon_tensor_read(other, t[3], read, sizeof read));
  CHECK(read[0] == 1);
  tenon_scope_release(other);
  close_all(t, 4);
}

static void a_failure_poisons_the_results_of_other_streams(void) {
  check_failure_on_another_stream("fail_launch=1,delay_us=2000", "neg: launch 1 failed");
  check_failure_on_another_stream("fail_launch=1,delay_us=2000,out_of_order=1",
                                  "neg: launch 1 failed");
}

/* The plugin reports these failures only when the first stream has finished. */
static void an_unattributed_failure_poisons_the_results_of_other_streams(void) {
  check_failure_on_another_stream("fail_copy=1,delay_us=2000", "copy 1 failed");
  check_failure_on_another_stream("fail_launch=1,silent=1,delay_us=2000", "launch 1 failed");
  check_failure_on_another_stream("fail_copy=1,delay_us=2000,blocking=0", "copy 1 failed");
}

static void any_failed_plugin_call_is_reported_or_harmless(void) {
  const char* kinds[] = {"", ",asynchronous=0", ",blocking=0,delay_us=20"};
  char text[80];
  size_t kind;
  int n;
  for (kind = 0; kind < 3; ++kind) {
    for (n = 1; n <= 60; ++n) {
      const int64_t shape[1] = {2};
      const float values[2] = {1, 1};
      float read[2] = {0, 0};
      tenon_context_options options;
      tenon_tensor* t[4] = {0};
      tenon_scope* other = NULL;
      tenon_device* device = NULL;
      tenon_stream* stream = NULL;
      tenon_error* error;
      snprintf(text, sizeof text, "fail_call=%d%s", n, kinds[kind]);
      setenv("TENON_TEST_OPTIONS", text, 1);
      options = test_options();
      CHECK_OK(tenon_context_create(&options, &own));
      error = tenon_scope_set_device(there(), tenon_str("fake"));
      if (!error) {
        error = tenon_tensor_from_data(there(), TENON_FLOAT32, shape, 1, values, 8, &t[0]);
      }
      if (!error) error = tenon_neg(there(), t[0], &t[1]);
      if (!error) error = tenon_sub(there(), t[1], t[0], &t[2]);
      if (!error) error = tenon_scope_create(own, tenon_str("fake"), &other);
      if (!error) error = tenon_scope_get_device(other, &device);
      if (!error) error = tenon_stream_open(device, &stream);
      if (!error) error = tenon_scope_set_stream(other, stream);
      if (!error) error = tenon_add(other, t[2], t[0], &t[3]);
      if (!error) error = tenon_tensor_read(there(), t[3], read, sizeof read);
      if (!error) CHECK(read[0] == -1 && read[1] == -1);
      tenon_error_release(error);
      tenon_stream_release(stream);
      tenon_device_release(device);
      tenon_scope_release(other);
      close_all(t, 4);
    }
  }
  unsetenv("TENON_TEST_OPTIONS");
}

static void refusing_a_claimed_op_reports_the_plugins_reason(void) {
  tenon_tensor* t[1] = {0};
  tenon_tensor* none = GARBAGE(tenon_tensor);
  tenon_context_options options;
  setenv("TENON_TEST_OPTIONS", "refuse_op=1", 1); /* The op neg has number 1. */
  options = test_options();
  options.fallback_policy = TENON_FALLBACK_STRICT;
  CHECK_OK(tenon_context_create(&options, &own));
  CHECK_OK(tenon_scope_set_device(there(), tenon_str("fake")));
  unsetenv("TENON_TEST_OPTIONS");
  t[0] = ones(there());

  CHECK_ERROR(tenon_neg(there(), t[0], &none), TENON_UNIMPLEMENTED,
              "claims this op but has no kernel for it");

  CHECK(none == NULL);
  close_all(t, 1);
}

struct outcome {
  tenon_code code;
  int finished;
};

static void on_done(void* payload, const tenon_error* error) {
  struct outcome* outcome = payload;
  outcome->code = error ? tenon_error_code(error) : TENON_OK;
  __atomic_store_n(&outcome->finished, 1, __ATOMIC_RELEASE);
}

static void completion_callbacks_receive_the_error(void) {
  tenon_tensor* t[2] = {0};
  float read[2];
  struct outcome first = {TENON_OK, 0}, second = {TENON_INTERNAL, 0};
  tenon_done_callback done;
  open_with("fail_launch=1,blocking=0,delay_us=500");
  done.function = on_done;
  done.destroy = NULL;
  t[0] = ones(there());
  CHECK_OK(tenon_neg(there(), t[0], &t[1]));

  done.payload = &first;
  CHECK_OK(tenon_tensor_read_async(there(), t[1], read, sizeof read, done));
  done.payload = &second;
  CHECK_OK(tenon_tensor_read_async(there(), t[0], read, sizeof read, done));
  close_all(t, 2); /* Waits for the callbacks. */

  CHECK(first.finished && first.code == TENON_INTERNAL);
  CHECK(second.finished && second.code == TENON_OK && read[0] == 1);
}

/* A thread that computes a chain of additions in its own scope, on the shared device. */
static void* add_up(void* payload) {
  tenon_scope* scope = NULL;
  tenon_tensor *x, *sum;
  float values[2] = {0, 0};
  int i;
  (void)payload;
  CHECK_OK(tenon_scope_create(own, tenon_str("fake"), &scope));
  x = ones(scope);
  sum = ones(scope);
  for (i = 0; i < 3000; ++i) {
    tenon_tensor* next = NULL;
    CHECK_OK(tenon_add(scope, sum, x, &next));
    tenon_tensor_release(sum);
    sum = next;
  }
  CHECK_OK(tenon_tensor_read(scope, sum, values, sizeof values));
  CHECK(values[0] == 3001 && values[1] == 3001);
  tenon_tensor_release(x);
  tenon_tensor_release(sum);
  tenon_scope_release(scope);
  return NULL;
}

static void threads_may_share_a_device(void) {
  pthread_t threads[2];
  int i;
  open_with("blocking=0");
  for (i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, add_up, NULL);
  for (i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  close_all(NULL, 0);
}

/* libtenon requests a completion notification only once for many copies. Until that notification,
 * it keeps the source of each copy alive, even if the program has released the tensor. */
static void the_source_of_a_copy_is_kept_alive(void) {
  int32_t i;
  int wrong = 0;
  open_with("");
  for (i = 1; i <= 1000; ++i) {
    const int64_t shape[1] = {100};
    int32_t values[100], k;
    tenon_tensor *x = NULL, *y = NULL;
    for (k = 0; k < 100; ++k) values[k] = i * k;
    CHECK_OK(tenon_tensor_from_data(there(), TENON_INT32, shape, 1, values, sizeof values, &x));
    CHECK_OK(tenon_neg(there(), x, &y));
    CHECK_OK(tenon_tensor_read(there(), y, values, sizeof values));
    for (k = 0; k < 100; ++k) wrong += values[k] != -i * k;
    tenon_tensor_release(x);
    tenon_tensor_release(y);
  }
  CHECK(wrong == 0);
  close_all(NULL, 0);
}

static void unknown_plugin_options_are_refused(void) {
  tenon_device* device = NULL;
  tenon_context_options options;
  setenv("TENON_TEST_OPTIONS", "explode=1", 1);
  options = test_options();
  CHECK_OK(tenon_context_create(&options, &own));

  CHECK_ERROR(tenon_context_find_device(own, tenon_str("fake"), &device), TENON_NOT_FOUND,
              "fake: unknown option 'explode'");

  CHECK(device == NULL);
  unsetenv("TENON_TEST_OPTIONS");
  close_all(NULL, 0);
}

int main(void) {
  RUN(a_failed_launch_poisons_its_outputs_only);
  RUN(a_wait_reports_a_failure_once);
  RUN(an_unattributed_failure_poisons_all_running_work);
  RUN(a_failed_copy_is_distinguished_from_a_failed_launch);
  RUN(a_launch_that_is_refused_fails_its_call);
  RUN(a_synchronous_device_fails_its_call);
  RUN(a_lost_device_fails_every_call);
  RUN(exhausted_device_memory_is_an_error);
  RUN(a_failed_allocation_is_retried_once);
  RUN(a_failure_poisons_the_results_of_other_streams);
  RUN(an_unattributed_failure_poisons_the_results_of_other_streams);
  RUN(any_failed_plugin_call_is_reported_or_harmless);
  RUN(refusing_a_claimed_op_reports_the_plugins_reason);
  RUN(completion_callbacks_receive_the_error);
  RUN(threads_may_share_a_device);
  RUN(the_source_of_a_copy_is_kept_alive);
  RUN(unknown_plugin_options_are_refused);
  return report();
}
