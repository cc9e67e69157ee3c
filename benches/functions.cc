// What a call of a function costs: a chain of calls that cannot be fused, and a loop of a thousand
// adds whose number of trips is an input, traced, beside the same code eager and beside PyTorch's
// C++ API. One thread; inputs are given at run time; the plugin is loaded at run time.

#include <tenon/tenon.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "benches/compare.h"

#if defined(TENON_HAVE_LIBTORCH)
void register_libtorch();
std::string libtorch_version();
#endif

namespace {

constexpr int kPairs = 50;
constexpr int64_t kTrips = 1000;

[[noreturn]] void fail(tenon_error* error) {
  std::fprintf(stderr, "%s\n", tenon_error_message(error).data);
  std::exit(1);
}

void check(tenon_error* error) {
  if (error) fail(error);
}

tenon_scope* scope() {
  static tenon_scope* scope = [] {
    tenon_context* context = nullptr;
    check(tenon_context_create(nullptr, &context));
    return tenon_context_default_scope(context);
  }();
  return scope;
}

tenon_tensor* tensor(tenon_dtype dtype, const std::vector<int64_t>& shape, const void* data,
                     size_t bytes) {
  tenon_tensor* x = nullptr;
  check(tenon_tensor_from_data(scope(), dtype, shape.data(), shape.size(), data, bytes, &x));
  return x;
}

using Code = void (*)(tenon_scope* inner, tenon_tensor* const* inputs, tenon_tensor** out);

tenon_error* run_code(void* payload, tenon_scope* inner, tenon_tensor* const* inputs, size_t,
                      const tenon_static*, size_t, tenon_tensor** out_outputs, size_t) {
  reinterpret_cast<Code>(payload)(inner, inputs, out_outputs);
  return nullptr;
}

// Calls the code as it stands, or as a function; the output is element 0.
void measure(benchmark::State& state, bool traced, Code code,
             const std::vector<tenon_tensor*>& inputs, float want) {
  tenon_function_body body = {run_code, reinterpret_cast<void*>(code), nullptr};
  tenon_function* function = nullptr;
  check(tenon_function_create(tenon_scope_context(scope()), tenon_str("code"), body, nullptr,
                              &function));
  const auto call = [&] {
    tenon_tensor* y = nullptr;
    if (traced) {
      check(tenon_function_call(scope(), function, inputs.data(), inputs.size(), nullptr, 0, &y, 1,
                                nullptr));
    } else {
      code(scope(), inputs.data(), &y);
    }
    return y;
  };
  for (auto _ : state) tenon_tensor_release(call());
  tenon_tensor* y = call();
  std::vector<float> got(static_cast<size_t>(tenon_tensor_count(y)));
  check(tenon_tensor_read(scope(), y, got.data(), got.size() * 4));
  if (std::abs(got[0] - want) > 1e-4f * std::abs(want)) state.SkipWithError("wrong result");
  tenon_tensor_release(y);
  for (tenon_tensor* x : inputs) tenon_tensor_release(x);
  tenon_function_release(function);
}

// ---- a 4x4 matmul and a gather of its rows, in turn

void chain(tenon_scope* inner, tenon_tensor* const* inputs, tenon_tensor** out) {
  tenon_tensor* x = inputs[0];
  tenon_tensor_retain(x);
  for (int i = 0; i < kPairs; ++i) {
    tenon_tensor *product = nullptr, *rows = nullptr;
    check(tenon_matmul(inner, x, inputs[1], nullptr, &product));
    check(tenon_gather(inner, product, inputs[2], nullptr, &rows));
    tenon_tensor_release(product);
    tenon_tensor_release(x);
    x = rows;
  }
  *out = x;
}

void chain_unfusable(benchmark::State& state, bool traced) {
  // Moves columns, and stays what it is.
  const std::vector<float> x(16, 1), w = {0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0};
  const std::vector<int32_t> rows = {3, 2, 1, 0};
  measure(state, traced, chain,
          {tensor(TENON_FLOAT32, {4, 4}, x.data(), 64), tensor(TENON_FLOAT32, {4, 4}, w.data(), 64),
           tensor(TENON_INT32, {4}, rows.data(), 16)},
          1);
}

// ---- a thousand adds

struct Adds {
  tenon_tensor* step;
  tenon_tensor* n;
};

tenon_error* goes_on(void* payload, tenon_scope* inner, tenon_tensor* const* inputs, size_t,
                     tenon_tensor** out_outputs, size_t) {
  return tenon_less(inner, inputs[0], static_cast<Adds*>(payload)->n, &out_outputs[0]);
}

tenon_error* add_once(void* payload, tenon_scope* inner, tenon_tensor* const* inputs, size_t,
                      tenon_tensor** out_outputs, size_t) {
  tenon_tensor* one = tenon_scalar_i64(1);
  tenon_error* error = tenon_add(inner, inputs[0], one, &out_outputs[0]);
  tenon_tensor_release(one);
  if (!error) {
    error = tenon_add(inner, inputs[1], static_cast<Adds*>(payload)->step, &out_outputs[1]);
  }
  return error;
}

void adds(tenon_scope* inner, tenon_tensor* const* inputs, tenon_tensor** out) {
  Adds used = {inputs[1], inputs[2]};
  tenon_tensor* zero = tenon_scalar_i64(0);
  tenon_tensor *initial[2] = {zero, inputs[0]}, *values[2] = {nullptr, nullptr};
  check(tenon_while_loop(inner, {goes_on, &used}, {add_once, &used}, initial, 2, values));
  tenon_tensor_release(zero);
  tenon_tensor_release(values[0]);
  *out = values[1];
}

void loop_1000(benchmark::State& state, bool traced) {
  const float zero = 0, step = 0.5f;
  measure(state, traced, adds,
          {tensor(TENON_FLOAT32, {1}, &zero, 4), tensor(TENON_FLOAT32, {1}, &step, 4),
           tensor(TENON_INT64, {}, &kTrips, 8)},
          0.5f * kTrips);
}

}  // namespace

int main(int argc, char** argv) {
  const benches::Options options = benches::parse(
      argc, argv, "What a call of a function costs, beside eager code and PyTorch's C++ API");
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) setenv("ATEN_CPU_CAPABILITY", "avx512", 1);
#endif
  std::vector<std::string> versions = {"tenon " + std::string(tenon_version().data)};
  for (const bool traced : {true, false}) {
    const std::string who = traced ? "/tenon" : "/tenon_eager";
    benchmark::RegisterBenchmark(("traced_chain_unfusable" + who).c_str(),
                                 [=](auto& s) { chain_unfusable(s, traced); });
    benchmark::RegisterBenchmark(("traced_loop_1000" + who).c_str(),
                                 [=](auto& s) { loop_1000(s, traced); });
  }
#if defined(TENON_HAVE_LIBTORCH)
  register_libtorch();
  versions.push_back("libtorch " + libtorch_version());
#else
  std::fprintf(stderr, "built without libtorch: no ratios (./dev setup --peers installs it)\n");
#endif
  return benches::run(options, versions, {});
}
