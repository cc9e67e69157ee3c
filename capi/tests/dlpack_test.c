#include "capi/tests/check.h"

/* If the device's memory is not host-visible, checks that the export fails, and returns true. */
static int cannot_export(tenon_tensor* x) {
  tenon_dlpack* loan = GARBAGE(tenon_dlpack);
  if (device_has(TENON_FEATURE_HOST_VISIBLE)) return 0;
  CHECK_ERROR(tenon_tensor_to_dlpack(scope(), x, NULL, &loan), TENON_UNIMPLEMENTED,
              "DLPack has no device type for the memory of");
  CHECK(loan == NULL);
  tenon_tensor_release(x);
  return 1;
}

static void dlpack_export_copies_nothing(void) {
  tenon_tensor* x = make_f32_matrix(2, 3, (const float[]){1, 2, 3, 4, 5, 6});
  tenon_dlpack* loan = NULL;
  if (cannot_export(x)) return;

  CHECK_OK(tenon_tensor_to_dlpack(scope(), x, NULL, &loan));

  CHECK(loan->version.major == 1);
  CHECK(loan->flags & TENON_DLPACK_READ_ONLY);
  if (tenon_tensor_data(x)) CHECK(loan->tensor.data == tenon_tensor_data(x));
  CHECK(loan->tensor.device.type == TENON_DLPACK_CPU && loan->tensor.device.id == 0);
  CHECK(loan->tensor.rank == 2 && loan->tensor.shape[1] == 3 && loan->tensor.strides[0] == 3);
  CHECK(loan->tensor.dtype.code == TENON_CODE_FLOAT && loan->tensor.dtype.bits == 32 &&
        loan->tensor.dtype.lanes == 1);
  tenon_tensor_release(x);
  CHECK(((const float*)loan->tensor.data)[5] == 6); /* The export keeps the memory. */
  CHECK(live_bytes() == 24);
  loan->deleter(loan);
}

static void dlpack_import_of_an_export_shares_its_memory(void) {
  tenon_tensor* x = make_f32_matrix(2, 2, (const float[]){1, 2, 3, 4});
  tenon_transpose_attrs attrs = TENON_TRANSPOSE_ATTRS_DEFAULT;
  tenon_tensor* t = NULL;
  tenon_dlpack* loan = NULL;
  tenon_tensor* y = NULL;
  if (cannot_export(x)) return;
  CHECK_OK(tenon_transpose(scope(), x, &attrs, &t));

  CHECK_OK(tenon_tensor_to_dlpack(scope(), t, NULL, &loan));
  const void* const data = loan->tensor.data;
  CHECK_OK(tenon_tensor_from_dlpack(scope(), loan, NULL, false, &y));

  CHECK_VALUES(y, 1, 3, 2, 4);
  /* A device without IMPORT_HOST copies imported memory. An asynchronous device may copy it. */
  CHECK_OK(tenon_tensor_to_dlpack(scope(), y, NULL, &loan));
  if (loan->tensor.data == data) {
    CHECK_ERROR(tenon_tensor_donate(y), TENON_INVALID_ARGUMENT, "has imported memory");
  } else {
    CHECK(!device_has(TENON_FEATURE_IMPORT_HOST | TENON_FEATURE_SYNCHRONOUS));
  }
  loan->deleter(loan);
  tenon_tensor_release(x);
  tenon_tensor_release(t);
  tenon_tensor_release(y);
}

static int deleted;
static void count_deletion(tenon_dlpack* self) {
  (void)self;
  ++deleted;
}

static tenon_dlpack a_loan(float* data, int64_t* shape) {
  tenon_dlpack loan;
  memset(&loan, 0, sizeof loan);
  loan.version.major = TENON_DLPACK_MAJOR;
  loan.deleter = count_deletion;
  loan.tensor.data = data;
  loan.tensor.device.type = TENON_DLPACK_CPU;
  loan.tensor.rank = 1;
  loan.tensor.dtype.code = TENON_CODE_FLOAT;
  loan.tensor.dtype.bits = 32;
  loan.tensor.dtype.lanes = 1;
  loan.tensor.shape = shape;
  return loan;
}

