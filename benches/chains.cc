// Measures inter-op parallelism: a function with two independent chains of launches (vector-matrix
// products followed by tanh) on two threads, compared with the same function on one thread.

#include <tenon/tenon.h>

#include <string>
#include <vector>

#include "benches/compare.h"
#include "benches/session.h"

namespace {

using benches::check;

// A tower is a chain of `products` matmuls of a [1, size] row and a [size, size] matrix.
struct Towers {
  int products;
  int64_t size;
};

// Computes y = tanh(y w) `towers.products` times, beginning with y = x.
tenon_tensor* apply_tower(tenon_scope* inner, const Towers& towers, tenon_tensor* x,
                          tenon_tensor* w) {
  tenon_tensor* y = x;
  tenon_tensor_retain(y);
  for (int i = 0; i < towers.products; ++i) {
    tenon_tensor *product = nullptr, *next = nullptr;
    check(tenon_matmul(inner, y, w, nullptr, &product));
    check(tenon_tanh(inner, product, &next));
    tenon_tensor_release(product);
    tenon_tensor_release(y);
    y = next;
  }
  return y;
}

// The body of the function: applies two independent towers to the same x.
tenon_error* apply_both_towers(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                               size_t, const tenon_static*, size_t, tenon_tensor** out_outputs,
                               size_t) {
  const Towers& towers = *static_cast<const Towers*>(payload);
  for (int i = 0; i < 2; ++i) {
    out_outputs[i] = apply_tower(inner, towers, inputs[0], inputs[1 + i]);
  }
  return nullptr;
}

// Measures calls of the function in a context with `threads` threads.
void measure(benchmark::State& state, Towers towers, uint32_t threads) {
  tenon_context_options options = TENON_CONTEXT_OPTIONS_DEFAULT;
  options.threads = threads;
  tenon_context* context = nullptr;
  check(tenon_context_create(&options, &context));
  tenon_scope* scope = tenon_context_default_scope(context);
  const auto all = [&](int64_t rows, float value) {
    const int64_t shape[] = {rows, towers.size};
    const std::vector<float> values(static_cast<size_t>(rows * towers.size), value);
    tenon_tensor* x = nullptr;
    check(tenon_tensor_from_data(scope, TENON_FLOAT32, shape, 2, values.data(),
                                 values.size() * sizeof(float), &x));
    return x;
  };
  tenon_tensor* const inputs[] = {all(1, 0.5f), all(towers.size, 0.01f), all(towers.size, 0.02f)};
  tenon_function* function = nullptr;
  check(tenon_function_create(context, tenon_str("towers"), {apply_both_towers, &towers, nullptr},
                              nullptr, &function));
  for (auto _ : state) {
    tenon_tensor* outputs[2] = {};
    check(tenon_function_call(scope, function, inputs, 3, nullptr, 0, outputs, 2, nullptr));
    for (tenon_tensor* y : outputs) tenon_tensor_release(y);
  }
  for (tenon_tensor* x : inputs) tenon_tensor_release(x);
  tenon_function_release(function);
  tenon_context_release(context);
}

}  // namespace

int main(int argc, char** argv) {
  const benches::Options options = benches::parse(
      argc, argv, "Measures the speedup of two independent chains of launches on two threads");
  for (const Towers towers : {Towers{4, 64}, Towers{8, 128}, Towers{8, 256}, Towers{16, 256}}) {
    const std::string name =
        "towers_" + std::to_string(towers.size) + "_" + std::to_string(towers.products);
    const auto add = [&](const std::string& who, uint32_t threads) {
      benchmark::RegisterBenchmark((name + who).c_str(),
                                   [=](auto& state) { measure(state, towers, threads); });
    };
    add("/tenon", 2);
    add("/one_thread", 1);
  }
  return benches::run(options, {"tenon " + std::string(tenon_version().data)}, {});
}
