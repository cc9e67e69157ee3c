/* Streams and events. On a device with fake's option out_of_order, the stream that was opened last
 * runs first, so work that no event orders runs too early. */

#define _POSIX_C_SOURCE 200112L
#include <sched.h>

#include "capi/tests/function_code.h"

/* Two scopes on the test's device: one on the default stream, one on a stream of its own. */
struct pair {
  tenon_device* device;
  tenon_stream* stream;
  tenon_scope* first; /* On the default stream. */
  tenon_scope* second;
};

static struct pair open_pair(void) {
  struct pair p = {NULL, NULL, NULL, NULL};
  CHECK_OK(tenon_scope_create(context(), tenon_str(device_name()), &p.first));
  CHECK_OK(tenon_scope_create(context(), tenon_str(device_name()), &p.second));
  CHECK_OK(tenon_scope_get_device(p.first, &p.device));
  CHECK_OK(tenon_stream_open(p.device, &p.stream));
  CHECK_OK(tenon_scope_set_stream(p.second, p.stream));
  return p;
}

static void close_pair(struct pair* p) {
  CHECK_OK(tenon_scope_wait(p->first));
  CHECK_OK(tenon_scope_wait(p->second));
  tenon_scope_release(p->first);
  tenon_scope_release(p->second);
  tenon_stream_release(p->stream);
  tenon_device_release(p->device);
}

enum { kCount = 300 };

/* Creates an f32[kCount] tensor whose elements have this value. */
static tenon_tensor* filled(tenon_scope* in, float value) {
  const int64_t shape[1] = {kCount};
  float values[kCount];
  tenon_tensor* x = NULL;
  for (int i = 0; i < kCount; ++i) values[i] = value;
  CHECK_OK(tenon_tensor_from_data(in, TENON_FLOAT32, shape, 1, values, sizeof values, &x));
  return x;
}

/* Whether all elements of an f32[kCount] tensor have this value. */
static int is_filled(tenon_scope* in, tenon_tensor* x, float expected) {
  float values[kCount] = {0};
  CHECK_OK(tenon_tensor_read(in, x, values, sizeof values));
  for (int i = 0; i < kCount; ++i) {
    if (values[i] != expected) return 0;
  }
  return 1;
}

static void a_call_follows_the_work_of_other_streams_that_computes_its_inputs(void) {
  struct pair p = open_pair();
  tenon_tensor* x = filled(p.first, 1);
  tenon_tensor* one = filled(p.first, 1);
  for (int i = 0; i < 40; ++i) {
    tenon_tensor* next = NULL;
    CHECK_OK(tenon_add(i % 2 ? p.first : p.second, x, one, &next));
    tenon_tensor_release(x);
    x = next;
  }

  CHECK(is_filled(p.second, x, 41));
  CHECK(is_filled(p.first, x, 41));
  tenon_tensor_release(x);
  tenon_tensor_release(one);
  close_pair(&p);
}

static void memory_is_reused_after_the_work_of_other_streams_that_reads_it(void) {
  struct pair p = open_pair();
  tenon_tensor* one = filled(p.first, 1);
  tenon_tensor* sums[20];
  tenon_tensor* others[20];
  for (int i = 0; i < 20; ++i) {
    tenon_tensor* x = filled(p.first, (float)i);
    CHECK_OK(tenon_add(p.first, x, one, &sums[i]));
    tenon_tensor_release(x);
    /* The next tensors, which another stream writes, reuse the memory of x. */
    others[i] = filled(p.second, -1);
  }

  for (int i = 0; i < 20; ++i) {
    CHECK(is_filled(p.first, sums[i], (float)i + 1));
    CHECK(is_filled(p.first, others[i], -1));
    tenon_tensor_release(sums[i]);
    tenon_tensor_release(others[i]);
  }
  tenon_tensor_release(one);
  close_pair(&p);
}

