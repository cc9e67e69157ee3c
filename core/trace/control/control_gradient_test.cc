// Gradients of the first three orders through branches and loops, under each loop policy.

#include "core/testing/control.h"

namespace tenon {
namespace {

using testing::Code1;
using testing::f64;
using testing::i64_scalar;
using testing::scalar64;
using testing::values_of;
using Doubles = std::vector<double>;

const char* name_of(LoopPolicy policy) {
  return enum_info(policy).values[static_cast<size_t>(policy)];
}

class ControlGradients : public testing::ControlTest,
                         public ::testing::WithParamInterface<LoopPolicy> {
 protected:
  ControlGradients() { loops = {.policy = GetParam(), .max_trips = 10}; }
};

TEST_P(ControlGradients, OfCondMatchFiniteDifferences) {
  check(
      [&](const Tensor& x) {
        return cond(
            scope(), greater(x, number(1)), [&](TensorSpan) { return Tensors{x * x * x}; },
            [&](TensorSpan) { return Tensors{exp(x) * x}; })[0];
      },
      {0.5, 2});
}

TEST_P(ControlGradients, OfLoopsMatchFiniteDifferences) {
  for (const int n : {0, 1, 4}) {
    SCOPED_TRACE(n);
    check([&](const Tensor& x) { return power(sin(x), i64_scalar(n)) * x; }, {0.7, 2});
  }
}

TEST_P(ControlGradients, OfALoopWithDataDependentTripsMatchFiniteDifferences) {
  check(
      [&](const Tensor& x) {
        return while_loop(
            scope(), [](TensorSpan in) { return Tensors{less(in[0], number(100))}; },
            [](TensorSpan in) { return Tensors{in[0] * in[0] * number(1.5)}; }, Tensors{x},
            loops)[0];
      },
      {1.3, 3, 200});
}

TEST_P(ControlGradients, OfALoopInABranchMatchFiniteDifferences) {
  check(
      [&](const Tensor& x) {
        return cond(
            scope(), greater(x, number(1)),
            [&](TensorSpan) { return Tensors{power(x, i64_scalar(3))}; },
            [&](TensorSpan) { return Tensors{x}; })[0];
      },
      {0.5, 1.5});
}

TEST_P(ControlGradients, OfABranchInALoopMatchFiniteDifferences) {
  check(
      [&](const Tensor& x) {
        return iterate(i64_scalar(4), x, [&](const Tensor&, const Tensor& y) {
          return cond(
              scope(), greater(y, number(2)), [&](TensorSpan) { return Tensors{sin(y)}; },
              [&](TensorSpan) { return Tensors{y * x * number(2)}; })[0];
        });
      },
      {0.8, 1.4});
}

TEST_P(ControlGradients, OfALoopInALoopMatchFiniteDifferences) {
  check(
      [&](const Tensor& x) {
        return iterate(i64_scalar(3), x,
                       [&](const Tensor& i, const Tensor& y) { return power(sin(y), i) + y * x; });
      },
      {0.6, 1.1});
}

TEST_P(ControlGradients, OfAScanInALoopMatchFiniteDifferences) {
  check(
      [&](const Tensor& x) {
        const Tensor xs = f64({1, 2, 3}) * x;
        return iterate(i64_scalar(2), x, [&](const Tensor&, const Tensor& y) {
          const Tensors found = scan(scope(),
                                     [&](TensorSpan each) {
                                       return Tensors{sin(each[0]) * each[1], each[0] * each[1]};
                                     },
                                     Tensors{y}, Tensors{xs}, {.policy = GetParam()});
          return found[0] + sum(found[1]);
        });
      },
      {0.4, 0.9});
}

// The body has many intermediate values and few inputs, so that rematerialisation saves memory.
TEST_P(ControlGradients, SaveResidualsAccordingToTheirPolicy) {
  const auto f = function([&](const Tensor& x) {
    const Tensor y = iterate(i64_scalar(10), x, [](const Tensor&, const Tensor& each) {
      Tensor wide = each;
      for (int i = 0; i < 8; ++i) wide = sin(wide);
      return wide;
    });
    return sum(y);
  });
  const Tensor x = ones(TensorType(DType::kF64, Dims{1000})) * number(0.5);
  const auto t = tape();
  t->watch(x);
  const uint64_t before = device().allocator().statistics().live_bytes;
  const Tensor y = f->call(scope(), {&x, 1}, {})[0];
  const double kept =
      static_cast<double>(device().allocator().statistics().live_bytes - before) / 8000;
  std::printf("%s saves %.1f arrays for the backward pass\n", name_of(GetParam()), kept);
  EXPECT_NE(t->gradient(y, x), Tensor());
  if (GetParam() == LoopPolicy::kRecompute) {
    EXPECT_LT(kept, 12);  // Only the initial values of the ten trips are saved.
  } else {
    EXPECT_GT(kept, 70);
    EXPECT_LT(kept, 95);
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, ControlGradients,
                         ::testing::Values(LoopPolicy::kStack, LoopPolicy::kRecompute,
                                           LoopPolicy::kBounded),
                         [](const auto& info) { return std::string(name_of(info.param)); });

using Loops = testing::ControlTest;

TEST_F(Loops, FailBeyondTheMaximumNumberOfTrips) {
  loops.max_trips = 3;
  const auto f =
      function([&](Scope&, TensorSpan in, const Statics&) { return Tensors{power(in[0], in[1])}; });
  for (int i = 0; i < 4; ++i) {
    const Tensor three[] = {scalar64(2), i64_scalar(3)}, four[] = {scalar64(2), i64_scalar(4)};
    EXPECT_EQ(values_of(power(three[0], three[1])), Doubles{8});
    EXPECT_EQ(values_of(f->call(scope(), three, {})[0]), Doubles{8});
    EXPECT_ERROR(power(four[0], four[1]), Code::kInvalidArgument, "exceeds its maximum of 3 trips");
    EXPECT_ERROR(f->call(scope(), four, {}), Code::kInvalidArgument,
                 "exceeds its maximum of 3 trips");
  }
  loops = {.policy = LoopPolicy::kBounded};
  EXPECT_ERROR(power(scalar64(2), i64_scalar(3)), Code::kInvalidArgument, "requires max_trips");
  loops = {.max_trips = -1};
  EXPECT_ERROR(power(scalar64(2), i64_scalar(3)), Code::kInvalidArgument,
               "max_trips must not be negative, but is -1");
}

}  // namespace
}  // namespace tenon
