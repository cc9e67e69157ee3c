// resize_nearest: resizes a tensor by nearest-neighbour interpolation.

#include "core/ops/resizing/resize.h"

namespace tenon::ops {
namespace {

using enum CoordinateTransformationMode;

enum class NearestMode : int32_t { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };
EnumInfo enum_info(NearestMode) {
  static constexpr const char* kNames[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                           "ceil"};
  return {"nearest_mode", kNames};
}

struct Attrs {
  Ints sizes;           // Result size for each of `axes`; empty: derived from the scales.
  Ints scales;          // Result size divided by x size; empty: derived from sizes.
  Ints scale_divisors;  // The divisor of each scale; empty: 1.
  Ints axes;            // The axes to resize; empty for all.
  CoordinateTransformationMode coordinate_transformation_mode = kHalfPixel;
  NearestMode nearest_mode = NearestMode::kRoundPreferFloor;  // How positions are rounded.
  TENON_ATTRS(sizes, scales, scale_divisors, axes, coordinate_transformation_mode, nearest_mode)
};

// Constraints.
//   C1  x has any dtype.
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
  return {resized_type(resizing(attrs), in[0])};
}

// Returns the nearest index of x for each position. Positions are quotients of integers, so
// rounding is exact.
Tensor nearest_indices(const ResizedAxis& axis, NearestMode mode) {
  const Tensor places = positions_in_units(axis);
  const auto below = [](const Tensor& quotient, Size more, Size unit) {
    return floor_div(add(quotient, integer(more)), integer(unit));
  };
  const auto index = [&] {
    const Tensor doubled = mul(places, integer(2));
    switch (mode) {
      case NearestMode::kFloor:
        return below(places, 0, axis.unit);
      case NearestMode::kCeil:
        return below(places, axis.unit - 1, axis.unit);
      case NearestMode::kRoundPreferCeil:
        return below(doubled, axis.unit, 2 * axis.unit);
      case NearestMode::kRoundPreferFloor:
        break;
    }
    return below(doubled, axis.unit - 1, 2 * axis.unit);
  };
  return clip(index(), integer(0), integer(axis.from - 1));
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  Tensor y = in[0];
  for (const ResizedAxis& axis : require_resize(resizing(attrs), in[0]->type)) {
    if (axis.keeps_all()) continue;
    y = gather(y, nearest_indices(axis, attrs.nearest_mode), static_cast<int64_t>(axis.axis));
  }
  return {y};
}

Cases<Attrs> cases() {
  const CaseTensor line = f32({1, 2, 3, 4});
  return {
      {.name = "example",
       .attrs = {.sizes = {6}},
       .inputs = {f32({1, 2, 3})},
       .expect = {f32({1, 1, 2, 2, 3, 3})}},
      {.name = "scales",
       .attrs = {.scales = {2, 3}},
       .inputs = {i8({2, 2}, {1, 2, 3, 4})},
       .expect = {i8({4, 6},
                     {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4})}},
      {.name = "scale_divisors",
       .attrs = {.scales = {5}, .scale_divisors = {2}},
       .inputs = {line},
       .expect = {f32({1, 1, 1, 2, 2, 3, 3, 3, 4, 4})}},
      {.name = "scaled_sizes_are_rounded_down",
       .attrs = {.scales = {5}, .scale_divisors = {8}},
       .inputs = {line},
       .expect = {f32({1, 3})}},
      {.name = "sizes_and_scales",
       .attrs = {.sizes = {3}, .scales = {5}, .scale_divisors = {8}},
       .inputs = {line},
       .expect = {f32({1, 3, 4})}},
      {.name = "axes",
       .attrs = {.sizes = {1, 4}, .axes = {-1, 0}},
       .inputs = {boolean({2, 2}, {1, 0, 0, 1})},
       .expect = {boolean({4, 1}, {1, 1, 0, 0})}},
      {.name = "half_pixel_symmetric",
       .attrs = {.scales = {5},
                 .scale_divisors = {8},
                 .coordinate_transformation_mode = kHalfPixelSymmetric},
       .inputs = {line},
       .expect = {f32({2, 3})}},
      {.name = "pytorch_half_pixel",
       .attrs = {.sizes = {1}, .coordinate_transformation_mode = kPytorchHalfPixel},
       .inputs = {line},
       .expect = {f32({1})}},
      {.name = "align_corners",
       .attrs = {.sizes = {7}, .coordinate_transformation_mode = kAlignCorners},
       .inputs = {line},
       .expect = {f32({1, 1, 2, 2, 3, 3, 4})}},
      {.name = "asymmetric",
       .attrs = {.sizes = {7}, .coordinate_transformation_mode = kAsymmetric},
       .inputs = {line},
       .expect = {f32({1, 2, 2, 3, 3, 4, 4})}},
      {.name = "tf_half_pixel_for_nn",
       .attrs = {.sizes = {2}, .coordinate_transformation_mode = kTfHalfPixelForNn},
       .inputs = {line},
       .expect = {f32({2, 4})}},
      {.name = "halfway_to_the_lower",
       .attrs = {.scales = {1}, .scale_divisors = {2}},
       .inputs = {line},
       .expect = {f32({1, 3})}},
      {.name = "halfway_to_the_upper",
       .attrs = {.scales = {1},
                 .scale_divisors = {2},
                 .nearest_mode = NearestMode::kRoundPreferCeil},
       .inputs = {line},
       .expect = {f32({2, 4})}},
      {.name = "floor",
       .attrs = {.sizes = {6}, .nearest_mode = NearestMode::kFloor},
       .inputs = {line},
       .expect = {f32({1, 1, 2, 2, 3, 4})}},
      {.name = "ceil",
       .attrs = {.sizes = {6}, .nearest_mode = NearestMode::kCeil},
       .inputs = {line},
       .expect = {f32({1, 2, 3, 3, 4, 4})}},
      {.name = "three_axes",
       .attrs = {.sizes = {5, 2}, .axes = {2, 1}},
       .inputs = {uniform({2, 3, 4})}},
      {.name = "no_elements_of_nothing",
       .attrs = {.scales = {3}, .axes = {0}},
       .inputs = {uniform({0, 2})},
       .expect = {f32({0, 2}, {})}},
      {.name = "to_nothing", .attrs = {.sizes = {0}}, .inputs = {line}, .expect = {f32({0}, {})}},
      {.name = "rank_0", .inputs = {f32({}, {1})}, .expect = {f32({}, {1})}},
      {.name = "neither_sizes_nor_scales", .inputs = {line}, .error = "C2"},
      {.name = "a_size_too_few",
       .attrs = {.sizes = {2}},
       .inputs = {uniform({2, 2})},
       .error = "C2"},
      {.name = "divisors_alone",
       .attrs = {.sizes = {2}, .scale_divisors = {2}},
       .inputs = {line},
       .error = "C2"},
      {.name = "axis_twice",
       .attrs = {.sizes = {2, 2}, .axes = {0, -1}},
       .inputs = {line},
       .error = "C2"},
      {.name = "negative_size", .attrs = {.sizes = {-1}}, .inputs = {line}, .error = "C3"},
      {.name = "scale_of_zero", .attrs = {.scales = {0}}, .inputs = {line}, .error = "C3"},
      {.name = "divisor_of_zero",
       .attrs = {.scales = {1}, .scale_divisors = {0}},
       .inputs = {line},
       .error = "C3"},
      {.name = "something_of_nothing",
       .attrs = {.sizes = {2}},
       .inputs = {f32({0}, {})},
       .error = "C4"},
      {.name = "sizes_and_scales_differ",
       .attrs = {.sizes = {9}, .scales = {2}},
       .inputs = {line},
       .error = "C5"},
      {.name = "huge_scale", .attrs = {.scales = {1ll << 62}}, .inputs = {line}, .error = "C6"},
  };
}

}  // namespace

OpDef resize_nearest_def() {
  return define<Attrs>({
      .name = "resize_nearest",
      .summary = "A tensor resized by nearest-neighbour interpolation.",
      .formula = "y[i] = x[round(position(i))] along each resized axis",
      .details = kPositionsDoc,
      .inputs = {{"x", "the input"}},
      .outputs = {{"y", "the resized input"}},
      .attrs_doc = {kSizesDoc,
                    kScalesDoc,
                    kScaleDivisorsDoc,
                    kResizedAxesDoc,
                    kCoordinateModeDoc,
                    {"nearest_mode",
                     "How a position between two elements is rounded: round_prefer_floor, "
                     "round_prefer_ceil, floor or ceil."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .onnx = "Resize",
  });
}

}  // namespace tenon::ops
