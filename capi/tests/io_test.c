#include "capi/tests/check.h"

static const char kPath[] = "io_test.safetensors";

static void tensors_are_read_back_from_a_file(void) {
  tenon_string names[2];
  tenon_tensor* tensors[2];
  tenon_metadata metadata;
  tenon_safetensors* file = NULL;
  tenon_tensor* x = NULL;
  names[0] = tenon_str("layer/bias");
  names[1] = tenon_str("layer/weight");
  tensors[0] = make_i32(1, 2);
  tensors[1] = make_f32_matrix(2, 2, (const float[]){1, 2, 3, 4});
  metadata.key = tenon_str("epoch");
  metadata.value = tenon_str("3");

  CHECK_OK(tenon_safetensors_save(scope(), tenon_str(kPath), names, tensors, 2, &metadata, 1));
  CHECK_OK(tenon_safetensors_open(tenon_str(kPath), &file));

  CHECK(tenon_safetensors_count(file) == 2);
  CHECK_TEXT(tenon_safetensors_name(file, 1), "layer/weight");
  CHECK(tenon_safetensors_dtype(file, 1) == TENON_FLOAT32);
  CHECK(tenon_safetensors_rank(file, 1) == 2);
  CHECK(tenon_safetensors_shape(file, 1)[0] == 2);
  CHECK(tenon_safetensors_count_metadata(file) == 1);
  CHECK_TEXT(tenon_safetensors_metadata(file, 0).key, "epoch");
  CHECK_TEXT(tenon_safetensors_metadata(file, 0).value, "3");
  CHECK_OK(tenon_safetensors_read(scope(), file, 1, &x));
  CHECK_VALUES(x, 1, 2, 3, 4);
  tenon_tensor_release(x);
  CHECK_OK(tenon_safetensors_load(scope(), file, tenon_str("layer/bias"), &x));
  CHECK_VALUES(x, 0, 0);
  tenon_tensor_release(x);

  tenon_safetensors_retain(file);
  tenon_safetensors_release(file);
  tenon_safetensors_release(file);
  tenon_tensor_release(tensors[0]);
  tenon_tensor_release(tensors[1]);
  remove(kPath);
}

static void views_are_saved_without_gaps(void) {
  tenon_transpose_attrs attrs = TENON_TRANSPOSE_ATTRS_DEFAULT;
  const tenon_string name = TENON_STR("x");
  tenon_tensor* x = make_f32_matrix(2, 2, (const float[]){1, 2, 3, 4});
  tenon_tensor *t = NULL, *read = NULL;
  tenon_string bytes = {NULL, 0};
  tenon_safetensors* file = NULL;
  CHECK_OK(tenon_transpose(scope(), x, &attrs, &t));

  CHECK_OK(tenon_safetensors_write(scope(), &name, &t, 1, NULL, 0, &bytes));
  CHECK_OK(tenon_safetensors_open_memory(bytes.data, bytes.size, &file));
  CHECK_OK(tenon_safetensors_read(scope(), file, 0, &read));

  CHECK_VALUES(read, 1, 3, 2, 4);
  tenon_tensor_release(x);
  tenon_tensor_release(t);
  tenon_tensor_release(read);
  tenon_string_release(bytes);
  tenon_safetensors_release(file);
}

static void every_truncated_safetensors_file_is_refused(void) {
  const tenon_string name = TENON_STR("x");
  tenon_tensor* x = F32(1, 2);
  tenon_string bytes = {NULL, 0};
  size_t size;
  CHECK_OK(tenon_safetensors_write(scope(), &name, &x, 1, NULL, 0, &bytes));

  for (size = 0; size < bytes.size; ++size) {
    tenon_safetensors* file = GARBAGE(tenon_safetensors);
    CHECK_ERROR(tenon_safetensors_open_memory(bytes.data, size, &file), TENON_DATA_LOSS, "");
    CHECK(file == NULL);
  }
  tenon_tensor_release(x);
  tenon_string_release(bytes);
}

