// Measures how much of a device's performance the kernels of the Vulkan plugin reach. Uses the
// first device that the Vulkan loader lists (VK_DRIVER_FILES selects the driver). Compares with
// hand-written shaders on the same driver, and with other ways to compute the same in Tenon. The
// cases, with the expected ratios:
//
//   add_16M        bandwidth of an add, compared with three copy shaders: at least 0.8
//   chain_16M      ten ops as a function, which fuses them, compared with ten calls
//   replay         a function of 200 small ops that cannot be fused, compared with 200 calls (at
//                  least 5) and with resubmitting a command buffer of 200 dispatches
//   replay_host    like `replay`, but only the time until the call returns
//   matmul_1024    compared with a shader that only computes as many multiply-adds: at least 0.5
//   sum_of_host    a sum of 16 M elements in imported host memory, compared with a sum of a copy
//   first_use      of an op whose shader is cached on disk, compared with an empty cache
//   first_uses     of 16 ops with an empty cache: enqueued together, compared with a wait after
//                  each op
//   first_layer    with an empty cache: a function of matmul, bias and activation until its fused
//                  launch is replayed, compared with as many calls of the three ops

#include <tenon/tenon.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "benches/bare_vulkan.h"
#include "benches/compare.h"
#include "benches/session.h"

namespace {

using benches::BareVulkan;
using benches::check;
using benches::scope;
using benches::tensor;

constexpr int64_t kElements = 16 << 20;
constexpr uint32_t kCopiedWords = 24 << 20;  // A copy moves as many bytes as add_16M.
constexpr int64_t kSize = 1024;

// Returns the device. If there is none, prints the reason and exits with the status of skipped
// tests.
tenon_device_info choose_device() {
  if (tenon_error* error = tenon_scope_set_device(scope(), tenon_str("vulkan"))) {
    std::fprintf(stderr, "bench vulkan: %s\n", tenon_error_message(error).data);
    std::exit(77);
  }
  tenon_device* device = nullptr;
  check(tenon_scope_get_device(scope(), &device));
  tenon_device_info info = {};
  info.struct_size = sizeof info;
  check(tenon_device_describe(device, &info));
  tenon_device_release(device);
  return info;
}

// Returns a float32 tensor on the device of scope `on`, whose elements all equal `value`.
tenon_tensor* create_constant(const std::vector<int64_t>& shape, float value,
                              tenon_scope* on = scope()) {
  size_t n = 1;
  for (const int64_t size : shape) n *= static_cast<size_t>(size);
  const std::vector<float> data(n, value);
  tenon_tensor* x = nullptr;
  check(tenon_tensor_from_data(on, TENON_FLOAT32, shape.data(), shape.size(), data.data(),
                               n * sizeof(float), &x));
  return x;
}

// Reads the first element of a float32 tensor.
float read_first_element(tenon_tensor* x) {
  std::vector<float> data(static_cast<size_t>(tenon_tensor_count(x)));
  check(tenon_tensor_read(scope(), x, data.data(), data.size() * sizeof(float)));
  return data[0];
}

// ---- code that runs in eager mode or as a function

using Code = void (*)(tenon_scope* inner, tenon_tensor* const* inputs, tenon_tensor** out);

// The body of each traced function: calls the C++ function of type Code that is in `payload`.
tenon_error* run_code(void* payload, tenon_scope* inner, tenon_tensor* const* inputs, size_t,
                      const tenon_static*, size_t, tenon_tensor** out_outputs, size_t) {
  reinterpret_cast<Code>(payload)(inner, inputs, out_outputs);
  return nullptr;
}

class Call {
 public:
  Call(Code code, bool is_traced, std::vector<tenon_tensor*> inputs, tenon_scope* on = scope())
      : scope_(on), code_(code), inputs_(std::move(inputs)) {
    if (!is_traced) return;
    const tenon_function_body body = {run_code, reinterpret_cast<void*>(code), nullptr};
    check(tenon_function_create(tenon_scope_context(scope_), tenon_str("code"), body, nullptr,
                                &function_));
  }
  ~Call() {
    for (tenon_tensor* x : inputs_) tenon_tensor_release(x);
    tenon_function_release(function_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  tenon_tensor* operator()() const {
    tenon_tensor* y = nullptr;
    if (function_ == nullptr) {
      code_(scope_, inputs_.data(), &y);
    } else {
      check(tenon_function_call(scope_, function_, inputs_.data(), inputs_.size(), nullptr, 0, &y,
                                1, nullptr));
    }
    return y;
  }

 private:
  tenon_scope* const scope_;
  const Code code_;
  const std::vector<tenon_tensor*> inputs_;
  tenon_function* function_ = nullptr;
};

// Minimum number of calls before the measurement, in which functions are traced, prepared and
// recorded. The warm-up takes at least kWarmingTime, in which background threads compile functions
// that are called often.
constexpr int kWarmUpCalls = 3;
constexpr std::chrono::milliseconds kWarmingTime{250};

// Calls `once` repeatedly, without measuring it, and waits after each call.
template <class Once>
void warm(const Once& once) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kWarmUpCalls || std::chrono::steady_clock::now() - begin < kWarmingTime;
       ++i) {
    once();
    check(tenon_scope_wait(scope()));
  }
}

enum class Timed { kAll, kHost };  // kAll: until the work is done. kHost: until the call returns.

// Measures calls, each followed by a wait. `want` is the expected element 0 of the output.
void measure(benchmark::State& state, const Call& call, float want, Timed timed = Timed::kAll) {
  warm([&] { tenon_tensor_release(call()); });
  for (auto _ : state) {
    tenon_tensor* y = call();
    if (timed == Timed::kHost) state.PauseTiming();
    check(tenon_scope_wait(scope()));
    tenon_tensor_release(y);
    if (timed == Timed::kHost) state.ResumeTiming();
  }
  tenon_tensor* y = call();
  if (read_first_element(y) != want) state.SkipWithError("wrong result");
  tenon_tensor_release(y);
}

// Returns the number of launches of a call. A replay may coalesce consecutive small launches into
// one dispatch.
double count_launches(const Call& call) {
  for (int i = 0; i < kWarmUpCalls; ++i) tenon_tensor_release(call());
  check(tenon_scope_wait(scope()));
  tenon_profiler* profiler = nullptr;
  check(tenon_profiler_start(tenon_scope_context(scope()), nullptr, &profiler));
  tenon_tensor_release(call());
  check(tenon_scope_wait(scope()));
  check(tenon_profiler_stop(profiler));
  uint64_t n = 0;
  for (size_t i = 0; i < tenon_profiler_count_rows(profiler); ++i) {
    tenon_profiler_row row = {};
    row.struct_size = sizeof row;
    check(tenon_profiler_describe_row(profiler, i, &row));
    if (row.kind == TENON_SPAN_OP || row.kind == TENON_SPAN_FUSED) n += row.launches;
  }
  tenon_profiler_release(profiler);
  return static_cast<double>(n);
}

// ---- an add of 16 M elements

// Adds inputs[0] and inputs[1].
void add(tenon_scope* inner, tenon_tensor* const* inputs, tenon_tensor** out) {
  check(tenon_add(inner, inputs[0], inputs[1], out));
}

void measure_add(benchmark::State& state) {
  const Call call(add, false, {create_constant({kElements}, 1), create_constant({kElements}, 2)});
  measure(state, call, 3);
}

// ---- ten ops on 16 M elements

// Repeats five times: x = x * inputs[1] + inputs[2].
void ten_ops(tenon_scope* inner, tenon_tensor* const* inputs, tenon_tensor** out) {
  tenon_tensor* x = inputs[0];
  tenon_tensor_retain(x);
  for (int i = 0; i < 5; ++i) {
    tenon_tensor *product = nullptr, *sum = nullptr;
    check(tenon_mul(inner, x, inputs[1], &product));
    check(tenon_add(inner, product, inputs[2], &sum));
    tenon_tensor_release(product);
    tenon_tensor_release(x);
    x = sum;
  }
  *out = x;
}

// Returns the inputs of ten_ops(), with which its output equals its first input.
std::vector<tenon_tensor*> ten_inputs() {
  return {create_constant({kElements}, 2), create_constant({kElements}, 0.5f),
          create_constant({kElements}, 1)};
}

// Measures ten_ops(), as a traced function or as eager calls.
void measure_ten_ops(benchmark::State& state, bool is_traced) {
  measure(state, Call(ten_ops, is_traced, ten_inputs()), 2);
}

// ---- a chain of 200 small ops

constexpr int kGathers = 200;

// Permutes x with the indices inputs[1], kGathers times.
void gathers(tenon_scope* inner, tenon_tensor* const* inputs, tenon_tensor** out) {
  tenon_tensor* x = inputs[0];
  tenon_tensor_retain(x);
  for (int i = 0; i < kGathers; ++i) {
    tenon_tensor* rows = nullptr;
    check(tenon_gather(inner, x, inputs[1], nullptr, &rows));
    tenon_tensor_release(x);
    x = rows;
  }
  *out = x;
}

// Returns the inputs of gathers(): four numbers, and the indices that reverse them.
std::vector<tenon_tensor*> gather_inputs() {
  return {tensor<float>(TENON_FLOAT32, {4}, {1, 2, 3, 4}),
          tensor<int32_t>(TENON_INT32, {4}, {3, 2, 1, 0})};
}

// Measures gathers(), as a traced function or as eager calls.
void measure_gathers(benchmark::State& state, bool is_traced, Timed timed) {
  measure(state, Call(gathers, is_traced, gather_inputs()), 1, timed);
}

// ---- a matmul

// Multiplies the matrices inputs[0] and inputs[1].
void matmul(tenon_scope* inner, tenon_tensor* const* inputs, tenon_tensor** out) {
  check(tenon_matmul(inner, inputs[0], inputs[1], nullptr, out));
}

void measure_matmul(benchmark::State& state) {
  const Call call(matmul, false,
                  {create_constant({kSize, kSize}, 0.5f), create_constant({kSize, kSize}, 2)});
  measure(state, call, kSize);
}

// ---- host memory

// Measures a sum of host memory, which is imported or copied. The memory is page-aligned, as large
// allocations are.
void measure_sum_of_host(benchmark::State& state, bool is_imported) {
  const std::vector<int64_t> shape = {kElements};
  constexpr size_t kBytes = size_t{kElements} * sizeof(float), kPage = 4096;
  const std::unique_ptr<float, decltype(&std::free)> data(
      static_cast<float*>(std::aligned_alloc(kPage, kBytes)), std::free);
  std::fill_n(data.get(), kElements, 0.5f);
  for (auto _ : state) {
    tenon_tensor *x = nullptr, *sum = nullptr;
    const tenon_deleter keep = {[](void*) {}, nullptr};
    check(is_imported ? tenon_tensor_from_host(scope(), TENON_FLOAT32, shape.data(), 1, nullptr,
                                               data.get(), kBytes, keep, &x)
                      : tenon_tensor_from_data(scope(), TENON_FLOAT32, shape.data(), 1, data.get(),
                                               kBytes, &x));
    check(tenon_sum(scope(), x, nullptr, &sum));
    if (read_first_element(sum) != kElements / 2) state.SkipWithError("wrong result");
    tenon_tensor_release(sum);
    tenon_tensor_release(x);
    check(tenon_scope_wait(scope()));
  }
}

// ---- comparison with hand-written shaders

struct ByHand {
  std::string name;
  BareVulkan::Dispatch dispatch;
};

// Returns the hand-written shaders with the names of their benchmarks.
std::vector<ByHand> shaders_by_hand(BareVulkan& device) {
  using benches::Copy;
  using benches::MultiplyAdd;
  std::vector<ByHand> all;
  const struct {
    const char* name;
    Copy copy;
  } copies[] = {{"add_16M/copy_words", Copy::kWord},
                {"add_16M/copy_vec4", Copy::kVec4},
                {"add_16M/copy_vec4_loop", Copy::kVec4Loop}};
  for (const auto& [name, copy] : copies) {
    all.push_back({name, device.prepare(benches::copy_shader(copy, kCopiedWords),
                                        benches::copy_groups(copy, kCopiedWords))});
  }
  all.push_back({"replay/resubmission",
                 device.prepare(benches::copy_shader(Copy::kWord, 16), {1, 1, 1}, kGathers)});
  // These shaders compute as many multiply-adds as matmul_1024.
  constexpr uint32_t kInvocations = 1 << 16;
  constexpr uint32_t kEach = static_cast<uint32_t>(kSize * kSize * kSize / kInvocations);
  for (const auto& [name, how] : {std::pair{"multiply_add_", MultiplyAdd::kTwoSteps},
                                  std::pair{"fused_", MultiplyAdd::kFused}}) {
    for (const uint32_t n_chains : {8u, 16u}) {
      all.push_back({std::string("matmul_1024/") + name + std::to_string(n_chains),
                     device.prepare(benches::multiply_add_shader(how, n_chains, kEach / n_chains),
                                    benches::groups_in_rows(kInvocations))});
    }
  }
  return all;
}

// ---- first uses of ops

// A context whose Vulkan plugin caches shaders in the given folder, and an input tensor.
class FirstUse {
 public:
  explicit FirstUse(const std::string& cache) {
    const tenon_plugin_option option = {tenon_str("vulkan"), tenon_str("cache"),
                                        tenon_str(cache.c_str())};
    tenon_context_options options = TENON_CONTEXT_OPTIONS_DEFAULT;
    options.plugin_options = &option;
    options.n_plugin_options = 1;
    check(tenon_context_create(&options, &context_));
    scope_ = tenon_context_default_scope(context_);
    check(tenon_scope_set_device(scope_, tenon_str("vulkan")));
    x_ = create_constant({4}, 0.5f, scope_);
    check(tenon_scope_wait(scope_));
  }
  ~FirstUse() {
    tenon_tensor_release(x_);
    tenon_context_release(context_);
  }
  FirstUse(const FirstUse&) = delete;
  FirstUse& operator=(const FirstUse&) = delete;

