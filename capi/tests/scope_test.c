#include "capi/tests/check.h"

static void a_scope_places_new_tensors_on_its_device(void) {
  tenon_scope* own = NULL;
  tenon_device* device = NULL;
  const float one = 1;
  tenon_tensor* x = NULL;

  CHECK_OK(tenon_scope_create(context(), tenon_str(device_name()), &own));
  CHECK_OK(tenon_scope_get_device(own, &device));
  CHECK_OK(tenon_tensor_from_data(own, TENON_FLOAT32, NULL, 0, &one, 4, &x));

  CHECK(tenon_scope_context(own) == context());
  CHECK_TEXT(tenon_device_name(device), device_name());
  CHECK_TEXT(tenon_tensor_device_name(x), device_name());
  tenon_tensor_release(x);
  tenon_device_release(device);
  tenon_scope_retain(own);
  tenon_scope_release(own);
  tenon_scope_release(own);
}

static void a_scope_keeps_its_device_if_the_new_one_is_unknown(void) {
  tenon_device* device = NULL;
  tenon_scope* own = GARBAGE(tenon_scope);

  CHECK_ERROR(tenon_scope_set_device(scope(), tenon_str("unicorn:0")), TENON_NOT_FOUND,
              "there is no device \"unicorn:0\"");
  CHECK_OK(tenon_scope_get_device(scope(), &device));
  CHECK_TEXT(tenon_device_name(device), device_name());
  CHECK_ERROR(tenon_scope_create(context(), tenon_str("unicorn:0"), &own), TENON_NOT_FOUND,
              "there is no device \"unicorn:0\"");
  CHECK(own == NULL);
  tenon_device_release(device);
}

static void a_scope_keeps_its_context_alive(void) {
  tenon_context* other = create_context();
  tenon_scope* own = NULL;
  tenon_tensor* x = NULL;
  const float one = 1;
  CHECK_OK(tenon_scope_create(other, tenon_str(device_name()), &own));

  tenon_context_release(other);

  CHECK_OK(tenon_tensor_from_data(own, TENON_FLOAT32, NULL, 0, &one, 4, &x));
  tenon_tensor_release(x);
  tenon_scope_release(own);
}

/* After repeated calls of softmax, a composite, the scope caches a launch plan and its kernels. */
static void a_scope_may_hold_the_last_reference_to_prepared_kernels(void) {
  tenon_context* other = create_context();
  tenon_scope* own = NULL;
  tenon_tensor *x = NULL, *y = NULL;
  const float values[] = {1, 2, 3};
  const int64_t size = 3;
  CHECK_OK(tenon_scope_create(other, tenon_str(device_name()), &own));
  CHECK_OK(tenon_tensor_from_data(own, TENON_FLOAT32, &size, 1, values, sizeof values, &x));
  for (int i = 0; i < 20; ++i) {
    CHECK_OK(tenon_log_softmax(own, x, NULL, &y));
    tenon_tensor_release(y);
  }
  tenon_tensor_release(x);

  tenon_context_release(other);
  tenon_scope_release(own);
}

static void wait_succeeds_without_pending_work(void) { CHECK_OK(tenon_scope_wait(scope())); }

struct done {
  int finished;
  int destroyed;
};

static void on_done(void* payload, const tenon_error* error) {
  CHECK(error == NULL);
  ++((struct done*)payload)->finished;
}

static void on_destroy(void* payload) { ++((struct done*)payload)->destroyed; }

static void wait_async_runs_its_callback_when_work_is_done(void) {
  struct done done = {0, 0};
  tenon_done_callback callback;
  tenon_context* other = create_context();
  callback.function = on_done;
  callback.payload = &done;
  callback.destroy = on_destroy;

  CHECK_OK(tenon_scope_wait_async(tenon_context_default_scope(other), callback));
  tenon_context_release(other); /* Waits for the callbacks. */
  CHECK(done.finished == 1 && done.destroyed == 1);

  CHECK_ERROR(tenon_scope_wait_async(NULL, callback), TENON_INVALID_ARGUMENT, "scope is NULL");
  CHECK(done.finished == 1 && done.destroyed == 2);
}

/* A callback that makes a call in the scope that runs it. */
static tenon_error* nested(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                           size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  (void)payload;
  (void)n_inputs;
  (void)n_outputs;
  return tenon_neg(inner, inputs[0], &out_outputs[0]);
}

static void callbacks_may_use_their_scope(void) {
  tenon_tensor_function function = {nested, NULL, NULL};
  tenon_tensor* x = F32(3);
  tenon_tensor* y = NULL;
  tenon_tensor* dx = NULL;

  CHECK_OK(tenon_gradients(scope(), function, &x, 1, NULL, &y, 1, &dx, NULL));

  CHECK_VALUES(y, -3);
  CHECK_VALUES(dx, -1);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_tensor_release(dx);
}

/* A callback that cancels its own scope. The running call ends at its next check. */
static tenon_error* cancelled(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                              size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  (void)n_inputs;
  (void)n_outputs;
  if (payload) {
    tenon_context_cancel(payload);
  } else {
    tenon_scope_cancel(inner);
  }
  return tenon_neg(inner, inputs[0], &out_outputs[0]);
}

static void running_calls_can_be_cancelled(void) {
  tenon_tensor_function function = {cancelled, NULL, NULL};
  tenon_tensor* x = F32(3);
  tenon_tensor* y = GARBAGE(tenon_tensor);

  CHECK_ERROR(tenon_gradients(scope(), function, &x, 1, NULL, &y, 1, NULL, NULL), TENON_CANCELLED,
              "neg: cancelled");
  CHECK(y == NULL);
  function.payload = context();
  CHECK_ERROR(tenon_gradients(scope(), function, &x, 1, NULL, &y, 1, NULL, NULL), TENON_CANCELLED,
              "neg: cancelled");

  CHECK_OK(tenon_neg(scope(), x, &y)); /* Only the running call ended. */
  CHECK_VALUES(y, -3);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
}

int main(void) {
  RUN(a_scope_places_new_tensors_on_its_device);
  RUN(a_scope_keeps_its_device_if_the_new_one_is_unknown);
  RUN(a_scope_keeps_its_context_alive);
  RUN(a_scope_may_hold_the_last_reference_to_prepared_kernels);
  RUN(wait_succeeds_without_pending_work);
  RUN(wait_async_runs_its_callback_when_work_is_done);
  RUN(callbacks_may_use_their_scope);
  RUN(running_calls_can_be_cancelled);
  return report();
}
