// Tests of failing driver calls: the plugin must return an error, and must neither crash nor leak.

#include <atomic>
#include <condition_variable>

#include "plugins/cuda/driver/cublaslt_abi.h"
#include "plugins/cuda/driver/cuda_abi.h"
#include "plugins/cuda/testing/cuda_testing.h"

namespace tenon_cuda::testing {
namespace {

using namespace tenon_sdk::testing;

constexpr const char* kFunctions[] = {
#define TENON_CUDA_NAME(name, symbol, parameters) #symbol,
    TENON_CUDA_DRIVER_FUNCTIONS(TENON_CUDA_NAME) TENON_CUDA_NVRTC_FUNCTIONS(TENON_CUDA_NAME)
        TENON_CUDA_CUBLASLT_FUNCTIONS(TENON_CUDA_NAME)
#undef TENON_CUDA_NAME
};

class CudaFailure : public ::testing::TestWithParam<const char*> {};

// Prepares a kernel that copies 4 numbers, records one launch of it, and replays the recording.
void record_and_replay(const Bench& bench, tenon_buffer_p* buffer) {
  const tenon_plugin_calls& calls = bench.calls();
  const tenon_operand operand = {TENON_FLOAT32, 1, TENON_STRIDES_DENSE, nullptr, 0};
  tenon_kernel_request request = {};
  request.struct_size = sizeof request;
  request.n_inputs = request.n_outputs = 1;
  request.inputs = request.outputs = &operand;
  for (size_t i = 0; i < bench.plugin().n_kernels; ++i) {
    if (bench.plugin().kernels[i].op == TENON_OP_copy) request.line = &bench.plugin().kernels[i];
  }
  tenon_kernel_traits traits = {.struct_size = sizeof traits, .flags = 0};
  tenon_kernel_p* kernel = nullptr;
  tenon_string reason = {};
  take(request.line->prepare(bench.device(), &request, &kernel, &traits, &reason));
  if (kernel == nullptr) return;
  const int64_t size = 4, stride = 1;
  const tenon_view from = {.buffer = buffer,
                           .byte_offset = 0,
                           .data = nullptr,
                           .sizes = &size,
                           .strides = &stride,
                           .dtype = TENON_FLOAT32,
                           .rank = 1,
                           .strides_class = TENON_STRIDES_DENSE,
                           .content = 0};
  tenon_view to = from;
  to.byte_offset = 128;
  tenon_launch launch = {};
  launch.struct_size = sizeof launch;
  launch.n_inputs = launch.n_outputs = 1;
  launch.inputs = &from;
  launch.outputs = &to;
  const tenon_recorded_operand operands[] = {{TENON_OPERAND_IN_SLOT, 0, 0},
                                             {TENON_OPERAND_FIXED, 0, 0}};
  const tenon_recorded_launch recorded = {kernel, &launch, operands, 2};
  const tenon_record_request record = {sizeof record, 0, 1, 1, 0, &recorded};
  tenon_recording_p* recording = nullptr;
  take(calls.record(bench.device(), &record, &recording, &reason));
  if (recording != nullptr) {
    for (const uint64_t offset : {0, 64}) {
      const tenon_slot slot = {buffer, offset, nullptr, 0};
      tenon_replay replay = {};
      replay.struct_size = sizeof replay;
      replay.n_slots = 1;
      replay.slots = &slot;
      take(calls.replay(recording, bench.stream(), &replay));
    }
    take(calls.wait(bench.stream()));
    calls.release_recording(recording);
  }
  calls.release_kernel(kernel);
}

// Calls all functions of the plugin: launches, recordings, copies, fills, events, times, callbacks.
void call_every_plugin_function() {
  const Bench bench;
  if (!bench.is_open()) return;
  bench.run(TENON_OP_add, nullptr, {f32({1, 2}), f32({3, 4})}, {f32({2}, {})});
  // cuBLASLt computes this matrix product.
  const Tensor one = by_value(f32({}, {1})).as({64, 64}, {0, 0});
  bench.run(TENON_OP_matmul, nullptr, {one, one}, {f32({64, 64}, {})});
  const tenon_plugin_calls& calls = bench.calls();
  tenon_buffer_p* buffer = nullptr;
  if (take(calls.allocate(bench.device(), 256, &buffer)).code != TENON_OK) return;
  tenon_fill_region fill = {buffer, 0, 256, 0x0102030405060708, 8, 0};
  for (const uint32_t size : {1u, 2u, 4u, 8u}) {
    fill.pattern_size = size;
    take(calls.fill(bench.stream(), &fill));
  }
  const tenon_copy_region copy = {{buffer, nullptr, 0, 0}, {buffer, nullptr, 128, 0}, 64, 0};
  take(calls.copy(bench.stream(), &copy));
  record_and_replay(bench, buffer);
  tenon_event_p* event = nullptr;
  if (take(calls.record_event(bench.stream(), &event)).code == TENON_OK) {
    take(calls.wait_event(bench.stream(), event));
    calls.release_event(event);
  }
  uint64_t mark = 0, ns = 0;
  if (take(calls.mark_time(bench.stream(), &mark)).code == TENON_OK) {
    take(calls.wait(bench.stream()));
    take(calls.read_time(bench.stream(), mark, &ns));
  }
  std::atomic<int> n_called{0};
  const tenon_done_callback done = {
      .function = [](void* n, const tenon_error*) { ++*static_cast<std::atomic<int>*>(n); },
      .payload = &n_called,
      .destroy = nullptr,
  };
  take(calls.notify(bench.stream(), done));
  take(calls.wait(bench.stream()));
  calls.release(buffer);
  EXPECT_EQ(n_called, 1);
}

TEST_P(CudaFailure, FailingDriverFunctionIsReportedWithoutLeaks) {
  for (const char* const when : {":1", ":2", ":3", ":5", ":1+"}) {
    const Fault fault(GetParam() + std::string(when));
    call_every_plugin_function();
    EXPECT_EQ(count_errors(), 0u) << GetParam() << when;
  }
  call_every_plugin_function();
  const Bench bench;
  EXPECT_TRUE(bench.is_open()) << bench.failure().message;
}

INSTANTIATE_TEST_SUITE_P(EntryPoints, CudaFailure, ::testing::ValuesIn(kFunctions),
                         [](const auto& name) { return std::string(name.param); });

TEST(CudaErrors, FailedLaunchNamesTheOp) {
  const Bench bench;
  const Fault fault("cuLaunchKernel:1");
  const Result result = bench.run(TENON_OP_add, nullptr, {f32({1}), f32({2})}, {f32({1}, {})});
  EXPECT_EQ(result.failure.code, TENON_INTERNAL);
  EXPECT_NE(result.failure.message.find("launching add failed"), std::string::npos)
      << result.failure.message;
}

TEST(CudaErrors, OutOfMemoryErrorListsTheSizesThatOccupyMostMemory) {
  const Bench bench;
  tenon_buffer_p* buffers[3] = {};
  for (tenon_buffer_p*& buffer : buffers) {
    EXPECT_SUCCESS(bench.calls().allocate(bench.device(), 4096, &buffer));
  }
  tenon_buffer_p* none = nullptr;
  const Failure failure = take(bench.calls().allocate(bench.device(), uint64_t{1} << 50, &none));
  EXPECT_EQ(failure.code, TENON_OUT_OF_MEMORY);
  EXPECT_NE(failure.message.find("cannot allocate 1125899906842624 bytes"), std::string::npos);
  EXPECT_NE(failure.message.find("3 buffers of 4096 bytes"), std::string::npos) << failure.message;
  for (tenon_buffer_p* buffer : buffers) bench.calls().release(buffer);
}

TEST(CudaErrors, FailedAllocationDoesNotChangeTheMemoryStatistics) {
  const Bench bench;
  tenon_buffer_p* buffer = nullptr;
  EXPECT_SUCCESS(bench.calls().allocate(bench.device(), 1000, &buffer));
  const auto allocated = [&] {
    tenon_memory_statistics statistics = {.struct_size = sizeof statistics};
    EXPECT_SUCCESS(bench.calls().memory_statistics(bench.device(), &statistics));
    return statistics.allocated_bytes;
  };
  EXPECT_EQ(allocated(), 1000u);
  {
    const Fault fault("cuMemAlloc_v2:1=999");
    tenon_buffer_p* none = nullptr;
    EXPECT_EQ(take(bench.calls().allocate(bench.device(), 64, &none)).code, TENON_INTERNAL);
  }
  EXPECT_EQ(allocated(), 1000u);
  bench.calls().release(buffer);
  EXPECT_EQ(allocated(), 0u);
}

TEST(CudaErrors, LostDeviceFailsEveryCallUntilItIsOpenedAgain) {
  {
    const Bench bench;
    const Fault fault("cuEventSynchronize:1=719");
    EXPECT_EQ(take(bench.calls().wait(bench.stream())).code, TENON_DEVICE_LOST);
    tenon_buffer_p* buffer = nullptr;
    EXPECT_EQ(take(bench.calls().allocate(bench.device(), 64, &buffer)).code, TENON_DEVICE_LOST);
    tenon_event_p* event = nullptr;
    EXPECT_EQ(take(bench.calls().record_event(bench.stream(), &event)).code, TENON_DEVICE_LOST);
    EXPECT_EQ(take(bench.calls().wait(bench.stream())).code, TENON_DEVICE_LOST);
  }
  const Bench again;
  EXPECT_TRUE(again.is_open()) << again.failure().message;
}

TEST(CudaErrors, CallbackOfALostDeviceIsCalledWithTheError) {
  const Bench bench;
  {
    const Fault fault("cuEventSynchronize:1=719");
    take(bench.calls().wait(bench.stream()));
  }
  struct Answer {
    std::mutex mutex;
    std::condition_variable changed;
    tenon_code code = TENON_OK;
    bool is_called = false;
  } answer;
  const tenon_done_callback done = {
      .function =
          [](void* payload, const tenon_error* error) {
            auto& given = *static_cast<Answer*>(payload);
            std::lock_guard guard(given.mutex);
            given.code = host().error_code(error);
            given.is_called = true;
            given.changed.notify_all();
          },
      .payload = &answer,
      .destroy = nullptr,
  };
  EXPECT_SUCCESS(bench.calls().notify(bench.stream(), done));
  std::unique_lock lock(answer.mutex);
  answer.changed.wait(lock, [&] { return answer.is_called; });
  EXPECT_EQ(answer.code, TENON_DEVICE_LOST);
}

}  // namespace
}  // namespace tenon_cuda::testing