  void run() {
    call(tenon_erf);
    check(tenon_scope_wait(scope_));
  }

  // Runs 16 ops whose shaders share no code.
  void run_many(bool waits_for_each) {
    for (const auto op : {tenon_exp, tenon_expm1, tenon_log, tenon_log1p, tenon_sin, tenon_cos,
                          tenon_tan, tenon_asin, tenon_acos, tenon_atan, tenon_sinh, tenon_cosh,
                          tenon_tanh, tenon_asinh, tenon_acosh, tenon_erf}) {
      call(op);
      if (waits_for_each) check(tenon_scope_wait(scope_));
    }
    check(tenon_scope_wait(scope_));
  }

  // Calls the layer until its recording is replayed, or equally often in eager mode.
  void run_layer(bool is_traced) {
    const Call layer(
        [](tenon_scope* inner, tenon_tensor* const* inputs, tenon_tensor** out) {
          tenon_tensor *product = nullptr, *sum = nullptr;
          check(tenon_matmul(inner, inputs[0], inputs[1], nullptr, &product));
          check(tenon_add(inner, product, inputs[2], &sum));
          check(tenon_relu(inner, sum, out));
          tenon_tensor_release(product);
          tenon_tensor_release(sum);
        },
        is_traced,
        {create_constant({256, 256}, 1, scope_), create_constant({256, 256}, 1, scope_),
         create_constant({256}, 1, scope_)},
        scope_);
    for (int i = 0; i < 4; ++i) {
      tenon_tensor_release(layer());
      check(tenon_scope_wait(scope_));
    }
  }

