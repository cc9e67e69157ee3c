// A function that returns wrong results for all lengths except the first, to test that lengths.cc
// detects this.

#include <tenon/tenon.hpp>

using namespace tenon;

int main() {
  int64_t n = 0;
  const auto average = function([&](const Tensor& x) {
    if (n == 0) n = x.size(0);
    return sum(x) / static_cast<double>(is_tracing() ? n : x.size(0));
  });
  average(ones({5}));
}
