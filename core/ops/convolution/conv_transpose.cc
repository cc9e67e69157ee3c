// conv_transpose: each input element adds a scaled copy of the filter to the output. The forward
// pass equals the gradient of conv with respect to its input.

#include "core/ops/convolution/conv_shape.h"

namespace tenon::ops {
namespace {

struct Attrs {
  Ints strides;         // Distance between filter copies per spatial axis; empty: 1.
  Ints pads;            // Elements to crop before, then after each spatial axis; empty: none.
  Ints dilations;       // Dilation of the filter per spatial axis; empty: 1.
  int64_t group = 1;    // Number of independent groups of channels.
  Ints output_padding;  // Elements added at the end of each spatial axis; empty: none.
  Ints output_shape;    // Spatial sizes of the result, given instead of pads; empty: use pads.
  TENON_ATTRS(strides, pads, dilations, group, output_padding, output_shape)
};

// The shape of the result, and the attributes with which conv_backward_input computes it.
struct Plan {
  Dims shape;
  ConvAttrs back;
};

// Requires an empty list, or a size from 0 to 2^31 for each spatial axis.
void require_sizes_of_axes(const Ints& values, size_t n_axes, const char* name) {
  require(values.empty() || values.size() == n_axes,
          "C3: {} must have one value for each of {} spatial axes, not {}", name, n_axes,
          values.size());
  for (const int64_t value : values) {
    require(value >= 0 && value < kMaxWindowExtent,
            "C3: {} must be from 0 to 2^31, but one value is {}", name, value);
  }
}

// Constraints.
//   C1  x, w and b are floating point and of one dtype.
//   C2  x has one to three spatial axes, and w has the same number.
//   C3  strides and dilations are empty or have one positive value for each spatial axis;
//       output_padding and output_shape are empty or have one value of at least 0 for each; pads is
//       empty or has two values for each.
//   C4  group divides the channels of x, and w has as many filters as x has channels.
//   C5  w is not empty, and neither is any axis of x except the batch.
//   C6  b has one element for each output channel.
//   C7  pads and output_shape are not given together.
//   C8  pads crop at most the whole result, and the result has at most 2^62 bytes.
Plan plan_of(const Attrs& attrs, const TensorType& x, const TensorType& w) {
  const size_t n = count_spatial_axes(x.shape);
  require(w.rank() == x.rank(), "C2: w must have {} axes like x, but its shape is {}", x.rank(),
          w.shape);
  require_empty_or_positive(attrs.strides, n, "strides");
  require_empty_or_positive(attrs.dilations, n, "dilations");
  require_pads(attrs.pads, n, -kMaxWindowExtent);
  require_sizes_of_axes(attrs.output_padding, n, "output_padding");
  require_sizes_of_axes(attrs.output_shape, n, "output_shape");
  const Size channels = x.shape[1];
  require(channels == w.shape[0], "C4: w must have a filter for each of {} channels, not {}",
          channels, w.shape[0]);
  require(attrs.group >= 1 && channels % attrs.group == 0,
          "C4: group must be positive and divide {} channels, but is {}", channels, attrs.group);
  for (size_t i = 1; i < x.rank(); ++i) {
    require(x.shape[i] >= 1 && x.shape[i] < kMaxWindowExtent && w.shape[i] >= 1 &&
                w.shape[i] < kMaxWindowExtent,
            "C5: axis {} of x: {} and of w: {} must have from 1 to 2^31 - 1 elements", i, x, w);
  }
  require(attrs.pads.empty() || attrs.output_shape.empty(),
          "C7: pads and output_shape cannot both be given");

  Plan plan{.shape = {x.shape[0], attrs.group * w.shape[1]},
            .back = {.strides = attrs.strides, .dilations = attrs.dilations, .group = attrs.group}};
  Ints pads_end;
  const Window window = conv_window(
      w.shape, {.strides = attrs.strides, .pads = attrs.pads, .dilations = attrs.dilations});
  for (size_t i = 0; i < n; ++i) {
    const WindowAxis& axis = window[i];
    const Size covered = (x.shape[kSpatial + i] - 1) * axis.stride + axis.extent();
    const int64_t added = attrs.output_padding.empty() ? 0 : attrs.output_padding[i];
    int64_t begin = axis.pad_begin, end = axis.pad_end - added;
    Size size = covered - begin - end;
    if (!attrs.output_shape.empty()) {
      size = attrs.output_shape[i];
      // If the filter copies cover more than output_shape, crop at both ends. If they cover less,
      // add zeros at the end.
      begin = (greatest(0, covered + added - size) + 1) / 2;
      end = covered - begin - size;
    }
    require(size >= 0,
            "C8: pads crop {} elements, but the result has only {} along spatial axis {}",
            begin + axis.pad_end, covered + added, i);
    plan.shape.push_back(size);
    plan.back.pads.push_back(begin);
    pads_end.push_back(end);
  }
  for (const int64_t pad : pads_end) plan.back.pads.push_back(pad);
  check_size(TensorType(x.dtype, plan.shape));
  return plan;
}

TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const Plan plan = plan_of(attrs, in[0], in[1]);
  require_conv_inputs(in, plan.shape[1]);
  return {TensorType(in[0].dtype, plan.shape)};
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Plan plan = plan_of(attrs, in[0]->type, in[1]->type);
  const Tensor y = conv_backward_input(in[0], in[1], plan.shape, plan.back);
  if (!has(in, 2)) return {y};
  Dims channels{plan.shape[1]};
  for (size_t i = kSpatial; i < plan.shape.rank(); ++i) channels.push_back(1);
  return {y + reshape(in[2], channels)};
}

Cases<Attrs> cases() {
  const CaseTensor line = f32({1, 1, 3}, {1, 10, 100}), taps = f32({1, 1, 3}, {1, 2, 3});
  const CaseTensor deep = uniform({2, 4, 3, 2});
  return {
      {.name = "example",
       .inputs = {f32({1, 1, 2, 2}, {1, 2, 3, 4}), f32({1, 1, 2, 2}, {1, 0, 0, 10})},
       .expect = {f32({1, 1, 3, 3}, {1, 2, 0, 3, 14, 20, 0, 30, 40})}},
      {.name = "bias",
       .inputs = {line, f32({1, 2, 1}, {1, 2}), f32({5, 7})},
       .expect = {f32({1, 2, 3}, {6, 15, 105, 9, 27, 207})}},
      {.name = "strides",
       .attrs = {.strides = {2}},
       .inputs = {line, taps},
       .expect = {f32({1, 1, 7}, {1, 2, 13, 20, 130, 200, 300})}},
      {.name = "pads",
       .attrs = {.pads = {1, 2}},
       .inputs = {line, taps},
       .expect = {f32({1, 1, 2}, {12, 123})}},
      {.name = "negative_pads_add_zeros",
       .attrs = {.pads = {-1, -2}},
       .inputs = {f32({1, 1, 1}, {1}), taps},
       .expect = {f32({1, 1, 6}, {0, 1, 2, 3, 0, 0})}},
      {.name = "dilations",
       .attrs = {.dilations = {3}},
       .inputs = {line, f32({1, 1, 2}, {1, 2})},
       .expect = {f32({1, 1, 6}, {1, 10, 100, 2, 20, 200})}},
      {.name = "group",
       .attrs = {.group = 2},
       .inputs = {f32({1, 2, 1}, {1, 10}), f32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
       .expect = {f32({1, 4, 2}, {1, 2, 3, 4, 50, 60, 70, 80})}},
      {.name = "output_padding",
       .attrs = {.strides = {2}, .output_padding = {1}},
       .inputs = {f32({1, 1, 2}, {1, 10}), f32({1, 1, 2}, {1, 2})},
       .expect = {f32({1, 1, 5}, {1, 2, 10, 20, 0})}},
      {.name = "output_padding_takes_back_what_pads_cut_off",
       .attrs = {.pads = {0, 2}, .output_padding = {1}},
       .inputs = {line, taps},
       .expect = {f32({1, 1, 4}, {1, 12, 123, 230})}},
      {.name = "output_shape_is_smaller",
       .attrs = {.output_shape = {2}},
       .inputs = {line, taps},
       .expect = {f32({1, 1, 2}, {123, 230})}},
      {.name = "output_shape_is_larger",
       .attrs = {.strides = {2}, .output_shape = {9}},
       .inputs = {line, taps},
       .expect = {f32({1, 1, 9}, {1, 2, 13, 20, 130, 200, 300, 0, 0})}},
      {.name = "all_attributes",
       .attrs = {.strides = {2, 1},
                 .pads = {1, 0, 0, 1},
                 .dilations = {1, 2},
                 .group = 2,
                 .output_padding = {1, 0}},
       .inputs = {deep, uniform({4, 3, 2, 3}), uniform({6})}},
      {.name = "three_axes",
       .attrs = {.strides = {1, 2, 1}, .pads = {1, 0, 1, 0, 1, 0}},
       .inputs = {uniform({1, 2, 2, 2, 3}), uniform({2, 2, 2, 1, 2})}},
      {.name = "empty_batch", .inputs = {uniform({0, 1, 3}), taps}, .expect = {f32({0, 1, 5}, {})}},
      {.name = "pads_leave_nothing",
       .attrs = {.pads = {2, 3}},
       .inputs = {line, taps},
       .expect = {f32({1, 1, 0}, {})}},
      {.name = "integers", .inputs = {i32({1, 1, 1}, {1}), i32({1, 1, 1}, {1})}, .error = "C1"},
      {.name = "no_spatial_axes", .inputs = {uniform({1, 1}), uniform({1, 1})}, .error = "C2"},
      {.name = "ranks_differ", .inputs = {line, uniform({1, 1, 3, 3})}, .error = "C2"},
      {.name = "stride_of_zero", .attrs = {.strides = {0}}, .inputs = {line, taps}, .error = "C3"},
      {.name = "a_pad_too_few", .attrs = {.pads = {1}}, .inputs = {line, taps}, .error = "C3"},
      {.name = "negative_output_padding",
       .attrs = {.output_padding = {-1}},
       .inputs = {line, taps},
       .error = "C3"},
      {.name = "a_size_too_many",
       .attrs = {.output_shape = {3, 3}},
       .inputs = {line, taps},
       .error = "C3"},
      {.name = "channels_differ", .inputs = {line, uniform({2, 1, 3})}, .error = "C4"},
      {.name = "group_does_not_divide",
       .attrs = {.group = 3},
       .inputs = {deep, uniform({4, 1, 2, 2})},
       .error = "C4"},
      {.name = "nothing_to_spread", .inputs = {uniform({1, 1, 0}), taps}, .error = "C5"},
      {.name = "filter_without_elements", .inputs = {line, f32({1, 1, 0}, {})}, .error = "C5"},
      {.name = "bias_differs", .inputs = {line, taps, f32({1, 2})}, .error = "C6"},
      {.name = "pads_and_output_shape",
       .attrs = {.pads = {0, 0}, .output_shape = {5}},
       .inputs = {line, taps},
       .error = "C7"},
      {.name = "too_much_is_cut_off",
       .attrs = {.pads = {3, 3}},
       .inputs = {line, taps},
       .error = "C8"},
  };
}

}  // namespace

OpDef conv_transpose_def() {
  return define<Attrs>({
      .name = "conv_transpose",
      .summary =
          "Transposed convolution: each element of the input adds a scaled copy of the filter.",
      .formula = "y[n, o, p * stride + k * dilation - pad] += x[n, c, p] * w[c, o, k] "
                 "for c in the group of o, then y[n, o] += b[o]",
      .details =
          "pads crop the result; negative pads add zeros. With output_shape, surplus elements are "
          "cropped at both ends, the odd one at the start, and missing elements are added as zeros "
          "at the end.",
      .inputs = {{"x", "the input: batch, channels, then one to three spatial axes"},
                 {"w",
                  "the filter: channels of x, output channels of one group, then spatial axes"},
                 {"b", "the bias, added to each output channel", InputKind::kOptional}},
      .outputs = {{"y", "the result: batch, output channels, then the spatial axes"}},
      .attrs_doc =
          {{"strides",
            "The distance between filter copies along each spatial axis; empty for ones."},
           {"pads",
            "The elements cropped before each spatial axis, then after each; empty for none."},
           {"dilations", "The dilation of the filter along each spatial axis; empty for ones."},
           {"group", "The number of independent groups of channels."},
           {"output_padding",
            "The size added to the end of each spatial axis of the result; empty for none."},
           {"output_shape",
            "The spatial sizes of the result, instead of pads; empty to use pads."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .promotes = Promotes::kAll,
      .numeric = Numeric::kAccumulation,
      .onnx = "ConvTranspose",
  });
}

}  // namespace tenon::ops
