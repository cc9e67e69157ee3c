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

// Whoever drops an exception last deletes it. libstdc++ counts the owners inside of itself, where
// ThreadSanitizer does not look, and so it takes that for a race with those who read it before.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions() {
  return "race:std::__exception_ptr::exception_ptr::_M_release\n";
}
