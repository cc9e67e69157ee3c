#include <gtest/gtest.h>

#include <sstream>
#include <tenon/tenon.hpp>

namespace tenon {
namespace {

TEST(Tensors, HoldTheirInitialElements) {
  const Tensor x = matrix<float>({{1, 2, 3}, {4, 5, 6}});

  EXPECT_EQ(x.dtype(), kFloat32);
  EXPECT_EQ(Shape(x.shape().begin(), x.shape().end()), (Shape{2, 3}));
  EXPECT_EQ(x.size(-1), 3);
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(Tensors, HaveTheDtypeOfTheirElements) {
  EXPECT_EQ(vector({1, 2}).dtype(), kInt32);
  EXPECT_EQ(vector({1.0, 2.0}).dtype(), kFloat64);
  EXPECT_EQ(vector({true, false}).dtype(), kBool);
  EXPECT_EQ(vector<uint8_t>({1, 2}).dtype().str(), "u8");
}

TEST(Tensors, CannotBeReadAsADifferentDtype) {
  EXPECT_THROW(vector({1, 2}).to_vector<float>(), Error);
}

TEST(Tensors, PrintAsNumPyDoes) {
  std::ostringstream out;
  out << matrix<float>({{1, 2.5}});
  EXPECT_EQ(out.str(), "[[1.  2.5]]");
}

TEST(Tensors, PrintTypeAndDeviceInLongForm) {
  const std::string text = vector<float>({1}).repr();
  const std::string place = "f32[1] on " + std::string(current_device().name());
  EXPECT_NE(text.find(place), std::string::npos) << text;
}

TEST(Tensors, ReturnSlicesByIndex) {
  const Tensor x = matrix({{1, 2}, {3, 4}});
  EXPECT_EQ(x[1][0].item<int>(), 3);
  EXPECT_EQ(x[-1][-1].item<int>(), 4);
  EXPECT_THROW(x[2], Error);
  EXPECT_THROW(x[0][0][0], Error);
}

TEST(Tensors, CannotHaveRowsOfDifferentLengths) { EXPECT_THROW(matrix({{1, 2}, {3}}), Error); }

TEST(Operators, AcceptNumbersAsOperands) {
  const Tensor x = vector<float>({1, 2});
  EXPECT_EQ((2 * x + 1).to_vector<float>(), (std::vector<float>{3, 5}));
  EXPECT_EQ((-(x - 3) / 2).to_vector<float>(), (std::vector<float>{1, 0.5}));
  EXPECT_EQ((vector({7, 8}) % 3).to_vector<int>(), (std::vector<int>{1, 2}));
}

TEST(Operators, KeepTheDtypeOfTensors) {
  EXPECT_EQ((vector<float>({1}) * 2.5).dtype(), kFloat32);
  EXPECT_EQ((vector<uint8_t>({1}) * 2).dtype(), kUint8);
}

TEST(Operators, ComparisonsConvertToBool) {
  const Tensor a = 3;
  EXPECT_TRUE(bool(less(a, 4)));
  EXPECT_FALSE(bool(equal(a, 4)));
}

TEST(Ops, AcceptListsOfTensors) {
  const Tensor x = vector({1, 2});
  EXPECT_EQ(concat({x, x}).to_vector<int>(), (std::vector<int>{1, 2, 1, 2}));
  EXPECT_EQ(stack({x, x}, {.axis = 1}).to_vector<int>(), (std::vector<int>{1, 1, 2, 2}));
}

TEST(Ops, TakeStringAttributes) {
  const Tensor x = matrix({{1, 2}, {3, 4}});
  EXPECT_EQ(einsum({x}, {.equation = "ij->ji"}).to_vector<int>(), (std::vector<int>{1, 3, 2, 4}));
  EXPECT_EQ(einsum({x, x}, {.equation = "ij,ij"}).item<int>(), 30);
  EXPECT_THROW(einsum({x}), Error);
}

TEST(Ops, ReturnSeveralOutputs) {
  const std::vector<Tensor> halves = split(vector({1, 2, 3, 4}), 2, {.num_outputs = 2});
  EXPECT_EQ(halves[1].to_vector<int>(), (std::vector<int>{3, 4}));
}

TEST(Generators, RepeatFromTheSameState) {
  const Generator a(7);
  const Generator b(7);
  const std::vector<float> drawn = a.uniform({5}).to_vector<float>();
  EXPECT_EQ(drawn, b.uniform({5}).to_vector<float>());

  const Tensor state = a.state();
  const std::vector<float> next = a.normal({4}).to_vector<float>();
  a.set_state(state);
  EXPECT_EQ(next, a.normal({4}).to_vector<float>());
}

TEST(Generators, DropoutZeroesTheGivenFraction) {
  const Tensor x = fill(1.f, {.shape = {1000}});
  const double kept = sum(Generator(1).dropout(x, {.ratio = 0.25})).item<double>() * 0.75;
  EXPECT_GT(kept, 650);
  EXPECT_LT(kept, 850);
}

TEST(DeviceGuardTest, DeviceIsCurrentUntilTheGuardIsDestroyed) {
  const Device before = current_device();
  {
    const DeviceGuard on("ref");
    EXPECT_EQ((vector({1, 2}) + 1).device(), "ref:0");
  }
  EXPECT_EQ(vector({1, 2}).device(), before.name());
}

TEST(Devices, TensorsAreCopiedBetweenDevices) {
  EXPECT_EQ(vector({1, 2}).to("ref:0").device(), "ref:0");
}

TEST(Devices, FreeMemoryWhenTheLastHandleIsDestroyed) {
  const Device device = current_device();
  const uint64_t before = device.memory().live_bytes;
  {
    const Tensor x = fill(1.f, {.shape = {256}});
    const Tensor same = x;
    EXPECT_EQ(device.memory().live_bytes - before, 1024u);
  }
  EXPECT_EQ(device.memory().live_bytes, before);
}

TEST(ScopeGuardTest, ScopeIsCurrentUntilTheGuardIsDestroyed) {
  tenon_scope* const mine = current_scope();
  const Scope other;
  {
    const ScopeGuard in(other);
    EXPECT_EQ(current_scope(), other.get());
  }
  EXPECT_EQ(current_scope(), mine);
}

TEST(Contexts, TensorsOfDifferentContextsCannotBeCombined) {
  const Context context;
  const Tensor here = vector({1});
  const ScopeGuard in{Scope(context, "ref")};
  EXPECT_THROW(here + vector({1}), Error);
}

TEST(SafetensorsTest, StoreNamedTensors) {
  const std::string path = "tensor_binding_test.safetensors";
  save_safetensors(path, {{"a", vector({1, 2})}, {"b", vector({0.5f})}}, {{"made", "here"}});

  const NamedTensors loaded = load_safetensors(path);
  EXPECT_EQ(loaded.at("a").to_vector<int>(), (std::vector<int>{1, 2}));
  EXPECT_EQ(loaded.at("b").to_vector<float>(), (std::vector<float>{0.5}));
  EXPECT_EQ(Safetensors(path).metadata().at("made"), "here");
}

}  // namespace
}  // namespace tenon
