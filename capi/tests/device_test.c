#include "capi/tests/check.h"

static tenon_device* the_device(void) {
  tenon_device* device = NULL;
  CHECK_OK(tenon_scope_get_device(scope(), &device));
  return device;
}

static tenon_memory_info memory_of(tenon_device* device) {
  tenon_memory_info info;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  CHECK_OK(tenon_device_describe_memory(device, &info));
  return info;
}

static void device_properties_are_returned(void) {
  tenon_device* device = the_device();
  tenon_device_info info;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;

  CHECK_OK(tenon_device_describe(device, &info));

  CHECK(info.struct_size == sizeof info);
  CHECK(info.kind == TENON_DEVICE_CPU || info.kind == TENON_DEVICE_ACCELERATOR);
  CHECK_TEXT(info.name, device_name());
  CHECK(info.description.size > 0 && info.plugin.size > 0);
  CHECK(device_has(info.features));
  tenon_device_release(device);
}

static void device_info_is_written_only_up_to_struct_size(void) {
  tenon_device* device = the_device();
  tenon_device_info info;
  memset(&info, 0x5a, sizeof info);
  info.struct_size = offsetof(tenon_device_info, vendor);

  CHECK_OK(tenon_device_describe(device, &info));

  CHECK(info.struct_size == offsetof(tenon_device_info, vendor));
  CHECK(info.description.size > 0);
  CHECK(info.vector_bits == 0x5a5a5a5a);
  info.struct_size = 3;
  CHECK_ERROR(tenon_device_describe(device, &info), TENON_INVALID_ARGUMENT,
              "out_info has no struct_size");
  CHECK_ERROR(tenon_device_describe(device, NULL), TENON_INVALID_ARGUMENT, "out_info is NULL");
  tenon_device_release(device);
}

static void memory_of_tensors_is_counted(void) {
  tenon_device* device = the_device();
  tenon_tensor* x = make_i32(16, 64);
  uint64_t freed = 0;

  CHECK(memory_of(device).live_bytes == 4096);
  CHECK(memory_of(device).live_buffers == 1);
  CHECK(memory_of(device).held_bytes >= 4096);
  tenon_tensor_release(x);
  CHECK(memory_of(device).live_bytes == 0);
  CHECK(memory_of(device).peak_bytes == 4096);
  tenon_device_reset_peak(device);
  CHECK(memory_of(device).peak_bytes == 0);

  CHECK(memory_of(device).held_bytes >= 4096); /* The device caches freed memory. */
  CHECK_OK(tenon_device_trim(device, &freed));
  CHECK(freed >= 4096);
  CHECK(memory_of(device).held_bytes == 0);
  CHECK_OK(tenon_device_trim(device, NULL));
  tenon_device_release(device);
}

static void exceeding_the_memory_limit_is_an_error_that_names_the_users_of_memory(void) {
  tenon_context_options options = test_options();
  tenon_context* own = NULL;
  tenon_scope* there;
  const int64_t shape[1] = {1 << 20};
  const int64_t small[1] = {16};
  float* zeros = calloc(1 << 20, sizeof *zeros);
  tenon_tensor* x = NULL;
  tenon_tensor* y = GARBAGE(tenon_tensor);
  options.memory_limit_bytes = 6 << 20;
  CHECK_OK(tenon_context_create(&options, &own));
  there = tenon_context_default_scope(own);
  CHECK_OK(tenon_scope_set_device(there, tenon_str(device_name())));
  CHECK_OK(tenon_tensor_from_data(there, TENON_FLOAT32, shape, 1, zeros, 4 << 20, &x));

  CHECK_ERROR(tenon_neg(there, x, &y), TENON_OUT_OF_MEMORY, "limit");
  CHECK(y == NULL);
  CHECK_OK(tenon_tensor_from_data(there, TENON_FLOAT32, small, 1, zeros, 64, &y));

  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_context_release(own);
  free(zeros);
}

int main(void) {
  RUN(device_properties_are_returned);
  RUN(device_info_is_written_only_up_to_struct_size);
  RUN(memory_of_tensors_is_counted);
  RUN(exceeding_the_memory_limit_is_an_error_that_names_the_users_of_memory);
  return report();
}
