// A host callback inside a function: ordinary C++ within traced code, whose control flow depends on
// values. Gradients pass through it.

#include <iostream>
#include <tenon/tenon.hpp>

using tenon::Tensor;

// Halves x until it is below one.
static Tensor halve(const Tensor& x) {
  int times = 0;
  Tensor y = x;
  for (; y.item<float>() >= 1; ++times) y = y * 0.5f;
  std::cout << "halved " << times << " times\n";
  return y;
}

int main() {
  const auto f = tenon::function([](const Tensor& x) {
    std::cout << "tracing\n";
    const Tensor square = x * x;
    return tenon::host_call(square, halve, square) * 3.f;
  });
  for (const float value : {0.5f, 3.f, 10.f}) {
    const Tensor x = tenon::scalar(value);
    const tenon::Tape tape;
    tape.watch(x);
    const Tensor y = f(x);
    std::cout << "value: " << y << "\nslope: " << tape.gradient(y, x) << '\n';
  }
}
