// resize_cubic: resizes a tensor by cubic interpolation of four elements along each axis.

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
  double cubic_coeff_a = -0.75;  // Parameter a of the kernel: its slope at a distance of 1.
  TENON_ATTRS(sizes, scales, scale_divisors, axes, coordinate_transformation_mode, antialias,
              exclude_outside, cubic_coeff_a)
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

// The cubic convolution kernel of R. Keys with parameter `a`: one polynomial for distances up to 1,
// another for distances from 1 to 2, and 0 beyond.
Tensor cubic_weight(const Tensor& distance, double a) {
  const Tensor& d = distance;
  const Tensor near = ((a + 2) * d - (a + 3)) * d * d + 1.0;
  const Tensor far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return where(less(d, number(1)), near, where(less(d, number(2)), far, number(0)));
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Filter filter{.weight = cubic_weight,
                      .parameter = attrs.cubic_coeff_a,
                      .reach = 2,
                      .antialias = attrs.antialias,
                      .exclude_outside = attrs.exclude_outside};
  return {interpolate(in[0], require_resize(resizing(attrs), in[0]->type), filter)};
}

Cases<Attrs> cases() {
  const CaseTensor line = f32({1, 2, 4, 8}), six = f32({1, 2, 4, 8, 16, 32});
  return {
      {.name = "example",
       .attrs = {.sizes = {4}},
       .inputs = {f32({1, 2})},
       .expect = {f32({0.89453125, 1.2265625, 1.7734375, 2.10546875})}},
      {.name = "scales",
       .attrs = {.scales = {1, 2}},
       .inputs = {f64({2, 2}, {1, 2, 4, 8})},
       .expect = {f64({2, 4}, {0.89453125, 1.2265625, 1.7734375, 2.10546875, 3.578125, 4.90625,
                               7.09375, 8.421875})}},
      {.name = "scale_divisors",
       .attrs = {.scales = {5}, .scale_divisors = {8}},
       .inputs = {line},
       .expect = {f32({1.1845, 3.59975})}},
      {.name = "two_axes",
       .attrs = {.sizes = {3, 4}},
       .inputs = {f32({2, 2}, {1, 2, 4, 8})},
       .expect = {f32(
           {3, 4}, {0.6615804036458333, 0.9071451822916665, 1.311604817708333, 1.5571695963541665,
                    2.236328125, 3.06640625, 4.43359375, 5.263671875, 3.8110758463541643,
                    5.2256673177083295, 7.555582682291662, 8.970174153645827})}},
      {.name = "axes",
       .attrs = {.sizes = {4}, .axes = {0}},
       .inputs = {f32({2, 1}, {1, 2})},
       .expect = {f32({4, 1}, {0.89453125, 1.2265625, 1.7734375, 2.10546875})}},
      {.name = "half_pixel_symmetric",
       .attrs = {.scales = {5},
                 .scale_divisors = {8},
                 .coordinate_transformation_mode = kHalfPixelSymmetric},
       .inputs = {line},
       .expect = {f32({1.5005, 5.3365})}},
      {.name = "pytorch_half_pixel",
       .attrs = {.sizes = {1}, .coordinate_transformation_mode = kPytorchHalfPixel},
       .inputs = {line},
       .expect = {f32({1})}},
      {.name = "align_corners",
       .attrs = {.sizes = {7}, .coordinate_transformation_mode = kAlignCorners},
       .inputs = {line},
       .expect = {f32({1, 1.3125, 2, 2.71875, 4, 6.1875, 8})}},
      {.name = "asymmetric",
       .attrs = {.scales = {5},
                 .scale_divisors = {2},
                 .coordinate_transformation_mode = kAsymmetric},
       .inputs = {line},
       .expect = {f32({1, 1.244, 1.632, 2.352, 2.864, 4, 5.768, 7.344, 8.384, 8.288})}},
      {.name = "tf_half_pixel_for_nn",
       .attrs = {.sizes = {3}, .coordinate_transformation_mode = kTfHalfPixelForNn},
       .inputs = {line},
       .expect = {f32({1.462962962962963, 4, 8.444444444444445})}},
      {.name = "antialias",
       .attrs = {.sizes = {2}, .antialias = true},
       .inputs = {six},
       .expect = {f32({1.271604938271584, 18.561728395061735})}},
      {.name = "antialias_stretches_by_a_fraction",
       .attrs = {.scales = {5}, .scale_divisors = {8}, .antialias = true},
       .inputs = {line},
       .expect = {f32({1.1242623955858686, 4.14743517155475})}},
      {.name = "exclude_outside",
       .attrs = {.sizes = {6}, .exclude_outside = true},
       .inputs = {line},
       .expect = {f32({0.8986486486486489, 1.2857142857142856, 2.304398148148143,
                       3.3831018518518503, 6.3428571428571425, 8.405405405405407})}},
      {.name = "exclude_outside_of_a_stretched_curve",
       .attrs = {.sizes = {2}, .antialias = true, .exclude_outside = true},
       .inputs = {six},
       .expect = {f32({1.8896103896103837, 17.259740259740262})}},
      {.name = "cubic_coeff_a",
       .attrs = {.sizes = {7}, .cubic_coeff_a = -0.5},
       .inputs = {line},
       .expect = {f32({0.9338556851311948, 1.2423469387755106, 1.8954081632653073, 2.8125,
                       4.23360058309038, 6.784620991253646, 8.264577259475216})}},
      {.name = "three_axes",
       .attrs = {.sizes = {5, 2}, .axes = {2, 1}},
       .inputs = {uniform({2, 3, 4})}},
      {.name = "no_change", .attrs = {.sizes = {4}}, .inputs = {line}, .expect = {line}},
      {.name = "empty_batch",
       .attrs = {.scales = {2}, .axes = {1}},
       .inputs = {uniform({0, 2})},
       .expect = {f32({0, 4}, {})}},
      {.name = "integers", .attrs = {.sizes = {2}}, .inputs = {i32({1})}, .error = "C1"},
      {.name = "a_scale_too_many", .attrs = {.scales = {1, 2}}, .inputs = {line}, .error = "C2"},
      {.name = "negative_size", .attrs = {.sizes = {-1}}, .inputs = {line}, .error = "C3"},
      {.name = "something_of_nothing",
       .attrs = {.sizes = {2}},
       .inputs = {f32({0}, {})},
       .error = "C4"},
      {.name = "sizes_and_scales_differ",
       .attrs = {.sizes = {7}, .scales = {2}},
       .inputs = {line},
       .error = "C5"},
      {.name = "huge_size", .attrs = {.sizes = {1ll << 61}}, .inputs = {line}, .error = "C6"},
  };
}

}  // namespace

OpDef resize_cubic_def() {
  return define<Attrs>({
      .name = "resize_cubic",
      .summary = "A tensor resized by cubic interpolation of four elements along each axis.",
      .formula = "y[i] = sum(x[k] * w(|k - position(i)|) for k) along each resized axis, with "
                 "w(d) = (a + 2) d^3 - (a + 3) d^2 + 1 up to 1, a d^3 - 5 a d^2 + 8 a d - 4 a up "
                 "to 2, and 0 beyond",
      .details = kPositionsDoc,
      .inputs = {{"x", "a floating-point tensor"}},
      .outputs =
          {{"y", "the resized input; NaN propagates to every element that has it as a neighbour"}},
      .attrs_doc = {kSizesDoc,
                    kScalesDoc,
                    kScaleDivisorsDoc,
                    kResizedAxesDoc,
                    kCoordinateModeDoc,
                    kAntialiasDoc,
                    kExcludeOutsideDoc,
                    {"cubic_coeff_a",
                     "The coefficient a of the cubic kernel, its slope at a distance of 1."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kComposite,
      .onnx = "Resize",
  });
}

}  // namespace tenon::ops
