// Tests of recordings: a replay launches graphs whose parameters hold the memory and the values of
// the replay, and a failing call of the driver leaves the recording usable.

#include <cstring>

#include "plugins/cuda/testing/cuda_testing.h"
#include "plugins/sdk/view.h"

namespace tenon_cuda::testing {
namespace {

constexpr int64_t kCount = 4096;  // 64 x 64, which cuBLASLt multiplies.
constexpr uint64_t kBytes = kCount * sizeof(float);
using Floats = std::vector<float>;

// Device memory.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(const Bench& bench, uint64_t size = kBytes) : bench_(bench) {
    EXPECT_SUCCESS(bench.calls().allocate(bench.device(), size, &handle_));
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() { bench_.calls().release(handle_); }

  tenon_buffer_p* get() const { return handle_; }
  void write(const Floats& values) const {
    const tenon_copy_region region = {{nullptr, const_cast<float*>(values.data()), 0, 0},
                                      {handle_, nullptr, 0, 0},
                                      values.size() * sizeof(float),
                                      0};
    EXPECT_SUCCESS(bench_.calls().copy(bench_.stream(), &region));
    EXPECT_SUCCESS(bench_.calls().wait(bench_.stream()));
  }
  Floats read(uint64_t offset = 0, size_t n = kCount) const {
    Floats values(n);
    const tenon_copy_region region = {
        {handle_, nullptr, offset, 0}, {nullptr, values.data(), 0, 0}, n * sizeof(float), 0};
    EXPECT_SUCCESS(bench_.calls().copy(bench_.stream(), &region));
    EXPECT_SUCCESS(bench_.calls().wait(bench_.stream()));
    return values;
  }

 private:
  const Bench& bench_;
  tenon_buffer_p* handle_ = nullptr;
};

// An operand of a recorded launch: a slot, or a value of at most 8 bytes.
struct Operand {
  uint32_t kind, number;
  tenon_dtype dtype = TENON_FLOAT32;
  uint64_t offset = 0;
};
Operand slot(uint32_t number, uint64_t offset = 0) {
  return {TENON_OPERAND_IN_SLOT, number, TENON_FLOAT32, offset};
}
Operand value(uint32_t number, tenon_dtype dtype = TENON_FLOAT32) {
  return {TENON_OPERAND_BY_VALUE, number, dtype};
}

struct Step {
  uint32_t op;
  std::vector<Operand> inputs;
  Operand output;
  std::vector<int64_t> sizes;
  const void* attrs = nullptr;
};

// A recording of steps whose operands are tensors of the step's sizes. The workspace of step i is
// slot `n_slots` + i.
class Recorded {
 public:
  Recorded(const Bench& bench, const std::vector<Step>& steps, size_t n_slots, size_t n_values)
      : bench_(bench), n_slots_(n_slots), n_values_(n_values) {
    const DeviceBuffer memory(bench, 2 * kBytes);
    const tenon_element one = {{0x3f800000, 0}};
    std::vector<std::vector<tenon_view>> views(steps.size());
    std::vector<std::vector<tenon_recorded_operand>> operands(steps.size());
    std::vector<tenon_launch> launches(steps.size());
    std::vector<tenon_recorded_launch> recorded;
    for (size_t i = 0; i < steps.size(); ++i) {
      const Step& step = steps[i];
      strides_.push_back(dense_strides(step.sizes));
      uniform_.emplace_back(step.sizes.size(), 0);
      std::vector<Operand> all = step.inputs;
      all.push_back(step.output);
      for (const Operand& operand : all) {
        const bool is_value = operand.kind == TENON_OPERAND_BY_VALUE;
        tenon_view view = {};
        view.dtype = operand.dtype;
        view.sizes = step.sizes.data();
        view.rank = static_cast<uint16_t>(step.sizes.size());
        view.strides = is_value ? uniform_.back().data() : strides_.back().data();
        view.strides_class = is_value ? TENON_STRIDES_UNIFORM : TENON_STRIDES_DENSE;
        view.buffer = is_value ? nullptr : memory.get();
        view.byte_offset = is_value ? 0 : operand.offset;
        view.data = is_value ? const_cast<tenon_element*>(&one) : nullptr;
        views[i].push_back(view);
        operands[i].push_back({operand.kind, operand.number, operand.offset});
      }
      tenon_launch& launch = launches[i];
      launch.struct_size = sizeof launch;
      launch.n_inputs = static_cast<uint32_t>(step.inputs.size());
      launch.n_outputs = 1;
      launch.inputs = views[i].data();
      launch.outputs = views[i].data() + step.inputs.size();
      uint32_t traits = 0;
      kernels_.push_back(prepare(step, views[i], traits));
      if (kernels_.back() == nullptr) return;
      if ((traits & TENON_KERNEL_WORKSPACE) != 0) {
        launch.workspace_size = bench.calls().workspace(kernels_.back(), &launch);
      }
      workspaces_.push_back(std::make_unique<DeviceBuffer>(bench, launch.workspace_size + 64));
      launch.workspace.buffer = workspaces_.back()->get();
      launch.workspace.dtype = TENON_UINT8;
      operands[i].push_back({TENON_OPERAND_IN_SLOT, static_cast<uint32_t>(n_slots + i), 0});
      recorded.push_back({kernels_.back(), &launch, operands[i].data(),
                          step.inputs.size() + 1 + (launch.workspace_size > 0 ? 1 : 0)});
      // The host launches every kernel before it records it.
      EXPECT_SUCCESS(bench.calls().launch(kernels_.back(), bench.stream(), &launch));
    }
    const tenon_record_request request = {sizeof request,         0,        recorded.size(),
                                          n_slots + steps.size(), n_values, recorded.data()};
    tenon_string why = {};
    failure = take(bench.calls().record(bench.device(), &request, &handle_, &why));
    reason = std::string(tenon_sdk::text(why));
    EXPECT_SUCCESS(bench.calls().wait(bench.stream()));
  }
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;
  ~Recorded() {
    if (handle_ != nullptr) bench_.calls().release_recording(handle_);
    for (tenon_kernel_p* const kernel : kernels_) {
      if (kernel != nullptr) bench_.calls().release_kernel(kernel);
    }
  }

