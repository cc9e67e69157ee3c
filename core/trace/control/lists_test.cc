#include "core/trace/control/lists.h"

#include "core/testing/control.h"

namespace tenon {
namespace {

using testing::f32;
using testing::i64_scalar;
using testing::values_of;
using Doubles = std::vector<double>;

class Lists : public testing::CoreTest {
 protected:
  static Tensor set(const Tensor& list, int64_t index, const Tensor& x) {
    return list_set(list, i64_scalar(index), x);
  }
  static Tensor with_room_for(int64_t n) {
    return list_create(TensorType(DType::kF32, Dims{2}), n);
  }
};

TEST_F(Lists, WithCapacityStackWithoutCopy) {
  Tensor list = with_room_for(3);
  for (const int64_t i : {2, 0, 1}) list = set(list, i, f32({1, 2}) * number(double(i)));
  const Tensor all = list_stack(list, 3), first = list_stack(list, 2);
  EXPECT_EQ(values_of(all), (Doubles{0, 0, 1, 2, 2, 4}));
  EXPECT_EQ(values_of(first), (Doubles{0, 0, 1, 2}));
  EXPECT_EQ(all->storage.get(), list_get(list, i64_scalar(1))->storage.get());
  EXPECT_EQ(all->storage.get(), first->storage.get());
}

TEST_F(Lists, WithCapacityKeepOtherVersionsIntact) {
  const Tensor empty = with_room_for(2);
  const Tensor a = set(empty, 0, f32({1, 2})), b = set(empty, 0, f32({3, 4}));
  const Tensor c = set(set(a, 0, f32({5, 6})), 7, f32({7, 8}));
  EXPECT_EQ(values_of(list_stack(a, 1)), (Doubles{1, 2}));
  EXPECT_EQ(values_of(list_stack(b, 1)), (Doubles{3, 4}));
  EXPECT_EQ(values_of(list_stack(c, 1)), (Doubles{5, 6}));
  EXPECT_EQ(values_of(list_get(c, i64_scalar(7))), (Doubles{7, 8}));
  EXPECT_EQ(values_of(list_stack(empty, 2)), (Doubles{0, 0, 0, 0}));
}

TEST_F(Lists, WithCapacityTakeStridedTensors) {
  const Tensor x = transpose(f32({2, 2}, {1, 2, 3, 4}));
  const Tensor list = list_set(list_create(x->type, 1), i64_scalar(0), x);
  EXPECT_EQ(values_of(list_get(list, i64_scalar(0))), (Doubles{1, 3, 2, 4}));
}

TEST_F(Lists, LengthFollowsTheLastEntry) {
  const auto length = [](const Tensor& list) { return values_of(list_length(list))[0]; };
  Tensor list = with_room_for(2);
  EXPECT_EQ(length(list), 0);
  for (const int64_t i : {3, 1, 700, 64}) {
    list = set(list, i, f32({1, 2}));
    EXPECT_EQ(length(list), i < 10 ? 4 : 701) << i;
  }
  // Clearing the last entry shortens the list to the previous one.
  EXPECT_EQ(length(set(list, 700, Tensor())), 65);
}

using Lengths = testing::ControlTest;

// Stacks more or fewer entries than the list has. The number is a formula of an unknown size.
TEST_F(Lengths, OfStackedListsMayBeFormulasOfSizes) {
  const auto f =
      function({.name = "xs", .dtype = DType::kF64, .sizes = {InputSpec::kUnknown, 2}},
               [&](Scope& s, TensorSpan in, const Statics&) {
                 const Tensor sizes = shape_tensor(in[0]->shape()), list = list_unstack(in[0]);
                 const Tensor n = gather(sizes, fill(integer(-2), Dims{}, DType::kI64), 0);
                 const Tensor columns = squeeze(slice(sizes, {.starts = {1}, .ends = {2}}), {0});
                 // The list is stacked inside branches.
                 return cond(
                     s, greater(sum(in[0]), number(0)),
                     [&](TensorSpan) {
                       const Tensor length = n * columns - integer(1) + i64_scalar(0);
                       return Tensors{list_stack(list, size_in(s, length, "the length"))};
                     },
                     [&](TensorSpan) {
                       const Size length = in[0]->shape()[0] * 2 - 1;
                       return Tensors{list_stack(list, length) - number(1)};
                     });
               });
  const Tensor one = testing::make(DType::kF64, Dims{1, 2}, {1, 2});
  const Tensor two = testing::make(DType::kF64, Dims{2, 2}, {1, 2, -3, -4});
  EXPECT_EQ(values_of(f->call(scope(), {&one, 1}, {})[0]), (Doubles{1, 2}));
  EXPECT_EQ(values_of(f->call(scope(), {&two, 1}, {})[0]), (Doubles{0, 1, -4, -5, -1, -1}));
  EXPECT_EQ(f->traces().size(), 1u);
}

TEST_F(Lengths, OfStackedListsMayBeDataDependent) {
  const auto f = function([&](const Tensor& x) {
    const Tensor length = cast(sum(x), DType::kI64);
    return list_stack(list_unstack(x), size_in(scope(), length, "the length"));
  });
  const Tensor x = f32({1, 2}), half = number(0.5);
  EXPECT_EQ(values_of(f->call(scope(), {&x, 1}, {})[0]), (Doubles{1, 2, 0}));
  EXPECT_ERROR(size_in(scope(), half, "the length"), Code::kInvalidArgument,
               "the length must be i64[], but is");
}

TEST_F(Lists, CanBeTargetsAndSourcesOfGradients) {
  const Tensor list = set(set(with_room_for(0), 0, f32({1, 2})), 1, f32({3, 4}));
  const Tensor other = set(with_room_for(0), 0, f32({5, 6}));
  const auto t = tape({.persistent = true});
  t->watch(list);
  t->watch(other);
  const Tensor all = list_stack(list, 2), squares = list_unstack(all * all);

  EXPECT_EQ(values_of(list_stack(t->gradient(all * all, list), 2)), (Doubles{2, 4, 6, 8}));
  EXPECT_EQ(t->gradient(all, other)->type, other->type);
  const Tensor targets[] = {squares}, cotangents[] = {other};
  const Source sources[] = {list};
  const Tensor by_list = t->gradient(targets, cotangents, sources)[0];
  EXPECT_EQ(values_of(list_stack(by_list, 2)), (Doubles{10, 24, 0, 0}));
  EXPECT_ERROR(t->gradient(squares, list), Code::kInvalidArgument,
               "target 0 is a list of f32[2]: pass a cotangent for it");
  EXPECT_ERROR(t->jacobian(squares, sources), Code::kInvalidArgument,
               "the target must be a tensor");
  EXPECT_ERROR(t->jacobian(all, sources), Code::kInvalidArgument, "a source must be a tensor");
}

}  // namespace
}  // namespace tenon
