// Main program of the binding's tests. They run on the CPU plugin, or on the reference plugin in a
// build without it.

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

// Suppresses a false report of a race: the last owner of an exception deletes it, but
// ThreadSanitizer does not see the reference count, because libstdc++ is not instrumented.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions() {
  return "race:std::__exception_ptr::exception_ptr::_M_release\n";
}