/* cumsum(x * y) - x. The function has temporary values, which several calls store in one block. */
static tenon_error* shifted_product(struct code* code, tenon_scope* inner,
                                    tenon_tensor* const* inputs, tenon_tensor** out_outputs) {
  tenon_tensor *y = NULL, *z = NULL;
  tenon_error* error = tenon_mul(inner, inputs[0], inputs[1], &y);
  (void)code;
  if (!error) error = tenon_cumsum(inner, y, NULL, &z);
  if (!error) error = tenon_sub(inner, z, inputs[0], &out_outputs[0]);
  tenon_tensor_release(y);
  tenon_tensor_release(z);
  return error;
}

static void functions_run_on_the_streams_of_their_scopes(void) {
  struct pair p = open_pair();
  struct code body = {.run = shifted_product};
  tenon_function* f = function_of(&body, NULL);
  tenon_tensor* two = filled(p.first, 2);
  tenon_tensor* results[16];
  for (int i = 0; i < 16; ++i) {
    tenon_tensor* inputs[2] = {filled(i % 3 ? p.first : p.second, (float)i), two};
    size_t n = 0;
    CHECK_OK(
        tenon_function_call(i % 2 ? p.first : p.second, f, inputs, 2, NULL, 0, &results[i], 1, &n));
    tenon_tensor_release(inputs[0]);
  }

  for (int i = 0; i < 16; ++i) {
    float values[kCount] = {0};
    int wrong = 0;
    CHECK_OK(tenon_tensor_read(p.first, results[i], values, sizeof values));
    for (int k = 0; k < kCount; ++k) wrong += values[k] != (float)(i * 2 * (k + 1) - i);
    CHECK(wrong == 0);
    tenon_tensor_release(results[i]);
  }
  tenon_tensor_release(two);
  tenon_function_release(f);
  close_pair(&p);
}

/* variable += 1 */
static tenon_error* increment(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                              tenon_tensor** out_outputs) {
  tenon_tensor *x = NULL, *y = NULL;
  tenon_error* error = tenon_variable_read(inner, code->variable, &x);
  if (!error) error = tenon_add(inner, x, inputs[0], &y);
  if (!error) error = tenon_variable_assign(inner, code->variable, y);
  if (!error) error = tenon_neg(inner, y, &out_outputs[0]);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  return error;
}

static void functions_on_several_streams_may_update_one_variable(void) {
  struct pair p = open_pair();
  struct code body = {.run = increment};
  tenon_function* f = function_of(&body, NULL);
  tenon_tensor* start = filled(p.first, 0);
  tenon_tensor* one = filled(p.second, 1);
  tenon_tensor* last = NULL;
  CHECK_OK(tenon_variable_create(p.first, start, NULL, &body.variable));
  tenon_tensor_release(start);
  for (int i = 0; i < 20; ++i) {
    tenon_tensor* y = NULL;
    size_t n = 0;
    CHECK_OK(tenon_function_call(i % 2 ? p.first : p.second, f, &one, 1, NULL, 0, &y, 1, &n));
    tenon_tensor_release(y);
  }

  CHECK_OK(tenon_variable_read(p.first, body.variable, &last));
  CHECK(is_filled(p.first, last, 20));
  tenon_tensor_release(last);
  tenon_tensor_release(one);
  tenon_function_release(f);
  tenon_variable_release(body.variable);
  close_pair(&p);
}

static void a_scope_may_change_its_stream_between_calls(void) {
  struct pair p = open_pair();
  tenon_stream* current = NULL;
  tenon_tensor* x = filled(p.first, 3);
  for (int i = 0; i < 10; ++i) {
    tenon_tensor* y = NULL;
    CHECK_OK(tenon_scope_set_stream(p.first, i % 2 ? NULL : p.stream));
    CHECK_OK(tenon_neg(p.first, x, &y));
    tenon_tensor_release(x);
    x = y;
  }
  CHECK_OK(tenon_scope_get_stream(p.second, &current));
  CHECK_OK(tenon_scope_set_stream(p.first, current));
  CHECK_OK(tenon_scope_set_stream(p.first, current));

  CHECK(is_filled(p.first, x, 3));
  tenon_stream_release(current);
  tenon_tensor_release(x);
  close_pair(&p);
}

