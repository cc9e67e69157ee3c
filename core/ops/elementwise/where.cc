// where: selects each element from one of two tensors.

#include <limits>

#include "core/ops/definition/type_rules.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  condition is bool.
//   C2  condition, x and y broadcast.
//   The result has the common dtype of x and y, and the shape that all three broadcast to.
TensorTypes infer(const NoAttrs&, TypeSpan in) {
  require(in[0].dtype == DType::kBool, "C1: condition must be bool, but is {}", in[0].dtype);
  const DType dtype = in[1].dtype;
  const TensorType values(dtype, require_broadcast(in[1], in[2], "C2"));
  return {TensorType(dtype, require_broadcast(in[0], values, "C2"))};
}

Tensors vjp(const NoAttrs&, const VjpArgs& v) {
  const Tensor &g = v.cotangent(0), &condition = v.input(0);
  return gradients(
      v, [] { return Tensor(); }, [&] { return where(condition, g, number(0)); },
      [&] { return where(condition, number(0), g); });
}

Cases<NoAttrs> cases() {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  return {
      {.name = "example",
       .inputs = {boolean({1, 0, 1}), f32({1, 2, 3}), f32({10, 20, 30})},
       .expect = {f32({1, 20, 3})}},
      {.name = "broadcast",
       .inputs = {boolean({2, 1}, {1, 0}), f32({1, 2}), scalar(0)},
       .expect = {f32({2, 2}, {1, 2, 0, 0})}},
      {.name = "what_is_not_taken_does_not_matter",
       .inputs = {boolean({1, 0}), f32({1, kNaN}), f32({kNaN, 2})},
       .expect = {f32({1, 2})},
       .check_gradient = false},
      {.name = "integers",
       .inputs = {boolean({0, 1}), i64({1, 2}), i64({3, 4})},
       .expect = {i64({3, 2})}},
      {.name = "bool",
       .inputs = {boolean({0, 1}), boolean({1, 1}), boolean({0, 0})},
       .expect = {boolean({0, 1})}},
      {.name = "rank_0",
       .inputs = {boolean({}, {1}), f32({}, {1}), f32({}, {2})},
       .expect = {f32({}, {1})}},
      {.name = "no_elements", .inputs = {boolean({0}, {}), uniform({0}), uniform({1})}},
      {.name = "condition_is_not_bool", .inputs = {f32({1}), f32({1}), f32({1})}, .error = "C1"},
      {.name = "shapes_that_do_not_broadcast",
       .inputs = {boolean({1, 0}), uniform({3}), uniform({3})},
       .error = "C2"},
  };
}

}  // namespace

OpDef where_def() {
  return define<NoAttrs>({
      .name = "where",
      .summary = "The elements of x where a condition holds, and those of y elsewhere.",
      .formula = "result = condition ? x : y",
      .details =
          "The branch that is not taken receives the cotangent 0. If its derivative is infinite or "
          "NaN there, its gradient is NaN, since 0 times infinity is NaN. To avoid this, replace "
          "its input too where it is not taken: `where(c, exp(where(c, a, 0)), b)` instead of "
          "`where(c, exp(a), b)`.",
      .inputs = {{"condition", "the condition, which selects x where it is true"},
                 {"x", "the elements chosen where the condition holds"},
                 {"y", "the elements chosen elsewhere"}},
      .outputs = {{"result", "the chosen elements, with the broadcast shape of the inputs"}},
      .infer = infer,
      .vjp = vjp,
      .cases = cases,
      .saves = Saves::kFirstInput,
      .promotes = Promotes::kAllButFirst,
      .storage = StorageUse::kMoves,
      .elementwise = true,
      .onnx = "Where",
  });
}

}  // namespace tenon::ops
