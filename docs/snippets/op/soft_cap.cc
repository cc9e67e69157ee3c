// soft_cap: keeps every element inside (-cap, cap), smoothly.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

struct Attrs {
  double cap = 30;  // The bound, which the result approaches far from zero.
  TENON_ATTRS(cap)
};

// Constraints.
//   C1  x is floating point.
//   C2  cap is positive.
//   C3  type(y) = type(x).
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  require(is_floating(in[0].dtype), "C1: x must be floating point, but is {}", in[0].dtype);
  require(attrs.cap > 0, "C2: cap must be positive, but is {}", attrs.cap);
  return {in[0]};  // C3
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  return {attrs.cap * tanh(in[0] / attrs.cap)};
}

Cases<Attrs> cases() {
  return {
      {.name = "example",
       .attrs = {.cap = 2},
       .inputs = {f32({-2, 0, 1})},
       .expect = {f32({-1.5231883119115297, 0, 0.9242343145200195})}},
      {.name = "far_out", .inputs = {f32({-1e6, 1e6})}, .expect = {f32({-30, 30})}},
      {.name = "drawn", .inputs = {uniform({3, 5}, -40, 40)}},
      {.name = "no_elements", .inputs = {uniform({0, 4})}},
      {.name = "integers", .inputs = {i32({1})}, .error = "C1"},
      {.name = "no_cap", .attrs = {.cap = 0}, .inputs = {f32({1})}, .error = "C2"},
  };
}

}  // namespace

OpDef soft_cap_def() {
  return define<Attrs>({
      .name = "soft_cap",
      .summary = "Keeps every element inside (-cap, cap), smoothly.",
      .formula = "y = cap * tanh(x / cap)",
      .inputs = {{"x", "any floating tensor"}},
      .outputs = {{"y", "of the type of x"}},
      .attrs_doc = {{"cap", "What the result tends to, far from zero; positive."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .elementwise = true,
      .numeric = Numeric::kComposite,
  });
}

}  // namespace tenon::ops
