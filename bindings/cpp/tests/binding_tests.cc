// The tests of the binding run on the CPU plugin, or on the reference plugin if a build has no
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

// The last owner of an exception deletes it. The reference count is inside libstdc++, which
// ThreadSanitizer does not instrument, so it reports a race with earlier readers.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions() {
  return "race:std::__exception_ptr::exception_ptr::_M_release\n";
}
