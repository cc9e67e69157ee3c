#include "core/dispatch/dispatch.h"

#include <thread>

#include "core/ops/definition/op_ids.h"
#include "core/testing/test.h"

namespace tenon {
namespace {

using testing::CoreTest;
using testing::f32;
using testing::f64;
using testing::i32;
using testing::i64;
using testing::make;

class DispatchTest : public CoreTest {
 protected:
  // Calls the op with a borrowed handle, like the C API. The C++ function neg() would retain the
  // handle.
  Tensor call_neg(const Tensor& x) {
    TensorImpl* input = x.get();
    return std::move(apply(scope(), op_def(OpId::k_neg), {}, {&input, 1})[0]);
  }
  Tensor call_mul(const Tensor& x, const Tensor& y) {
    TensorImpl* const inputs[] = {x.get(), y.get()};
    return std::move(apply(scope(), op_def(OpId::k_mul), {}, inputs)[0]);
  }
};

TEST_F(DispatchTest, AddsWithBroadcasting) {
  EXPECT_TENSOR(f32(Dims{2, 1}, {1, 2}) + f32({10, 20, 30}),
                f32(Dims{2, 3}, {11, 21, 31, 12, 22, 32}));
}

TEST_F(DispatchTest, ErrorsNameTheOpTheRuleAndTheValues) {
  EXPECT_ERROR(f32({1, 2}) + f32({1, 2, 3}), Code::kInvalidArgument, "add: C");
  EXPECT_ERROR(f32({1, 2}) + f32({1, 2, 3}), Code::kInvalidArgument, "[2] and [3]");
}

TEST_F(DispatchTest, PromotesDtypesOfTheSameKind) {
  EXPECT_TENSOR(f32({1}) + f64({2}), f64({3}));
  EXPECT_TENSOR(add(i32({1}), i64({2})), i64({3}));
}

TEST_F(DispatchTest, RejectsDtypesOfDifferentKinds) {
  EXPECT_ERROR(add(f32({1}), i32({1})), Code::kInvalidArgument, "cast");
  EXPECT_ERROR(add(i32({1}), make_scalar(0.5)), Code::kInvalidArgument, "cast");
}

TEST_F(DispatchTest, InlineScalarsAdoptTheDtypeOfTheOtherOperand) {
  EXPECT_TENSOR(f64({1}) * 0.1, f64({0.1}));
  EXPECT_TENSOR(add(i32({1}), make_scalar(int64_t{2})), i32({3}));
  EXPECT_TENSOR(mul(f32({1.5}), make_scalar(int64_t{2})), f32({3}));
}

TEST_F(DispatchTest, OpsOnScalarsReturnOrdinaryTensors) {
  const Tensor y = add(make_scalar(int64_t{2}), make_scalar(int64_t{3}));
  EXPECT_TENSOR(y, make(DType::kI64, Dims{}, {5}));
  EXPECT_FALSE(y->type.weak);
  EXPECT_TENSOR(add(make_scalar(int64_t{2}), make_scalar(0.5)), make(DType::kF32, Dims{}, {2.5}));
}

TEST_F(DispatchTest, ViewsShareMemory) {
  const Tensor x = f32(Dims{2, 3}, {1, 2, 3, 4, 5, 6});
  const uint64_t before = live_bytes();

  const Tensor y = transpose(x);

  EXPECT_EQ(live_bytes(), before);
  EXPECT_TENSOR(y, f32(Dims{3, 2}, {1, 4, 2, 5, 3, 6}));
  EXPECT_TENSOR(reshape(y, Dims{6}), f32({1, 4, 2, 5, 3, 6}));
}

TEST_F(DispatchTest, ElementwiseOpsKeepTheLayoutOfTransposedInputs) {
  const Tensor x = transpose(f32(Dims{2, 3}, {1, 2, 3, 4, 5, 6}));

  const Tensor y = x + x, z = x * f32({10, 100}), w = x + f32(Dims{3, 2}, {1, 2, 3, 4, 5, 6});

  EXPECT_TENSOR(y, f32(Dims{3, 2}, {2, 8, 4, 10, 6, 12}));
  EXPECT_EQ(y->strides[0], 1);
  EXPECT_TENSOR(z, f32(Dims{3, 2}, {10, 400, 20, 500, 30, 600}));
  EXPECT_EQ(z->strides[0], 1);
  EXPECT_TENSOR(w, f32(Dims{3, 2}, {2, 6, 5, 9, 8, 12}));
  EXPECT_TRUE(w->dense);  // The inputs have different layouts.
  const Tensor matrix = f32(Dims{3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor column = slice(matrix, {.starts = {1}, .ends = {2}, .axes = {1}});
  EXPECT_TENSOR(column * f32({1, 10}), f32(Dims{3, 2}, {2, 20, 4, 40, 6, 60}));
}

TEST_F(DispatchTest, OpsAlongAxesKeepTheLayoutOfTransposedInputs) {
  const Tensor x = transpose(f32(Dims{2, 3}, {1, 2, 3, 4, 5, 6}));

  const Tensor sums = cumsum(x, {.axis = 1}), joined = concat(Tensors{x, x}, 0);

  EXPECT_TENSOR(sums, f32(Dims{3, 2}, {1, 5, 2, 7, 3, 9}));
  EXPECT_EQ(sums->strides[0], 1);
  EXPECT_TENSOR(joined, f32(Dims{6, 2}, {1, 4, 2, 5, 3, 6, 1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(joined->strides[0], 1);
}

TEST_F(DispatchTest, ADonatedTensorIsOverwrittenAndConsumed) {
  const Tensor x = f32({1, 2});
  const uint64_t before = live_bytes();
  x->donation = Donation::kDonated;

  const Tensor y = call_neg(x);

  EXPECT_EQ(live_bytes(), before);
  EXPECT_TENSOR(y, f32({-1, -2}));
  EXPECT_ERROR(call_neg(x), Code::kInvalidArgument, "donated");
}

TEST_F(DispatchTest, SharedStorageIsNotReusedByDonation) {
  const Tensor x = f32({1, 2});
  const Tensor view = reshape(x, Dims{2, 1});
  x->donation = Donation::kDonated;

  const Tensor y = call_neg(x);

  EXPECT_TENSOR(y, f32({-1, -2}));
  EXPECT_TENSOR(view, f32(Dims{2, 1}, {1, 2}));
}

TEST_F(DispatchTest, AFailedCallDoesNotConsumeDonatedInputs) {
  const Tensor x = f32({1, 2});
  x->donation = Donation::kDonated;
  EXPECT_ERROR(x + f32({1, 2, 3}), Code::kInvalidArgument, "add");
  EXPECT_TENSOR(call_neg(x), f32({-1, -2}));
}

TEST_F(DispatchTest, ADonatedTensorSavedByATapeIsNotOverwritten) {
  const Ref<Tape> t = tape();
  Tensor x = f32({1, 2});
  t->watch(x);
  const Tensor y = x * 3.0;
  const Tensor z = mul(y, y);  // The tape saves y.
  y->donation = Donation::kDonated;
  const Tensor negative = call_neg(y);

  EXPECT_TENSOR(negative, f32({-3, -6}));
  EXPECT_TENSOR(t->gradient(z, x), f32({18, 36}));
}

TEST_F(DispatchTest, ADonatedTensorSavedByItsOwnCallIsNotOverwritten) {
  const Ref<Tape> t = tape();
  const Tensor x = f32({1, 2});
  t->watch(x);
  const Tensor y = x * 3.0;
  y->donation = Donation::kDonated;
  const Tensor z = call_mul(y, x);

  EXPECT_TENSOR(z, f32({3, 12}));
  EXPECT_TENSOR(t->gradient(z, x), f32({6, 12}));
}

TEST_F(DispatchTest, AnIndexOutOfRangeIsReportedImmediatelyAndOnce) {
  const Tensor x = i32({0, 1, 2});
  EXPECT_ERROR(gather(x, i64({7}), 0), Code::kOutOfRange, "index 7 is outside [0, 3)");
  EXPECT_TENSOR(gather(x, i64({2}), 0), i32({2}));
}

// Sanitizers check every access, which is slow.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kManyOps = 100;
#else
constexpr int kManyOps = 1000;
#endif

TEST_F(DispatchTest, IntermediateValuesAreFreedWithoutATape) {
  Tensor x = fill(number(1), Dims{256, 1024}, DType::kF32);  // 1 MB.
  device().allocator().reset_peak();
  for (int i = 0; i < kManyOps; ++i) x = x + 1.0;

  EXPECT_LE(device().allocator().statistics().peak_bytes, 4u << 20);
}

TEST_F(DispatchTest, OutOfMemoryErrorsListTheLargestAllocations) {
  device().allocator().set_limit(8 << 20);
  const Tensor a = fill(number(1), Dims{1 << 20}, DType::kF32);
  EXPECT_ERROR(fill(number(1), Dims{1 << 20, 2}, DType::kF32), Code::kOutOfMemory,
               "the largest holders: 1 x ");
}

TEST_F(DispatchTest, ShapesThatOverflowAreRejected) {
  const int64_t huge = int64_t{1} << 40;
  EXPECT_ERROR(fill(number(1), Dims{huge, huge}, DType::kF32), Code::kInvalidArgument, "fill");
  EXPECT_ERROR(fill(number(1), Dims{-1}, DType::kF32), Code::kInvalidArgument, "fill");
}

TEST_F(DispatchTest, InputsOfAnotherContextAreRejected) {
  ContextOptions options;
  options.plugin_paths.push_back(testing::plugin_folder());
  const auto other = Ref<Context>::adopt(new Context(std::move(options)));
  const Tensor foreign = from_host(other->default_scope(), other->device("ref"),
                                   TensorType(DType::kF32, Dims{1}), "\0\0\0");
  EXPECT_ERROR(neg(foreign), Code::kInvalidArgument, "another context");
}

TEST_F(DispatchTest, AnUnknownDeviceIsAnErrorThatListsTheDevices) {
  EXPECT_ERROR(context().device("tpu:0"), Code::kNotFound, "ref:0");
  EXPECT_ERROR(context().device("ref:9"), Code::kNotFound, "ref:0");
  EXPECT_ERROR(context().device(""), Code::kNotFound, "ref:0");
}

TEST_F(DispatchTest, ASecondThreadInAScopeIsRejected) {
  // This thread holds the scope, so another thread must be refused.
  std::string message;
  std::thread([&] {
    try {
      const Scope::Enter enter(scope());
    } catch (const Error& error) {
      message = error.what();
    }
  }).join();
  EXPECT_NE(message.find("in use on another thread"), std::string::npos) << message;
}

TEST_F(DispatchTest, CancelStopsTheCallInProgressButNotLaterOnes) {
  scope().cancel();
  EXPECT_ERROR(neg(f32({1})), Code::kCancelled, "cancelled");
}

}  // namespace
}  // namespace tenon
