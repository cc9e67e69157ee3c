// Shared by resize_nearest, resize_linear and resize_cubic: for each element of the result, its
// position in the input.
//
// Positions are quotients of integers and are not rounded. Whether a position is on an element,
// between two, or exactly halfway therefore does not depend on floating-point errors.

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

// The attributes that all three ops have.
struct Resizing {
  Ints sizes;           // Result size for each of `axes`; empty: derived from the scales.
  Ints scales;          // Result size divided by x size, for each of `axes`; empty: from sizes.
  Ints scale_divisors;  // The divisor of each scale; empty: 1.
  Ints axes;            // The axes to resize; empty for all.
  CoordinateTransformationMode coordinate_transformation_mode =
      CoordinateTransformationMode::kHalfPixel;
};

// Copies these attributes from the attribute struct of one of the ops.
template <class Attrs>
Resizing resizing(const Attrs& a) {
  return {a.sizes, a.scales, a.scale_divisors, a.axes, a.coordinate_transformation_mode};
}

// A resized axis. Element i of the result has the position (i * step + first) / unit in x.
struct ResizedAxis {
  size_t axis = 0;
  Size from = 0;  // The size of the axis in x.
  Size to = 0;    // The size of the axis in the result.
  Size step = 0;
  Size first = 0;
  Size unit = 1;
  Size scale = 1;  // The scale factor is scale / scale_divisor.
  Size scale_divisor = 1;

  // Whether resizing along this axis returns x unchanged.
  bool keeps_all() const {
    return identical(from, to) && identical(first, 0) &&
           (identical(step, unit) || identical(to, 1));
  }
};

using ResizedAxes = SmallVector<ResizedAxis, 3>;

// Checks constraints C2 to C6 of resize_nearest.cc and returns the resized axes.
ResizedAxes require_resize(const Resizing& attrs, const TensorType& x);
// Checks constraints C2 to C6 of resize_nearest.cc and returns the type of the result.
TensorType resized_type(const Resizing& attrs, const TensorType& x);

// Returns the position in x of each result element along an axis, as a multiple of 1 / axis.unit:
// int64 [axis.to].
Tensor positions_in_units(const ResizedAxis& axis);

// A filter: returns the weight of an element whose distance from the position is `distance`
// elements.
using Weight = Tensor (*)(const Tensor& distance, double parameter);

// An interpolation filter. Its weight is zero for distances of `reach` or more.
struct Filter {
  Weight weight;
  double parameter = 0;
  int64_t reach = 1;       // Smallest distance, in elements, from which on the weight is zero.
  bool antialias = false;  // Whether to widen the filter when downsampling.
  // true: elements outside x have weight 0; false: they repeat the edge.
  bool exclude_outside = false;
};

// Resizes x along each of `axes` in turn. Each result element is a weighted sum of the
// elements around its position.
Tensor interpolate(const Tensor& x, const ResizedAxes& axes, const Filter& filter);

// Documentation of the attributes that all three ops share.
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
