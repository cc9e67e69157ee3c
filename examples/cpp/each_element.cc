// A loop over the elements of a random matrix. Reading an element does not add to any graph.

#include <iostream>
#include <tenon/tenon.hpp>

int main() {
  const tenon::Generator generator(7);
  const tenon::Tensor x = generator.uniform({2, 2});
  for (int64_t i = 0; i < x.size(0); ++i) {
    for (int64_t j = 0; j < x.size(1); ++j) std::cout << x[i][j] << '\n';
  }
}
