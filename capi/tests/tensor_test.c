#include "capi/tests/check.h"

static void a_tensor_reads_back_its_elements(void) {
  const int32_t values[6] = {1, -2, 3, -4, 5, -6};
  const int64_t shape[2] = {2, 3};
  int32_t read[6] = {0};
  int64_t size = 0;
  tenon_tensor* x = NULL;

  CHECK_OK(tenon_tensor_from_data(scope(), TENON_INT32, shape, 2, values, sizeof values, &x));
  CHECK_OK(tenon_tensor_read(scope(), x, read, sizeof read));

  CHECK(memcmp(values, read, sizeof values) == 0);
  CHECK(tenon_tensor_dtype(x) == TENON_INT32);
  CHECK(tenon_tensor_rank(x) == 2);
  CHECK(size_of(x, 0) == 2 && size_of(x, 1) == 3);
  CHECK(size_of(x, -1) == 3);
  CHECK_ERROR(tenon_tensor_size(x, 2, &size), TENON_INVALID_ARGUMENT, "axis 2 is outside [-2, 2)");
  CHECK(tenon_tensor_shape(x)[0] == 2 && tenon_tensor_shape(x)[1] == 3);
  CHECK(tenon_tensor_strides(x)[0] == 3 && tenon_tensor_strides(x)[1] == 1);
  CHECK(tenon_tensor_count(x) == 6);
  CHECK(tenon_tensor_bytes(x) == 24);
  CHECK_TEXT(tenon_tensor_device_name(x), device_name());
  CHECK_TEXT(tenon_device_name(tenon_tensor_device(x)), device_name());
  if (device_has(TENON_FEATURE_HOST_VISIBLE | TENON_FEATURE_SYNCHRONOUS)) {
    CHECK(memcmp(tenon_tensor_data(x), values, sizeof values) == 0);
  } else {
    CHECK(tenon_tensor_data(x) == NULL);
  }
  tenon_tensor_release(x);
}

static void many_tensors_are_released_in_one_call(void) {
  tenon_tensor* x = F32(1);
  tenon_tensor* all[] = {F32(2), NULL, x, tenon_scalar_i64(3)};
  float read = 0;

  tenon_tensor_retain(x);
  tenon_tensor_release_all(all, 4);
  CHECK_OK(tenon_tensor_read(scope(), x, &read, sizeof read)); /* x has one more reference. */
  CHECK(read == 1);

  tenon_tensor_release_all(&x, 1);
  tenon_tensor_release_all(all, 0);
  tenon_tensor_release_all(NULL, 0);
}

static void tensors_may_be_empty(void) {
  const int64_t shape[2] = {0, 3};
  tenon_tensor* x = NULL;

  CHECK_OK(tenon_tensor_from_data(scope(), TENON_FLOAT64, shape, 2, NULL, 0, &x));
  CHECK_OK(tenon_tensor_read(scope(), x, NULL, 0));

  CHECK(count_of(x) == 0);
  tenon_tensor_release(x);
}

static void invalid_shapes_are_refused(void) {
  const float value = 1;
  const int64_t negative[1] = {-1};
  const int64_t huge[2] = {INT64_MAX, 2};
  const int64_t many[17] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  const int64_t one[1] = {1};
  tenon_tensor* x = GARBAGE(tenon_tensor);

  CHECK_ERROR(tenon_tensor_from_data(scope(), TENON_FLOAT32, negative, 1, &value, 4, &x),
              TENON_INVALID_ARGUMENT, "f32[-1] has a negative size");
  CHECK(x == NULL);
  CHECK_ERROR(tenon_tensor_from_data(scope(), TENON_FLOAT32, huge, 2, &value, 4, &x),
              TENON_INVALID_ARGUMENT, "a size in bytes that exceeds int64");
  CHECK_ERROR(tenon_tensor_from_data(scope(), TENON_FLOAT32, many, 17, &value, 4, &x),
              TENON_INVALID_ARGUMENT, "rank 17 exceeds the maximum rank, 16");
  CHECK_ERROR(tenon_tensor_from_data(scope(), TENON_FLOAT32, one, 1, &value, 8, &x),
              TENON_INVALID_ARGUMENT, "f32[1] has 4 bytes, but size is 8");
  CHECK_ERROR(tenon_tensor_from_data(scope(), 12345, one, 1, &value, 4, &x), TENON_INVALID_ARGUMENT,
              "dtype 12345 is not a known dtype");
  CHECK_ERROR(tenon_tensor_from_data(scope(), TENON_DTYPE_NONE, one, 1, &value, 4, &x),
              TENON_INVALID_ARGUMENT, "dtype 0 is not a known dtype");
  CHECK_ERROR(tenon_tensor_from_data(scope(), TENON_FLOAT32, NULL, 1, &value, 4, &x),
              TENON_INVALID_ARGUMENT, "shape is NULL");
  CHECK_ERROR(tenon_tensor_from_data(scope(), TENON_FLOAT32, one, 1, NULL, 4, &x),
              TENON_INVALID_ARGUMENT, "data is NULL");
  CHECK_ERROR(tenon_tensor_from_data(scope(), TENON_FLOAT32, one, 1, &value, 4, NULL),
              TENON_INVALID_ARGUMENT, "out_tensor is NULL");
}