static void error_cause_is_the_first_error(void) {
  /* A safetensors file without data: 8 bytes with the size of the header, and the header. */
  static const char kHeader[] =
      "{\"x\":{\"dtype\":\"F64\",\"shape\":[4611686018427387904],\"data_offsets\":[0,0]}}";
  char bytes[8 + sizeof kHeader] = {0};
  tenon_safetensors* file = NULL;
  tenon_error* error;
  const tenon_error* cause;
  bytes[0] = (char)(sizeof kHeader - 1);
  memcpy(bytes + 8, kHeader, sizeof kHeader - 1);

  error = tenon_safetensors_open_memory(bytes, 8 + sizeof kHeader - 1, &file);

  CHECK(tenon_error_code(error) == TENON_DATA_LOSS);
  CHECK_CONTAINS(tenon_error_message(error), "tensor \"x\": f64[4611686018427387904]");
  cause = tenon_error_cause(error);
  CHECK(cause != NULL);
  if (!cause) {
    tenon_error_release(error);
    return;
  }
  CHECK(tenon_error_code(cause) == TENON_INVALID_ARGUMENT);
  CHECK_TEXT(tenon_error_message(cause),
             "f64[4611686018427387904] has a size in bytes that exceeds int64");
  CHECK(tenon_error_cause(cause) == NULL);
  tenon_error_release(error);
}

static void invalid_safetensors_calls_are_errors(void) {
  const tenon_string twice[2] = {TENON_STR("x"), TENON_STR("x")};
  const tenon_string reserved = TENON_STR("__metadata__");
  tenon_metadata keys[2];
  tenon_tensor* pair[2];
  tenon_safetensors* file = GARBAGE(tenon_safetensors);
  tenon_tensor* out = GARBAGE(tenon_tensor);
  tenon_string bytes = {NULL, 0};
  keys[0].key = keys[0].value = keys[1].key = keys[1].value = tenon_str("k");
  pair[0] = pair[1] = F32(1);

  CHECK_ERROR(tenon_safetensors_write(scope(), twice, pair, 2, NULL, 0, &bytes),
              TENON_INVALID_ARGUMENT, "the name \"x\" occurs twice");
  CHECK(bytes.data == NULL);
  CHECK_ERROR(tenon_safetensors_write(scope(), &reserved, pair, 1, NULL, 0, &bytes),
              TENON_INVALID_ARGUMENT, "the name __metadata__ is reserved");
  CHECK_ERROR(tenon_safetensors_write(scope(), twice, pair, 1, keys, 2, &bytes),
              TENON_INVALID_ARGUMENT, "the key \"k\" occurs twice");
  CHECK_ERROR(tenon_safetensors_write(scope(), NULL, pair, 1, NULL, 0, &bytes),
              TENON_INVALID_ARGUMENT, "names is NULL");
  CHECK_ERROR(
      tenon_safetensors_save(scope(), tenon_str("no/such/folder/x"), twice, pair, 1, NULL, 0),
      TENON_NOT_FOUND, "no/such/folder/x: cannot be written");
  CHECK_ERROR(tenon_safetensors_open(tenon_str("no_such_file"), &file), TENON_NOT_FOUND,
              "no_such_file");
  CHECK(file == NULL);
  CHECK_ERROR(tenon_safetensors_open(tenon_str("."), &file), TENON_UNAVAILABLE, ".");
  CHECK_ERROR(tenon_safetensors_open_memory(NULL, 8, &file), TENON_INVALID_ARGUMENT,
              "data is NULL");

  CHECK_OK(tenon_safetensors_write(scope(), twice, pair, 1, NULL, 0, &bytes));
  CHECK_OK(tenon_safetensors_open_memory(bytes.data, bytes.size, &file));
  CHECK_ERROR(tenon_safetensors_load(scope(), file, tenon_str("y"), &out), TENON_NOT_FOUND,
              "there is no tensor \"y\"; there are: x");
  CHECK(out == NULL);
  CHECK_ERROR(tenon_safetensors_read(scope(), file, 1, &out), TENON_OUT_OF_RANGE,
              "tensor 1 was requested, but there are 1");
  CHECK_TEXT(tenon_safetensors_name(file, 9), "");
  CHECK(tenon_safetensors_dtype(file, 9) == TENON_DTYPE_NONE);
  CHECK(tenon_safetensors_rank(file, 9) == 0 && tenon_safetensors_shape(file, 9) == NULL);
  CHECK_TEXT(tenon_safetensors_metadata(file, 0).key, "");
  tenon_safetensors_release(file);
  tenon_string_release(bytes);
  tenon_tensor_release(pair[0]);
}

int main(void) {
  RUN(tensors_are_read_back_from_a_file);
  RUN(views_are_saved_without_gaps);
  RUN(every_truncated_safetensors_file_is_refused);
  RUN(error_cause_is_the_first_error);
  RUN(invalid_safetensors_calls_are_errors);
  return report();
}
