// Fits y = W x + b to four points by gradient descent: a thousand steps with rate 0.01.

#include <iostream>
#include <tenon/tenon.hpp>

using namespace tenon;

int main() {
  const Tensor x = vector<float>({1, 2, 3, 4});
  const Tensor y = vector<float>({0, -1, -2, -3});
  const Variable w(vector({0.3f}));
  const Variable b(vector({-0.3f}));
  const auto loss = [&] { return sum(square(w * x + b - y)); };

  for (int i = 0; i < 1000; ++i) {
    const Tape tape;
    const std::vector<Tensor> gradients = tape.gradients(loss(), {w, b});
    w.assign(sgd(w, gradients[0], 0.01));
    b.assign(sgd(b, gradients[1], 0.01));
  }

  std::cout << "W: " << w.read() << "\nb: " << b.read() << '\n';
  std::cout << "loss under 1e-9: " << (loss().item<double>() < 1e-9 ? "yes" : "no") << '\n';
}
