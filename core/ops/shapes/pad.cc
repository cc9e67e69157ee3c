// pad: adds elements at the ends of axes, or crops elements there.

#include "core/ops/definition/symbolic_sizes.h"
#include "core/ops/indexing/indexing.h"

namespace tenon::ops {
namespace {

using Attrs = PadAttrs;

// The numbers of elements that pad crops, keeps and adds along one axis.
struct Edges {
  Size skipped = 0;  // Elements cropped at the front.
  Size kept = 0;
  Size before = 0;  // Elements added at the front.
  Size after = 0;
  Size size() const { return before + kept + after; }
};

// Computes the edges of an axis of size n for pads `before` and `after`; negative pads crop. If one
// pad crops more than n elements, it also crops elements that the other pad adds.
Edges edges_of(Size n, Size before, Size after) {
  const Size size = n + before + after;
  Edges edges{.skipped = least(n, greatest(0, -before)),
              .before = least(greatest(0, before), size)};
  edges.kept = greatest(0, n + least(before, 0) + least(after, 0));
  edges.after = size - edges.before - edges.kept;
  return edges;
}

// Returns the pads of all axes of x: those before each axis, then those after each.
Sizes all_pads(const Attrs& attrs, size_t rank) {
  if (attrs.axes.empty()) return attrs.pads;
  const size_t n = attrs.axes.size();
  Sizes pads(2 * rank, 0);
  for (size_t i = 0; i < n; ++i) {
    const auto axis = static_cast<size_t>(from_front(attrs.axes[i], rank));
    pads[axis] = attrs.pads[i];
    pads[rank + axis] = attrs.pads[n + i];
  }
  return pads;
}

// Constraints.
//   C1  pads has two entries for each of axes, or for each axis of x.
//   C2  no size becomes negative, and the result has at most 2^62 bytes.
//   C3  value, if given, has rank 0.
//   C4  in modes other than constant, each padded axis keeps an element to repeat.
//   C5  -rank(x) <= axis < rank(x) for each of axes, without duplicates.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  const size_t rank = x.rank();
  if (!attrs.axes.empty()) require_axes(attrs.axes, x, "C5");
  const size_t n_padded = attrs.axes.empty() ? rank : attrs.axes.size();
  require(attrs.pads.size() == 2 * n_padded,
          "C1: pads has {} entries, but needs two for each of {} axes of {}", attrs.pads.size(),
          n_padded, x);
  if (in.has(1)) require(in[1].rank() == 0, "C3: value must have rank 0, but is {}", in[1]);

  constexpr int64_t kMaxPad = int64_t{1} << 60;
  const Sizes pads = all_pads(attrs, rank);
  TensorType y(x.dtype, x.shape);
  for (size_t i = 0; i < rank; ++i) {
    const Size before = pads[i], after = pads[rank + i];
    const bool fits = before > -kMaxPad && before < kMaxPad && after > -kMaxPad && after < kMaxPad;
    y.shape[i] = fits ? x.shape[i] + before + after : Size(-1);
    require(y.shape[i] >= 0,
            "C2: pads {} and {} give a negative or too large size for axis {} of {}", before, after,
            i, x);
    require(attrs.mode == PadMode::kConstant || y.shape[i] == 0 ||
                edges_of(x.shape[i], before, after).kept > 0,
            "C4: axis {} of {} has no element to repeat between pads of {} and {}", i, x, before,
            after);
  }
  check_size(y);
  return {y};
}

// Returns, for each index along a padded axis, the index of the kept element to copy.
Tensor source_indices(PadMode mode, const Edges& edges) {
  const Tensor all = iota({edges.size()}, DType::kI64, 0);
  const Tensor i = sub(all, integer(edges.before));
  if (mode == PadMode::kEdge) return clip(i, integer(0), integer(edges.kept - 1));
  if (mode == PadMode::kWrap) return mod(i, integer(edges.kept));
  const Size period = greatest(1, 2 * (edges.kept - 1));  // For reflect: once forwards and back.
  const Tensor there = mod(i, integer(period));
  return minimum(there, sub(integer(period), there));
}

// Returns a block of `n` padding elements along one axis; the other sizes are those of y.
Tensor padding_block(TensorSpan in, const Tensor& y, size_t axis, Size n) {
  TensorType type = y->type;
  type.shape[axis] = n;
  return has(in, 1) ? broadcast_to(in[1], type.shape) : zeros(type);
}

// Pads one axis after the other. Constant padding reaches this code only on a device without a
// kernel for it.
Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const size_t rank = in[0]->rank();
  const Sizes pads = all_pads(attrs, rank);
  Tensor y = in[0];
  for (size_t i = 0; i < rank; ++i) {
    const Edges edges = edges_of(y->shape()[i], pads[i], pads[rank + i]);
    const auto axis = static_cast<int64_t>(i);
    const Size end = edges.skipped + edges.kept;
    y = slice(y, {.starts = {edges.skipped}, .ends = {end}, .axes = {axis}});
    if (edges.before == 0 && edges.after == 0) continue;
    if (attrs.mode == PadMode::kConstant) {
      const Tensor parts[] = {padding_block(in, y, i, edges.before), y,
                              padding_block(in, y, i, edges.after)};
      y = concat(parts, axis);
    } else {
      y = gather(y, source_indices(attrs.mode, edges), axis);
    }
  }
  return {y};
}