static void the_dlpack_deleter_runs_once(void) {
  float data[3] = {7, 1, 2};
  int64_t shape[1] = {2};
  tenon_dlpack loan = a_loan(data, shape);
  tenon_tensor* x = NULL;
  loan.tensor.byte_offset = 4;
  deleted = 0;

  CHECK_OK(tenon_tensor_from_dlpack(scope(), &loan, NULL, false, &x));
  CHECK_VALUES(x, 1, 2);
  tenon_tensor_release(x);
  settle();
  CHECK(deleted == 1);

  CHECK_OK(tenon_tensor_from_dlpack(scope(), &loan, NULL, true, &x));
  CHECK(deleted == 2); /* The import made a copy, so the deleter has run. */
  data[1] = 9;
  CHECK_VALUES(x, 1, 2);
  tenon_tensor_release(x);
  CHECK(deleted == 2);
}

static void dlpack_import_accepts_any_strides(void) {
  float data[3] = {1, 2, 3};
  int64_t shape[1] = {3}, one[1] = {1}, back[1] = {-1}, far[1] = {INT64_MAX};
  int copy;
  deleted = 0;
  for (copy = 0; copy < 2; ++copy) {
    tenon_dlpack loan = a_loan(data + 2, shape);
    tenon_tensor* x = NULL;
    loan.tensor.strides = back;
    CHECK_OK(tenon_tensor_from_dlpack(scope(), &loan, NULL, copy != 0, &x));
    CHECK_VALUES(x, 3, 2, 1);
    tenon_tensor_release(x);
    settle();
    loan = a_loan(data, one);
    loan.tensor.strides = copy ? back : far;
    CHECK_OK(tenon_tensor_from_dlpack(scope(), &loan, NULL, copy != 0, &x));
    CHECK_VALUES(x, 1);
    tenon_tensor_release(x);
    settle();
  }
  CHECK(deleted == 4);
}

static void a_reversed_view_survives_dlpack_export_and_import(void) {
  const float values[3] = {1, 2, 3};
  const int64_t shape[1] = {3}, axis = 0;
  tenon_flip_attrs attrs = TENON_FLIP_ATTRS_DEFAULT;
  tenon_dlpack* loan = NULL;
  tenon_tensor *x, *flipped, *back;
  attrs.axes = &axis;
  attrs.n_axes = 1;

  CHECK_OK(tenon_tensor_from_data(scope(), TENON_FLOAT32, shape, 1, values, sizeof values, &x));
  if (cannot_export(x)) return;
  CHECK_OK(tenon_flip(scope(), x, &attrs, &flipped));
  CHECK_OK(tenon_tensor_to_dlpack(scope(), flipped, NULL, &loan));
  CHECK_OK(tenon_tensor_from_dlpack(scope(), loan, NULL, false, &back));

  CHECK_VALUES(back, 3, 2, 1);
  tenon_tensor_release(x);
  tenon_tensor_release(flipped);
  tenon_tensor_release(back);
}

