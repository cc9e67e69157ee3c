// resize_linear: resizes a tensor by linear interpolation of two neighbours along each axis.

#include "core/ops/resizing/resize.h"

namespace tenon::ops {
namespace {

using enum CoordinateTransformationMode;

struct Attrs {
  Ints sizes;           // Result size for each of `axes`; empty: derived from the scales.
  Ints scales;          // Result size divided by x size; empty: derived from sizes.
  Ints scale_divisors;  // The divisor of each scale; empty: 1.
  Ints axes;            // The axes to resize; empty for all.
  CoordinateTransformationMode coordinate_transformation_mode = kHalfPixel;
  bool antialias = false;        // Whether to widen the filter when downsampling.
  bool exclude_outside = false;  // Whether elements outside x have no weight.
  TENON_ATTRS(sizes, scales, scale_divisors, axes, coordinate_transformation_mode, antialias,
              exclude_outside)
};

// Constraints.
//   C1  x is floating point.
//   C2  -rank(x) <= axis < rank(x) for each of axes, none of them twice; sizes or scales, or both,
//       have one entry for each of axes (for each axis of x if axes is empty); scale_divisors is
//       empty or has as many entries and requires scales.
//   C3  sizes are not negative; scales and scale_divisors are positive.
//   C4  an axis without elements can only be resized to 0.
//   C5  if both sizes and scales are given, each size is the scaled size of x, rounded down or
//       rounded to nearest with halves up.
//   C6  the products of sizes and scales are below 2^59, and the size of the result does not
//       overflow.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  require(is_floating(in[0].dtype), "C1: x must be floating point, but is {}", in[0].dtype);
  return {resized_type(resizing(attrs), in[0])};
}

// The filter of linear interpolation: 1 - distance, but at least 0.
Tensor linear_weight(const Tensor& distance, double) { return maximum(1.0 - distance, number(0)); }

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Filter filter{.weight = linear_weight,
                      .antialias = attrs.antialias,
                      .exclude_outside = attrs.exclude_outside};
  return {interpolate(in[0], require_resize(resizing(attrs), in[0]->type), filter)};
}

