#include "core/trace/inspect.h"

#include <nlohmann/json.hpp>

#include "core/testing/control.h"
#include "core/testing/functions.h"

namespace tenon {
namespace {

using namespace testing;
using Json = nlohmann::json;

class Inspect : public FunctionTest {
 protected:
  Json inspected(const Ref<Function>& f, const std::vector<InputSpec>& specs,
                 std::vector<TensorType> types) {
    return Json::parse(inspect(scope(), *f->trace(scope(), specs, {}), types));
  }
};

InputSpec floats(std::vector<int64_t> sizes) { return {.dtype = DType::kF32, .sizes = sizes}; }

TEST_F(Inspect, ReportsHowEachCallWouldRun) {
  const auto f =
      function([](TensorSpan in) -> Tensors { return {add(softmax(in[0], -1), in[0])}; });
  const Json found = inspected(f, {floats({3})}, {TensorType(DType::kF32, {3})});

  ASSERT_EQ(found["calls"].size(), 2u) << found.dump(2);
  EXPECT_EQ(found["calls"][0]["op"], "softmax");
  EXPECT_EQ(found["calls"][0]["runs"], "parts");
  EXPECT_NE(found["calls"][0]["why"], "");
  EXPECT_EQ(found["calls"][1]["runs"], "kernel");
  EXPECT_EQ(found["calls"][1]["why"], "");
  EXPECT_EQ(found["calls"][1]["device"], device().name());
}

TEST_F(Inspect, CountsPeakMemory) {
  // Each value has 40 bytes. `a` is dead when `c` is computed, and the view needs no memory.
  const auto f = function([](TensorSpan in) -> Tensors {
    const Tensor a = neg(in[0]), b = exp(reshape(a, {5, 2})), c = neg(b);
    return {c, b};
  });
  const Json memory =
      inspected(f, {floats({InputSpec::kUnknown})}, {TensorType(DType::kF32, {10})})["memory"];
  EXPECT_EQ(memory["inputs"], 40);
  EXPECT_EQ(memory["outputs"], 80);
  EXPECT_EQ(memory["peak"], 80);
}

TEST_F(Inspect, CountsVariablesAndCaptures) {
  const Ref<Variable> w = variable(f32({1, 2, 3}));
  const Tensor outside = f32({1, 2});
  const auto f = function([&](TensorSpan in) -> Tensors {
    return {mul(in[0], w->read(current_scope())), add(outside, outside)};
  });
  const Json memory = inspected(f, {floats({3})}, {TensorType(DType::kF32, {3})})["memory"];
  EXPECT_EQ(memory["variables"], 12);
  EXPECT_EQ(memory["captures"], 8);
}

TEST_F(Inspect, ReportsCallsOfRegions) {
  const auto f = function([&](TensorSpan in) -> Tensors {
    return cond(
        scope(), greater(sum(in[0]), make_scalar(0.0)),
        [&](TensorSpan) -> Tensors { return {exp(in[0])}; },
        [&](TensorSpan) -> Tensors { return {in[0]}; });
  });
  const Json found = inspected(f, {floats({InputSpec::kUnknown})}, {TensorType(DType::kF32, {4})});
  bool is_block = false, is_inside = false;
  for (const Json& call : found["calls"]) {
    is_block = is_block || call["runs"] == "blocks";
    is_inside =
        is_inside || (call["op"] == "exp" && call["level"] == 1 && call["outputs"][0] == "f32[4]");
  }
  EXPECT_TRUE(is_block && is_inside) << found.dump(2);
}

TEST_F(Inspect, RejectsTypesThatTheTraceDoesNotServe) {
  const auto f = function([](TensorSpan in) -> Tensors { return {neg(in[0])}; });
  EXPECT_ERROR(inspected(f, {floats({3})}, {TensorType(DType::kF32, {4})}), Code::kInvalidArgument,
               "but not (f32[4])");
}

}  // namespace
}  // namespace tenon