  bool is_made() const { return handle_ != nullptr; }

  struct Slot {
    const DeviceBuffer& buffer;
    uint64_t offset = 0;
  };
  Failure replay(const std::vector<Slot>& slots, const std::vector<tenon_element>& values,
                 uint64_t ticket = 1) {
    EXPECT_EQ(slots.size(), n_slots_);
    EXPECT_EQ(values.size(), n_values_);
    std::vector<tenon_slot> given;
    for (const Slot& each : slots) given.push_back({each.buffer.get(), each.offset, nullptr, 0});
    for (const auto& workspace : workspaces_) given.push_back({workspace->get(), 0, nullptr, 0});
    tenon_replay replay = {};
    replay.struct_size = sizeof replay;
    replay.n_slots = given.size();
    replay.n_values = values.size();
    replay.slots = given.data();
    replay.values = values.data();
    replay.work = this;
    replay.ticket = ticket;
    return take(bench_.calls().replay(handle_, bench_.stream(), &replay));
  }

  Failure failure;     // The error of `record`.
  std::string reason;  // Why the plugin refuses to record.

 private:
  static std::vector<int64_t> dense_strides(const std::vector<int64_t>& sizes) {
    const tenon_sdk::DenseStrides dense(sizes.size(), sizes.data());
    return {dense.values, dense.values + sizes.size()};
  }

  tenon_kernel_p* prepare(const Step& step, const std::vector<tenon_view>& views,
                          uint32_t& traits) const {
    std::vector<tenon_operand> operands;
    for (const tenon_view& view : views) {
      operands.push_back({view.dtype, view.rank, view.strides_class, nullptr, 0});
    }
    tenon_kernel_request request = {};
    request.struct_size = sizeof request;
    request.flags = TENON_REQUEST_STRICT;
    request.attrs = step.attrs;
    request.n_inputs = step.inputs.size();
    request.n_outputs = 1;
    request.inputs = operands.data();
    request.outputs = operands.data() + step.inputs.size();
    tenon_kernel_traits out = {.struct_size = sizeof out, .flags = 0};
    tenon_kernel_p* kernel = nullptr;
    tenon_string why = {};
    for (size_t i = 0; i < bench_.plugin().n_kernels && kernel == nullptr; ++i) {
      request.line = &bench_.plugin().kernels[i];
      if (request.line->op != step.op) continue;
      EXPECT_SUCCESS(request.line->prepare(bench_.device(), &request, &kernel, &out, &why));
    }
    EXPECT_NE(kernel, nullptr) << tenon_sdk::text(why);
    traits = out.flags;
    return kernel;
  }

