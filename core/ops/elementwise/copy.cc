// copy: copies the input to new memory, row-major and contiguous.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

// Constraints: none.
TensorTypes infer(const NoAttrs&, TypeSpan in) { return {TensorType(in[0].dtype, in[0].shape)}; }

Tensors vjp(const NoAttrs&, const VjpArgs& v) { return {v.cotangent(0)}; }

Cases<NoAttrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({2, 2}, {1, 2, 3, 4})},
       .expect = {f32({2, 2}, {1, 2, 3, 4})}},
      {.name = "bool", .inputs = {boolean({1, 0})}, .expect = {boolean({1, 0})}},
      {.name = "rank_0", .inputs = {i64({}, {7})}, .expect = {i64({}, {7})}},
      {.name = "no_elements", .inputs = {uniform({0, 2})}, .expect = {f32({0, 2}, {})}},
      {.name = "no_input", .error = "takes 1 inputs"},
  };
}

}  // namespace

OpDef copy_def() {
  return define<NoAttrs>({
      .name = "copy",
      .summary = "A copy of the input in new memory, row-major and contiguous.",
      .formula = "y = x",
      .inputs = {{"x", "the input"}},
      .outputs = {{"y", "the same elements"}},
      .infer = infer,
      .vjp = vjp,
      .cases = cases,
      .storage = StorageUse::kMoves,
  });
}

}  // namespace tenon::ops
