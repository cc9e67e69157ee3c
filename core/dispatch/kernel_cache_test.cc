// The kernel cache is keyed by attributes, which are user values and unbounded in number. The cache
// stays within its maximum, and evicted kernels are prepared again.

#include "core/device/kernel_table.h"
#include "core/testing/test.h"

namespace tenon {
namespace {

using testing::f32;

class KernelCacheTest : public testing::CoreTest {
 protected:
  // Each pair of paddings requires a kernel of its own.
  Tensor padded(int64_t i) { return pad(f32({1}), {i % 100, i / 100}); }
  KernelTable& kernels() { return device().kernels(); }
};

TEST_F(KernelCacheTest, NeverExceedsItsMaximumSize) {
  constexpr auto kMax = static_cast<int64_t>(KernelTable::kMaxKernels);
  for (int64_t i = 0; i < kMax + 500; ++i) {
    const Tensor y = padded(i);
    ASSERT_TRUE(y->shape()[0] == i % 100 + i / 100 + 1);
  }

  EXPECT_EQ(kernels().size(), KernelTable::kMaxKernels);
}

TEST_F(KernelCacheTest, KeepsAKernelThatIsInUse) {
  constexpr auto kMax = static_cast<int64_t>(KernelTable::kMaxKernels);
  padded(0);
  for (int64_t i = 1; i < kMax + 500; ++i) {
    padded(i);
    // Other kernels evict this one from the scope's small cache, so this call queries the device's
    // table.
    if (i % 512 == 0) padded(0);
  }
  const uint64_t n_prepared = kernels().n_prepared();

  padded(0);
  EXPECT_EQ(kernels().n_prepared(), n_prepared);
  padded(1);
  EXPECT_GT(kernels().n_prepared(), n_prepared);
}

TEST_F(KernelCacheTest, ResultsAreTheSameAfterEviction) {
  constexpr auto kMax = static_cast<int64_t>(KernelTable::kMaxKernels);
  const Tensor first = padded(3);
  for (int64_t i = 4; i < kMax + 500; ++i) padded(i);

  EXPECT_TENSOR(padded(3), first);
}

}  // namespace
}  // namespace tenon
