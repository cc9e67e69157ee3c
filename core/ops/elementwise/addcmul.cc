// addcmul: x + value * a * b.

#include "core/ops/definition/type_rules.h"

namespace tenon::ops {
namespace {

struct Attrs {
  double value = 1;  // Factor of the product a * b.
  TENON_ATTRS(value)
};

// Constraints.
//   C1  x, a and b are floating point.
//   C2  x, a and b can be broadcast to a common shape.
//   y has their common dtype and the shape that they broadcast to.
TensorTypes infer(const Attrs&, TypeSpan in) { return infer_floating(NoAttrs{}, in); }

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensor product = in[1] * in[2];
  return {in[0] + (attrs.value == 1 ? product : attrs.value * product)};
}

Cases<Attrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({1, 2}), f32({3, 4}), f32({10, -0.5})},
       .expect = {f32({31, 0})}},
      {.name = "value",
       .attrs = {.value = 0.5},
       .inputs = {f32({1, 2}), f32({3, 4}), f32({10, -0.5})},
       .expect = {f32({16, 1})}},
      {.name = "broadcast",
       .inputs = {scalar(1), f32({2, 1}, {1, 2}), f32({10, 20})},
       .expect = {f32({2, 2}, {11, 21, 21, 41})}},
      {.name = "drawn",
       .attrs = {.value = -2},
       .inputs = {uniform({3}), uniform({2, 1}), uniform({2, 3})}},
      {.name = "no_elements", .inputs = {uniform({0}), uniform({0}), uniform({1})}},
      {.name = "integer_is_not_floating", .inputs = {i32({1}), i32({1}), i32({1})}, .error = "C1"},
      {.name = "shapes_that_do_not_broadcast",
       .inputs = {uniform({2}), uniform({3}), uniform({1})},
       .error = "C2"},
  };
}

}  // namespace

OpDef addcmul_def() {
  return define<Attrs>({
      .name = "addcmul",
      .summary = "A tensor plus the scaled product of two others.",
      .formula = "y = x + value * a * b",
      .inputs = {{"x", "the addend"}, {"a", "the first factor"}, {"b", "the second factor"}},
      .outputs = {{"y", "the sum, of the shape that the inputs broadcast to"}},
      .attrs_doc = {{"value", "The factor that scales the product."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .promotes = Promotes::kAll,
      .elementwise = true,
      .numeric = Numeric::kComposite,
  });
}

}  // namespace tenon::ops
