// Computes y = A x + b ten times, each time with a new variable. A variable is an object: it is
// freed with its last handle, and the device's memory usage returns to what it was.

#include <iostream>
#include <tenon/tenon.hpp>

using namespace tenon;

// Returns A x + b, where b is a new variable.
static Tensor affine() {
  const Tensor a = matrix<float>({{10, 10}, {11, 1}});
  const Tensor x = matrix<float>({{1, 0}, {0, 1}});
  const Variable b(scalar(12.f));
  return matmul(a, x) + b;
}

int main() {
  const Device device = current_device();
  const tenon_memory_info before = device.memory();
  for (int call = 0; call < 10; ++call) std::cout << affine() << '\n';
  const tenon_memory_info after = device.memory();
  std::cout << "bytes left in memory: " << after.live_bytes - before.live_bytes << '\n';
  std::cout << "buffers left in memory: " << after.live_buffers - before.live_buffers << '\n';
}