struct calls {
  int n, failed;
};

static void count_call(void* payload, const tenon_error* error) {
  struct calls* calls = (struct calls*)payload;
  if (error) calls->failed = 1;
  __atomic_add_fetch(&calls->n, 1, __ATOMIC_RELEASE);
}

static void an_event_is_reached_after_the_earlier_work_of_its_stream(void) {
  struct pair p = open_pair();
  tenon_event* event = NULL;
  tenon_tensor* x = filled(p.second, 1);
  tenon_tensor* y = NULL;
  tenon_done_callback done = {count_call, NULL, NULL};
  struct calls calls = {0, 0};
  done.payload = &calls;
  CHECK_OK(tenon_exp(p.second, x, &y));

  CHECK_OK(tenon_event_record(p.stream, &event));
  CHECK_OK(tenon_event_wait_async(event, done));
  CHECK_OK(tenon_stream_wait_event(p.stream, event));
  CHECK_OK(tenon_event_wait(event));
  CHECK(tenon_event_is_reached(event));
  CHECK_OK(tenon_event_wait_async(event, done)); /* The event was already reached. */
  while (event && __atomic_load_n(&calls.n, __ATOMIC_ACQUIRE) < 2) sched_yield();
  CHECK(!calls.failed);

  tenon_event_retain(event);
  tenon_event_release(event);
  tenon_event_release(event);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  close_pair(&p);
}

static void an_event_orders_streams_without_shared_tensors(void) {
  struct pair p = open_pair();
  tenon_stream* start = NULL;
  tenon_event *first = NULL, *second = NULL;
  tenon_tensor* x = filled(p.first, 1);
  tenon_tensor* y = NULL;
  CHECK_OK(tenon_scope_get_stream(p.first, &start));
  CHECK_OK(tenon_exp(p.first, x, &y));
  CHECK_OK(tenon_event_record(start, &first));
  CHECK_OK(tenon_stream_wait_event(p.stream, first));
  CHECK_OK(tenon_event_record(p.stream, &second));

  CHECK_OK(tenon_event_wait(second));
  CHECK(tenon_event_is_reached(first));

  tenon_event_release(first);
  tenon_event_release(second);
  tenon_stream_release(start);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  close_pair(&p);
}

static void a_stream_and_an_event_keep_their_context_alive(void) {
  tenon_context* other = create_context();
  tenon_device* device = NULL;
  tenon_stream* stream = NULL;
  tenon_event* event = NULL;
  CHECK_OK(tenon_context_find_device(other, tenon_str(device_name()), &device));
  CHECK_OK(tenon_stream_open(device, &stream));
  tenon_device_release(device);
  tenon_context_release(other);

  CHECK_OK(tenon_event_record(stream, &event));
  tenon_stream_release(stream);
  CHECK_OK(tenon_event_wait(event));
  tenon_event_release(event);
}

static void objects_of_other_contexts_are_refused(void) {
  struct pair p = open_pair();
  tenon_context* other = create_context();
  tenon_device* device = NULL;
  tenon_stream* stream = NULL;
  tenon_event* event = NULL;
  CHECK_OK(tenon_context_find_device(other, tenon_str(device_name()), &device));
  CHECK_OK(tenon_stream_open(device, &stream));
  CHECK_OK(tenon_event_record(stream, &event));

  CHECK_ERROR(tenon_scope_set_stream(p.first, stream), TENON_INVALID_ARGUMENT,
              "stream belongs to another context");
  CHECK_ERROR(tenon_stream_wait_event(p.stream, event), TENON_INVALID_ARGUMENT,
              "the event is on another device than the stream");

  tenon_event_release(event);
  tenon_stream_release(stream);
  tenon_device_release(device);
  tenon_context_release(other);
  close_pair(&p);
}

