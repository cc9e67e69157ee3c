// A variable is an object: its memory, also on a device, is freed when the last handle is released.

#include <iostream>
#include <optional>
#include <tenon/tenon.hpp>

using namespace tenon;

static void show_memory_usage(std::string_view name) {
  const DeviceGuard on(name);
  const Device device = current_device();
  const uint64_t before = device.memory().live_bytes;
  const auto live = [&] { return device.memory().live_bytes - before; };

  std::optional<Variable> variable = Variable(zeros({1000, 1000}));
  std::cout << name << " with a variable: " << live() << " bytes\n";
  {
    const Variable another = *variable;
    variable.reset();
    std::cout << name << " with one handle less: " << live() << " bytes\n";
  }
  std::cout << name << " with none: " << live() << " bytes\n";
}

int main() {
  show_memory_usage("cpu:0");
  show_memory_usage("ref:0");
}
