// Measures the cost of calling traced functions: a chain of calls that cannot be fused, fused
// chains on small and large tensors (also in place), a layer norm written with elementary ops, a
// loop of a thousand adds whose trip count is an input, an LSTM cell, and a convolution. Compares
// with the same code in eager mode and with PyTorch's C++ API, and also measures tracing. Runs on
// one thread. The first three calls are not measured.

#include <tenon/tenon.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "benches/compare.h"
#include "benches/peer.h"
#include "benches/session.h"

namespace {

using benches::check;
using benches::scope;
using benches::tensor;

constexpr int kPairs = 50;
constexpr int64_t kTrips = 1000;
constexpr int kWarmUpCalls = 3;  // Number of calls before the measurement.

using Code = void (*)(tenon_scope* inner, tenon_tensor* const* inputs, tenon_tensor** out);

// The body of each traced function: calls the C++ function of type Code that is in `payload`.
tenon_error* run_code(void* payload, tenon_scope* inner, tenon_tensor* const* inputs, size_t,
                      const tenon_static*, size_t, tenon_tensor** out_outputs, size_t) {
  reinterpret_cast<Code>(payload)(inner, inputs, out_outputs);
  return nullptr;
}

enum class How { kTraced, kEager, kTracing, kInPlace };

// Returns a function that traces `code`.
tenon_function* function_of(Code code) {
  const tenon_function_body body = {run_code, reinterpret_cast<void*>(code), nullptr};
  tenon_function* function = nullptr;
  check(tenon_function_create(tenon_scope_context(scope()), tenon_str("code"), body, nullptr,
                              &function));
  return function;
}

// Measures how long tracing the function takes.
void measure_tracing(benchmark::State& state, Code code, const std::vector<tenon_tensor*>& inputs) {
  for (auto _ : state) {
    tenon_function* function = function_of(code);
    tenon_trace* trace = nullptr;
    check(tenon_function_find_trace(scope(), function, inputs.data(), inputs.size(), nullptr, 0,
                                    &trace));
    tenon_trace_release(trace);
    tenon_function_release(function);
  }
}

// Measures calls of the code, eagerly or as a function. `want` is the expected element 0 of the
// output. With kInPlace, each output is donated as the input of the next call.
void measure(benchmark::State& state, How how, Code code, std::vector<tenon_tensor*> inputs,
             float want) {
  tenon_function* function = function_of(code);
  const auto call = [&] {
    tenon_tensor* y = nullptr;
    if (how == How::kEager) {
      code(scope(), inputs.data(), &y);
    } else {
      check(tenon_function_call(scope(), function, inputs.data(), inputs.size(), nullptr, 0, &y, 1,
                                nullptr));
    }
    return y;
  };
  const auto call_in_place = [&] {
    check(tenon_tensor_donate(inputs[0]));
    tenon_tensor* y = call();
    tenon_tensor_release(inputs[0]);
    inputs[0] = y;
  };
  for (int i = 0; i < kWarmUpCalls; ++i) {
    how == How::kInPlace ? call_in_place() : tenon_tensor_release(call());
  }
  if (how == How::kTracing) {
    measure_tracing(state, code, inputs);
  } else if (how == How::kInPlace) {
    for (auto _ : state) call_in_place();
  } else {
    for (auto _ : state) tenon_tensor_release(call());
  }
  tenon_tensor* y = call();
  std::vector<float> got(static_cast<size_t>(tenon_tensor_count(y)));
  check(tenon_tensor_read(scope(), y, got.data(), got.size() * 4));
  if (std::abs(got[0] - want) > 1e-4f * std::abs(want)) state.SkipWithError("wrong result");
  tenon_tensor_release(y);
  for (tenon_tensor* x : inputs) tenon_tensor_release(x);
  tenon_function_release(function);
}

// ---- a chain that cannot be fused: 4x4 matmuls alternating with gathers of rows

// Repeats kPairs times: x = the rows inputs[2] (gathered by index) of the product x * inputs[1].
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

// Measures a chain of ops that cannot be fused.
void chain_unfusable(benchmark::State& state, How how) {
  // The product with w permutes the columns of x, which are all equal. Thus x does not change.
  const std::vector<float> x(16, 1), w = {0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0};
  const std::vector<int32_t> rows = {3, 2, 1, 0};
  measure(state, how, chain,
          {tensor(TENON_FLOAT32, {4, 4}, x), tensor(TENON_FLOAT32, {4, 4}, w),
           tensor(TENON_INT32, {4}, rows)},
          1);
}

// ---- a chain of fifty operations x * b + c on 64 elements

// Repeats kPairs times: x = x * inputs[1] + inputs[2].
void scale_and_shift(tenon_scope* inner, tenon_tensor* const* inputs, tenon_tensor** out) {
  tenon_tensor* x = inputs[0];
  tenon_tensor_retain(x);
  for (int i = 0; i < kPairs; ++i) {
    tenon_tensor *product = nullptr, *sum = nullptr;
    check(tenon_mul(inner, x, inputs[1], &product));
    check(tenon_add(inner, product, inputs[2], &sum));
    tenon_tensor_release(product);
    tenon_tensor_release(x);
    x = sum;
  }
  *out = x;
}

// Measures a chain of elementwise ops that a function fuses.
void chain_fused(benchmark::State& state, How how) {
  const auto all = [](float value) {
    return tensor(TENON_FLOAT32, {64}, std::vector<float>(64, value));
  };
  measure(state, how, scale_and_shift, {all(1), all(0.5f), all(1)}, 2);
}

// ---- tanh(a b + c) d on 16 M elements

// Computes tanh(a b + c) d.
void tanh_of_sum(tenon_scope* inner, tenon_tensor* const* inputs, tenon_tensor** out) {
  tenon_tensor *product = nullptr, *sum = nullptr, *y = nullptr;
  check(tenon_mul(inner, inputs[0], inputs[1], &product));
  check(tenon_add(inner, product, inputs[2], &sum));
  check(tenon_tanh(inner, sum, &y));
  check(tenon_mul(inner, y, inputs[3], out));
  for (tenon_tensor* each : {product, sum, y}) tenon_tensor_release(each);
}

// Measures a fused expression on large tensors.
void large_fused(benchmark::State& state, How how) {
  constexpr int64_t kElements = 16 << 20;
  const auto all = [](double value) {
    return tensor(TENON_FLOAT32, {kElements},
                  std::vector<float>(static_cast<size_t>(kElements), static_cast<float>(value)));
  };
  // The output equals the input, so that it can replace the input in the next call.
  measure(state, how, tanh_of_sum, {all(0.5), all(0.5), all(0.25), all(0.5 / std::tanh(0.5))},
          0.5f);
  // Counts the bytes of a single fused pass, which accesses each array once.
  state.SetBytesProcessed(state.iterations() * kElements * 5 * 4);
}

// ---- layer norm: (x - mean) / sqrt(var + epsilon) along the rows of a [4096, 256] matrix

// Computes a layer norm with elementary ops.
void norm_by_hand(tenon_scope* inner, tenon_tensor* const* inputs, tenon_tensor** out) {
  const int64_t columns = 1;
  tenon_mean_attrs along = TENON_MEAN_ATTRS_DEFAULT;
  along.axes = &columns;
  along.n_axes = 1;
  along.keepdims = true;
  tenon_tensor* const epsilon = tenon_scalar_f64(1e-5);
  tenon_tensor *mean = nullptr, *centered = nullptr, *squares = nullptr, *variance = nullptr,
               *moved = nullptr, *inv_std = nullptr;
  check(tenon_mean(inner, inputs[0], &along, &mean));
  check(tenon_sub(inner, inputs[0], mean, &centered));
  check(tenon_square(inner, centered, &squares));
  check(tenon_mean(inner, squares, &along, &variance));
  check(tenon_add(inner, variance, epsilon, &moved));
  check(tenon_rsqrt(inner, moved, &inv_std));
  check(tenon_mul(inner, centered, inv_std, out));
  for (tenon_tensor* each : {epsilon, mean, centered, squares, variance, moved, inv_std}) {
    tenon_tensor_release(each);
  }
}

// Measures a fused layer norm.
void rows_fused(benchmark::State& state, How how) {
  constexpr int64_t kRows = 4096, kColumns = 256;
  std::vector<float> x(static_cast<size_t>(kRows * kColumns), -2);
  for (size_t i = 0; i < x.size(); i += 2) x[i] = 2;
  measure(state, how, norm_by_hand, {tensor(TENON_FLOAT32, {kRows, kColumns}, x)}, 1);
}

// ---- a convolution with 100 input and output channels

// Convolves inputs[0] with the filter inputs[1].
void conv(tenon_scope* inner, tenon_tensor* const* inputs, tenon_tensor** out) {
  check(tenon_conv(inner, inputs[0], inputs[1], nullptr, nullptr, out));
}

// Measures the convolution.
void convolution(benchmark::State& state, How how) {
  const auto all = [](const std::vector<int64_t>& shape, float value) {
    size_t n = 1;
    for (const int64_t size : shape) n *= static_cast<size_t>(size);
    return tensor(TENON_FLOAT32, shape, std::vector<float>(n, value));
  };
  measure(state, how, conv, {all({1, 100, 200, 200}, 0.5f), all({100, 100, 3, 3}, 0.01f)}, 4.5f);
}

// ---- a loop of a thousand adds

struct Adds {
  tenon_tensor* step;
  tenon_tensor* n;
};

// The condition of the loop: the iteration number inputs[0] is less than n.
tenon_error* loop_condition(void* payload, tenon_scope* inner, tenon_tensor* const* inputs, size_t,
                            tenon_tensor** out_outputs, size_t) {
  return tenon_less(inner, inputs[0], static_cast<Adds*>(payload)->n, &out_outputs[0]);
}

// The body of the loop: increments the iteration number and adds `step` to the sum.
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

// Adds inputs[1] to inputs[0] in a loop of inputs[2] iterations.
void adds(tenon_scope* inner, tenon_tensor* const* inputs, tenon_tensor** out) {
  Adds used = {inputs[1], inputs[2]};
  tenon_tensor* zero = tenon_scalar_i64(0);
  tenon_tensor *initial[2] = {zero, inputs[0]}, *values[2] = {nullptr, nullptr};
  check(tenon_while_loop(inner, {loop_condition, &used}, {add_once, &used}, initial, 2, nullptr,
                         values));
  tenon_tensor_release(zero);
  tenon_tensor_release(values[0]);
  *out = values[1];
}

// Measures a loop of kTrips adds.
void loop_1000(benchmark::State& state, How how) {
  measure(state, how, adds,
          {tensor<float>(TENON_FLOAT32, {1}, {0}), tensor<float>(TENON_FLOAT32, {1}, {0.5f}),
           tensor<int64_t>(TENON_INT64, {}, {kTrips})},
          0.5f * kTrips);
}

// ---- an LSTM cell with batch size 1 and 32 features, written with elementary ops

constexpr int64_t kFeatures = 32;

// Creates a matrix whose elements are all 1/16.
tenon_tensor* sixteenths(int64_t rows, int64_t columns) {
  return tensor(TENON_FLOAT32, {rows, columns},
                std::vector<float>(static_cast<size_t>(rows * columns), 0.0625f));
}

// Computes c' = sigmoid(f) c + sigmoid(i) tanh(g) and h' = sigmoid(o) tanh(c').
void lstm_cell(tenon_scope* inner, tenon_tensor* const* inputs, tenon_tensor** out) {
  tenon_tensor *const x = inputs[0], *const h = inputs[1], *const c = inputs[2];
  std::vector<tenon_tensor*> made;
  const auto next = [&]() -> tenon_tensor** { return &made.emplace_back(nullptr); };
  made.reserve(32);
  check(tenon_matmul(inner, x, inputs[3], nullptr, next()));
  check(tenon_matmul(inner, h, inputs[4], nullptr, next()));
  check(tenon_add(inner, made[0], made[1], next()));
  check(tenon_add(inner, made[2], inputs[5], next()));
  tenon_split_attrs in_four = TENON_SPLIT_ATTRS_DEFAULT;
  in_four.axis = 1;
  in_four.num_outputs = 4;
  tenon_tensor* gates[4] = {};
  check(tenon_split(inner, made[3], &in_four, gates, 4));
  made.insert(made.end(), gates, gates + 4);
  for (int k = 0; k < 3; ++k) check(tenon_sigmoid(inner, gates[k], next()));
  check(tenon_tanh(inner, gates[3], next()));
  tenon_tensor* const* gate = made.data() + 8;  // The activated gates i, f, o and g.
  check(tenon_mul(inner, gate[1], c, next()));
  check(tenon_mul(inner, gate[0], gate[3], next()));
  check(tenon_add(inner, made[12], made[13], next()));
  check(tenon_tanh(inner, made[14], next()));
  check(tenon_mul(inner, gate[2], made[15], out));
  for (tenon_tensor* each : made) tenon_tensor_release(each);
}

// Measures the LSTM cell.
void lstm(benchmark::State& state, How how) {
  const double gate = 1 / (1 + std::exp(-(2 * kFeatures / 256.0 + 1 / 16.0)));
  const double g = std::tanh(2 * kFeatures / 256.0 + 1 / 16.0);
  measure(state, how, lstm_cell,
          {sixteenths(1, kFeatures), sixteenths(1, kFeatures), sixteenths(1, kFeatures),
           sixteenths(kFeatures, 4 * kFeatures), sixteenths(kFeatures, 4 * kFeatures),
           sixteenths(1, 4 * kFeatures)},
          static_cast<float>(gate * std::tanh(gate / 16 + gate * g)));
}

}  // namespace

int main(int argc, char** argv) {
  const benches::Options options = benches::parse(
      argc, argv,
      "Measures calls of traced functions, compared with eager code and PyTorch's C++ API");
  const struct {
    const char* name;
    void (*measure)(benchmark::State& state, How how);
  } cases[] = {{"chain_unfusable", chain_unfusable},
               {"chain_fused", chain_fused},
               {"large_fused", large_fused},
               {"rows_fused", rows_fused},
               {"loop_1000", loop_1000},
               {"lstm_cell", lstm},
               {"convolution", convolution}};
  for (const auto& each : cases) {
    const auto add = [&](const std::string& name, How how) {
      benchmark::RegisterBenchmark(name.c_str(), [=](auto& state) { each.measure(state, how); });
    };
    const std::string name = each.name;
    add("traced_" + name + "/tenon", How::kTraced);
    add("traced_" + name + "/tenon_eager", How::kEager);
    add("tracing_" + name + "/tenon", How::kTracing);
  }
  benchmark::RegisterBenchmark("traced_large_in_place/tenon",
                               [](auto& state) { large_fused(state, How::kInPlace); });
  return benches::run(options, benches::register_peer(), {});
}
