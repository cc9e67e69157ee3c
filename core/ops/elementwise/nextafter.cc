// nextafter: the representable number next to a in the direction of b.

#include <limits>

#include "core/ops/definition/type_rules.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  a and b are floating point.
//   C2  a and b broadcast.
//   y has their common dtype and the shape that they broadcast to.

Cases<NoAttrs> cases() {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  return {
      {.name = "example",
       .inputs = {f32({1, 1, -1, -1}), f32({2, 0, 0, -2})},
       .expect = {f32({1 + 0x1p-23, 1 - 0x1p-24, -1 + 0x1p-24, -1 - 0x1p-23})}},
      {.name = "equal_ones_stay", .inputs = {f32({3, -7}), f32({3, -7})}, .expect = {f32({3, -7})}},
      {.name = "from_zero",
       .inputs = {f32({0, -0.0, 0}), f32({1, 1, -1})},
       .expect = {f32({0x1p-149, 0x1p-149, -0x1p-149})}},
      {.name = "to_zero",
       .inputs = {f32({0x1p-149, -0x1p-149, -0.0}), f32({0, 5, 0})},
       .expect = {f32({0, -0.0, 0})}},
      {.name = "infinity_is_a_neighbour",
       .inputs = {f32({0x1.fffffep+127, kInf, -kInf}), f32({kInf, 0, -kInf})},
       .expect = {f32({kInf, 0x1.fffffep+127, -kInf})}},
      {.name = "nan", .inputs = {f32({kNaN, 1}), f32({1, kNaN})}, .expect = {f32({kNaN, kNaN})}},
      {.name = "half",
       .inputs = {f16({1, 65504, 0}), f16({2, kInf, -1})},
       .expect = {f16({1 + 0x1p-10, kInf, -0x1p-24})}},
      {.name = "bfloat16",
       .inputs = {bf16({1, -1, 0}), bf16({2, 0, 1})},
       .expect = {bf16({1 + 0x1p-7, -1 + 0x1p-8, 0x1p-133})}},
      {.name = "double", .inputs = {f64({1}), f64({2})}, .expect = {f64({1 + 0x1p-52})}},
      {.name = "broadcast",
       .inputs = {f32({2, 1}, {1, 2}), f32({0, 4})},
       .expect = {f32({2, 2}, {1 - 0x1p-24, 1 + 0x1p-23, 2 - 0x1p-23, 2 + 0x1p-22})}},
      {.name = "no_elements",
       .inputs = {uniform({0, 3}), uniform({3})},
       .expect = {f32({0, 3}, {})}},
      {.name = "integer_is_not_floating", .inputs = {i32({1}), i32({1})}, .error = "C1"},
      {.name = "shapes_that_do_not_broadcast",
       .inputs = {uniform({2, 3}), uniform({2})},
       .error = "C2"},
  };
}

}  // namespace

OpDef nextafter_def() {
  return define_binary({
      .name = "nextafter",
      .summary = "The next representable number after a in the direction of b.",
      .formula = "y = the representable number next to a in the direction of b",
      .details = "The result is b where a and b are equal, and NaN where either is NaN. A step to "
                 "zero keeps the sign of a.",
      .infer = infer_floating,
      .cases = cases,
      .no_gradient = "it moves by less than any difference can tell",
  });
}

}  // namespace tenon::ops
