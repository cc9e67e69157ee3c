// fma: x * y + z, rounded once if the device supports it.

#include "core/ops/definition/type_rules.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  x, y and z are floating point.
//   C2  x, y and z can be broadcast to a common shape.
//   The result has their common dtype and the shape that they broadcast to.

Tensors vjp(const NoAttrs&, const VjpArgs& v) {
  const Tensor& g = v.cotangent(0);
  return gradients(
      v, [&] { return g * v.input(1); }, [&] { return g * v.input(0); }, [&] { return g; });
}

Cases<NoAttrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({1, 2, 3}), f32({4, 5, -6}), f32({10, 20, 30})},
       .expect = {f32({14, 30, 12})}},
      {.name = "broadcast",
       .inputs = {f32({2, 1}, {1, 2}), f32({3, 4}), scalar(1)},
       .expect = {f32({2, 2}, {4, 5, 7, 9})}},
      // Each exact result is next to the midpoint of two float32 values. Rounding it to float64
      // first would give the midpoint itself, which may round to the wrong float32 value.
      {.name = "ties_are_broken_far_below",
       .inputs =
           {f32({6}, {0x1.001p0, 0x1.001p0, 0x1.003p0, 0x1.003p0, 0x1.000002p-12, -0x1.000002p-12}),
            f32({6}, {0x1.001p0, 0x1.001p0, 0x1.001p0, 0x1.001p0, 0x1.fffffcp-13, 0x1.fffffcp-13}),
            f32({6}, {0x1p-80, -0x1p-80, 0x1p-80, -0x1p-80, 0x1.000002p0, 0x1.000002p0})}},
      {.name = "no_elements", .inputs = {uniform({0}), uniform({0}), uniform({1})}},
      {.name = "integer_is_not_floating", .inputs = {i32({1}), i32({1}), i32({1})}, .error = "C1"},
      {.name = "shapes_that_do_not_broadcast",
       .inputs = {uniform({2}), uniform({3}), uniform({1})},
       .error = "C2"},
  };
}

}  // namespace

OpDef fma_def() {
  return define<NoAttrs>({
      .name = "fma",
      .summary = "The product of two tensors plus a third.",
      .formula = "result = x * y + z",
      .details = "Rounded once on a device that declares ieee_fma, otherwise once or twice.",
      .inputs = {{"x", "the first factor"}, {"y", "the second factor"}, {"z", "the addend"}},
      .outputs = {{"result", "the sum, of the shape that the inputs broadcast to"}},
      .infer = infer_floating,
      .vjp = vjp,
      .cases = cases,
      .saves = Saves::kSome,
      .saved_inputs = 3,
      .promotes = Promotes::kAll,
      .elementwise = true,
      .numeric = Numeric::kRounded,
  });
}

}  // namespace tenon::ops