  const Bench& bench_;
  const size_t n_slots_, n_values_;
  std::vector<std::vector<int64_t>> strides_, uniform_;
  std::vector<tenon_kernel_p*> kernels_;
  std::vector<std::unique_ptr<DeviceBuffer>> workspaces_;
  tenon_recording_p* handle_ = nullptr;
};

tenon_element element(float x) {
  tenon_element made = {};
  std::memcpy(&made, &x, sizeof x);
  return made;
}

// Slot 1 = slot 0 + value 0, then slot 2 = slot 1 + slot 0.
std::vector<Step> two_adds() {
  return {{TENON_OP_add, {slot(0), value(0)}, slot(1), {kCount}},
          {TENON_OP_add, {slot(1), slot(0)}, slot(2), {kCount}}};
}

// The parameter: the delay of each stream operation, in microseconds.
class CudaRecording : public ::testing::TestWithParam<const char*> {
 protected:
  CudaRecording() : late_("TENON_EMULATED_CUDA_LATE", GetParam()) {}
  void SetUp() override {
    ASSERT_TRUE(bench_.is_open()) << bench_.failure().message;
    a_.write(Floats(kCount, 5));
    std::lock_guard guard(reported_failures().mutex);
    reported_failures().failed.clear();
  }

  const Variable late_;
  const Bench bench_;
  const DeviceBuffer a_{bench_}, b_{bench_}, c_{bench_, 2 * kBytes};
};

TEST_P(CudaRecording, ReplaysInFlightUseTheirOwnMemoryAndValues) {
  Recorded two(bench_, two_adds(), 3, 1);
  ASSERT_TRUE(two.is_made()) << two.failure.message << two.reason;
  std::vector<std::unique_ptr<DeviceBuffer>> outputs;
  for (int i = 0; i < 8; ++i) {
    outputs.push_back(std::make_unique<DeviceBuffer>(bench_));
    EXPECT_EQ(two.replay({{a_}, {b_}, {*outputs.back()}}, {element(static_cast<float>(i))}).code,
              TENON_OK);
  }
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(outputs[static_cast<size_t>(i)]->read(), Floats(kCount, static_cast<float>(10 + i)));
  }
}

TEST_P(CudaRecording, SlotsMayBeTheSameMemory) {
  Recorded two(bench_, two_adds(), 3, 1);
  ASSERT_TRUE(two.is_made());
  EXPECT_EQ(two.replay({{a_}, {b_}, {a_}}, {element(1)}).code, TENON_OK);
  EXPECT_EQ(two.replay({{a_}, {a_}, {c_, 64}}, {element(2)}).code, TENON_OK);
  EXPECT_EQ(a_.read(), Floats(kCount, 13));
  EXPECT_EQ(c_.read(64), Floats(kCount, 26));
}

TEST_P(CudaRecording, KernelsAreLaunchedAsOneGraph) {
  Recorded two(bench_, two_adds(), 3, 1);
  ASSERT_TRUE(two.is_made());
  {
    const Fault no_kernels("cuLaunchKernel:1+");
    EXPECT_EQ(two.replay({{a_}, {b_}, {c_}}, {element(1)}).code, TENON_OK);
  }
  {
    const Fault second_graph("cuGraphLaunch:2+");
    EXPECT_EQ(two.replay({{a_}, {b_}, {c_}}, {element(2)}).code, TENON_OK);
  }
  EXPECT_EQ(c_.read(), Floats(kCount, 12));
}

TEST_P(CudaRecording, OnlyKernelsWhoseOperandsChangeAreUpdated) {
  Recorded two(bench_, two_adds(), 3, 1);
  ASSERT_TRUE(two.is_made());
  EXPECT_EQ(two.replay({{a_}, {b_}, {c_}}, {element(1)}).code, TENON_OK);
  {
    const Fault no_updates("cuGraphExecKernelNodeSetParams_v2:1+");
    EXPECT_EQ(two.replay({{a_}, {b_}, {c_}}, {element(1)}).code, TENON_OK);
  }
  {
    // The value is an operand of the first kernel only.
    const Fault second_update("cuGraphExecKernelNodeSetParams_v2:2+");
    EXPECT_EQ(two.replay({{a_}, {b_}, {c_}}, {element(3)}).code, TENON_OK);
  }
  EXPECT_EQ(c_.read(), Floats(kCount, 13));
}

TEST_P(CudaRecording, ReplayAfterAFailedReplayIsCorrect) {
  Recorded two(bench_, two_adds(), 3, 1);
  ASSERT_TRUE(two.is_made());
  EXPECT_EQ(two.replay({{a_}, {b_}, {c_}}, {element(1)}).code, TENON_OK);
  for (const char* const failing :
       {"cuGraphExecKernelNodeSetParams_v2:1", "cuGraphExecKernelNodeSetParams_v2:2",
        "cuGraphLaunch:1", "cuCtxPushCurrent_v2:1"}) {
    SCOPED_TRACE(failing);
    {
      const Fault fault(failing);
      EXPECT_EQ(two.replay({{b_}, {a_}, {c_, 64}}, {element(7)}).code, TENON_INTERNAL);
    }
    EXPECT_EQ(two.replay({{a_}, {b_}, {c_, 64}}, {element(4)}).code, TENON_OK);
    EXPECT_EQ(c_.read(64), Floats(kCount, 14));
    EXPECT_EQ(a_.read(), Floats(kCount, 5));
  }
  std::lock_guard guard(reported_failures().mutex);
  EXPECT_TRUE(reported_failures().failed.empty());
}