 private:
  void call(decltype(tenon_exp) op) {
    tenon_tensor* y = nullptr;
    check(op(scope_, x_, &y));
    tenon_tensor_release(y);
  }

  tenon_context* context_ = nullptr;
  tenon_scope* scope_ = nullptr;
  tenon_tensor* x_ = nullptr;
};

// Measures `use` in new contexts, with an empty or a populated shader cache on disk.
void measure_first_use(benchmark::State& state, bool has_cache, void (*use)(FirstUse&)) {
  std::string folder = std::filesystem::temp_directory_path() / "tenon-bench-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr)
    return state.SkipWithError("cannot create a temporary folder");
  setenv("MESA_SHADER_CACHE_DIR", folder.c_str(), 1);  // Moves Mesa's own shader cache.
  if (has_cache) {
    FirstUse kept(folder);
    use(kept);
  }
  for (auto _ : state) {
    state.PauseTiming();
    if (!has_cache) {
      for (const auto& file : std::filesystem::directory_iterator(folder)) {
        std::filesystem::remove_all(file);
      }
    }
    {
      FirstUse first(folder);
      state.ResumeTiming();
      use(first);
      state.PauseTiming();
    }
    state.ResumeTiming();
  }
  std::filesystem::remove_all(folder);
}

}  // namespace

