// Computes a x + b ten times. The constants a and x are made in the code, and the variable b in its
// first call. When the code is traced, everything that depends only on constants is computed once.

#include <optional>

#include "examples/cpp/eager_and_traced.hpp"

using namespace tenon;

int main() {
  return run_eager_and_traced([] {
    int runs = 0;
    std::optional<Variable> b;
    const auto f = function([&] {
      ++runs;
      if (!b) b.emplace(12.f);
      const Tensor a = matrix<float>({{10, 10}, {11, 1}}), x = matrix<float>({{1, 0}, {0, 1}});
      return matmul(a, x) + *b;
    });
    Tensor y;
    for (int i = 0; i < 10; ++i) y = f();
    std::cout << y << "\nthe code ran " << runs << " times\n";
  });
}
