// Nested loops and branches, under each loop policy, with zero, one and more trips. The first two
// derivatives, eager and traced, are compared with finite differences in binary64.

#include "core/testing/control.h"

namespace tenon {
namespace {

using testing::f64;
using testing::i64_scalar;

class Nested : public testing::ControlTest, public ::testing::WithParamInterface<LoopPolicy> {
 protected:
  Nested() { loops = {.policy = GetParam(), .max_trips = 5}; }

  // Applies a smooth function n times to x.
  Tensor curved(const Tensor& x, int n) {
    return iterate(i64_scalar(n), x,
                   [&](const Tensor&, const Tensor& y) { return sin(y) * x + y; });
  }
  Tensor larger_than_one(const Tensor& x, const Block& then) {
    return cond(scope(), greater(x, number(1)), then,
                [&](TensorSpan) { return Tensors{x * x}; })[0];
  }
  Tensor scanned(const Tensor& x, const Tensor& start, int n) {
    const Tensor xs = iota(Dims{n}, DType::kF64, 0) * x;
    const Tensors found = scan(scope(),
                               [&](TensorSpan in) {
                                 return Tensors{sin(in[0]) * x + in[1], in[0] * in[1]};
                               },
                               Tensors{start}, Tensors{xs}, {.policy = GetParam()});
    return found[0] + sum(found[1]);
  }

  static constexpr std::initializer_list<double> kPoints = {0.7, 1.2};
  static constexpr int kTrips[] = {0, 1, 3};
};

TEST_P(Nested, WhileInCondHasCorrectGradients) {
  for (const int n : kTrips) {
    SCOPED_TRACE(n);
    check(
        [&](const Tensor& x) {
          return larger_than_one(x, [&](TensorSpan) { return Tensors{curved(x, n)}; });
        },
        kPoints, 2);
  }
}

TEST_P(Nested, CondInWhileHasCorrectGradients) {
  for (const int n : kTrips) {
    SCOPED_TRACE(n);
    check(
        [&](const Tensor& x) {
          return iterate(i64_scalar(n), x, [&](const Tensor&, const Tensor& y) {
            return larger_than_one(y, [&](TensorSpan) { return Tensors{sin(y) * x}; });
          });
        },
        kPoints, 2);
  }
}

TEST_P(Nested, WhileInWhileHasCorrectGradients) {
  for (const int outer : kTrips) {
    for (const int inner : kTrips) {
      SCOPED_TRACE(format("{} times {}", {outer, inner}));
      check(
          [&](const Tensor& x) {
            return iterate(i64_scalar(outer), x,
                           [&](const Tensor&, const Tensor& y) { return curved(y, inner) * x; });
          },
          kPoints, 2);
    }
  }
}

TEST_P(Nested, ScanInWhileHasCorrectGradients) {
  for (const int outer : kTrips) {
    for (const int inner : kTrips) {
      SCOPED_TRACE(format("{} times {}", {outer, inner}));
      check(
          [&](const Tensor& x) {
            return iterate(i64_scalar(outer), x, [&](const Tensor&, const Tensor& y) {
              return scanned(x, y, inner) * number(0.5);
            });
          },
          kPoints, 2);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, Nested,
                         ::testing::Values(LoopPolicy::kStack, LoopPolicy::kRecompute,
                                           LoopPolicy::kBounded),
                         [](const auto& info) {
                           return enum_info(info.param).values[static_cast<size_t>(info.param)];
                         });

// ---- memory

using Memory = testing::ControlTest;

// Measures the peak memory of the forward and backward pass through a branch in a loop. The branch
// computes ten arrays one after another, so a loop that saves all residuals needs much memory.
TEST_F(Memory, RecomputationLowersPeakMemory) {
  const Tensor x = ones(TensorType(DType::kF64, Dims{1000})) * number(0.5);
  Allocator& allocator = device().allocator();
  const auto peak = [&](LoopPolicy policy) {
    loops.policy = policy;
    const auto f = function([&](const Tensor& start) {
      return sum(iterate(i64_scalar(20), start, [&](const Tensor& i, const Tensor& y) {
        return cond(
            scope(), less(i, integer(100)),
            [&](TensorSpan) {
              Tensor wide = y;
              for (int k = 0; k < 10; ++k) wide = sin(wide);
              return Tensors{wide};
            },
            [&](TensorSpan) { return Tensors{y}; })[0];
      }));
    });
    uint64_t most = 0;
    for (int call = 0; call < 3; ++call) {
      const auto t = tape();
      t->watch(x);
      const uint64_t before = allocator.statistics().live_bytes;
      allocator.reset_peak();
      t->gradient(f->call(scope(), {&x, 1}, {})[0], x);
      most = allocator.statistics().peak_bytes - before;
    }
    return static_cast<double>(most) / 8000;
  };

  const double stack = peak(LoopPolicy::kStack), recompute = peak(LoopPolicy::kRecompute);

  std::printf("at its peak a loop of 20 trips holds %.1f arrays by stack, %.1f by recompute\n",
              stack, recompute);
  EXPECT_GT(stack, 200);
  EXPECT_LT(recompute, 60);
}

}  // namespace
}  // namespace tenon
