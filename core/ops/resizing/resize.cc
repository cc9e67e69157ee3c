#include "core/ops/resizing/resize.h"

#include <cmath>
#include <numeric>

namespace tenon::ops {

EnumInfo enum_info(CoordinateTransformationMode) {
  static constexpr const char* kNames[] = {"half_pixel",         "half_pixel_symmetric",
                                           "pytorch_half_pixel", "align_corners",
                                           "asymmetric",         "tf_half_pixel_for_nn"};
  return {"coordinate_transformation_mode", kNames};
}

namespace {

// Returns a * b. Requires the product of known sizes to be less than 2^59, because users may pass
// sizes and scales of any magnitude and sums of such products must not overflow.
Size multiply_sizes(Size a, Size b) {
  constexpr double kMax = 0x1p59;
  if (a.known() && b.known()) {
    require(std::abs(static_cast<double>(a.word()) * static_cast<double>(b.word())) < kMax,
            "C6: the product of {} and {} must be less than 2^59", a, b);
  }
  return a * b;
}

// Sets the mapping of positions for the scale n / d: element i of the result lies at position
// (i * step + first) / unit of x.
void set_position_mapping(CoordinateTransformationMode mode, Size n, Size d, ResizedAxis& axis) {
  const Size from = axis.from, to = axis.to;
  const auto half_pixel = [&](Size moved) {
    axis.step = 2 * d;
    axis.first = d - n + moved;
    axis.unit = 2 * n;
  };
  switch (mode) {
    case CoordinateTransformationMode::kHalfPixel:
      return half_pixel(0);
    case CoordinateTransformationMode::kHalfPixelSymmetric:
      return half_pixel(multiply_sizes(from, n) - multiply_sizes(to, d));
    case CoordinateTransformationMode::kPytorchHalfPixel:
      if (to > 1) half_pixel(0);
      return;
    case CoordinateTransformationMode::kAlignCorners:
      // The formula needs the exact scaled size, which is from * n / d before rounding.
      if (multiply_sizes(from, n) <= d) return;
      if (identical(d, from)) {
        axis.step = from - 1;
        axis.unit = n - 1;
        return;
      }
      axis.step = multiply_sizes(from - 1, d);
      axis.unit = from * n - d;
      return;
    case CoordinateTransformationMode::kAsymmetric:
      axis.step = d;
      axis.unit = n;
      return;
    case CoordinateTransformationMode::kTfHalfPixelForNn:
      axis.step = 2 * d;
      axis.first = d;
      axis.unit = 2 * n;
      return;
  }
}

// Computes how one axis is resized. `i` is the index of the axis in the attributes.
ResizedAxis resize_axis(const Resizing& attrs, const TensorType& x, size_t axis, size_t i) {
  ResizedAxis result{.axis = axis, .from = x.shape[axis]};
  Size n = attrs.scales.empty() ? 1 : attrs.scales[i];
  Size d = attrs.scale_divisors.empty() ? 1 : attrs.scale_divisors[i];
  require(n > 0 && d > 0, "C3: scale must be positive, but is {} / {}", n, d);
  result.to = attrs.sizes.empty() ? multiply_sizes(result.from, n) / d : Size(attrs.sizes[i]);
  require(result.to >= 0, "C3: sizes must not be negative, but one is {}", result.to);
  if (result.to == 0) return result;
  require(result.from > 0, "C4: axis {} of {} is empty and cannot be resized to {}", axis, x,
          result.to);

  if (attrs.scales.empty()) {
    n = result.to;
    d = result.from;
  }
  if (n.known() && d.known()) {
    const int64_t common = std::gcd(n.word(), d.word());
    n = n / common;
    d = d / common;
  }
  // The exact size minus its rounded value `to`, multiplied by d.
  const Size rest = multiply_sizes(result.from, n) - multiply_sizes(result.to, d);
  require(2 * rest >= -d && rest < d, "C5: axis {} of {}: size {} contradicts the scale {} / {}",
          axis, x, result.to, n, d);
  result.scale = n;
  result.scale_divisor = d;
  set_position_mapping(attrs.coordinate_transformation_mode, n, d, result);
  multiply_sizes(result.step, result.to);  // Throws if the last position is too large.
  return result;
}

// One tap of a filter, for all positions along an axis: the index in x of the element that it
// reads, which may be out of range, and the element's weight.
struct Tap {
  Tensor index;
  Tensor weight;
};

// Returns the taps of the filter along an axis, with weights of the given dtype.
SmallVector<Tap, 4> taps_of(const ResizedAxis& axis, const Filter& filter, DType dtype) {
  const Tensor places = positions_in_units(axis), unit = integer(axis.unit);
  const Tensor below = floor_div(places, unit);
  // The fraction of the position, in [0, 1).
  const Tensor beyond =
      cast(mod(places, unit), dtype) /
      (axis.unit.known() ? number(static_cast<double>(axis.unit)) : cast(unit, dtype));
  const bool stretches = filter.antialias && axis.scale < axis.scale_divisor;
  const int64_t scale = stretches ? axis.scale : Size(1),
                divisor = stretches ? axis.scale_divisor : Size(1);
  const double stretch = static_cast<double>(scale) / static_cast<double>(divisor);
  const int64_t reach = (filter.reach * divisor + scale - 1) / scale;

  SmallVector<Tap, 4> taps;
  Tensor total;
  for (int64_t i = 1 - reach; i <= reach; ++i) {
    const Tensor index = add(below, integer(i));
    const Tensor distance = stretch * abs(static_cast<double>(i) - beyond);
    Tensor weight = filter.weight(distance, filter.parameter);
    if (filter.exclude_outside) {
      const Tensor outside =
          logical_or(less(index, integer(0)), greater_equal(index, integer(axis.from)));
      weight = where(outside, number(0), weight);
    }
    total = total ? total + weight : weight;
    taps.push_back({index, weight});
  }
  if (filter.exclude_outside || stretches) {
    for (Tap& tap : taps) tap.weight = tap.weight / total;
  }
  return taps;
}

}  // namespace

// Checks constraints C2 to C6 of resize_nearest.cc and returns the resized axes.
ResizedAxes require_resize(const Resizing& attrs, const TensorType& x) {
  if (!attrs.axes.empty()) require_axes(attrs.axes, x, "C2");
  const size_t n = attrs.axes.empty() ? x.rank() : attrs.axes.size();
  const auto require_one_each = [&](const Ints& values, const char* name) {
    require(values.empty() || values.size() == n,
            "C2: {} has {} entries, but needs one for each of {} axes of {}", name, values.size(),
            n, x);
  };
  require_one_each(attrs.sizes, "sizes");
  require_one_each(attrs.scales, "scales");
  require_one_each(attrs.scale_divisors, "scale_divisors");
  require(n == 0 || !attrs.sizes.empty() || !attrs.scales.empty(),
          "C2: sizes and scales are both empty; give at least one");
  require(attrs.scale_divisors.empty() || !attrs.scales.empty(),
          "C2: scale_divisors are given without scales");
  ResizedAxes axes;
  for (size_t i = 0; i < n; ++i) {
    const int64_t axis = attrs.axes.empty() ? static_cast<int64_t>(i) : attrs.axes[i];
    axes.push_back(resize_axis(attrs, x, static_cast<size_t>(from_front(axis, x.rank())), i));
  }
  return axes;
}

TensorType resized_type(const Resizing& attrs, const TensorType& x) {
  TensorType y(x.dtype, x.shape);
  for (const ResizedAxis& axis : require_resize(attrs, x)) y.shape[axis.axis] = axis.to;
  check_size(y);
  return y;
}

// Returns the position in x of each result element along an axis, as a multiple of 1 / axis.unit.
Tensor positions_in_units(const ResizedAxis& axis) {
  const Tensor i = iota({axis.to}, DType::kI64, 0);
  return add(mul(i, integer(axis.step)), integer(axis.first));
}

// Resizes x along one axis after the other by weighted sums of neighbouring elements.
Tensor interpolate(const Tensor& x, const ResizedAxes& axes, const Filter& filter) {
  return in_wide(x, [&](Tensor y) {
    for (const ResizedAxis& axis : axes) {
      if (axis.keeps_all()) continue;
      Dims along = x->shape();
      for (size_t i = 0; i < along.rank(); ++i) along[i] = i == axis.axis ? axis.to : Size(1);
      Tensor sum;
      for (const Tap& tap : taps_of(axis, filter, y->type.dtype)) {
        const Tensor inside = clip(tap.index, integer(0), integer(axis.from - 1));
        const Tensor part =
            gather(y, inside, static_cast<int64_t>(axis.axis)) * reshape(tap.weight, along);
        sum = sum ? sum + part : part;
      }
      y = sum;
    }
    return y;
  });
}

}  // namespace tenon::ops
