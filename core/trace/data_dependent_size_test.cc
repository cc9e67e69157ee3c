// Data-dependent sizes in traced code.

#include "core/dispatch/dispatch.h"
#include "core/ops/definition/formulas.h"
#include "core/ops/definition/op_ids.h"
#include "core/testing/control.h"
#include "core/trace/graph/text_form.h"

namespace tenon {
namespace {

using testing::f32;
using testing::f64;
using testing::scalar64;
using testing::values_of;
using Doubles = std::vector<double>;

Tensor masked(const Tensor& x, const Tensor& mask) {
  const OwnedAttrs attrs(*op_def(OpId::k_boolean_mask).attrs);
  return call_op(OpId::k_boolean_mask, attrs.view(), Tensors{x, mask})[0];
}
Tensor positive(const Tensor& x) { return masked(x, greater(x, number(0))); }

class DataDependentSizes : public testing::ControlTest {
 protected:
  Tensor call(const Ref<Function>& f, const Tensor& x) { return f->call(scope(), {&x, 1}, {})[0]; }
  // A function of one vector of unknown length.
  Ref<Function> of_vector(const testing::Code1& code) {
    return function({.name = "x", .dtype = DType::kF64, .sizes = {InputSpec::kUnknown}},
                    [code](Scope&, TensorSpan in, const Statics&) { return Tensors{code(in[0])}; });
  }

  const std::vector<Tensor> vectors_ = {f64({3, -1, 2}), f64({-1, -2}), f64({0.5}),
                                        f64({1, 2, 3, 4, -5, 6})};
};

TEST_F(DataDependentSizes, ComeFromTheValuesOfEachCall) {
  const auto f = of_vector([](const Tensor& x) { return positive(x) * 2.0; });
  for (int n = 0; n < 3; ++n) {
    for (const Tensor& x : vectors_) {
      EXPECT_EQ(values_of(call(f, x)), values_of(positive(x) * 2.0));
    }
  }
  EXPECT_EQ(f->traces().size(), 1u);
}

TEST_F(DataDependentSizes, CanBeUsedAsTensors) {
  const auto mean_of_positive = [](const Tensor& x) {
    const Tensor y = positive(x);
    const Tensor n = cast(shape_tensor(y->shape()), DType::kF64);
    const Tensor mean = reshape(sum(y), Dims{1}) / n;
    const Tensors parts = {mean, n, zeros(TensorType(DType::kF64, y->shape())) + y};
    return concat(parts, 0);
  };
  const auto f = of_vector(mean_of_positive);
  for (const Tensor& x : vectors_) {
    if (x->shape()[0] == 2)
      // The input has no positive element. Both results are 0 / 0, and NaN does not compare equal.
      continue;
    EXPECT_EQ(values_of(call(f, x)), values_of(mean_of_positive(x)));
  }
}

TEST_F(DataDependentSizes, CanBeTheValueOfAnyInt64Scalar) {
  const auto f = function([&](const Tensor& x) {
    const Size n = size_in(scope(), cast(sum(x), DType::kI64), "the length");
    return zeros(TensorType(DType::kF32, Dims{n, 2}));
  });
  EXPECT_EQ(call(f, f32({1, 2}))->shape(), (Dims{3, 2}));
  EXPECT_EQ(call(f, f32({0, 0}))->shape(), (Dims{0, 2}));
  EXPECT_ERROR(call(f, f32({1, -2})), Code::kInvalidArgument,
               "a data-dependent size must not be negative, but is -1");
  EXPECT_EQ(f->traces().size(), 1u);
}

TEST_F(DataDependentSizes, HaveGradients) {
  const auto loss = [](const Tensor& x) {
    const Tensor y = positive(x);
    return sum(y * y * y) + sum(broadcast_to(sum(x), y->shape()));
  };
  for (const Tensor& x : vectors_) {
    const auto gradient = [&](const testing::Code1& code) {
      const Ref<Tape> recording = tape();
      recording->watch(x);
      return recording->gradient(code(x), x);
    };
    const auto f = of_vector(loss);
    const Doubles want = values_of(gradient(loss));
    for (int n = 0; n < 3; ++n) {
      EXPECT_EQ(values_of(gradient([&](const Tensor& given) { return call(f, given); })), want);
    }
    const Ref<Function> df = f->gradient();
    for (int n = 0; n < 3; ++n) EXPECT_EQ(values_of(call(df, x)), want);
    const Doubles second = values_of(gradient([&](const Tensor& given) {
      const Ref<Tape> recording = tape();
      recording->watch(given);
      return sum(recording->gradient(loss(given), given));
    }));
    EXPECT_EQ(values_of(gradient([&](const Tensor& given) { return sum(call(df, given)); })),
              second);
  }
}

TEST_F(DataDependentSizes, WorkInsideBranchesAndLoops) {
  const auto code = [this](const Tensor& x) {
    const Tensor zero = scalar64(0);
    const Tensor in_branch = cond(
        scope(), greater(sum(x), number(0)), [&](TensorSpan) { return Tensors{sum(positive(x))}; },
        [&](TensorSpan) { return Tensors{sum(positive(-x))}; })[0];
    const Tensors carried = while_loop(
        scope(), [](TensorSpan in) { return Tensors{less(in[0], number(4))}; },
        [&](TensorSpan in) {
          return Tensors{in[0] + number(1), in[1] + sum(positive(x - in[0]))};
        },
        Tensors{zero, in_branch});
    return carried[1];
  };
  const auto f = of_vector(code);
  for (int n = 0; n < 3; ++n) {
    for (const Tensor& x : vectors_) EXPECT_EQ(values_of(call(f, x)), values_of(code(x)));
  }
}

TEST_F(DataDependentSizes, CannotBePartOfABranchOutputType) {
  const auto f = of_vector([this](const Tensor& x) {
    return cond(
        scope(), greater(sum(x), number(0)), [&](TensorSpan) { return Tensors{positive(x)}; },
        [&](TensorSpan) { return Tensors{positive(-x)}; })[0];
  });
  EXPECT_ERROR(call(f, vectors_[0]), Code::kUnimplemented,
               "whose size depends on values inside it");
}

TEST_F(DataDependentSizes, MustEqualTheNumberThatTracingFixed) {
  const auto f = of_vector([](const Tensor& x) { return positive(x) + f64({10, 20}); });
  EXPECT_EQ(values_of(call(f, f64({3, -1, 2}))), (Doubles{13, 22}));
  EXPECT_ERROR(call(f, f64({3, 1, 2})), Code::kInvalidArgument,
               "d0 is 3, but the function was traced for 2 == d0");
}

TEST_F(DataDependentSizes, AreParsedBackFromText) {
  const auto f = of_vector([](const Tensor& x) { return positive(x); });
  call(f, vectors_[0]);
  const std::string text = to_text(f->traces()[0]->graph());
  EXPECT_NE(text.find("extent("), std::string::npos) << text;
  const auto again = parse_graph(scope(), text);
  EXPECT_EQ(to_text(*again), text);
}

}  // namespace
}  // namespace tenon