Cases<Attrs> cases() {
  const CaseTensor line = f32({1, 2, 4, 8}), six = f32({1, 2, 4, 8, 16, 32});
  return {
      {.name = "example",
       .attrs = {.sizes = {4}},
       .inputs = {f32({0, 4})},
       .expect = {f32({0, 1, 3, 4})}},
      {.name = "scales",
       .attrs = {.scales = {2, 3}},
       .inputs = {f32({1, 2}, {0, 6})},
       .expect = {f32({2, 6}, {0, 0, 2, 4, 6, 6, 0, 0, 2, 4, 6, 6})}},
      {.name = "scale_divisors",
       .attrs = {.scales = {5}, .scale_divisors = {8}},
       .inputs = {line},
       .expect = {f32({1.3, 3.8})}},
      {.name = "two_axes",
       .attrs = {.sizes = {3, 4}},
       .inputs = {f32({2, 2}, {1, 2, 4, 8})},
       .expect = {f32({3, 4}, {1, 1.25, 1.75, 2, 2.5, 3.125, 4.375, 5, 4, 5, 7, 8})}},
      {.name = "axes",
       .attrs = {.sizes = {4}, .axes = {-1}},
       .inputs = {f64({2, 2}, {1, 2, 4, 8})},
       .expect = {f64({2, 4}, {1, 1.25, 1.75, 2, 4, 5, 7, 8})}},
      {.name = "half_pixel_symmetric",
       .attrs = {.scales = {5},
                 .scale_divisors = {8},
                 .coordinate_transformation_mode = kHalfPixelSymmetric},
       .inputs = {line},
       .expect = {f32({1.7, 5.2})}},
      {.name = "pytorch_half_pixel",
       .attrs = {.sizes = {1}, .coordinate_transformation_mode = kPytorchHalfPixel},
       .inputs = {line},
       .expect = {f32({1})}},
      {.name = "align_corners",
       .attrs = {.sizes = {7}, .coordinate_transformation_mode = kAlignCorners},
       .inputs = {line},
       .expect = {f32({1, 1.5, 2, 3, 4, 6, 8})}},
      {.name = "align_corners_of_a_broken_size",
       .attrs = {.scales = {3},
                 .scale_divisors = {5},
                 .coordinate_transformation_mode = kAlignCorners},
       .inputs = {line},
       .expect = {f32({1, 4.571428571428571})}},
      {.name = "asymmetric",
       .attrs = {.sizes = {7}, .coordinate_transformation_mode = kAsymmetric},
       .inputs = {line},
       .expect = {f32({1, 1.5714285714285714, 2.2857142857142856, 3.4285714285714284,
                       5.142857142857142, 7.428571428571429, 8})}},
      {.name = "tf_half_pixel_for_nn",
       .attrs = {.sizes = {8}, .coordinate_transformation_mode = kTfHalfPixelForNn},
       .inputs = {line},
       .expect = {f32({1.25, 1.75, 2.5, 3.5, 5, 7, 8, 8})}},
      {.name = "antialias",
       .attrs = {.sizes = {2}, .antialias = true},
       .inputs = {six},
       .expect = {f32({2.7777777777777777, 18.22222222222222})}},
      {.name = "antialias_stretches_by_a_fraction",
       .attrs = {.scales = {5}, .scale_divisors = {8}, .antialias = true},
       .inputs = {line},
       .expect = {f32({1.36, 4.222222222222222})}},
      {.name = "antialias_only_where_it_is_smaller",
       .attrs = {.sizes = {4}, .antialias = true},
       .inputs = {f32({0, 4})},
       .expect = {f32({0, 1, 3, 4})}},
      {.name = "exclude_outside",
       .attrs = {.sizes = {2}, .antialias = true, .exclude_outside = true},
       .inputs = {six},
       .expect = {f32({3, 16.5})}},
      {.name = "three_axes",
       .attrs = {.sizes = {5, 2}, .axes = {2, 1}},
       .inputs = {uniform({2, 3, 4})}},
      {.name = "no_change", .attrs = {.scales = {1}}, .inputs = {line}, .expect = {line}},
      {.name = "to_nothing", .attrs = {.sizes = {0}}, .inputs = {line}, .expect = {f32({0}, {})}},
      {.name = "empty_batch",
       .attrs = {.scales = {2}, .axes = {1}},
       .inputs = {uniform({0, 2})},
       .expect = {f32({0, 4}, {})}},
      {.name = "integers", .attrs = {.sizes = {2}}, .inputs = {i32({1})}, .error = "C1"},
      {.name = "neither_sizes_nor_scales", .inputs = {line}, .error = "C2"},
      {.name = "axis_out_of_range",
       .attrs = {.sizes = {2}, .axes = {1}},
       .inputs = {line},
       .error = "C2"},
      {.name = "negative_scale", .attrs = {.scales = {-1}}, .inputs = {line}, .error = "C3"},
      {.name = "something_of_nothing",
       .attrs = {.sizes = {2}},
       .inputs = {f32({0}, {})},
       .error = "C4"},
      {.name = "sizes_and_scales_differ",
       .attrs = {.sizes = {1}, .scales = {1}, .scale_divisors = {1ll << 40}},
       .inputs = {line},
       .error = "C5"},
      {.name = "huge_divisor",
       .attrs = {.sizes = {1}, .scales = {1}, .scale_divisors = {1ll << 60}},
       .inputs = {line},
       .error = "C6"},
  };
}

}  // namespace

OpDef resize_linear_def() {
  return define<Attrs>({
      .name = "resize_linear",
      .summary = "A tensor resized by linear interpolation of two neighbours along each axis.",
      .formula = "y[i] = sum(x[k] * max(0, 1 - |k - position(i)|) for k) along each resized axis",
      .details = kPositionsDoc,
      .inputs = {{"x", "a floating-point tensor"}},
      .outputs =
          {{"y", "the resized input; NaN propagates to every element that has it as a neighbour"}},
      .attrs_doc = {kSizesDoc, kScalesDoc, kScaleDivisorsDoc, kResizedAxesDoc, kCoordinateModeDoc,
                    kAntialiasDoc, kExcludeOutsideDoc},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kComposite,
      .onnx = "Resize",
  });
}

}  // namespace tenon::ops
