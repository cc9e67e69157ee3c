// Resize, and Upsample, which it replaced.

#include <cmath>

#include "core/dispatch/dispatch.h"
#include "core/io/onnx/adapters.h"

namespace tenon::onnx::adapters {
namespace {

// The attributes and inputs of a node, converted to the attributes of Tenon's resize ops. All lists
// have one element per axis to resize.
struct ResizeSpec {
  Ints axes;
  Sizes sizes;
  Ints scales, scale_divisors;
  std::string mode, transformation, nearest_mode;
};

// Stores the scales of the axes as fractions.
void set_scales(ResizeSpec& request, const std::vector<double>& scales) {
  require(scales.size() == request.axes.size(),
          "there must be one scale per axis, but there are {} scales for {} axes", scales.size(),
          request.axes.size());
  for (const double scale : scales) {
    const std::optional<Fraction> fraction = fraction_of(scale);
    require(fraction && scale > 0, "scales must be positive and finite, but one is {}", scale);
    request.scales.push_back(fraction->numerator);
    request.scale_divisors.push_back(fraction->denominator);
  }
}

// Removes axes with scale 1, so that their sizes may be unknown. Keeps at least one axis.
ResizeSpec drop_axes_with_scale_1(const ResizeSpec& request) {
  ResizeSpec less = request;
  if (request.scales.empty()) return less;
  less.axes = less.scales = less.scale_divisors = {};
  less.sizes = {};
  for (size_t i = 0; i < request.axes.size(); ++i) {
    const bool is_kept = request.scales[i] == request.scale_divisors[i];
    const bool is_last_chance = i + 1 == request.axes.size() && less.axes.empty();
    if (is_kept && !is_last_chance) continue;
    less.axes.push_back(request.axes[i]);
    less.scales.push_back(request.scales[i]);
    less.scale_divisors.push_back(request.scale_divisors[i]);
    if (!request.sizes.empty()) less.sizes.push_back(request.sizes[i]);
  }
  return less;
}

// If the scales depend on sizes of the trace, replaces them by the resulting sizes and returns
// true.
bool set_sizes_by_scales(ResizeSpec& request, const Dims& x, const Known* scales) {
  if (!scales || scales->size() != request.axes.size() || scales->divisors.empty()) return false;
  bool are_numbers = true;
  for (size_t i = 0; i < scales->size(); ++i) {
    are_numbers = are_numbers && scales->values[i].known() && scales->divisors[i].known();
  }
  if (are_numbers) return false;
  for (size_t i = 0; i < scales->size(); ++i) {
    const Size from = x[static_cast<size_t>(request.axes[i])];
    request.sizes.push_back(from * scales->values[i] / scales->divisors[i]);
  }
  return true;
}

// Applies keep_aspect_ratio_policy to the given sizes: all axes get the smallest of their scales
// (not_larger) or the largest (not_smaller). The new sizes are rounded; the scale is not.
void keep_proportions(ResizeSpec& request, const Dims& x, const std::string& policy) {
  if (policy == "stretch") return;
  require(policy == "not_larger" || policy == "not_smaller",
          "attribute keep_aspect_ratio_policy must be \"stretch\", \"not_larger\" or "
          "\"not_smaller\", but is \"{}\"",
          policy);
  const auto scale_of = [&](size_t i) {
    return static_cast<double>(int64_t{request.sizes[i]}) /
           static_cast<double>(int64_t{x[static_cast<size_t>(request.axes[i])]});
  };
  size_t decides = 0;
  for (size_t i = 1; i < request.sizes.size(); ++i) {
    const double best = scale_of(decides), other = scale_of(i);
    if (policy == "not_larger" ? other < best : best < other) decides = i;
  }
  const double scale = scale_of(decides);
  require(std::isfinite(scale),
          "cannot keep the aspect ratio of {}, because a resized axis has size 0", x);
  if (scale > 0) {
    const Size from = x[static_cast<size_t>(request.axes[decides])];
    request.scales = Ints(request.axes.size(), int64_t{request.sizes[decides]});
    request.scale_divisors = Ints(request.axes.size(), int64_t{from});
  }
  for (size_t i = 0; i < request.sizes.size(); ++i) {
    const auto size = static_cast<double>(int64_t{x[static_cast<size_t>(request.axes[i])]});
    const double rounded = std::floor(scale * size + 0.5);
    require(rounded < 0x1p62, "the size of {} scaled by {} is too large", x, scale);
    request.sizes[i] = static_cast<int64_t>(rounded);
  }
}

// Returns 0, 1, ..., rank - 1.
Ints all_axes(size_t rank) {
  Ints axes;
  for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

// Calls the resize op of the mode. `more`: further attributes, for modes other than nearest.
Tensors call_resize(const NodeCall& n, const ResizeSpec& given, std::vector<NamedAttr> more) {
  const ResizeSpec request = drop_axes_with_scale_1(given);
  std::vector<NamedAttr> attrs = {{"axes", request.axes},
                                  {"sizes", request.sizes},
                                  {"scales", request.scales},
                                  {"scale_divisors", request.scale_divisors},
                                  {"coordinate_transformation_mode", request.transformation}};
  if (request.mode == "nearest") {
    attrs.push_back({"nearest_mode", request.nearest_mode});
  } else {
    attrs.insert(attrs.end(), more.begin(), more.end());
  }
  const std::string op = "resize_" + request.mode;
  return call_named(op, attrs, {&n.in(0), 1});
}

// ---- tf_crop_and_resize: resizes a region that may extend beyond the input ----

// Linear interpolation along one axis: for each output index, the two adjacent input elements, the
// weight of the second, and whether the position is outside the input.
struct SamplePositions {
  std::vector<int64_t> below, above;
  std::vector<float> beyond;
  std::vector<uint8_t> outside;
};

// Returns `to` positions at equal distances from `begin` to `end`, which are fractions of an axis
// with `from` elements.
SamplePositions sample_positions(int64_t from, int64_t to, double begin, double end) {
  const auto last = static_cast<double>(from - 1);
  SamplePositions places;
  for (int64_t i = 0; i < to; ++i) {
    const double along = to > 1 ? static_cast<double>(i) / static_cast<double>(to - 1) : 0.5;
    const double place = (begin + along * (end - begin)) * last;
    const double inside = std::clamp(place, 0.0, last);
    places.below.push_back(static_cast<int64_t>(std::floor(inside)));
    places.above.push_back(static_cast<int64_t>(std::ceil(inside)));
    places.beyond.push_back(static_cast<float>(inside - std::floor(inside)));
    places.outside.push_back(!(place >= 0 && place <= last));
  }
  return places;
}

// Returns the output size of axis i, whose input size is `from`.
int64_t size_of_axis(const ResizeSpec& request, size_t i, int64_t from) {
  const double scaled = !request.sizes.empty()
                            ? static_cast<double>(int64_t{request.sizes[i]})
                            : static_cast<double>(from) * static_cast<double>(request.scales[i]) /
                                  static_cast<double>(request.scale_divisors[i]);
  require(from > 0 && scaled >= 0 && scaled < 0x1p31, "cannot resize an axis of {} elements to {}",
          from, scaled);
  return static_cast<int64_t>(scaled);
}

// Resizes the region that roi specifies, in fractions of the input size. Positions outside the
// input get the value of attribute extrapolation_value.
Tensors crop_and_resize(const NodeCall& n, const ResizeSpec& request,
                        const std::vector<double>& roi) {
  const size_t n_axes = request.axes.size();
  require_code(request.mode == "linear", Code::kUnimplemented,
               "tf_crop_and_resize supports only mode linear, but mode is {}", request.mode);
  require(roi.size() == 2 * n_axes, "roi must have two values for each of {} axes, but has {}",
          n_axes, roi.size());
  Scope& scope = current_scope();
  Tensor y = n.in(0);
  const DType dtype = y->type.dtype;
  Tensor outside;
  for (size_t i = 0; i < n_axes; ++i) {
    const int64_t axis = request.axes[i], from = y->shape()[static_cast<size_t>(axis)];
    const int64_t to = size_of_axis(request, i, from);
    const SamplePositions places = sample_positions(from, to, roi[i], roi[n_axes + i]);
    Dims along;
    for (size_t d = 0; d < y->rank(); ++d) along.push_back(d == static_cast<size_t>(axis) ? to : 1);
    const auto vector = [&](DType of, const Dims& shape, const void* data) {
      return from_host(scope, scope.device(), TensorType(of, shape), data);
    };
    const Tensor below = gather(y, vector(DType::kI64, {to}, places.below.data()), axis);
    const Tensor above = gather(y, vector(DType::kI64, {to}, places.above.data()), axis);
    const Tensor beyond = cast(vector(DType::kF32, along, places.beyond.data()), dtype);
    const Tensor here = vector(DType::kBool, along, places.outside.data());
    y = below + beyond * (above - below);
    outside = outside ? logical_or(outside, here) : here;
  }
  return {where(outside, number(n.attr_float("extrapolation_value", 0)), y)};
}

}  // namespace

// Upsample repeats elements or interpolates linearly, with asymmetric coordinates.
Tensors upsample(const NodeCall& n) {
  ResizeSpec request = {.axes = all_axes(n.rank(0)),
                        .mode = n.attr_text("mode", "nearest"),
                        .transformation = "asymmetric",
                        .nearest_mode = "floor"};
  const std::vector<float> given = n.attr_floats("scales");
  set_scales(request, n.has(1) ? n.numbers(1) : std::vector<double>(given.begin(), given.end()));
  return call_resize(n, request, {});
}

Tensors resize(const NodeCall& n) {
  if (n.version() < 11) return upsample(n);
  const Tensor& x = n.in(0);
  ResizeSpec request = {
      .mode = n.attr_text("mode", "nearest"),
      .transformation = n.attr_text("coordinate_transformation_mode", "half_pixel"),
      .nearest_mode = n.attr_text("nearest_mode", "round_prefer_floor")};
  for (const int64_t axis : n.has_attr("axes") ? n.attr_ints("axes") : all_axes(x->rank())) {
    request.axes.push_back(require_axis(axis, x->rank(), "axes"));
  }
  if (n.has(2) && count(n.shape(2)) > 0 && !set_sizes_by_scales(request, x->shape(), n.known(2))) {
    set_scales(request, n.numbers(2));
  }
  if (n.has(3)) request.sizes = n.sizes(3);
  require(request.sizes.empty() != request.scales.empty() &&
              (request.sizes.empty() || request.sizes.size() == request.axes.size()),
          "either scales or sizes must have one element per axis, but there are {} scales and {} "
          "sizes for {} axes",
          request.scales.size(), request.sizes.size(), request.axes.size());
  const std::string policy = n.attr_text("keep_aspect_ratio_policy", "stretch");
  if (!request.sizes.empty()) keep_proportions(request, x->shape(), policy);
  n.ignore("extrapolation_value");
  const double a = n.attr_float("cubic_coeff_a", -0.75);
  std::vector<NamedAttr> more = {{"antialias", n.attr("antialias", 0)},
                                 {"exclude_outside", n.attr("exclude_outside", 0)}};
  if (request.mode == "cubic") more.push_back({"cubic_coeff_a", a});
  if (request.transformation != "tf_crop_and_resize") return call_resize(n, request, more);
  return crop_and_resize(n, request, n.numbers(1));
}

}  // namespace tenon::onnx::adapters
