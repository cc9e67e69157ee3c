// Ordinary C++ decides by the values of tensors how a computation goes on: 6 comes to 1.

#include <iostream>
#include <tenon/tenon.hpp>

using tenon::equal, tenon::not_equal, tenon::Tensor;

int main() {
  Tensor a = tenon::scalar(6);
  while (not_equal(a, 1)) {
    a = equal(a % 2, 0) ? a / 2 : 3 * a + 1;
    std::cout << a << '\n';
  }
}
