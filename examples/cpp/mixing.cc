// Mixes eager code and functions. An eager C++ loop, which ends depending on a value, calls a
// function and its gradient. That function calls another function, which is traced into it.

#include <cstdio>

#include "examples/cpp/eager_and_traced.hpp"

using namespace tenon;

int main() {
  return run_eager_and_traced([] {
    const auto distances = function([](const Tensor& w) {
      return w * vector<float>({1, 2, 3}) - vector<float>({2, 4, 6});
    });
    const auto loss = function([&](const Tensor& w) { return sum(square(distances(w))); });
    const Function slope = loss.gradient();
    Tensor w = scalar(0.f);
    for (double value = 1; value > 0.01;) {
      value = loss(w).item<double>();
      std::printf("loss %.4f\n", value);
      w = sgd(w, slope(w)[0], 1.0 / 64);
    }
    std::fflush(stdout);
    std::cout << "w: " << w << std::endl;
  });
}