static void reading_into_a_buffer_of_another_size_is_an_error(void) {
  float read[2];
  tenon_tensor* x = F32(1);

  CHECK_ERROR(tenon_tensor_read(scope(), x, read, sizeof read), TENON_INVALID_ARGUMENT,
              "f32[1] has 4 bytes, but size is 8");
  CHECK_ERROR(tenon_tensor_read(scope(), x, NULL, 4), TENON_INVALID_ARGUMENT, "out_data is NULL");
  tenon_tensor_release(x);
}

static void count_call(void* payload) { ++*(int*)payload; }

static void a_tensor_uses_imported_memory_until_it_is_released(void) {
  static float values[6] = {1, 2, 3, 4, 5, 6};
  const int64_t shape[2] = {3, 2};
  const int64_t strides[2] = {1, 3}; /* Column-major. */
  int ended = 0;
  tenon_deleter deleter;
  tenon_tensor* x = NULL;
  tenon_tensor* y = NULL;
  deleter.function = count_call;
  deleter.payload = &ended;

  CHECK_OK(tenon_tensor_from_host(scope(), TENON_FLOAT32, shape, 2, strides, values, sizeof values,
                                  deleter, &x));
  CHECK_VALUES(x, 1, 4, 2, 5, 3, 6);
  CHECK_OK(tenon_neg(scope(), x, &y));
  CHECK_VALUES(y, -1, -4, -2, -5, -3, -6);

  tenon_tensor_release(x);
  tenon_tensor_release(y);
  settle();
  CHECK(ended == 1);
  CHECK(values[0] == 1);
}

static void a_failed_import_runs_the_deleter(void) {
  float values[2] = {1, 2};
  const int64_t shape[1] = {2};
  const int64_t far[1] = {2};
  const int64_t back[1] = {-2};
  int ended = 0;
  tenon_deleter deleter;
  tenon_tensor* x = GARBAGE(tenon_tensor);
  deleter.function = count_call;
  deleter.payload = &ended;

  CHECK_ERROR(tenon_tensor_from_host(scope(), TENON_FLOAT32, shape, 1, far, values, sizeof values,
                                     deleter, &x),
              TENON_INVALID_ARGUMENT, "the elements end at byte 12, but size is 8");
  CHECK(ended == 1 && x == NULL);
  CHECK_ERROR(tenon_tensor_from_host(scope(), TENON_FLOAT32, shape, 1, back, values, sizeof values,
                                     deleter, &x),
              TENON_INVALID_ARGUMENT, "the elements end at byte 12, but size is 8");
  CHECK_ERROR(tenon_tensor_from_host(NULL, TENON_FLOAT32, shape, 1, NULL, values, sizeof values,
                                     deleter, &x),
              TENON_INVALID_ARGUMENT, "scope is NULL");
  CHECK(ended == 3);
}

