#include "benches/bindings/calls.h"

#include <chrono>
#include <tenon/tenon.hpp>
#include <vector>

namespace {

using namespace tenon;

// Returns the scope of all benches in this file. Its context has one thread.
const Scope& scope() {
  static const Scope made(Context({.threads = 1}));
  return made;
}

// Runs `work` and returns the elapsed nanoseconds.
template <class Work>
int64_t nanoseconds(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
}

// Returns a float32 matrix with values from -0.03 to 0.03.
Tensor create_matrix(int64_t rows, int64_t columns) {
  std::vector<float> data(static_cast<size_t>(rows * columns));
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i % 7) * 0.01f - 0.03f;
  return Tensor(std::span<const float>(data), Shape{rows, columns});
}

// Runs one step of stochastic gradient descent with the learning rate `rate`.
void train(const std::vector<Variable>& weights, const Tensor& x, const Tensor& labels,
           const Tensor& rate) {
  const Tape tape;
  const Tensor logits = matmul(relu(matmul(x, weights[0])), weights[1]);
  const Tensor loss = sparse_softmax_cross_entropy(logits, labels).loss;
  const std::vector<Tensor> gradients =
      tape.gradients(loss, std::vector<Value>(weights.begin(), weights.end()));
  for (size_t i = 0; i < weights.size(); ++i) {
    weights[i].assign(sgd(weights[i], gradients[i], rate));
  }
}

}  // namespace

// Returns the nanoseconds that `repetitions` eager adds take.
int64_t bench_cpp_eager_add(int64_t repetitions) {
  const ScopeGuard in(scope());
  const Tensor a = vector<float>({1}), b = vector<float>({2});
  return nanoseconds([&] {
    for (int64_t i = 0; i < repetitions; ++i) static_cast<void>(a + b);
  });
}

// Returns the nanoseconds that `repetitions` adds take while a tape records them.
int64_t bench_cpp_recorded_add(int64_t repetitions) {
  const ScopeGuard in(scope());
  const Tensor a = vector<float>({1}), b = vector<float>({2});
  const Tape tape;
  return nanoseconds([&] {
    for (int64_t i = 0; i < repetitions; i += kBenchBatch) {
      tape.watch(a);
      for (int k = 0; k < kBenchBatch; ++k) static_cast<void>(a + b);
      tape.reset();
    }
  });
}

// Returns the nanoseconds that `repetitions` calls of a traced function take.
int64_t bench_cpp_function_call(int64_t repetitions) {
  const ScopeGuard in(scope());
  const Tensor a = vector<float>({1}), b = vector<float>({2});
  static const auto add = function([](const Tensor& x, const Tensor& y) { return x + y; });
  return nanoseconds([&] {
    for (int64_t i = 0; i < repetitions; ++i) static_cast<void>(add(a, b));
  });
}

// Returns the nanoseconds that `repetitions` training steps take.
int64_t bench_cpp_training_step(int64_t repetitions) {
  const ScopeGuard in(scope());
  static const std::vector<Variable> weights = {
      Variable(create_matrix(kBenchFeatures, kBenchHidden)),
      Variable(create_matrix(kBenchHidden, kBenchClasses))};
  static const Tensor x = create_matrix(kBenchRows, kBenchFeatures),
                      rate = tensor<float>({0.01f}, {});
  static const Tensor labels = [] {
    std::vector<int32_t> classes(kBenchRows);
    for (int32_t i = 0; i < kBenchRows; ++i) classes[static_cast<size_t>(i)] = i % kBenchClasses;
    return Tensor(std::span<const int32_t>(classes), Shape{kBenchRows});
  }();
  return nanoseconds([&] {
    for (int64_t i = 0; i < repetitions; ++i) train(weights, x, labels, rate);
  });
}
