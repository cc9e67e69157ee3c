// Tests that the plugin opens and that its kernels compute correct results.

#include <gtest/gtest.h>

#include "plugins/sdk/testing.h"

namespace {

using namespace tenon_sdk::testing;

const Plugin& plugin() {
  static const Plugin plugin(TENON_PLUGIN_FILE);
  return plugin;
}

TEST(NullPlugin, ReportsItsName) {
  EXPECT_EQ(tenon_sdk::text(plugin().description().name), "null");
}

TEST(NullPlugin, CopiesFromAnyStrides) {
  const Tensor x = i8({1, 2, 3, 4, 5, 6});
  const Launched y = plugin().run(TENON_OP_copy, nullptr, {x.as({3, 2}, {1, 3})}, {i8({3, 2}, {})});
  EXPECT_EQ(y[0].numbers(), (Numbers{1, 4, 2, 5, 3, 6}));
  EXPECT_FALSE(y.overran);
}

TEST(NullPlugin, FillAcceptsAValueInMemoryOrPassedByValue) {
  const Tensor two = f64({}, {2});
  EXPECT_EQ(plugin().run(TENON_OP_fill, nullptr, {two}, {f64({2}, {})})[0].numbers(),
            (Numbers{2, 2}));
  EXPECT_EQ(plugin().run(TENON_OP_fill, nullptr, {by_value(two)}, {f64({2}, {})})[0].numbers(),
            (Numbers{2, 2}));
}

TEST(NullPlugin, AddsTensorsAndScalars) {
  const Tensor a = f32({1, 2}), b = f32({3, 4}), out = f32({2}, {});
  EXPECT_EQ(plugin().run(TENON_OP_add, nullptr, {a, b}, {out})[0].numbers(), (Numbers{4, 6}));
  const Tensor repeated = b.as({2}, {0});
  EXPECT_EQ(plugin().run(TENON_OP_add, nullptr, {a, repeated}, {out})[0].numbers(),
            (Numbers{4, 5}));
}

}  // namespace
