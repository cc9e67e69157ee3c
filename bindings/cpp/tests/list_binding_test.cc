#include <gtest/gtest.h>

#include <tenon/tenon.hpp>

namespace tenon {
namespace {

using Floats = std::vector<float>;

TEST(TensorLists, StackReturnsThePushedEntries) {
  const TensorList empty(kFloat32, {2});
  const TensorList list = empty.push(vector<float>({1, 2})).set(2, vector<float>({5, 6}));

  EXPECT_EQ(list.length().item<int>(), 3);
  EXPECT_EQ(empty.length().item<int>(), 0);
  EXPECT_EQ(list[2].to_vector<float>(), (Floats{5, 6}));
  EXPECT_EQ(list[7].to_vector<float>(), (Floats{0, 0}));
  EXPECT_EQ(list.stack().to_vector<float>(), (Floats{1, 2, 0, 0, 5, 6}));
  EXPECT_EQ(list.stack(1).to_vector<float>(), (Floats{1, 2}));
  EXPECT_EQ(list.concat(2).shape()[0], 4);
}

TEST(TensorLists, AreCreatedFromTensorsAndTheirTypes) {
  const Tensor x = matrix<float>({{1, 2}, {3, 4}});
  EXPECT_EQ(TensorList::unstack(x)[1].to_vector<float>(), (Floats{3, 4}));
  EXPECT_EQ(TensorList::like(x, 4).push(x).stack().rank(), 3u);
}

// A loop that collects a running sum in a list. One trace serves all lengths.
TEST(TensorLists, AreCarriedByLoops) {
  const auto sums = [](std::span<const Tensor> in, const Statics&) {
    const Tensor& xs = in[0];
    const Tensor n = shape(xs)[0];
    const auto found =
        while_loop([&](const Tensor& i, const Tensor&, const TensorList&) { return less(i, n); },
                   [&](const Tensor& i, const Tensor& sum, const TensorList& all) {
                     const Tensor next = sum + TensorList::unstack(xs)[i];
                     return std::array<Tensor, 3>{i + 1, next, all.set(i, next)};
                   },
                   0, 0.f, TensorList(kFloat32));
    return std::vector<Tensor>{TensorList(found[2]).stack(n)};
  };
  const Function f(sums, {.signature = std::vector<InputSpec>{{.shape = {TENON_SIZE_UNKNOWN}}}});
  for (const Tensor& xs : {vector<float>({1, 2, 4}), vector<float>({7})}) {
    const Floats eager = sums({&xs, 1}, {})[0].to_vector<float>();
    EXPECT_EQ(f({&xs, 1})[0].to_vector<float>(), eager);
    EXPECT_EQ(eager.size(), static_cast<size_t>(xs.size(0)));
  }
  EXPECT_EQ(f.traces().size(), 1u);
}

TEST(TensorLists, ArePassedToAndReturnedByFunctions) {
  const auto twice = function(
      [](const TensorList& list) { return std::vector<Tensor>{list.set(1, 2 * list[0])}; });
  const TensorList list = twice(TensorList(kFloat32).push(3.f))[0];
  EXPECT_EQ(list.stack().to_vector<float>(), (Floats{3, 6}));
}

TEST(TensorLists, AreNotInterchangeableWithTensors) {
  EXPECT_THROW(TensorList(vector<float>({1})), Error);
  EXPECT_THROW(TensorList(kFloat32).push(vector<float>({1})), Error);
  EXPECT_THROW(exp(TensorList(kFloat32)), Error);
}

}  // namespace
}  // namespace tenon
