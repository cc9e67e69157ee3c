// Computes the absolute value with a branch on a value. cond() makes the branch part of the trace,
// which then serves both calls. A C++ `if` would select one side for all calls.

#include "examples/cpp/eager_and_traced.hpp"

using namespace tenon;

int main() {
  return run_eager_and_traced([] {
    int runs = 0;
    const auto absolute = function([&](const Tensor& x) {
      ++runs;
      return cond(
          greater_equal(x, 0.f), [&] { return x; }, [&] { return -x; });
    });
    std::cout << "abs(3): " << absolute(3.f) << "\n";
    std::cout << "abs(-4): " << absolute(-4.f) << "\n";
    std::cout << "the code ran " << runs << " times\n";
  });
}
