// Trains a small network on the emulated driver while one call of a driver function fails. There is
// one test for each function. Uses the whole library: host, plugin, emulated libcuda and NVRTC.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <tenon/tenon.hpp>
#include <vector>

#include "plugins/cuda/driver/cuda_abi.h"

namespace tenon_cuda::testing {
namespace {

using namespace tenon;

constexpr const char* kFunctions[] = {
#define TENON_CUDA_NAME(name, symbol, parameters) #symbol,
    TENON_CUDA_DRIVER_FUNCTIONS(TENON_CUDA_NAME) TENON_CUDA_NVRTC_FUNCTIONS(TENON_CUDA_NAME)
#undef TENON_CUDA_NAME
};

template <class Function>
void with_libraries(const char* symbol, Function&& use) {
  for (const char* const name : {"TENON_CUDA_DRIVER", "TENON_CUDA_NVRTC"}) {
    void* const library = dlopen(std::getenv(name), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << name;
    use(dlsym(library, symbol));
    dlclose(library);
  }
}

void set_fault(const std::string& what) {
  with_libraries("tenon_emulated_fail",
                 [&](void* fail) { reinterpret_cast<void (*)(const char*)>(fail)(what.c_str()); });
}

// Whether the call with the injected fault was made.
bool was_reached() {
  bool reached = false;
  with_libraries("tenon_emulated_has_failed", [&](void* has_failed) {
    reached = reached || reinterpret_cast<bool (*)()>(has_failed)();
  });
  return reached;
}

// The host traces the first of these steps, makes a launch plan in the second, enqueues its
// launches one by one in the third, and replays a recording of them in the others.
constexpr int kTracedSteps = 5, kReplays = kTracedSteps - 3;

struct Outcome {
  std::vector<double> losses;  // The losses of one eager step and kTracedSteps traced steps.
  std::string failure;

  bool operator==(const Outcome&) const = default;
};

class Network {
 public:
  Tensor train(const Tensor& images, const Tensor& labels) const {
    const Tape tape;
    const Tensor features =
        max_pool(relu(conv(images, filter_)), {.kernel_shape = {2, 2}, .strides = {2, 2}}).y;
    const Tensor loss =
        sparse_softmax_cross_entropy(matmul(flatten(features), dense_), labels).loss;
    const std::vector<Tensor> gradients = tape.gradients(loss, {filter_, dense_});
    filter_.assign(sgd(filter_, gradients[0], 0.1));
    dense_.assign(sgd(dense_, gradients[1], 0.1));
    return loss;
  }

 private:
  static Variable normal(const Generator& generator, const Shape& shape) {
    return Variable(generator.normal(shape, 0, 0.3));
  }
  const Generator generator_{7};
  const Variable filter_ = normal(generator_, {2, 1, 3, 3});
  const Variable dense_ = normal(generator_, {18, 3});
};

Outcome train() {
  Outcome outcome;
  try {
    const Context context(
        {.plugin_paths = {TENON_CUDA_PLUGIN}, .plugin_options = {{"cuda", "cache", ""}}});
    const ScopeGuard in(Scope(context, "cuda"));
    const Network network;
    const Tensor images =
        reshape(cast(arange(0, 256, 1), {.to = kFloat32}) * (1.0 / 256), {.shape = {4, 1, 8, 8}});
    const Tensor labels = vector<int32_t>({0, 1, 2, 1});
    outcome.losses.push_back(network.train(images, labels).item<double>());
    const auto traced =
        function([&](const Tensor& x, const Tensor& y) { return network.train(x, y); });
    for (int i = 0; i < kTracedSteps; ++i) {
      outcome.losses.push_back(traced(images, labels).item<double>());
    }
  } catch (const Error& error) {
    outcome.failure = error.what();
  }
  return outcome;
}

const Outcome& undisturbed() {
  static const Outcome outcome = train();
  return outcome;
}

class OnEmulatedDriver : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("TENON_CUDA_DRIVER") == nullptr) GTEST_SKIP() << "needs the emulated driver";
    ASSERT_EQ(undisturbed().failure, "");
  }
  void TearDown() override { set_fault(""); }
};
class CudaTraining : public OnEmulatedDriver, public ::testing::WithParamInterface<const char*> {};

// If a failing call has no consequence, for example a call that frees memory, the losses must be
// unchanged.
TEST_P(CudaTraining, FailingDriverCallIsReportedAndTheNextTrainingSucceeds) {
  for (long n = 1, step = 1; n < 2000; n += step, step = n / 2 + 1) {
    const std::string fault = GetParam() + (":" + std::to_string(n));
    SCOPED_TRACE(fault);
    set_fault(fault);
    const Outcome disturbed = train();
    const bool reached = was_reached();
    set_fault("");
    if (disturbed.failure.empty()) {
      EXPECT_EQ(disturbed.losses, undisturbed().losses);
    }
    if (!reached) {
      EXPECT_EQ(disturbed.failure, "");
      break;
    }
  }
  EXPECT_EQ(train(), undisturbed());
}

// Returns how often the training calls a function of the driver.
long count_calls(const std::string& function) {
  long n = 0;
  for (bool reached = true; reached; n += reached ? 1 : 0) {
    set_fault(function + ":" + std::to_string(n + 1));
    train();
    reached = was_reached();
  }
  set_fault("");
  return n;
}

TEST_F(OnEmulatedDriver, TracedStepIsReplayedAsOneGraph) {
  EXPECT_EQ(count_calls("cuGraphInstantiateWithFlags"), 1);
  EXPECT_EQ(count_calls("cuGraphLaunch"), kReplays);
}