// The derivative in mode constant: crops the elements that pad added, and inserts zeros for the
// elements that it cropped.
Tensors constant_vjp(const Attrs& attrs, const VjpArgs& v) {
  const Sizes pads = all_pads(attrs, v.input_type(0).rank());
  Sizes back = pads;
  for (Size& n : back) n = -n;
  const Tensor& g = v.cotangent(0);
  Tensors gradients = {pad(g, back)};
  if (v.n_inputs() > 1) {
    const auto to_value = [&] {
      const Tensor inside = zeros(TensorType(DType::kBool, v.input_type(0).shape));
      const Tensor added = pad(inside, make_scalar_bool(true), pads);
      return sum(where(added, g, number(0)));
    };
    gradients.push_back(v.needs(1) ? to_value() : Tensor());
  }
  return gradients;
}

// In modes other than constant, adds the cotangents of all copies of an element.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  if (attrs.mode == PadMode::kConstant) return constant_vjp(attrs, v);
  const TensorType& x = v.input_type(0);
  const size_t rank = x.rank();
  Tensors gradients(v.n_inputs(), Tensor());
  if (count(v.output_type(0).shape) == 0) return gradients;

  const Sizes pads = all_pads(attrs, rank);
  Tensor g = v.cotangent(0);
  Sizes back(2 * rank, 0);
  for (size_t i = 0; i < rank; ++i) {
    const Edges edges = edges_of(x.shape[i], pads[i], pads[rank + i]);
    back[i] = edges.skipped;
    back[rank + i] = x.shape[i] - edges.skipped - edges.kept;
    if (edges.before == 0 && edges.after == 0) continue;
    TensorType kept = g->type;
    kept.shape[i] = edges.kept;
    g = gather_transposed(g, source_indices(attrs.mode, edges), kept, static_cast<int64_t>(i));
  }
  gradients[0] = pad(g, back);
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
      {.name = "far_beyond",
       .attrs = {.pads = {int64_t{1} << 32, -(int64_t{1} << 32)}},
       .inputs = {x},
       .expect = {f32({0, 0, 0})}},
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
      {.name = "axes",
       .attrs = {.pads = {1, 0}, .axes = {-2}},
       .inputs = {f32({1, 2}, {1, 2})},
       .expect = {f32({2, 2}, {0, 0, 1, 2})}},
      {.name = "value_along_axes",
       .attrs = {.pads = {-1, 1, 2, 0}, .axes = {1, 0}},
       .inputs = {f32({1, 2}, {1, 2}), f32({}, {9})},
       .expect = {f32({2, 3}, {9, 9, 9, 2, 9, 9})}},
      {.name = "more_is_cropped_than_there_is_but_not_than_is_added",
       .attrs = {.pads = {5, -4}, .axes = {0}},
       .inputs = {x, f32({}, {9})},
       .expect = {f32({9, 9, 9, 9})}},
      {.name = "reflect",
       .attrs = {.pads = {2, 1}, .mode = PadMode::kReflect},
       .inputs = {x},
       .expect = {f32({3, 2, 1, 2, 3, 2})}},
      {.name = "reflect_there_and_back",
       .attrs = {.pads = {0, 6}, .mode = PadMode::kReflect},
       .inputs = {x},
       .expect = {f32({1, 2, 3, 2, 1, 2, 3, 2, 1})}},
      {.name = "reflect_of_one_element",
       .attrs = {.pads = {1, 2}, .mode = PadMode::kReflect},
       .inputs = {f32({7})},
       .expect = {f32({7, 7, 7, 7})}},
      {.name = "edge",
       .attrs = {.pads = {2, 1}, .mode = PadMode::kEdge},
       .inputs = {x},
       .expect = {f32({1, 1, 1, 2, 3, 3})}},
      {.name = "wrap",
       .attrs = {.pads = {2, 4}, .mode = PadMode::kWrap},
       .inputs = {x},
       .expect = {f32({2, 3, 1, 2, 3, 1, 2, 3, 1})}},
      {.name = "modes_crop_first",
       .attrs = {.pads = {-1, 2}, .mode = PadMode::kWrap},
       .inputs = {x},
       .expect = {f32({2, 3, 2, 3})}},
      {.name = "modes_know_axes",
       .attrs = {.pads = {0, 1}, .mode = PadMode::kEdge, .axes = {-1}},
       .inputs = {boolean({2, 2}, {0, 1, 1, 0})},
       .expect = {boolean({2, 3}, {0, 1, 1, 1, 0, 0})}},
      {.name = "reflect_in_every_direction",
       .attrs = {.pads = {1, -1, 2, 2, 1, 3}, .mode = PadMode::kReflect},
       .inputs = {uniform({2, 3, 4})}},
      {.name = "nothing_to_repeat",
       .attrs = {.pads = {1, 0}, .mode = PadMode::kEdge},
       .inputs = {f32({0}, {})},
       .error = "C4"},
      {.name = "nothing_left_to_repeat",
       .attrs = {.pads = {-3, 1}, .mode = PadMode::kWrap},
       .inputs = {x},
       .error = "C4"},
      {.name = "all_is_cropped",
       .attrs = {.pads = {-3, 0}, .mode = PadMode::kReflect},
       .inputs = {x},
       .expect = {f32({0}, {})}},
      {.name = "axis_out_of_range",
       .attrs = {.pads = {1, 1}, .axes = {1}},
       .inputs = {x},
       .error = "C5"},
      {.name = "pads_of_more_axes",
       .attrs = {.pads = {1, 1, 1, 1}, .axes = {0}},
       .inputs = {f32({1, 2}, {1, 2})},
       .error = "C1"},
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
      .formula = "y[i] = x[i - before] where that is inside x, else value",
      .details =
          "Negative pads remove elements. The modes other than constant repeat the elements that "
          "remain: reflect mirrors them at the first and the last element without repeating these, "
          "edge repeats the first and the last element, and wrap continues at the other end. Pads "
          "may exceed the number of elements; the pattern then continues.",
      .inputs = {{"x", "the input"},
                 {"value", "the value of constant padding, of rank 0; zero if absent",
                  InputKind::kOptional}},
      .outputs = {{"y", "the padded tensor"}},
      .attrs_doc = {{"pads",
                     "The number of elements added before each of the axes, then after each."},
                    {"mode", "How the added elements are chosen: constant, reflect, edge or wrap."},
                    {"axes", "The axes that pads refers to; empty for all."}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .promotes = Promotes::kAll,
      .sparse_output = true,
      .onnx = "Pad",
  });
}

}  // namespace tenon::ops
