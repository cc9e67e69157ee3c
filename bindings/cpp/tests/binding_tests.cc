// The tests of the binding run on the CPU plugin, or on the reference plugin where a build has no
// other.

#include <gtest/gtest.h>

#include <tenon/tenon.hpp>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  bool has_cpu = false;
  for (const tenon::Device& device : tenon::Context::shared().devices()) {
    has_cpu = has_cpu || device.name() == "cpu:0";
  }
  tenon::Scope::share(tenon::current_scope()).set_device(has_cpu ? "cpu" : "ref");
  return RUN_ALL_TESTS();
}
