/* Handles that are NULL, have another type, or were released. Calls return an error that names the
 * parameter. Getters that cannot fail return zero, NULL or empty text. */

#include <tenon/introspect.h>

#include "capi/tests/check.h"

#define CHECK_NULL(call, name) CHECK_ERROR(call, TENON_INVALID_ARGUMENT, name " is NULL")

static void releasing_null_does_nothing(void) {
  tenon_context_retain(NULL);
  tenon_context_release(NULL);
  tenon_context_cancel(NULL);
  tenon_device_retain(NULL);
  tenon_device_release(NULL);
  tenon_device_reset_peak(NULL);
  tenon_scope_retain(NULL);
  tenon_scope_release(NULL);
  tenon_scope_cancel(NULL);
  tenon_tensor_retain(NULL);
  tenon_tensor_release(NULL);
  tenon_variable_retain(NULL);
  tenon_variable_release(NULL);
  tenon_variable_set_trainable(NULL, true);
  tenon_value_retain(NULL);
  tenon_value_release(NULL);
  tenon_generator_retain(NULL);
  tenon_generator_release(NULL);
  tenon_tape_retain(NULL);
  tenon_tape_release(NULL);
  tenon_variable_gradients_retain(NULL);
  tenon_variable_gradients_release(NULL);
  tenon_safetensors_retain(NULL);
  tenon_safetensors_release(NULL);
  tenon_string_release(tenon_str(NULL));
}

static void reading_the_sizes_of_a_null_tensor_is_an_error(void) {
  const int64_t* sizes = GARBAGE(const int64_t);
  int64_t n = 1;
  CHECK_ERROR(tenon_tensor_size(NULL, 0, &n), TENON_INVALID_ARGUMENT, "tensor is NULL");
  CHECK_ERROR(tenon_tensor_read_shape(NULL, &sizes, NULL), TENON_INVALID_ARGUMENT,
              "tensor is NULL");
  CHECK(sizes == NULL && n == 0);
}

static void getters_return_zero_or_null_for_null_handles(void) {
  CHECK(tenon_context_default_scope(NULL) == NULL);
  CHECK(tenon_context_count_candidates(NULL) == 0);
  CHECK_TEXT(tenon_device_name(NULL), "");
  CHECK(tenon_scope_context(NULL) == NULL);
  CHECK(tenon_tensor_dtype(NULL) == TENON_DTYPE_NONE);
  CHECK(tenon_tensor_rank(NULL) == 0);
  CHECK(tenon_tensor_shape(NULL) == NULL && tenon_tensor_strides(NULL) == NULL);
  CHECK(tenon_tensor_count(NULL) == 0 && tenon_tensor_bytes(NULL) == 0);
  CHECK(tenon_tensor_device(NULL) == NULL && tenon_tensor_data(NULL) == NULL);
  CHECK_TEXT(tenon_tensor_device_name(NULL), "");
  CHECK(tenon_variable_dtype(NULL) == TENON_DTYPE_NONE);
  CHECK(tenon_variable_rank(NULL) == 0 && tenon_variable_shape(NULL) == NULL);
  CHECK_TEXT(tenon_variable_name(NULL), "");
  CHECK_TEXT(tenon_variable_device_name(NULL), "");
  CHECK(!tenon_variable_is_trainable(NULL));
  CHECK(!tenon_tape_is_recording(NULL) && tenon_tape_count_watched(NULL) == 0);
  CHECK(tenon_variable_gradients_count(NULL) == 0);
  CHECK(tenon_safetensors_count(NULL) == 0 && tenon_safetensors_count_metadata(NULL) == 0);
  CHECK_TEXT(tenon_safetensors_name(NULL, 0), "");
}

