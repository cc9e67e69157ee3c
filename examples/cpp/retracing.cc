// When a function is traced: for each dtype, and for each value of a static argument, but not for
// the values of tensors and scalars. Called eagerly its code runs every time.

#include "examples/cpp/both_ways.hpp"

using namespace tenon;

int main() {
  return run_both_ways([] {
    const Function f([](std::span<const Tensor> in, const Statics& statics) {
      std::cout << "  the code runs for " << in[0] << "\n";
      const auto factor = statics.find("factor");
      const int64_t by = factor == statics.end() ? 1 : factor->second.as_int();
      return std::vector<Tensor>{in[0] * by};
    });
    const auto call = [&](const Tensor& x, const Statics& statics = {}) {
      const Tensor y = f({&x, 1}, statics)[0];
      std::cout << "gives " << y << "\n";
    };
    std::cout << "float32\n";
    for (const float x : {1.f, 1.5f}) call(tensor<float>({x}, {}));
    std::cout << "uint8\n";
    for (const uint8_t x : {2, 3}) call(tensor<uint8_t>({x}, {}));
    std::cout << "numbers as inputs\n";
    for (const int x : {4, 5}) call(x);
    std::cout << "numbers as static arguments\n";
    call(6, {{"factor", 10}});
    call(7, {{"factor", 20}});
    call(8, {{"factor", 10}});
    std::cout << "traces: " << f.traces().size() << "\n";
  });
}
