// Minimises a function with a curved valley by steepest descent. Each step searches a length for
// which the value has decreased and the slope has flattened sufficiently (Wolfe's conditions, which
// depend on the values of tensors).

#include <cmath>
#include <cstdio>
#include <tenon/tenon.hpp>

using namespace tenon;

// Rosenbrock's function for a vector (x, y).
static Tensor rosenbrock(const Tensor& at) {
  const Tensor x = at[0];
  const Tensor y = at[1];
  return square(1 - x) + 5 * square(y - square(x));
}

// Searches the length of a step from x along the negative gradient.
static double find_step_length(const Tensor& x, double value, const Tensor& gradient) {
  const double slope = -matmul(gradient, gradient).item<double>();
  double low = 0;
  double high = INFINITY;
  double length = 1;
  for (;;) {
    const Gradients there = gradients(rosenbrock, x - length * gradient);
    const double slope_there = -matmul(there.by_argument[0], gradient).item<double>();
    if (there.value.item<double>() > value + 1e-4 * length * slope) {
      high = length;
    } else if (slope_there < 0.9 * slope) {
      low = length;
    } else {
      return length;
    }
    length = std::isinf(high) ? 2 * low : (low + high) / 2;
  }
}

int main() {
  Tensor x = vector({-1.f, 1.5f});
  for (int step = 0; step < 10; ++step) {
    const Gradients here = gradients(rosenbrock, x);
    const double value = here.value.item<double>();
    const double length = find_step_length(x, value, here.by_argument[0]);
    std::printf("value %.4f, step %g\n", value, length);
    x = x - length * here.by_argument[0];
  }
}