/* The test reuses the streams of released handles. */
static void an_asynchronous_device_has_a_limited_number_of_streams(void) {
  enum { kMax = 31 };
  struct pair p = open_pair();
  tenon_stream* streams[kMax] = {NULL};
  tenon_stream* one_more = GARBAGE(tenon_stream);
  const int is_limited = !device_has(TENON_FEATURE_SYNCHRONOUS);
  for (int i = 1; i < kMax; ++i) CHECK_OK(tenon_stream_open(p.device, &streams[i]));

  if (is_limited) {
    CHECK_ERROR(tenon_stream_open(p.device, &one_more), TENON_FAILED_PRECONDITION,
                "31 streams are open, which is the maximum; release one first");
    CHECK(one_more == NULL);
  }
  tenon_stream_release(streams[kMax - 1]);
  CHECK_OK(tenon_stream_open(p.device, &streams[kMax - 1]));

  for (int i = 1; i < kMax; ++i) tenon_stream_release(streams[i]);
  close_pair(&p);
}

static void invalid_handles_are_errors(void) {
  const tenon_done_callback done = {NULL, NULL, NULL};
  struct pair p = open_pair();
  tenon_stream* stream = GARBAGE(tenon_stream);
  tenon_event* event = GARBAGE(tenon_event);
  tenon_event* valid = NULL;
  CHECK_OK(tenon_event_record(p.stream, &valid));

  CHECK_ERROR(tenon_stream_open(NULL, &stream), TENON_INVALID_ARGUMENT, "device is NULL");
  CHECK_ERROR(tenon_stream_open(p.device, NULL), TENON_INVALID_ARGUMENT, "out_stream is NULL");
  CHECK_ERROR(tenon_scope_set_stream(NULL, p.stream), TENON_INVALID_ARGUMENT, "scope is NULL");
  CHECK_ERROR(tenon_scope_set_stream(p.first, (tenon_stream*)p.device), TENON_INVALID_ARGUMENT,
              "stream");
  CHECK_ERROR(tenon_scope_get_stream(NULL, &stream), TENON_INVALID_ARGUMENT, "scope is NULL");
  CHECK_ERROR(tenon_scope_get_stream(p.first, NULL), TENON_INVALID_ARGUMENT, "out_stream is NULL");
  CHECK_ERROR(tenon_event_record(NULL, &event), TENON_INVALID_ARGUMENT, "stream is NULL");
  CHECK_ERROR(tenon_event_record(p.stream, NULL), TENON_INVALID_ARGUMENT, "out_event is NULL");
  CHECK_ERROR(tenon_stream_wait_event(NULL, valid), TENON_INVALID_ARGUMENT, "stream is NULL");
  CHECK_ERROR(tenon_stream_wait_event(p.stream, NULL), TENON_INVALID_ARGUMENT, "event is NULL");
  CHECK_ERROR(tenon_event_wait(NULL), TENON_INVALID_ARGUMENT, "event is NULL");
  CHECK_ERROR(tenon_event_wait_async(NULL, done), TENON_INVALID_ARGUMENT, "event is NULL");
  CHECK_ERROR(tenon_event_wait_async(valid, done), TENON_INVALID_ARGUMENT, "done.function is NULL");
  CHECK(!tenon_event_is_reached(NULL) && stream == NULL && event == NULL);
  tenon_stream_retain(NULL);
  tenon_stream_release(NULL);
  tenon_event_retain(NULL);
  tenon_event_release(NULL);

  tenon_event_release(valid);
  close_pair(&p);
}

int main(void) {
  RUN(a_call_follows_the_work_of_other_streams_that_computes_its_inputs);
  RUN(memory_is_reused_after_the_work_of_other_streams_that_reads_it);
  RUN(functions_run_on_the_streams_of_their_scopes);
  RUN(functions_on_several_streams_may_update_one_variable);
  RUN(a_scope_may_change_its_stream_between_calls);
  RUN(an_event_is_reached_after_the_earlier_work_of_its_stream);
  RUN(an_event_orders_streams_without_shared_tensors);
  RUN(a_stream_and_an_event_keep_their_context_alive);
  RUN(objects_of_other_contexts_are_refused);
  RUN(an_asynchronous_device_has_a_limited_number_of_streams);
  RUN(invalid_handles_are_errors);
  return report();
}
