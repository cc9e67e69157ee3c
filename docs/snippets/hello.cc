// README.md: the first program, in C++.

#include <iostream>
#include <tenon/tenon.hpp>

int main() {
  const tenon::Tensor x = tenon::matrix<float>({{1, 2}, {3, 4}});
  const tenon::Tape tape;
  tape.watch(x);
  const tenon::Tensor y = tenon::matmul(x, x);
  std::cout << "x x =\n" << y << "\nd sum(x x) / dx =\n" << tape.gradient(y, x) << '\n';
}