static void null_handles_are_errors(void) {
  const tenon_done_callback done = {NULL, NULL, NULL};
  const tenon_deleter deleter = {NULL, NULL};
  const tenon_tensor_function function = {NULL, NULL, NULL};
  const tenon_backward_function backward = {NULL, NULL, NULL};
  tenon_tensor* x = F32(1);
  tenon_tensor* out = GARBAGE(tenon_tensor);
  tenon_device* device = GARBAGE(tenon_device);
  tenon_variable* variable = GARBAGE(tenon_variable);
  tenon_generator* generator = GARBAGE(tenon_generator);
  tenon_tape* tape = GARBAGE(tenon_tape);
  tenon_scope* other = GARBAGE(tenon_scope);
  tenon_dlpack* dlpack = GARBAGE(tenon_dlpack);
  tenon_value* value = GARBAGE(tenon_value);
  tenon_string text;
  double number = 0;
  int64_t integer = 0;
  size_t count = 1;

  CHECK_NULL(tenon_context_count_devices(NULL, &count), "context");
  CHECK_NULL(tenon_context_get_device(NULL, 0, &device), "context");
  CHECK_NULL(tenon_context_find_device(NULL, tenon_str("cpu"), &device), "context");
  CHECK_NULL(tenon_context_load_plugin(NULL, tenon_str("x")), "context");
  CHECK_NULL(tenon_context_get_candidate(NULL, 0, NULL), "context");
  CHECK_NULL(tenon_scope_create(NULL, tenon_str(""), &other), "context");
  CHECK_NULL(tenon_device_describe(NULL, NULL), "device");
  CHECK_NULL(tenon_device_describe_memory(NULL, NULL), "device");
  CHECK_NULL(tenon_device_trim(NULL, NULL), "device");
  CHECK_NULL(tenon_scope_set_device(NULL, tenon_str("cpu")), "scope");
  CHECK_NULL(tenon_scope_get_device(NULL, &device), "scope");
  CHECK_NULL(tenon_scope_wait(NULL), "scope");
  CHECK_NULL(tenon_scope_wait_async(NULL, done), "scope");
  CHECK_NULL(tenon_scope_set_location(NULL, tenon_str("")), "scope");
  CHECK_NULL(tenon_tensor_donate(NULL), "tensor");
  CHECK_NULL(tenon_tensor_from_data(NULL, TENON_FLOAT32, NULL, 0, &number, 4, &out), "scope");
  CHECK_NULL(tenon_tensor_from_host(NULL, TENON_FLOAT32, NULL, 0, NULL, &number, 4, deleter, &out),
             "scope");
  CHECK_NULL(tenon_tensor_read(scope(), NULL, &number, 4), "tensor");
  CHECK_NULL(tenon_tensor_read(NULL, x, &number, 4), "scope");
  CHECK_NULL(tenon_tensor_read_async(NULL, x, &number, 4, done), "scope");
  CHECK_NULL(tenon_tensor_item_f64(scope(), NULL, &number), "tensor");
  CHECK_NULL(tenon_tensor_item_i64(scope(), NULL, &integer), "tensor");
  CHECK_NULL(tenon_tensor_copy_to(scope(), NULL, tenon_str("ref"), &out), "tensor");
  CHECK_NULL(tenon_tensor_format(scope(), NULL, NULL, &text), "tensor");
  CHECK_NULL(tenon_tensor_to_dlpack(scope(), NULL, NULL, &dlpack), "tensor");
  CHECK_NULL(tenon_variable_create(scope(), NULL, NULL, &variable), "initial");
  CHECK_NULL(tenon_variable_read(scope(), NULL, &out), "variable");
  CHECK_NULL(tenon_variable_assign(scope(), NULL, x), "variable");
  CHECK_NULL(tenon_generator_create(NULL, 0, &generator), "scope");
  CHECK_NULL(tenon_generator_seed(scope(), NULL, 0), "generator");
  CHECK_NULL(tenon_generator_assign(scope(), NULL, x), "generator");
  CHECK_NULL(tenon_generator_uniform(scope(), NULL, TENON_FLOAT32, NULL, 0, 0, 1, &out),
             "generator");
  CHECK_NULL(tenon_generator_normal(scope(), NULL, TENON_FLOAT32, NULL, 0, 0, 1, &out),
             "generator");
  CHECK_NULL(tenon_tape_create(NULL, NULL, &tape), "scope");
  CHECK_NULL(tenon_tape_watch(NULL, NULL), "tape");
  CHECK_NULL(tenon_tape_pause(NULL), "tape");
  CHECK_NULL(tenon_tape_resume(NULL), "tape");
  CHECK_NULL(tenon_tape_reset(NULL), "tape");
  CHECK_NULL(tenon_tape_get_watched(NULL, 0, &value), "tape");
  CHECK_NULL(tenon_tape_gradient(scope(), NULL, &x, 1, NULL, &value, 1, NULL, &out), "tape");
  CHECK_NULL(tenon_tape_jacobian(scope(), NULL, x, &value, 1, NULL, &out), "tape");
  CHECK_NULL(tenon_gradients(NULL, function, &x, 1, NULL, &out, 1, NULL, NULL), "scope");
  CHECK_NULL(tenon_custom_gradient(NULL, function, &x, 1, backward, &out, 1), "scope");
  CHECK_NULL(tenon_call(NULL, TENON_OP_neg, NULL, &x, 1, &out, 1), "scope");
  CHECK_NULL(tenon_explain(NULL, TENON_OP_neg, NULL, &x, 1, &text), "scope");
  CHECK_NULL(tenon_safetensors_read(scope(), NULL, 0, &out), "file");

  CHECK(out == NULL && device == NULL && variable == NULL && generator == NULL);
  CHECK(tape == NULL && other == NULL && dlpack == NULL && value == NULL && count == 0);
  tenon_tensor_release(x);
}

