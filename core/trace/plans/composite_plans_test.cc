// Tests of the cached launch plans of composite ops.

#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/dispatch/profiler.h"
#include "core/ops/definition/op_ids.h"
#include "core/testing/test.h"

namespace tenon {
namespace {

using testing::f32;

constexpr int kCalls = 4;

Tensor mish(const Tensor& x) { return call_op(OpId::k_mish, {}, {&x, 1})[0]; }

class CompositePlans : public testing::CoreTest {
 protected:
  // Returns the number of launches that `code` makes.
  template <class Code>
  uint64_t launches(const Code& code) {
    const Ref<Profiler> profiler = Profiler::start(context(), Profiler::kMaxEvents);
    code();
    profiler->stop();
    uint64_t n = 0;
    for (const Profile::Row& row : profiler->profile().rows) n += row.times.device.count;
    return n;
  }
};

TEST_F(CompositePlans, FuseElementwisePartsIntoOneLaunch) {
  const Tensor x = f32({1, -2, 3});
  const auto call = [&] { return mish(x); };
  EXPECT_GT(launches(call), 2u);
  call();
  call();
  EXPECT_EQ(launches(call), 1u);
}

TEST_F(CompositePlans, FuseTheBackwardPassAndSaveOnlyInputs) {
  const Tensor x = f32({1, -2, 3});
  const auto step = [&] {
    const Ref<Tape> recording = tape();
    recording->watch(x);
    const Tensor y = mish(x);
    return recording->gradient(y, x);
  };
  const uint64_t alone = launches(step);
  for (int n = 0; n < 3; ++n) step();
  EXPECT_GT(alone, 8u);
  // Forward pass, the initial cotangent (ones), and backward pass.
  EXPECT_EQ(launches(step), 3u);
}

TEST_F(CompositePlans, DoNotEvictEachOther) {
  std::vector<Tensor> inputs;
  for (int64_t n = 1; n <= 32; ++n) {
    const std::vector<double> ones(static_cast<size_t>(n), 1);
    inputs.push_back(testing::make(DType::kF32, {n}, ones));
  }
  const auto step = [&] {
    for (const Tensor& x : inputs) mish(x);
  };
  for (int n = 0; n < 3; ++n) step();
  EXPECT_EQ(launches(step), inputs.size());
}

TEST_F(CompositePlans, ReuseMemoryOfDonatedInputs) {
  const auto relu6 = [](const Tensor& x) { return call_op(OpId::k_relu6, {}, {&x, 1})[0]; };
  for (int n = 0; n < kCalls; ++n) {
    const Tensor x = f32({1, -2, 30});
    const Tensor want = relu6(x);
    const Storage* const memory = x->storage.get();
    x->donation = Donation::kDonated;
    const Tensor y = relu6(x);
    EXPECT_TRUE(testing::tensors_equal(y, want, 0, 0));
    EXPECT_EQ(x->donation, Donation::kConsumed);
    // The first two calls run op by op: one without a cache entry, and one that is recorded.
    if (n > 0) {
      EXPECT_EQ(y->storage.get(), memory);
    }
  }
}

TEST_F(CompositePlans, KeepDonatedInputsWithOtherOwnersIntact) {
  const auto relu6 = [](const Tensor& x) { return call_op(OpId::k_relu6, {}, {&x, 1})[0]; };
  for (int n = 0; n < kCalls; ++n) {
    const Tensor x = f32({1, -2, 30}), kept = x;
    x->donation = Donation::kDonated;
    EXPECT_TENSOR(relu6(x), f32({1, 0, 6}));
    kept->donation = Donation::kNone;
    EXPECT_TENSOR(kept, f32({1, -2, 30}));
  }
}

// A tape stores the call as one record. The backward pass then recomputes the decomposition from
// the input, although the input was donated.
TEST_F(CompositePlans, GradientFlowsToADonatedInput) {
  for (int n = 0; n < kCalls; ++n) {
    const Ref<Tape> recording = tape({.persistent = true});
    const Tensor x = f32({1, -2, 3});
    recording->watch(x);
    const Tensor want = recording->gradient(mish(x * 2.0), x);
    const Tensor y = x * 2.0;
    y->donation = Donation::kDonated;
    const Tensor z = mish(y);
    EXPECT_EQ(y->donation, Donation::kConsumed);
    EXPECT_TENSOR(recording->gradient(z, x), want);
  }
}

TEST_F(CompositePlans, ReportTheLineOfTheCurrentCall) {
  const Tensor table = f32({2, 1}, {1, 2});
  const auto look_up = [&](int64_t i) {
    OwnedAttrs attrs(*op_def(OpId::k_embedding).attrs);
    return call_op(OpId::k_embedding, attrs.view(),
                   Tensors{table, testing::i64({static_cast<double>(i)})});
  };
  for (int n = 0; n < kCalls; ++n) {
    scope().set_location("line " + std::to_string(n));
    look_up(1);
    try {
      look_up(7);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kOutOfRange) << error.what();
      EXPECT_EQ(error.info().location, "line " + std::to_string(n));
    }
  }
  scope().set_location({});
}

}  // namespace
}  // namespace tenon