TEST_F(OnEmulatedDriver, ProfilerMeasuresLaunchesByTheClockOfTheDevice) {
  const Context context(
      {.plugin_paths = {TENON_CUDA_PLUGIN}, .plugin_options = {{"cuda", "cache", ""}}});
  const ScopeGuard in(Scope(context, "cuda"));
  const Profiler profiler;
  const Tensor y = exp(vector<float>({0, 1})) * 2;
  EXPECT_EQ(y.to_vector<float>()[0], 2);
  profiler.stop();
  int n_rows = 0;
  for (const ProfileRow& row : profiler.rows()) {
    if (row.name != "exp" && row.name != "mul") continue;
    EXPECT_EQ(row.c.device_clock, TENON_DEVICE_CLOCK_DEVICE) << row.name;
    ++n_rows;
  }
  EXPECT_EQ(n_rows, 2);
}

// The parameter: the delay of each stream operation, in microseconds.
class TwoCudaDevices : public OnEmulatedDriver, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    OnEmulatedDriver::SetUp();
    setenv("TENON_EMULATED_CUDA_DEVICES", "2", 1);
    setenv("TENON_EMULATED_CUDA_LATE", GetParam(), 1);
  }
  void TearDown() override {
    unsetenv("TENON_EMULATED_CUDA_DEVICES");
    unsetenv("TENON_EMULATED_CUDA_LATE");
    OnEmulatedDriver::TearDown();
  }
};

TEST_P(TwoCudaDevices, TensorsMoveFromOneDeviceToTheOtherAndBack) {
  const Context context(
      {.plugin_paths = {TENON_CUDA_PLUGIN}, .plugin_options = {{"cuda", "cache", ""}}});
  const ScopeGuard in_first(Scope(context, "cuda:0"));
  const Tensor first = vector<float>({1, 2, 3}) * 2;
  Tensor second;
  {
    const ScopeGuard in_second(Scope(context, "cuda:1"));
    second = first.to("cuda:1") + 1;
  }
  EXPECT_EQ(first.device(), "cuda:0");
  EXPECT_EQ(second.device(), "cuda:1");
  const Tensor both = first + second.to("cuda:0");
  EXPECT_EQ(both.device(), "cuda:0");
  EXPECT_EQ(both.to_vector<float>(), (std::vector<float>{5, 9, 13}));
}

TEST_P(TwoCudaDevices, LargeTensorsAreCopiedDirectly) {
  constexpr int kCount = 600'000;  // 2.4 MB: more than the plugin copies through pinned memory.
  for (const char* const can_access : {"1", "0"}) {
    setenv("TENON_EMULATED_CUDA_PEERS", can_access, 1);
    const Context context(
        {.plugin_paths = {TENON_CUDA_PLUGIN}, .plugin_options = {{"cuda", "cache", ""}}});
    const ScopeGuard in(Scope(context, "cuda:0"));
    const Tensor first = cast(arange(0, kCount, 1), {.to = kFloat32}) * 2;
    // No copy to or from the host is needed.
    set_fault("cuMemcpyDtoHAsync_v2:1");
    const Tensor second = first.to("cuda:1");
    EXPECT_FALSE(was_reached());
    set_fault("");
    const std::vector<float> values = second.to_vector<float>();
    ASSERT_EQ(values.size(), size_t{kCount});
    for (int i = 0; i < kCount; i += 1000) ASSERT_EQ(values[i], 2.0f * static_cast<float>(i));
  }
  unsetenv("TENON_EMULATED_CUDA_PEERS");
}

TEST_P(TwoCudaDevices, FailedCopyBetweenDevicesIsReported) {
  for (const char* const function :
       {"cuMemcpyPeerAsync:1", "cuDeviceCanAccessPeer:1", "cuCtxEnablePeerAccess:1"}) {
    const Context context(
        {.plugin_paths = {TENON_CUDA_PLUGIN}, .plugin_options = {{"cuda", "cache", ""}}});
    const ScopeGuard in(Scope(context, "cuda:0"));
    const Tensor first = vector<float>({1, 2, 3}) * 2;
    set_fault(function);
    EXPECT_THROW(first.to("cuda:1"), Error) << function;
    EXPECT_TRUE(was_reached()) << function;
    set_fault("");
    EXPECT_EQ(first.to("cuda:1").to_vector<float>(), (std::vector<float>{2, 4, 6})) << function;
  }
}

INSTANTIATE_TEST_SUITE_P(, TwoCudaDevices, ::testing::Values("0", "300"), [](const auto& info) {
  return std::string(info.param) + "MicrosecondsLate";
});

struct Symptom {
  const char *fault, *message;
};

TEST_F(OnEmulatedDriver, ErrorOfTrainingNamesTheFailedOperation) {
  for (const Symptom& symptom : {
           Symptom{"cuLaunchKernel:3", "launching "},
           Symptom{"cuLaunchKernel:9+", "launching "},
           Symptom{"cuMemAlloc_v2:1+", "cannot allocate "},
           Symptom{"cuMemcpyDtoHAsync_v2:1", "a copy from the device failed"},
           Symptom{"nvrtcCompileProgram:2", "compiling "},
           Symptom{"cuGraphLaunch:1", "launching a graph failed"},
           Symptom{"cuLaunchKernel:4=700", "the device is lost until it is opened again"},
           Symptom{"cuEventSynchronize:2=719", "the device is lost until it is opened again"},
       }) {
    set_fault(symptom.fault);
    const Outcome disturbed = train();
    EXPECT_NE(disturbed.failure.find(symptom.message), std::string::npos)
        << symptom.fault << ": " << disturbed.failure;
  }
  set_fault("");
  EXPECT_EQ(train(), undisturbed());
}

INSTANTIATE_TEST_SUITE_P(EntryPoints, CudaTraining, ::testing::ValuesIn(kFunctions),
                         [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace tenon_cuda::testing
