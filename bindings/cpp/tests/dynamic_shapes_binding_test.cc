// Ops whose sizes are tensors, eagerly and in traces.

#include <gtest/gtest.h>

#include <tenon/tenon.hpp>

namespace tenon {
namespace {

using Floats = std::vector<float>;

Tensor counted(int64_t n) { return iota({.shape = {n}, .dtype = kFloat32}); }

// Checks that `body` has equal results eagerly and in one trace with an unknown size.
void expect_same(const char* name, const std::function<Tensor(const Tensor&)>& body) {
  const Function f(
      [&](std::span<const Tensor> in, const Statics&) { return std::vector<Tensor>{body(in[0])}; },
      {.signature = std::vector<InputSpec>{{.name = "x", .shape = {TENON_SIZE_UNKNOWN}}}});
  for (const int64_t n : {4, 6, 2, 10, 8}) {
    const Tensor x[] = {counted(n)};
    const Tensor eager = body(x[0]), traced = f(x)[0];
    EXPECT_EQ(traced.str(), eager.str()) << name << ", " << n;
  }
  EXPECT_EQ(f.traces().size(), 1u) << name;
}

TEST(DynamicShapesTest, OneTraceServesComputedSizes) {
  expect_same("zeros", [](const Tensor& x) { return dynamic_zeros(shape(x)); });
  expect_same("ones", [](const Tensor& x) { return dynamic_ones(shape(x) * 2, kInt32); });
  expect_same("full", [](const Tensor& x) { return dynamic_full(shape(x) + 1, sum(x), kFloat32); });
  expect_same("iota", [](const Tensor& x) {
    return dynamic_iota(concat({shape(x), vector<int64_t>({2})}, {.axis = 0}), {.axis = 1});
  });
  expect_same("broadcast_to", [](const Tensor& x) {
    return dynamic_broadcast_to(x, stack({tensor<int64_t>({3}, {}), shape(x)[0]}, {.axis = 0}));
  });
  expect_same("reshape", [](const Tensor& x) {
    const Tensor half = floor_div(shape(x)[0], 2);
    return dynamic_reshape(x, stack({half, tensor<int64_t>({2}, {})}, {.axis = 0}));
  });
  expect_same("reshape, inferred", [](const Tensor& x) {
    const Tensor half = floor_div(shape(x)[0], 2);
    return dynamic_reshape(x, stack({tensor<int64_t>({-1}, {}), half}, {.axis = 0}));
  });
  expect_same("slice", [](const Tensor& x) {
    const Tensor n = shape(x);
    return dynamic_slice(x, floor_div(n, 2), n, {.axes = {0}});
  });
  expect_same("all elements", [](const Tensor& x) {
    const Tensor table = dynamic_broadcast_to(x, concat({shape(x), shape(x)}, {.axis = 0}));
    return dynamic_iota(reshape(prod(shape(table)), {.shape = {1}}), {.dtype = kFloat32});
  });
  expect_same("zeros_like", [](const Tensor& x) { return zeros_like(x) + full_like(x, 3); });
}

TEST(DynamicShapesTest, SizesFromTensorValuesAreReadWhenTheFunctionRuns) {
  expect_same("as many as the last element says", [](const Tensor& x) {
    const Tensor n = cast(reshape(x[-1], {.shape = {1}}), {.to = kInt64});
    return dynamic_ones(n);
  });
}

TEST(DynamicShapesTest, GradientsPassThroughComputedSizes) {
  const auto slope = [](const Tensor& x) {
    const Tape tape;
    tape.watch(x);
    const Tensor n = shape(x);
    const Tensor y = dynamic_broadcast_to(x, concat({n, n}, {.axis = 0}));
    return tape.gradient(sum(y * y), x);
  };
  expect_same("gradient", slope);
  EXPECT_EQ(slope(counted(4)).to_vector<float>(), (Floats{0, 8, 16, 24}));
}

TEST(DynamicShapesTest, InvalidSizesAreErrors) {
  const auto message = [](SizeArguments sizes) {
    try {
      call_sized(TENON_OP_fill, nullptr, sizes, {1.f});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kInvalidArgument);
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const Tensor two = vector<int64_t>({2});
  EXPECT_NE(message({{"axis", two}}).find("fill has no size attribute \"axis\""),
            std::string::npos);
  EXPECT_NE(message({{"shape", two}, {"shape", two}}).find("twice"), std::string::npos);
  EXPECT_NE(message({{"shape", vector<float>({2})}}).find("shape must be i64"), std::string::npos);
  EXPECT_NE(message({{"shape", two[0]}}).find("shape must be i64"), std::string::npos);
  EXPECT_NE(message({{"shape", vector<int64_t>({-2})}}).find("-2"), std::string::npos);
}

}  // namespace
}  // namespace tenon