static void unsupported_dlpack_imports_are_refused(void) {
  float data[2] = {1, 2};
  int64_t shape[1] = {2};
  tenon_dlpack loan = a_loan(data, shape);
  tenon_tensor* scalar = tenon_scalar_i64(1);
  tenon_dlpack* out = GARBAGE(tenon_dlpack);
  tenon_tensor* x = GARBAGE(tenon_tensor);
  deleted = 0;

  loan.version.major = 2;
  CHECK_ERROR(tenon_tensor_from_dlpack(scope(), &loan, NULL, false, &x), TENON_INVALID_ARGUMENT,
              "dlpack has version 2, but only version 1 is supported");
  CHECK(x == NULL && deleted == 1);
  loan = a_loan(data, shape);
  loan.tensor.device.type = 2;
  CHECK_ERROR(tenon_tensor_from_dlpack(scope(), &loan, NULL, false, &x), TENON_UNIMPLEMENTED,
              "a device of type 2");
  loan = a_loan(data, shape);
  loan.tensor.dtype.lanes = 4;
  CHECK_ERROR(tenon_tensor_from_dlpack(scope(), &loan, NULL, false, &x), TENON_INVALID_ARGUMENT,
              "is not a known dtype");
  loan = a_loan(data, shape);
  loan.tensor.rank = -1;
  CHECK_ERROR(tenon_tensor_from_dlpack(scope(), &loan, NULL, false, &x), TENON_INVALID_ARGUMENT,
              "negative rank");
  loan = a_loan(NULL, shape);
  CHECK_ERROR(tenon_tensor_from_dlpack(scope(), &loan, NULL, false, &x), TENON_INVALID_ARGUMENT,
              "dlpack.tensor.data is NULL");
  loan = a_loan(data, shape);
  CHECK_ERROR(tenon_tensor_from_dlpack(scope(), &loan, &loan, false, &x), TENON_INVALID_ARGUMENT,
              "stream must be NULL");
  CHECK_ERROR(tenon_tensor_from_dlpack(scope(), NULL, NULL, false, &x), TENON_INVALID_ARGUMENT,
              "dlpack is NULL");
  CHECK(deleted == 6);
  CHECK_ERROR(tenon_tensor_to_dlpack(scope(), scalar, NULL, &out), TENON_INVALID_ARGUMENT,
              "is an inline scalar");
  CHECK(out == NULL);
  tenon_tensor_release(scalar);
}

static void elements_of_four_bits_are_exchanged_in_bytes(void) {
  uint8_t data[3] = {7, 8, 15};
  int64_t shape[1] = {3};
  const tenon_cast_attrs to_int32 = {sizeof to_int32, TENON_INT32, true};
  tenon_dlpack loan = a_loan((float*)data, shape), *out = NULL;
  tenon_tensor *x = NULL, *y = NULL;
  int32_t values[3] = {0, 0, 0};
  loan.tensor.dtype.code = TENON_CODE_INT;
  loan.tensor.dtype.bits = 4;
  CHECK_ERROR(tenon_tensor_from_dlpack(scope(), &loan, NULL, true, &x), TENON_UNIMPLEMENTED,
              "packs elements of 4 bits");

  loan.flags = TENON_DLPACK_SUBBYTE_PADDED;
  CHECK_OK(tenon_tensor_from_dlpack(scope(), &loan, NULL, true, &x));
  CHECK(tenon_tensor_dtype(x) == TENON_INT4 && tenon_tensor_bytes(x) == 3);
  CHECK_OK(tenon_cast(scope(), x, &to_int32, &y));
  CHECK_OK(tenon_tensor_read(scope(), y, values, sizeof values));
  CHECK(values[0] == 7 && values[1] == -8 && values[2] == -1);
  tenon_tensor_release(y);
  if (cannot_export(x)) return;
  CHECK_OK(tenon_tensor_to_dlpack(scope(), x, NULL, &out));
  CHECK(out->flags & TENON_DLPACK_SUBBYTE_PADDED && out->tensor.dtype.bits == 4);
  out->deleter(out);
  tenon_tensor_release(x);
}

int main(void) {
  RUN(dlpack_export_copies_nothing);
  RUN(dlpack_import_of_an_export_shares_its_memory);
  RUN(the_dlpack_deleter_runs_once);
  RUN(dlpack_import_accepts_any_strides);
  RUN(a_reversed_view_survives_dlpack_export_and_import);
  RUN(elements_of_four_bits_are_exchanged_in_bytes);
  RUN(unsupported_dlpack_imports_are_refused);
  return report();
}