int main(int argc, char** argv) {
  const benches::Options options = benches::parse(
      argc, argv, "Measures how much of the device's performance the Vulkan plugin reaches");
  setenv("__GL_SHADER_DISK_CACHE", "0", 1);  // Disables NVIDIA's own shader cache.
  const tenon_device_info info = choose_device();
  BareVulkan bare(info.uuid, uint64_t{kCopiedWords} * 4);
  const std::vector<ByHand> by_hand = shaders_by_hand(bare);

  for (const ByHand& shader : by_hand) {
    benchmark::RegisterBenchmark(shader.name.c_str(), [&](benchmark::State& state) {
      for (auto _ : state) bare.run(shader.dispatch);
    })->UseRealTime();
  }
  // Measures wall-clock time, because the host thread is idle while the device works.
  const auto add_case = [](const char* name, auto measure_case, auto... arguments) {
    return benchmark::RegisterBenchmark(name,
                                        [=](auto& state) { measure_case(state, arguments...); })
        ->UseRealTime();
  };
  add_case("add_16M/tenon", measure_add);
  add_case("chain_16M/tenon", measure_ten_ops, true);
  add_case("chain_16M/tenon_eager", measure_ten_ops, false);
  add_case("replay/tenon", measure_gathers, true, Timed::kAll);
  add_case("replay/tenon_eager", measure_gathers, false, Timed::kAll);
  // The number of iterations is fixed, because these cases spend most of their time outside the
  // measurement.
  constexpr int kCalls = 20, kUses = 3;
  for (const bool is_traced : {true, false}) {
    add_case(is_traced ? "replay_host/tenon" : "replay_host/tenon_eager", measure_gathers,
             is_traced, Timed::kHost)
        ->Iterations(kCalls);
  }
  add_case("matmul_1024/tenon", measure_matmul);
  add_case("sum_of_host/tenon", measure_sum_of_host, true);
  add_case("sum_of_host/tenon_copied", measure_sum_of_host, false);
  const auto add_use = [&](const char* name, bool has_cache, void (*use)(FirstUse&)) {
    add_case(name, measure_first_use, has_cache, use)->Iterations(kUses);
  };
  add_use("first_use/tenon", true, [](FirstUse& first) { first.run(); });
  add_use("first_use/tenon_empty_cache", false, [](FirstUse& first) { first.run(); });
  add_use("first_uses/tenon", false, [](FirstUse& first) { first.run_many(false); });
  add_use("first_uses/tenon_waited_for_each", false, [](FirstUse& first) { first.run_many(true); });
  add_use("first_layer/tenon", false, [](FirstUse& first) { first.run_layer(true); });
  add_use("first_layer/tenon_eager", false, [](FirstUse& first) { first.run_layer(false); });

  const std::vector<benches::Figure> figures = {
      {"chain_16M", count_launches(Call(ten_ops, true, ten_inputs())), "dispatches"},
      {"chain_16M_eager", count_launches(Call(ten_ops, false, ten_inputs())), "dispatches"},
      {"replay", count_launches(Call(gathers, true, gather_inputs())), "launches"}};
  const auto said = [](const char* what, tenon_string value) {
    return std::string(what) + ' ' + std::string(value.data, value.size);
  };
  return benches::run(options,
                      {said("tenon", tenon_version()), said("device", info.description),
                       said("driver", info.driver)},
                      figures);
}
