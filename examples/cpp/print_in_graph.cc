// Printing while tracing, and printing in the graph. Ordinary print calls in a function run only
// while it is traced, and can show a tensor's name but not its values. tenon::print() becomes part
// of the trace and prints values in each call.

#include <iostream>
#include <tenon/tenon.hpp>

using tenon::Tensor;

int main() {
  const tenon::Variable b(12.f);
  const auto affine = tenon::function([&](const Tensor& x) {
    const Tensor a = tenon::matrix<float>({{10, 10}, {11, 1}});
    const Tensor y = matmul(a, x) + b;
    std::cout << "at tracing: " << y << '\n';
    tenon::print("in the graph:\n{}", y);
    return y;
  });
  for (int call = 1; call <= 2; ++call) {
    std::cout << "call " << call << '\n';
    affine(tenon::matrix<float>({{1, 0}, {0, 1}}));
  }
}
