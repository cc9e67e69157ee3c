#include "core/trace/plans/launch_plan.h"

#include <cmath>

#include "core/base/error.h"
#include "core/testing/test.h"

namespace tenon {
namespace {

using testing::f32;
using testing::f64;
using testing::i64;
using testing::values_of;
using Doubles = std::vector<double>;

class LaunchPlans : public testing::CoreTest {
 protected:
  std::unique_ptr<const LaunchPlan> record(const LaunchPlan::Code& code,
                                           std::initializer_list<Tensor> inputs) {
    LaunchPlan::Recorded recorded = LaunchPlan::record(scope(), device(), Tensors(inputs), code);
    first = std::move(recorded.outputs);
    return std::move(recorded.program);
  }
  Tensors run(const std::unique_ptr<const LaunchPlan>& program,
              std::initializer_list<Tensor> inputs) {
    EXPECT_TRUE(program->serves(Tensors(inputs)));
    return program->run(scope(), Tensors(inputs));
  }

  Tensors first;  // Outputs of the recorded call.
};

TEST_F(LaunchPlans, ReplayUsesNewInputs) {
  const auto program = record(
      [](TensorSpan in) {
        return Tensors{exp(in[0]) * in[1] + 1.0, sum(in[0])};
      },
      {f32({0, 0}), f32({1, 2})});
  EXPECT_EQ(values_of(first[0]), (Doubles{2, 3}));

  const Tensors a = run(program, {f32({0, 0}), f32({3, 4})});
  const Tensors b = run(program, {f32({0, 0}), f32({5, 6})});
  EXPECT_EQ(values_of(a[0]), (Doubles{4, 5}));
  EXPECT_EQ(values_of(b[0]), (Doubles{6, 7}));
  EXPECT_EQ(values_of(b[1]), Doubles{0});
  EXPECT_EQ(program->n_launches(), 1u);
}

TEST_F(LaunchPlans, ServeInputsOfTheSameTypesAndStrides) {
  const Tensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto program = record([](TensorSpan in) { return Tensors{-in[0]}; }, {transpose(x)});

  EXPECT_EQ(values_of(run(program, {transpose(x)})[0]), (Doubles{-1, -4, -2, -5, -3, -6}));
  EXPECT_FALSE(program->serves(Tensors{x}));
  EXPECT_FALSE(program->serves(Tensors{f32({3, 2}, {1, 2, 3, 4, 5, 6})}));
  EXPECT_FALSE(program->serves(Tensors{f64({1})}));
  EXPECT_FALSE(program->serves(Tensors{number(1)}));
}

TEST_F(LaunchPlans, UseTheInlineScalarsOfEachCall) {
  const LaunchPlan::Code code = [](TensorSpan in) {
    return Tensors{in[0] * in[1], fill(in[1], Dims{2}, DType::kF64), in[1]};
  };
  const auto program = record(code, {f32({1, 2}), number(10)});
  const Tensors y = run(program, {f32({1, 2}), number(20)});
  EXPECT_EQ(values_of(y[0]), (Doubles{20, 40}));
  EXPECT_EQ(values_of(y[1]), (Doubles{20, 20}));
  EXPECT_EQ(values_of(y[2]), Doubles{20});
}

TEST_F(LaunchPlans, OutputsHaveNewMemoryOrAliasInputs) {
  const LaunchPlan::Code code = [](TensorSpan in) {
    const Tensor y = in[0] + in[0];
    return Tensors{y, reshape(y, Dims{2, 1}), reshape(in[0], Dims{1, 2}), in[0]};
  };
  const auto program = record(code, {f32({1, 2})});
  const Tensor x = f32({3, 4});
  const Tensors y = run(program, {x}), z = run(program, {x});
  EXPECT_EQ(y[0]->storage.get(), y[1]->storage.get());
  EXPECT_NE(y[0]->storage.get(), z[0]->storage.get());
  EXPECT_EQ(y[2]->storage.get(), x->storage.get());
  EXPECT_EQ(y[3]->storage.get(), x->storage.get());
  EXPECT_EQ(values_of(y[1]), (Doubles{6, 8}));
  EXPECT_EQ(values_of(y[2]), (Doubles{3, 4}));
}

// The recorded call passes two views of one tensor. The later call passes two tensors.
TEST_F(LaunchPlans, DistinguishInputsThatShareMemory) {
  const Tensor x = f32({1, 2, 3, 4});
  const auto part = [&](int64_t i) {
    return make_view(*x, TensorType(DType::kF32, Dims{2}), Dims{1}, i);
  };
  const auto program =
      record([](TensorSpan in) { return Tensors{in[0] - in[1]}; }, {part(0), part(2)});
  EXPECT_EQ(values_of(first[0]), (Doubles{-2, -2}));
  EXPECT_EQ(values_of(run(program, {f32({5, 6}), f32({1, 1})})[0]), (Doubles{4, 5}));
  EXPECT_EQ(values_of(run(program, {part(2), part(1)})[0]), (Doubles{1, 1}));
}

TEST_F(LaunchPlans, ReuseMemoryOfDeadValues) {
  const auto program = record(
      [](TensorSpan in) {
        Tensor y = in[0];
        for (int i = 0; i < 100; ++i)
          y = concat(Tensors{y, y}, 0) * 0.5, y = sum(y, {.axes = {0}, .keepdims = true});
        return Tensors{y};
      },
      {f32({1})});
  EXPECT_LE(program->block_bytes(), 3 * 64u);
  EXPECT_EQ(values_of(run(program, {f32({3})})[0]), Doubles{3});
}

TEST_F(LaunchPlans, FuseElementwiseLaunchesOfOneShape) {
  const LaunchPlan::Code code = [](TensorSpan in) {
    const Tensor y = tanh(in[0] * in[1] + in[2]);
    return Tensors{where(less(y, number(0)), -y, cast(y, DType::kF32)), cast(y, DType::kF16)};
  };
  const Tensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6}), row = f32({-1, 0, 1}), one = f32({0.25f});
  const auto program = record(code, {x, row, one});
  EXPECT_EQ(program->n_launches(), 1u);
  EXPECT_EQ(program->block_bytes(), 0u);