static void handles_of_another_type_are_errors(void) {
  tenon_tensor* x = F32(1);
  tenon_tensor* out = GARBAGE(tenon_tensor);
  float read;

  CHECK_ERROR(tenon_tensor_read((tenon_scope*)x, x, &read, 4), TENON_INVALID_ARGUMENT,
              "scope is not a scope");
  CHECK_ERROR(tenon_tensor_read(scope(), (tenon_tensor*)context(), &read, 4),
              TENON_INVALID_ARGUMENT, "tensor is not a tensor");
  CHECK_ERROR(tenon_variable_read(scope(), (tenon_variable*)x, &out), TENON_INVALID_ARGUMENT,
              "variable is not a variable");
  CHECK_ERROR(tenon_tape_pause((tenon_tape*)x), TENON_INVALID_ARGUMENT, "tape is not a tape");
  CHECK(tenon_context_default_scope((tenon_context*)x) == NULL);
  CHECK(tenon_tensor_rank((const tenon_tensor*)context()) == 0);
  CHECK(out == NULL);
  tenon_tape_release((tenon_tape*)x); /* Ignored, because x is not a tape. */
  CHECK_VALUES(x, 1);
  tenon_tensor_release(x);
}

/* Not with sanitizers, which detect uses of released memory themselves and end the process. */
#if !defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static void released_handles_are_errors_in_debug_builds(void) {
  tenon_tensor* x = F32(1);
  tenon_tensor* out = GARBAGE(tenon_tensor);
  tenon_variable* v = NULL;
  tenon_tape* tape = NULL;
  float read;
  CHECK_OK(tenon_variable_create(scope(), x, NULL, &v));
  CHECK_OK(tenon_tape_create(scope(), NULL, &tape));
  tenon_tensor_release(x);
  tenon_variable_release(v);
  tenon_tape_release(tape);

  tenon_tensor_release(F32(2)); /* Does not reuse the memory of x. */
  CHECK_ERROR(tenon_tensor_read(scope(), x, &read, 4), TENON_INVALID_ARGUMENT,
              "tensor was already released");
  CHECK_ERROR(tenon_neg(scope(), x, &out), TENON_INVALID_ARGUMENT,
              "neg: inputs[0] was already released");
  CHECK_ERROR(tenon_variable_read(scope(), v, &out), TENON_INVALID_ARGUMENT,
              "variable was already released");
  CHECK_ERROR(tenon_tape_pause(tape), TENON_INVALID_ARGUMENT, "tape was already released");
  tenon_tensor_release(x); /* A second release has no effect. */
  CHECK(out == NULL && tenon_tensor_rank(x) == 0);
}
#endif

int main(void) {
  RUN(releasing_null_does_nothing);
  RUN(reading_the_sizes_of_a_null_tensor_is_an_error);
  RUN(getters_return_zero_or_null_for_null_handles);
  RUN(null_handles_are_errors);
  RUN(handles_of_another_type_are_errors);
#if !defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  RUN(released_handles_are_errors_in_debug_builds);
#endif
  return report();
}
