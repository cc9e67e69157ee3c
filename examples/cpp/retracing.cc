// Shows when a function is traced: once for each dtype and each value of a static argument, but not
// for each value of a tensor or scalar. If functions run eagerly, the code runs in every call.

#include "examples/cpp/eager_and_traced.hpp"

using namespace tenon;

int main() {
  return run_eager_and_traced([] {
    const auto f = function([](const Tensor& x, const Statics& statics) {
      std::cout << "  the code runs for " << x << "\n";
      const auto factor = statics.find("factor");
      return x * (factor == statics.end() ? 1 : factor->second.as_int());
    });
    const auto call = [&](const Tensor& x, const Statics& statics = {}) {
      const Tensor y = f(x, statics);
      std::cout << "gives " << y << "\n";
    };
    std::cout << "float32\n";
    for (const float x : {1.f, 1.5f}) call(scalar(x));
    std::cout << "uint8\n";
    for (const uint8_t x : {2, 3}) call(scalar(x));
    std::cout << "numbers as inputs\n";
    for (const int x : {4, 5}) call(x);
    std::cout << "numbers as static arguments\n";
    call(6, {{"factor", 10}});
    call(7, {{"factor", 20}});
    call(8, {{"factor", 10}});
    std::cout << "traces: " << f.traces().size() << "\n";
  });
}