static void host_memory_with_negative_strides_is_imported(void) {
  float values[6] = {1, 2, 3, 4, 5, 6};
  const int64_t shape[2] = {2, 3};
  const int64_t rows_back[2] = {-3, 1}, columns_back[2] = {3, -1};
  const int64_t one[2] = {1, 3};
  const int64_t any[2] = {INT64_MIN, -1}; /* The stride of an axis of size 1 is ignored. */
  int ended = 0;
  tenon_deleter deleter;
  tenon_tensor *x, *y;
  deleter.function = count_call;
  deleter.payload = &ended;

  CHECK_OK(tenon_tensor_from_host(scope(), TENON_FLOAT32, shape, 2, rows_back, values,
                                  sizeof values, deleter, &x));
  CHECK_VALUES(x, 4, 5, 6, 1, 2, 3);
  CHECK_OK(tenon_neg(scope(), x, &y));
  CHECK_VALUES(y, -4, -5, -6, -1, -2, -3);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  CHECK_OK(tenon_tensor_from_host(scope(), TENON_FLOAT32, shape, 2, columns_back, values,
                                  sizeof values, deleter, &x));
  CHECK_VALUES(x, 3, 2, 1, 6, 5, 4);
  tenon_tensor_release(x);
  CHECK_OK(tenon_tensor_from_host(scope(), TENON_FLOAT32, one, 2, any, values, 12, deleter, &x));
  CHECK_VALUES(x, 3, 2, 1);
  tenon_tensor_release(x);
  settle();
  CHECK(ended == 3);
}

static void unaligned_host_memory_is_copied(void) {
  char bytes[16] = {0};
  const float value = 2.5f;
  const int64_t shape[1] = {1};
  tenon_deleter deleter = {NULL, NULL};
  tenon_tensor* x = NULL;
  memcpy(bytes + 1, &value, sizeof value);

  CHECK_OK(
      tenon_tensor_from_host(scope(), TENON_FLOAT32, shape, 1, NULL, bytes + 1, 4, deleter, &x));

  CHECK_VALUES(x, 2.5);
  tenon_tensor_release(x);
}

static void scalars_adopt_the_dtype_of_the_other_operand(void) {
  tenon_tensor* x = F32(1, 2);
  tenon_tensor* half = tenon_scalar_f64(0.5);
  tenon_tensor* three = tenon_scalar_i64(3);
  tenon_tensor* yes = tenon_scalar_bool(true);
  tenon_tensor* y = NULL;
  tenon_tensor* z = NULL;

  CHECK_OK(tenon_mul(scope(), x, half, &y));
  CHECK_OK(tenon_add(scope(), y, three, &z));

  CHECK(tenon_tensor_dtype(z) == TENON_FLOAT32);
  CHECK_VALUES(z, 3.5, 4);
  CHECK(tenon_tensor_device(half) == NULL);
  CHECK_TEXT(tenon_tensor_device_name(half), "");
  CHECK(tenon_tensor_data(half) == NULL);
  CHECK(tenon_tensor_dtype(half) == TENON_FLOAT32);
  CHECK(tenon_tensor_dtype(three) == TENON_INT64);
  CHECK(tenon_tensor_dtype(yes) == TENON_BOOL);
  tenon_tensor_release(x);
  tenon_tensor_release(half);
  tenon_tensor_release(three);
  tenon_tensor_release(yes);
  tenon_tensor_release(y);
  tenon_tensor_release(z);
}

static void a_float_scalar_with_integers_is_an_error_that_names_cast(void) {
  tenon_tensor* x = make_i32(1, 2);
  tenon_tensor* half = tenon_scalar_f64(0.5);
  tenon_tensor* y = GARBAGE(tenon_tensor);

  CHECK_ERROR(tenon_add(scope(), x, half, &y), TENON_INVALID_ARGUMENT, "cast");

  CHECK(y == NULL);
  tenon_tensor_release(x);
  tenon_tensor_release(half);
}

static void item_returns_a_number_or_rejects_the_tensor(void) {
  const uint64_t large = UINT64_MAX;
  double d = 0;
  int64_t i = 0;
  tenon_tensor* x = F32(2.5f);
  tenon_tensor* u = NULL;
  tenon_tensor* pair = F32(1, 2);
  tenon_tensor* seven = tenon_scalar_i64(7);
  CHECK_OK(tenon_tensor_from_data(scope(), TENON_UINT64, NULL, 0, &large, sizeof large, &u));

  CHECK_OK(tenon_tensor_item_f64(scope(), x, &d));
  CHECK(d == 2.5);
  CHECK_OK(tenon_tensor_item_i64(scope(), seven, &i));
  CHECK(i == 7);
  CHECK_ERROR(tenon_tensor_item_i64(scope(), x, &i), TENON_INVALID_ARGUMENT, "is floating");
  CHECK(i == 0);
  CHECK_ERROR(tenon_tensor_item_i64(scope(), u, &i), TENON_OUT_OF_RANGE,
              "18446744073709551615 exceeds the range of int64");
  CHECK_ERROR(tenon_tensor_item_f64(scope(), pair, &d), TENON_INVALID_ARGUMENT,
              "only a tensor with one element can be read as an item, but this is f32[2]");
  CHECK_ERROR(tenon_tensor_item_f64(scope(), x, NULL), TENON_INVALID_ARGUMENT, "out_value is NULL");
  tenon_tensor_release(x);
  tenon_tensor_release(u);
  tenon_tensor_release(pair);
  tenon_tensor_release(seven);
}

