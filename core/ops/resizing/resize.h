// Shared by resize_nearest, resize_linear and resize_cubic: the positions in the input over which
// the elements of the result lie.
//
// Positions are quotients of integers and are never rounded. So whether a position lies between two
// elements, or halfway, does not depend on a floating type.

#pragma once

#include "core/ops/definition/symbolic_sizes.h"

namespace tenon::ops {

enum class CoordinateTransformationMode : int32_t {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfHalfPixelForNn
};
EnumInfo enum_info(CoordinateTransformationMode);

// The attributes that all three have. The ops' own structs repeat them; `resizing` converts those.
struct Resizing {
  Ints sizes;           // Of the result, for each of axes; empty to derive them from the scales.
  Ints scales;          // Result size over x size, for each; empty to derive it from sizes.
  Ints scale_divisors;  // The divisor of each scale; empty for ones.
  Ints axes;            // The axes to resize; empty for all.
  CoordinateTransformationMode coordinate_transformation_mode =
      CoordinateTransformationMode::kHalfPixel;
};

template <class Attrs>
Resizing resizing(const Attrs& a) {
  return {a.sizes, a.scales, a.scale_divisors, a.axes, a.coordinate_transformation_mode};
}

// A resized axis. Element i of the result lies over position (i * step + first) / unit of x.
struct ResizedAxis {
  size_t axis = 0;
  Size from = 0;  // Its size in x.
  Size to = 0;    // Its size in the result.
  Size step = 0;
  Size first = 0;
  Size unit = 1;
  Size scale = 1;  // The scale is this over scale_divisor.
  Size scale_divisor = 1;

  bool keeps_all() const {
    return identical(from, to) && identical(first, 0) &&
           (identical(step, unit) || identical(to, 1));
  }
};

using ResizedAxes = SmallVector<ResizedAxis, 3>;

// Checks C2 to C6 of resize_nearest.cc, for inference.
ResizedAxes require_resize(const Resizing& attrs, const TensorType& x);
TensorType resized_type(const Resizing& attrs, const TensorType& x);

// The positions of all elements along an axis, times its unit: [to], of int64.
Tensor positions_in_units(const ResizedAxis& axis);

// The weight of an element of x at `distance`, in elements, from a position.
using Weight = Tensor (*)(const Tensor& distance, double parameter);

// A weight function that is zero from some distance on.
struct Filter {
  Weight weight;
  double parameter = 0;
  int64_t reach = 1;             // That distance.
  bool antialias = false;        // Whether to widen the filter when downsampling.
  bool exclude_outside = false;  // Elements outside x have no weight; else they repeat the edge.
};

// Replaces each axis of x by weighted sums of the elements around its positions.
Tensor interpolate(const Tensor& x, const ResizedAxes& axes, const Filter& filter);

// Documentation that all three share.
inline constexpr AttrDoc kSizesDoc = {
    "sizes",
    "The size of the result along each of axes; empty to compute it from scales, rounded down."};
inline constexpr AttrDoc kScalesDoc = {
    "scales", "The scale factor along each of axes; empty to compute it from sizes."};
inline constexpr AttrDoc kScaleDivisorsDoc = {"scale_divisors",
                                              "The divisor of each of scales; empty for ones."};
inline constexpr AttrDoc kResizedAxesDoc = {
    "axes", "The axes to resize, negative ones from the end; empty for all."};
inline constexpr AttrDoc kCoordinateModeDoc = {
    "coordinate_transformation_mode",
    "How positions in the result are mapped to positions in x: half_pixel, half_pixel_symmetric, "
    "pytorch_half_pixel, align_corners, asymmetric or tf_half_pixel_for_nn."};
inline constexpr AttrDoc kAntialiasDoc = {
    "antialias",
    "Whether the filter is widened when downsampling, so that every element of x contributes."};
inline constexpr AttrDoc kExcludeOutsideDoc = {
    "exclude_outside",
    "Whether positions outside x have weight 0; otherwise the element at the edge is used."};

inline constexpr const char* kPositionsDoc =
    "With n and m for the sizes of x and of the result, s for the scale and i for an index of the "
    "result, the position in x is (i + 0.5) / s - 0.5 for half_pixel; the same plus "
    "(n - m / s) / 2 for half_pixel_symmetric; the same, but 0 if m is 1, for "
    "pytorch_half_pixel; i * (n - 1) / (n * s - 1) for align_corners; i / s for asymmetric; "
    "(i + 0.5) / s for tf_half_pixel_for_nn. If both sizes and scales are given, sizes are "
    "the sizes of the result, and scales determine the positions. Positions are computed exactly, "
    "so that ties are detected exactly.";

}  // namespace tenon::ops
