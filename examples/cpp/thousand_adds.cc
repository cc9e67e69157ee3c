// Computes x + 0 + 1 + ... + 999 by a loop of a thousand iterations with one addition each. When
// traced, the loop is one node of the trace and runs entirely in the core.

#include "examples/cpp/eager_and_traced.hpp"

using namespace tenon;

int main() {
  return run_eager_and_traced([] {
    const auto add_all = function([](const Tensor& start) {
      const auto [i, x] = while_loop([](const Tensor& i, const Tensor&) { return less(i, 1000); },
                                     [](const Tensor& i, const Tensor& x) {
                                       return std::pair(i + 1, x + cast(i, {.to = kFloat32}));
                                     },
                                     0, start);
      return x;
    });
    std::cout << "0.5 + 0 + ... + 999: " << add_all(scalar(0.5f)) << "\n";
    std::cout << "traces: " << add_all.traces().size() << "\n";
  });
}
