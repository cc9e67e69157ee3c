// An identity with a clipped gradient: a cotangent whose norm exceeds a maximum is scaled down to
// it, which keeps training from diverging.

#include <iostream>
#include <tenon/tenon.hpp>

using namespace tenon;

int main() {
  const Tensor most = 5;
  const auto clip =
      custom_gradient([](const Tensor& x) { return identity(x); },
                      [most](const Backward& call) {
                        const Tensor& cotangent = call.cotangents[0];
                        return std::vector{cotangent * (most / maximum(l2_norm(cotangent), most))};
                      });
  // Without clipping, the gradient would equal the weights.
  const auto gradient = [&](const Tensor& weights) {
    return gradients_function([&](const Tensor& x) { return weights * clip(x); })(
        vector<float>({1, 2}))[0];
  };

  std::cout << "of norm 50, clipped to 5: " << gradient(vector<float>({30, 40})) << '\n';
  std::cout << "of a norm below 5: " << gradient(vector({0.25f, 0.5f})) << '\n';
}