TEST_P(CudaRecording, FailingDriverFunctionFailsTheRecordingWithoutLeaks) {
  for (const char* const failing : {"cuGraphCreate:1", "cuGraphAddKernelNode_v2:1",
                                    "cuGraphAddKernelNode_v2:2", "cuGraphInstantiateWithFlags:1"}) {
    SCOPED_TRACE(failing);
    {
      const Fault fault(failing);
      Recorded two(bench_, two_adds(), 3, 1);
      EXPECT_FALSE(two.is_made());
      EXPECT_EQ(two.failure.code, TENON_INTERNAL);
    }
    EXPECT_EQ(count_errors(), 0u);
  }
}

// The sum of a row of ones, multiplied by a matrix of fives, is 320.
TEST_P(CudaRecording, LibraryProductRunsBetweenGraphs) {
  const std::vector<int64_t> square = {64, 64};
  Recorded three(bench_,
                 {{TENON_OP_add, {slot(0), value(0)}, slot(1), square},
                  {TENON_OP_matmul, {slot(0), slot(1)}, slot(2), square},
                  {TENON_OP_add, {slot(2), value(1)}, slot(3), square}},
                 4, 2);
  ASSERT_TRUE(three.is_made()) << three.failure.message << three.reason;
  const DeviceBuffer d(bench_);
  for (const float x : {1.0f, 2.0f}) {
    EXPECT_EQ(three.replay({{a_}, {b_}, {c_}, {d}}, {element(x - 5), element(7)}).code, TENON_OK);
    EXPECT_EQ(d.read(), Floats(kCount, 320 * x + 7));
  }
  {
    // The first graph and the product are enqueued already, so the failure is reported to the host.
    const Fault fault("cuGraphLaunch:2");
    EXPECT_EQ(three.replay({{a_}, {b_}, {c_}, {d}}, {element(0), element(0)}, 77).code, TENON_OK);
  }
  EXPECT_SUCCESS(bench_.calls().wait(bench_.stream()));
  std::lock_guard guard(reported_failures().mutex);
  ASSERT_EQ(reported_failures().failed.size(), 1u);
  EXPECT_EQ(reported_failures().failed[77].code, TENON_INTERNAL);
}

TEST_P(CudaRecording, ValuesOfEverySizeAreReplaced) {
  for (const tenon_dtype dtype : {TENON_UINT8, TENON_FLOAT16, TENON_INT32, TENON_UINT64}) {
    const size_t size = tenon_sdk::size_of(dtype);
    const int64_t n = 40;
    tenon_fill_attrs attrs = {};
    attrs.struct_size = sizeof attrs;
    attrs.shape = &n;
    attrs.n_shape = 1;
    Operand output = slot(0);
    output.dtype = dtype;
    Recorded fill(bench_, {{TENON_OP_fill, {value(0, dtype)}, output, {n}, &attrs}}, 1, 1);
    ASSERT_TRUE(fill.is_made()) << fill.failure.message << fill.reason;
    for (const uint64_t bits : {0x1122334455667788u, 0x8877665544332211u}) {
      EXPECT_EQ(fill.replay({{c_}}, {{{bits, ~bits}}}).code, TENON_OK);
      std::vector<std::byte> want(40 * size), seen(want.size());
      for (size_t i = 0; i < 40; ++i) std::memcpy(want.data() + i * size, &bits, size);
      const Floats read = c_.read(0, want.size() / sizeof(float));
      std::memcpy(seen.data(), read.data(), seen.size());
      EXPECT_EQ(seen, want) << size;
    }
  }
}

TEST_P(CudaRecording, LostDeviceFailsReplays) {
  Recorded two(bench_, two_adds(), 3, 1);
  ASSERT_TRUE(two.is_made());
  {
    const Fault fault("cuGraphLaunch:1=719");
    EXPECT_EQ(two.replay({{a_}, {b_}, {c_}}, {element(1)}).code, TENON_DEVICE_LOST);
  }
  EXPECT_EQ(two.replay({{a_}, {b_}, {c_}}, {element(1)}).code, TENON_DEVICE_LOST);
}

INSTANTIATE_TEST_SUITE_P(, CudaRecording, ::testing::Values("0", "300"), [](const auto& info) {
  return std::string(info.param) + "MicrosecondsLate";
});

}  // namespace
}  // namespace tenon_cuda::testing
