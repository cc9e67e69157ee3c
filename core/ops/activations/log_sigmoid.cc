// log_sigmoid: the logarithm of the sigmoid, accurate even where the sigmoid underflows.

#include <cmath>

#include "core/ops/definition/type_rules.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  x is floating point.
//   y has the type of x.

Tensors decompose(const NoAttrs&, TensorSpan in) { return {-softplus(-in[0])}; }

Cases<NoAttrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({-1, 0, 1})},
       .expect = {f32({-1.3132616875182228, -0.6931471805599453, -0.31326168751822286})}},
      {.name = "far_out",
       .inputs = {f32({-1000, 50, 1000})},
       .expect = {f32({-1000, -1.9287498479639178e-22, 0})}},
      {.name = "infinities",
       .inputs = {f32({-INFINITY, INFINITY})},
       .expect = {f32({-INFINITY, 0})},
       .check_gradient = false},
      {.name = "drawn", .inputs = {uniform({3, 5}, -4, 4)}},
      {.name = "no_elements", .inputs = {uniform({0, 4})}},
      {.name = "integers", .inputs = {i32({1})}, .error = "C1"},
  };
}

}  // namespace

OpDef log_sigmoid_def() {
  return define_unary({
      .name = "log_sigmoid",
      .summary = "The natural logarithm of the sigmoid, computed without underflow.",
      .formula = "y = -ln(1 + exp(-x))",
      .infer = infer_floating,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kTranscendental,
  });
}

}  // namespace tenon::ops
