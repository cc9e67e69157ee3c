// Ordinary C++ control flow that depends on the values of tensors: the Collatz sequence from 6 to
// 1.

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
