// A scope on a device creates tensors there: random tensors, and everything computed from them.
// Mixing tensors of two devices is an error; copy one of them first.

#include <iostream>
#include <tenon/tenon.hpp>

using namespace tenon;

static Tensor random_matrix() { return Generator(1).uniform({10, 10}); }

int main() {
  Tensor x, y;
  {
    const DeviceGuard on("ref");
    x = random_matrix();
    y = matmul(x, x);
  }
  std::cout << "x is on " << x.device() << "\ny is on " << y.device() << '\n';

  const Tensor z = random_matrix();
  std::cout << "z is on " << z.device() << '\n';
  try {
    y + z;
  } catch (const Error& error) {
    std::cout << error.message() << '\n';
  }
  std::cout << "y + z is on " << (y.to("cpu:0") + z).device() << '\n';
}
