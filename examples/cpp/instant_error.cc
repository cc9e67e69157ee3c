// An index out of range throws in the call itself, and the message names the index.

#include <iostream>
#include <tenon/tenon.hpp>

int main() {
  tenon::Tensor y;
  try {
    y = tenon::gather(tenon::vector({0, 1, 2}), tenon::scalar(7));
  } catch (const tenon::Error& error) {
    std::cout << error.code_name() << ": " << error.message() << '\n';
  }
  std::cout << "output: " << (y.is_none() ? "none" : "a tensor") << '\n';
}
