// A training step as one function: the loss, its gradients by a tape inside the function, and the
// optimizer's update of the variables. Fits y = w x + b to four points in a thousand calls.

#include <iomanip>

#include "examples/cpp/eager_and_traced.hpp"

using namespace tenon;

int main() {
  return run_eager_and_traced([] {
    const Variable w(0.3f), b(-0.3f);
    const auto step = function([&](const Tensor& x, const Tensor& y) {
      const Tape tape;
      const Tensor loss = sum(square(w * x + b - y));
      const std::vector<Tensor> gradients = tape.gradients(loss, {w, b});
      w.assign(sgd(w, gradients[0], 0.01));
      b.assign(sgd(b, gradients[1], 0.01));
      return loss;  // The loss before the step.
    });
    const Tensor x = vector<float>({1, 2, 3, 4}), y = vector<float>({0, -1, -2, -3});
    std::cout << std::fixed << std::setprecision(5);
    for (int i = 0; i < 1000; ++i) {
      const Tensor loss = step(x, y);
      if (i % 250 == 0) std::cout << "loss: " << loss.item<double>() << "\n";
    }
    std::cout << "w: " << w << "\nb: " << b << "\n";
  });
}
