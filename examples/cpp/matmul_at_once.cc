// A matrix product is computed when it is called, and can be printed immediately: no graph, no
// session.

#include <iostream>
#include <tenon/tenon.hpp>

int main() {
  const tenon::Tensor x = tenon::matrix<float>({{2}});
  std::cout << tenon::matmul(x, x) << '\n';
}
