// broadcast_to: repeats elements along axes of size 1 and along new leading axes.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

using Attrs = ShapeAttrs;

// Constraints.
//   C1  the sizes of `shape` are not negative, and the result has at most 2^62 bytes.
//   C2  x has at most as many axes as y; aligned at the end, each has the same size or size 1.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  const TensorType y = require_sizes(x.dtype, attrs.shape, "C1");
  require(x.rank() <= y.rank(), "C2: {} has more axes than shape {}", x, y.shape);
  const size_t extra = y.rank() - x.rank();
  for (size_t i = 0; i < x.rank(); ++i) {
    if (identical(x.shape[i], 1)) continue;
    require(x.shape[i] == y.shape[extra + i], "C2: {} does not broadcast to shape {}", x, y.shape);
  }
  return {y};
}

// Sets `out` to the layout of the result as a view of the input. Always succeeds.
bool view(const Attrs&, size_t, const TensorType& type, const TensorType& in_type,
          const StridedLayout& in, StridedLayout& out) {
  const size_t extra = type.rank() - in_type.rank();
  out.offset = in.offset;
  out.strides.set_rank(type.rank());
  for (size_t i = 0; i < type.rank(); ++i) {
    const bool repeats = i < extra || in_type.shape[i - extra] != type.shape[i];
    out.strides[i] = repeats ? Size(0) : in.strides[i - extra];
  }
  return true;
}

Tensors vjp(const Attrs&, const VjpArgs& v) { return {sum_to(v.cotangent(0), v.input_type(0))}; }

Cases<Attrs> cases() {
  return {
      {.name = "example",
       .attrs = {.shape = {2, 3}},
       .inputs = {f32({1, 2, 3})},
       .expect = {f32({2, 3}, {1, 2, 3, 1, 2, 3})}},
      {.name = "inner_axis",
       .attrs = {.shape = {2, 3}},
       .inputs = {f32({2, 1}, {1, 2})},
       .expect = {f32({2, 3}, {1, 1, 1, 2, 2, 2})}},
      {.name = "from_rank_0",
       .attrs = {.shape = {2}},
       .inputs = {i8({}, {5})},
       .expect = {i8({5, 5})}},
      {.name = "to_no_elements",
       .attrs = {.shape = {0, 3}},
       .inputs = {uniform({1, 3})},
       .expect = {f32({0, 3}, {})}},
      {.name = "negative_size", .attrs = {.shape = {-1}}, .inputs = {f32({1})}, .error = "C1"},
      {.name = "too_few_axes", .attrs = {.shape = {3}}, .inputs = {uniform({1, 3})}, .error = "C2"},
      {.name = "size_differs", .attrs = {.shape = {4}}, .inputs = {uniform({3})}, .error = "C2"},
  };
}

}  // namespace

OpDef broadcast_to_def() {
  return define<Attrs>({
      .name = "broadcast_to",
      .summary = "The input broadcast to a given shape.",
      .formula = "y[..., i, j] = x[i or 0, j or 0]",
      .inputs = {{"x", "the input"}},
      .outputs = {{"y", "a view whose repeated axes have stride 0"}},
      .attrs_doc = {{"shape", "The shape of the result."}},
      .infer = infer,
      .vjp = vjp,
      .view = view,
      .cases = cases,
      .onnx = "Expand",
  });
}

}  // namespace tenon::ops
