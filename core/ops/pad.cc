// pad: elements added around a tensor, or taken off its ends.

#include "core/ops/formulas.h"

namespace tenon::ops {
namespace {

using Attrs = PadAttrs;

// Constraints.
//   C1  pads has two entries for each axis of x.
//   C2  no size becomes negative, and the result fits.
//   C3  value, if given, has rank 0.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  const size_t rank = x.rank();
  require(attrs.pads.size() == 2 * rank, "C1: pads has {} entries for {}", attrs.pads.size(), x);
  if (in.has(1)) require(in[1].rank() == 0, "C3: value must have rank 0, but is {}", in[1]);
  constexpr int64_t kMost = int64_t{1} << 60;
  TensorType y(x.dtype, x.shape);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t before = attrs.pads[i], after = attrs.pads[rank + i];
    const bool fits = before > -kMost && before < kMost && after > -kMost && after < kMost;
    y.shape[i] = fits ? x.shape[i] + before + after : -1;
    require(y.shape[i] >= 0, "C2: {} and {} elements cannot be added to axis {} of {}", before,
            after, i, x);
  }
  check_size(y);
  return {y};
}

// What was added is taken off again, and what was taken off had no part in the result.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  Ints back = attrs.pads;
  for (int64_t& n : back) n = -n;
  const Tensor& g = v.cotangent(0);
  Tensors gradients = {pad(g, back)};
  if (v.n_inputs() > 1) {
    const auto to_value = [&] {
      const Tensor inside = zeros(TensorType(DType::kBool, v.input_type(0).shape));
      const Tensor added = pad(inside, make_scalar_bool(true), attrs.pads);
      return sum(where(added, g, number(0)));
    };
    gradients.push_back(v.needs(1) ? to_value() : Tensor());
  }
  return gradients;
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({1, 2, 3});
  return {
      {.name = "example",
       .attrs = {.pads = {1, 2}},
       .inputs = {x},
       .expect = {f32({0, 1, 2, 3, 0, 0})}},
      {.name = "value",
       .attrs = {.pads = {1, 0}},
       .inputs = {x, f32({}, {9})},
       .expect = {f32({9, 1, 2, 3})}},
      {.name = "two_axes",
       .attrs = {.pads = {1, 0, 0, 1}},
       .inputs = {i32({1, 2}, {1, 2}), scalar_int(-1)},
       .expect = {i32({2, 3}, {-1, -1, -1, 1, 2, -1})}},
      {.name = "negative_pads_crop",
       .attrs = {.pads = {-1, -1}},
       .inputs = {x},
       .expect = {f32({2})}},
      {.name = "shift", .attrs = {.pads = {1, -1}}, .inputs = {x}, .expect = {f32({0, 1, 2})}},
      {.name = "bool",
       .attrs = {.pads = {1, 1}},
       .inputs = {boolean({1})},
       .expect = {boolean({0, 1, 0})}},
      {.name = "rank_0", .inputs = {f32({}, {1})}, .expect = {f32({}, {1})}},
      {.name = "around_no_elements",
       .attrs = {.pads = {1, 1}},
       .inputs = {f32({0}, {})},
       .expect = {f32({0, 0})}},
      {.name = "pads_are_too_short", .attrs = {.pads = {1}}, .inputs = {x}, .error = "C1"},
      {.name = "more_is_cropped_than_there_is",
       .attrs = {.pads = {-2, -2}},
       .inputs = {x},
       .error = "C2"},
      {.name = "huge_pads",
       .attrs = {.pads = {1ll << 62, 1ll << 62}},
       .inputs = {x},
       .error = "C2"},
      {.name = "value_has_an_axis",
       .attrs = {.pads = {1, 1}},
       .inputs = {x, f32({1})},
       .error = "C3"},
  };
}

}  // namespace

OpDef pad_def() {
  return define<Attrs>({
      .name = "pad",
      .summary = "A tensor with elements added before and after each axis.",
      .formula = "y[i] = x[i - before] where that is inside of x, else value",
      .details = "Negative pads take elements off.",
      .inputs = {{"x", "the input"},
                 {"value", "what is added, of rank 0; absent for zero", InputKind::kOptional}},
      .outputs = {{"y", "the padded tensor"}},
      .attrs_doc = {{"pads", "Elements added before each axis, then after each."},
                    {"mode", "What the added elements are: constant."}},
      .infer = infer,
      .vjp = vjp,
      .cases = cases,
      .promotes = Promotes::kAll,
      .sparse_output = true,
      .onnx = "Pad",
  });
}

}  // namespace tenon::ops