static void tensors_print_as_in_numpy(void) {
  tenon_format_options options = TENON_FORMAT_OPTIONS_DEFAULT;
  tenon_tensor* x = make_f32_matrix(2, 2, (const float[]){1, -2.5f, 3, 40});
  tenon_tensor* half = tenon_scalar_f64(0.5);
  tenon_string text = {NULL, 0};
  char expected[96];

  CHECK_OK(tenon_tensor_format(scope(), x, NULL, &text));
  CHECK_TEXT(text, "[[ 1.  -2.5]\n [ 3.  40. ]]");
  tenon_string_release(text);

  options.long_form = true;
  CHECK_OK(tenon_tensor_format(scope(), x, &options, &text));
  snprintf(expected, sizeof expected, "[[ 1.  -2.5]\n [ 3.  40. ]] : f32[2,2] on %s",
           device_name());
  CHECK_TEXT(text, expected);
  tenon_string_release(text);

  CHECK_OK(tenon_tensor_format(scope(), half, &options, &text));
  CHECK_TEXT(text, "0.5 : f32[], inline");
  tenon_string_release(text);

  options.precision = -1;
  CHECK_ERROR(tenon_tensor_format(scope(), x, &options, &text), TENON_INVALID_ARGUMENT,
              "options.precision is negative");
  CHECK(text.data == NULL && text.size == 0);
  tenon_tensor_release(x);
  tenon_tensor_release(half);
}

struct read_done {
  volatile int finished;
  volatile int destroyed;
  tenon_code code;
};

static void on_read(void* payload, const tenon_error* error) {
  struct read_done* done = payload;
  done->code = tenon_error_code(error);
  done->finished = 1;
}

static void on_destroy(void* payload) { ++((struct read_done*)payload)->destroyed; }

static void a_tensor_is_read_asynchronously(void) {
  struct read_done done = {0, 0, TENON_INTERNAL};
  float read[2] = {0, 0};
  tenon_done_callback callback;
  tenon_context* own = create_context();
  tenon_tensor* x = NULL;
  const int64_t shape[1] = {2};
  callback.function = on_read;
  callback.payload = &done;
  callback.destroy = on_destroy;
  CHECK_OK(tenon_tensor_from_data(tenon_context_default_scope(own), TENON_FLOAT32, shape, 1,
                                  (const float[]){1, 2}, 8, &x));

  CHECK_OK(tenon_tensor_read_async(tenon_context_default_scope(own), x, read, 8, callback));
  tenon_tensor_release(x);
  tenon_context_release(own); /* Waits for the callbacks. */

  CHECK(done.finished == 1 && done.destroyed == 1 && done.code == TENON_OK);
  CHECK(read[0] == 1 && read[1] == 2);
}

static void a_failed_read_destroys_its_callback(void) {
  struct read_done done = {0, 0, TENON_INTERNAL};
  float read[2];
  tenon_done_callback callback;
  tenon_tensor* x = F32(1);
  callback.function = on_read;
  callback.payload = &done;
  callback.destroy = on_destroy;

  CHECK_ERROR(tenon_tensor_read_async(scope(), x, read, sizeof read, callback),
              TENON_INVALID_ARGUMENT, "f32[1] has 4 bytes, but size is 8");
  callback.function = NULL;
  CHECK_ERROR(tenon_tensor_read_async(scope(), x, read, 4, callback), TENON_INVALID_ARGUMENT,
              "done.function is NULL");

  CHECK(done.finished == 0 && done.destroyed == 2);
  tenon_tensor_release(x);
}

