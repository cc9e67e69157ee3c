// The tests of the binding run on the first device that this build has.

#include <gtest/gtest.h>

#include <tenon/tenon.hpp>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const tenon::Device first = tenon::Context::shared().devices().at(0);
  tenon::Scope::share(tenon::current_scope()).set_device(first.name());
  return RUN_ALL_TESTS();
}
