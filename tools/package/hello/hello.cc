#include <iostream>
#include <tenon/tenon.hpp>

int main() {
  using namespace tenon;
  std::cout << vector<float>({1, 2}) + vector<float>({10, 20}) << '\n';
}