static void a_donated_tensor_can_be_used_by_one_call(void) {
  float read[2];
  tenon_tensor* x = F32(1, 2);
  tenon_tensor* y = NULL;
  tenon_tensor* scalar = tenon_scalar_i64(1);

  CHECK_OK(tenon_tensor_donate(x));
  CHECK_ERROR(tenon_tensor_donate(x), TENON_INVALID_ARGUMENT, "tensor was already donated");
  CHECK_ERROR(tenon_tensor_read(scope(), x, read, sizeof read), TENON_INVALID_ARGUMENT,
              "tensor was donated and cannot be used again");
  CHECK_OK(tenon_neg(scope(), x, &y));
  CHECK_VALUES(y, -1, -2);
  tenon_tensor_release(y);
  CHECK_ERROR(tenon_neg(scope(), x, &y), TENON_INVALID_ARGUMENT, "neg: input 0 was donated");
  CHECK(y == NULL);
  CHECK_TEXT(tenon_tensor_device_name(x), "");
  CHECK_ERROR(tenon_tensor_donate(scalar), TENON_INVALID_ARGUMENT, "is an inline scalar");
  tenon_tensor_release(x);
  tenon_tensor_release(scalar);
}

/* An update of a donated tensor may be written in place, if the device supports that. */
static void an_update_may_be_written_into_a_donated_tensor(void) {
  const int64_t two = 2, one = 1;
  tenon_tensor *cache = F32(1, 2, 3, 4), *step = F32(20, 30), *start = NULL, *y = NULL;
  CHECK_OK(tenon_tensor_from_data(scope(), TENON_INT64, &one, 1, &two, sizeof two, &start));

  CHECK_OK(tenon_tensor_donate(cache));
  CHECK_OK(tenon_dynamic_update_slice(scope(), cache, step, start, &y));
  CHECK_VALUES(y, 1, 2, 20, 30);
  tenon_tensor_release(cache);

  cache = F32(1, 2);
  tenon_tensor_release(y);
  CHECK_OK(tenon_tensor_donate(step));
  CHECK_OK(tenon_dynamic_update_slice(scope(), cache, step, start, &y));
  CHECK_VALUES(y, 20, 30);
  CHECK_VALUES(cache, 1, 2);
  tenon_tensor_release(y);
  tenon_tensor_release(cache);
  tenon_tensor_release(step);
  tenon_tensor_release(start);
}

static void a_tensor_is_copied_to_another_device_by_name(void) {
  tenon_tensor* x = F32(1, 2);
  tenon_tensor* y = NULL;

  CHECK_OK(tenon_tensor_copy_to(scope(), x, tenon_str("ref:0"), &y));
  CHECK_TEXT(tenon_tensor_device_name(y), "ref:0");
  CHECK_VALUES(y, 1, 2);
  tenon_tensor_release(y);

  CHECK_ERROR(tenon_tensor_copy_to(scope(), x, tenon_str("unicorn:3"), &y), TENON_NOT_FOUND,
              "there is no device \"unicorn:3\"; the devices are");
  CHECK(y == NULL);
  tenon_tensor_release(x);
}

int main(void) {
  RUN(a_tensor_reads_back_its_elements);
  RUN(many_tensors_are_released_in_one_call);
  RUN(tensors_may_be_empty);
  RUN(invalid_shapes_are_refused);
  RUN(reading_into_a_buffer_of_another_size_is_an_error);
  RUN(a_tensor_uses_imported_memory_until_it_is_released);
  RUN(a_failed_import_runs_the_deleter);
  RUN(host_memory_with_negative_strides_is_imported);
  RUN(unaligned_host_memory_is_copied);
  RUN(scalars_adopt_the_dtype_of_the_other_operand);
  RUN(a_float_scalar_with_integers_is_an_error_that_names_cast);
  RUN(item_returns_a_number_or_rejects_the_tensor);
  RUN(tensors_print_as_in_numpy);
  RUN(a_tensor_is_read_asynchronously);
  RUN(a_failed_read_destroys_its_callback);
  RUN(a_donated_tensor_can_be_used_by_one_call);
  RUN(an_update_may_be_written_into_a_donated_tensor);
  RUN(a_tensor_is_copied_to_another_device_by_name);
  return report();
}