  const Tensor other = f32({2, 3}, {3, -2, 5, 7, 0, 1});
  const Tensors want = code(Tensors{other, row, one}), got = run(program, {other, row, one});
  for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(values_of(got[i]), values_of(want[i]));
}

TEST_F(LaunchPlans, LaunchFusedGroupsBeforeTheirReaders) {
  const LaunchPlan::Code code = [](TensorSpan in) {
    const auto sums = [](const Tensor& x) { return cumsum(x, {.axis = 0}); };
    const Tensor a = in[0] + number(1), b = a * number(2) + sums(a);
    return Tensors{b * sums(b) + a};
  };
  const auto program = record(code, {f32({1, 2})});
  EXPECT_EQ(program->n_launches(), 5u);  // a, its cumsum, b, its cumsum, the result.
  EXPECT_EQ(values_of(run(program, {f32({3, 4})})[0]), values_of(code(Tensors{f32({3, 4})})[0]));
}

TEST_F(LaunchPlans, FusedLoopDistinguishesInlineScalars) {
  const LaunchPlan::Code code = [](TensorSpan in) {
    const Tensor y = in[0] * number(2) + number(3);
    return Tensors{y * in[1] - number(2), in[1] + y};
  };
  const auto program = record(code, {f32({1, 2}), number(10)});
  EXPECT_EQ(program->n_launches(), 1u);
  for (const double k : {10, -1, 5}) {
    const Tensors got = run(program, {f32({4, 5}), number(k)});
    EXPECT_EQ(values_of(got[0]), (Doubles{11 * k - 2, 13 * k - 2}));
    EXPECT_EQ(values_of(got[1]), (Doubles{11 + k, 13 + k}));
  }
}

// A transpose, a slice and a broadcast of a group's value cannot be read inside the loop.
TEST_F(LaunchPlans, DoNotFuseLaunchesThatReadViewsOfAGroupsValue) {
  const LaunchPlan::Code code = [](TensorSpan in) {
    const Tensor y = in[0] * in[0];
    return Tensors{y + transpose(y), y * slice(y, {.starts = {0}, .ends = {1}, .axes = {0}})};
  };
  const Tensor x = f32({2, 2}, {1, 2, 3, 4}), other = f32({2, 2}, {0, -1, 5, 2});
  const auto program = record(code, {x});
  const Tensors want = code(Tensors{other}), got = run(program, {other});
  for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(values_of(got[i]), values_of(want[i]));
}

TEST_F(LaunchPlans, FuseSmallLaunchesWithoutSharedOperands) {
  const auto program = record(
      [](TensorSpan in) {
        return Tensors{exp(in[0]), sin(in[1])};
      },
      {f32({0, 1}), f32({0, 2})});
  EXPECT_EQ(program->n_launches(), 1u);
  const Tensors y = run(program, {f32({0, 0}), f32({0, 0})});
  EXPECT_EQ(values_of(y[0]), (Doubles{1, 1}));
  EXPECT_EQ(values_of(y[1]), (Doubles{0, 0}));
}

TEST_F(LaunchPlans, ReuseMemoryOfDeadInputs) {
  const auto program = record([](TensorSpan in) { return Tensors{-in[0]}; }, {f32({1, 2})});
  const uint8_t one_owner[] = {1};
  Tensors x{f32({3, 4})};
  const Storage* const memory = x[0]->storage.get();

  const Tensor other = alias_of(*x[0]);
  EXPECT_NE(program->run(scope(), x, one_owner)[0]->storage.get(), memory);
  EXPECT_EQ(values_of(other), (Doubles{3, 4}));
  const uint8_t two_owners[] = {2}, never[] = {0};
  EXPECT_NE(program->run(scope(), x, never)[0]->storage.get(), memory);
  EXPECT_NE(program->run(scope(), x)[0]->storage.get(), memory);
  const Tensor y = program->run(scope(), x, two_owners)[0];
  EXPECT_EQ(y->storage.get(), memory);
  EXPECT_EQ(values_of(y), (Doubles{-3, -4}));
}

TEST_F(LaunchPlans, DoNotOverwriteInputsThatAreReadLaterOrReturned) {
  const auto read = record(
      [](TensorSpan in) {
        return Tensors{-in[0], sum(in[0])};
      },
      {f32({1, 2})});
  const auto given = record([](TensorSpan in) { return Tensors{-in[0], in[0]}; }, {f32({1, 2})});
  const uint8_t one_owner[] = {1};
  const Tensors x{f32({3, 4})};

  EXPECT_EQ(values_of(read->run(scope(), x, one_owner)[1]), Doubles{7});
  EXPECT_EQ(values_of(given->run(scope(), x, one_owner)[1]), (Doubles{3, 4}));
}

TEST_F(LaunchPlans, DoNotOverwriteInputsBeforeALaunchThatMayFail) {
  const auto program = record(
      [](TensorSpan in) {
        return Tensors{-in[0], gather(in[1], in[2], 0)};
      },
      {f32({1, 2}), f32({5, 6}), i64({1})});
  const uint8_t one_owner[] = {1, 0, 0};
  const Tensors x{f32({3, 4}), f32({5, 6}), i64({2})};
  EXPECT_THROW(program->run(scope(), x, one_owner), Error);
  EXPECT_EQ(values_of(x[0]), (Doubles{3, 4}));
}

// The intermediate value and the output share memory.
TEST_F(LaunchPlans, OverwriteIntermediateValuesInPlace) {
  const auto program =
      record([](TensorSpan in) { return Tensors{-cumsum(in[0], {.axis = 0})}; }, {f32({1, 2})});
  EXPECT_EQ(program->n_launches(), 2u);
  EXPECT_EQ(program->block_bytes(), 0u);
  EXPECT_EQ(values_of(run(program, {f32({3, 4})})[0]), (Doubles{-3, -7}));
}

TEST_F(LaunchPlans, AllocateNoNewMemoryInSteadyState) {
  const auto program =
      record([](TensorSpan in) { return Tensors{exp(in[0] + 1.0) * in[0]}; }, {f32({1, 2, 3})});
  const Tensor x = f32({1, 2, 3});
  run(program, {x});
  const uint64_t live = live_bytes();
  const uint64_t allocations = device().allocator().statistics().plugin_allocations;
  for (int i = 0; i < 10; ++i) run(program, {x});
  EXPECT_EQ(live_bytes(), live);
  EXPECT_EQ(device().allocator().statistics().plugin_allocations, allocations);
}

TEST_F(LaunchPlans, AreNotRecordedIfTheHostReadsAValue) {
  const auto program = record(
      [](TensorSpan in) {
        return Tensors{read_bool(less(sum(in[0]), number(0))) ? -in[0] : in[0]};
      },
      {f32({-1})});
  EXPECT_EQ(values_of(first[0]), Doubles{1});
  EXPECT_EQ(program, nullptr);
}

TEST_F(LaunchPlans, AreNotRecordedAcrossDevices) {
  const LaunchPlan::Code code = [&](TensorSpan) {
    const Scope::OnDevice on(scope(), context().device("null"));
    return Tensors{fill(number(1), Dims{2}, DType::kF32)};
  };
  EXPECT_EQ(record(code, {}), nullptr);
  EXPECT_EQ(first[0]->storage->device, &context().device("null"));
}

TEST_F(LaunchPlans, AreNotRecordedIfTheHostAccessesMemory) {
  EXPECT_EQ(record(
                [](TensorSpan in) {
                  note_host_read();
                  return Tensors{-in[0]};
                },
                {f32({1})}),
            nullptr);
}

// If a launch reads an input as elements of twice the size, the input must be aligned to that size.
TEST_F(LaunchPlans, RequireTheRecordedAlignmentOfInputs) {
  const Tensor x = testing::i32({1, 2, 3, 4, 5, 6});
  const auto part = [&](int64_t i) {
    return make_view(*x, TensorType(DType::kI32, Dims{2}), Dims{1}, i);
  };
  const LaunchPlan::Code code = [](TensorSpan in) { return Tensors{bitcast(in[0], DType::kI64)}; };
  const auto even = record(code, {part(0)}), odd = record(code, {part(1)});
  EXPECT_FALSE(even->serves(Tensors{part(3)}));
  EXPECT_EQ(values_of(run(even, {part(2)})[0]), (Doubles{3 + 4 * std::pow(2, 32)}));
  for (const int64_t i : {1, 2, 3}) {
    EXPECT_EQ(values_of(run(odd, {part(i)})[0]),
              (Doubles{static_cast<double>(i + 1) + static_cast<double>(i + 2) * std::pow(2, 32)}));
  }
}

TEST_F(LaunchPlans, ReportTheOpOfAValueError) {
  const auto program = record([](TensorSpan in) { return Tensors{gather(in[0], in[1], 0) + 1.0}; },
                              {f32({1, 2}), testing::i32({1})});
  EXPECT_ERROR(run(program, {f32({1, 2}), testing::i32({7})}), Code::kOutOfRange, "gather");
  EXPECT_EQ(values_of(run(program, {f32({1, 2}), testing::i32({0})})[0]), Doubles{2});
}

}  // namespace
}  // namespace tenon
