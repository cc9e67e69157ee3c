// Ops that sample images at computed positions.

#include <algorithm>
#include <cmath>

#include "core/dispatch/dispatch.h"
#include "core/io/onnx/adapters.h"
#include "core/io/onnx/images.h"

namespace tenon::onnx::adapters {

// Returns the sizes of the spatial axes, which follow batch and channels.
Ints spatial_sizes(const Tensor& x) {
  Ints sizes;
  for (size_t i = 2; i < x->rank(); ++i) sizes.push_back(x->shape()[i]);
  for (const int64_t size : sizes)
    require(size > 0, "cannot sample {}, which has no elements", x->type);
  return sizes;
}

// Reshapes x to [batch, channels, elements].
Tensor flatten_image(const Tensor& x) {
  const Dims& shape = x->shape();
  Size elements = 1;
  for (size_t i = 2; i < x->rank(); ++i) elements *= shape[i];
  return reshape(x, {shape[0], shape[1], elements});
}

// Clamps the elements of p to the range from `low` to `high`.
Tensor clamp_elements(const Tensor& p, double low, double high) {
  return minimum(maximum(p, number(low)), number(high));
}

namespace {

// ---- sampling ----

enum class Interpolation { kNearest, kLinear, kCubic };
enum class Padding { kZeros, kBorder, kReflection };

struct Sampling {
  Interpolation mode = Interpolation::kLinear;
  Padding padding = Padding::kZeros;
  bool align_corners =
      true;  // Whether the borders of the image are the centres of its outer elements.
};

// The interval of valid positions along one axis. Reflection mirrors positions at its ends.
struct Borders {
  double low, high;
};

// Returns the borders of an axis of this size.
Borders borders_of(int64_t size, bool align_corners) {
  const auto length = static_cast<double>(size);
  return align_corners ? Borders{0, length - 1} : Borders{-0.5, length - 0.5};
}

// Mirrors positions at the borders repeatedly, until they are inside.
Tensor reflect_at_borders(const Tensor& p, Borders at) {
  const double range = at.high - at.low;
  if (range <= 0) return zeros(p->type) + at.low;
  const Tensor turn = mod(p - at.low, number(2 * range));
  return minimum(turn, 2 * range - turn) + at.low;
}

// Moves positions outside the image into it, if the padding mode is border or reflection.
Tensor padded_positions(const Tensor& p, int64_t size, const Sampling& how) {
  if (how.padding == Padding::kZeros) return p;
  const Borders at = borders_of(size, how.align_corners);
  const Tensor is_outside = logical_or(less(p, number(at.low)), greater(p, number(at.high)));
  return where(is_outside,
               how.padding == Padding::kBorder ? clamp_elements(p, 0, static_cast<double>(size - 1))
                                               : reflect_at_borders(p, at),
               p);
}

// One neighbour of each position along one axis: its index, its weight, and whether it is inside.
struct Tap {
  Tensor index, weight, exists;  // An empty `weight` is 1; an empty `exists` is true.
};

// Returns the neighbour at index `place`, a tensor of whole numbers.
Tap tap_at(const Tensor& place, const Tensor& weight, int64_t size, const Sampling& how) {
  const auto last = static_cast<double>(size - 1);
  Tap tap{{}, weight, {}};
  Tensor inside = place;
  if (how.padding == Padding::kZeros) {
    tap.exists = logical_and(greater_equal(place, number(0)), less_equal(place, number(last)));
  } else if (how.padding == Padding::kReflection) {
    inside = trunc(reflect_at_borders(place, borders_of(size, how.align_corners)));
  }
  tap.index = cast(clamp_elements(inside, 0, last), DType::kI64);
  return tap;
}

// Returns the neighbours from which the elements at `position` are interpolated.
std::vector<Tap> taps_of(const Tensor& position, int64_t size, const Sampling& how) {
  // Treats NaN as a position outside the image.
  const Tensor p = padded_positions(where(isfinite(position), position, number(-4)), size, how);
  if (how.mode == Interpolation::kNearest) return {tap_at(round(p), Tensor(), size, how)};
  const Tensor low = floor(p), f = p - low;
  if (how.mode == Interpolation::kLinear) {
    return {tap_at(low, 1.0 - f, size, how), tap_at(low + 1, f, size, how)};
  }
  constexpr double kA = -0.75;
  const auto near = [&](const Tensor& d) { return ((kA + 2) * d - (kA + 3)) * d * d + 1; };
  const auto far = [&](const Tensor& d) { return ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA; };
  return {tap_at(low - 1, far(f + 1), size, how), tap_at(low, near(f), size, how),
          tap_at(low + 1, near(1.0 - f), size, how), tap_at(low + 2, far(2.0 - f), size, how)};
}

// Samples an image at computed positions. x is [batch, channels, elements], with an image of the
// given sizes in its last axis. `positions` has a tensor [batch, points] for each axis of the
// image. Returns [batch, channels, points].
Tensor sample_image(const Tensor& x, const Ints& sizes, const Tensors& positions,
                    const Sampling& how) {
  std::vector<std::vector<Tap>> taps;
  for (size_t i = 0; i < sizes.size(); ++i) taps.push_back(taps_of(positions[i], sizes[i], how));
  const Dims& points = positions[0]->shape();
  const Dims shape = {x->shape()[0], x->shape()[1], points[1]};
  size_t combinations = 1;
  for (const auto& axis : taps) combinations *= axis.size();
  Tensor y;
  for (size_t c = 0; c < combinations; ++c) {
    Tensor index, weight, exists;
    size_t rest = c;
    for (size_t i = 0; i < sizes.size(); ++i) {
      const Tap& tap = taps[i][rest % taps[i].size()];
      rest /= taps[i].size();
      index = index ? add(mul(index, integer(sizes[i])), tap.index) : tap.index;
      if (tap.weight) weight = weight ? weight * tap.weight : tap.weight;
      if (tap.exists) exists = exists ? logical_and(exists, tap.exists) : tap.exists;
    }
    Tensor value = gather_elements(x, broadcast_to(expand_dims(index, {1}), shape), 2);
    if (weight) value = value * expand_dims(weight, {1});
    if (exists) value = where(expand_dims(exists, {1}), value, number_of(value->type.dtype, 0));
    y = y ? y + value : value;
  }
  return y;
}

// Returns component i of the last axis of `points`, with shape [batch, points].
Tensor component(const Tensor& points, int64_t i) {
  const Tensor one = slice(points, {.starts = {i}, .ends = {i + 1}, .axes = {-1}});
  Size count = 1;
  for (size_t axis = 1; axis + 1 < points->rank(); ++axis) count *= points->shape()[axis];
  return reshape(one, {points->shape()[0], count});
}

}  // namespace

// Samples x at the positions in the grid. The last axis of the grid holds coordinates between -1
// and 1, in reverse order: the coordinate along the last axis of x comes first.
Tensors grid_sample(const NodeCall& n) {
  const Tensor &x = n.in(0), &grid = n.in(1);
  require(x->rank() >= 3 && grid->rank() == x->rank(),
          "x and grid must have the same number of axes, at least three, but are {} and {}",
          x->type, grid->type);
  const Ints sizes = spatial_sizes(x);
  const auto axes = static_cast<int64_t>(sizes.size());
  constexpr int64_t kMaxAxes = 4;
  require_code(axes <= kMaxAxes, Code::kUnimplemented,
               "at most {} spatial axes are supported, but there are {}", kMaxAxes, axes);
  require(grid->shape()[grid->rank() - 1] == axes,
          "the last axis of grid must have {} elements, one per spatial axis, but grid is {}", axes,
          grid->type);
  const std::string mode = n.attr_text("mode", "linear");
  const std::string padding = n.attr_text("padding_mode", "zeros");
  Sampling how;
  how.align_corners = n.flag("align_corners", false);
  if (mode == "nearest") {
    how.mode = Interpolation::kNearest;
  } else if (mode == "cubic" || mode == "bicubic") {
    how.mode = Interpolation::kCubic;
  } else {
    require(mode == "linear" || mode == "bilinear",
            "attribute mode must be \"linear\", \"nearest\" or \"cubic\", but is \"{}\"", mode);
  }
  if (padding == "border") {
    how.padding = Padding::kBorder;
  } else if (padding == "reflection") {
    how.padding = Padding::kReflection;
  } else {
    require(padding == "zeros",
            "attribute padding_mode must be \"zeros\", \"border\" or \"reflection\", but is \"{}\"",
            padding);
  }
  const DType dtype = x->type.dtype, wide = wide_dtype(grid->type.dtype);
  Tensors positions;
  for (int64_t i = 0; i < axes; ++i) {
    const Tensor at = component(to_dtype(grid, wide), axes - 1 - i) + 1;
    const auto size = static_cast<double>(sizes[static_cast<size_t>(i)]);
    positions.push_back(how.align_corners ? at / 2 * (size - 1) : (at * size - 1) / 2);
  }
  Tensor image = flatten_image(x);
  if (how.mode != Interpolation::kNearest) image = to_dtype(image, promote(wide, dtype));
  Dims shape = {x->shape()[0], x->shape()[1]};
  for (size_t i = 1; i + 1 < grid->rank(); ++i) shape.push_back(grid->shape()[i]);
  return {cast(reshape(sample_image(image, sizes, positions, how), shape), dtype)};
}

// Computes the grid of an affine transform. theta holds a matrix for each image, which maps
// homogeneous output positions to input positions.
Tensors affine_grid(const NodeCall& n) {
  const Tensor& theta = n.in(0);
  const Ints size = n.ints(1);
  const size_t axes = size.size() - std::min<size_t>(size.size(), 2);
  require((axes == 2 || axes == 3) && theta->rank() == 3,
          "theta must have three axes, and size must have 4 or 5 elements, but theta is {} and "
          "size has {} "
          "elements",
          theta->type, size.size());
  const bool align_corners = n.flag("align_corners", false);
  const DType dtype = theta->type.dtype;
  Dims grid, shape = {theta->shape()[0]};
  for (size_t i = 0; i < axes; ++i) grid.push_back(size[i + 2]);
  for (const Size each : grid) shape.push_back(each);
  shape.push_back(static_cast<int64_t>(axes));
  Tensors columns;
  for (size_t i = axes; i-- > 0;) {
    const auto length = static_cast<double>(size[i + 2]);
    const double step = align_corners ? (length > 1 ? 2 / (length - 1) : 0) : 2 / length;
    const double first = align_corners ? -1 : -1 + 1 / length;
    const Tensor place = iota(grid, dtype, static_cast<int64_t>(i)) * step + first;
    columns.push_back(reshape(place, {count(grid), 1}));
  }
  columns.push_back(ones(TensorType(dtype, {count(grid), 1})));
  const Tensor points = concat(columns, 1);
  return {reshape(matmul(points, theta, {.transpose_b = true}), shape)};
}

// Crops or pads axes equally at both ends, up to one element.
Tensors center_crop_pad(const NodeCall& n) {
  Tensor x = n.in(0);
  const Ints wanted = n.ints(1);
  Ints axes = n.attr_ints("axes");
  if (axes.empty()) {
    for (size_t i = 0; i < x->rank(); ++i) axes.push_back(static_cast<int64_t>(i));
  }
  require(axes.size() == wanted.size(), "shape must have {} elements, one per axis, but has {}",
          axes.size(), wanted.size());
  Sizes pads(2 * x->rank(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(require_axis(axes[i], x->rank(), "axes"));
    const int64_t size = x->shape()[axis], missing = wanted[i] - size;
    if (missing >= 0) {
      pads[axis] = missing / 2;
      pads[x->rank() + axis] = missing - missing / 2;
    } else {
      const int64_t start = -missing / 2;
      x = slice(x, {.starts = {start}, .ends = {start + wanted[i]}, .axes = {axes[i]}});
    }
  }
  return {pad(x, number_of(x->type.dtype, 0), pads)};
}

// Deformable convolution: each window element is moved by an offset and scaled by a mask.
Tensors deform_conv(const NodeCall& n) {
  const Tensor &x = n.in(0), &w = n.in(1);
  require_code(x->rank() == 4 && w->rank() == 4, Code::kUnimplemented,
               "only two spatial axes are supported, but x is {} and W is {}", x->type, w->type);
  const auto values = [&](std::string_view name, size_t size, int64_t otherwise) {
    const Ints given = n.attr_ints(name);
    require(given.empty() || given.size() == size, "attribute {} must have {} values, but has {}",
            name, size, given.size());
    return given.empty() ? Ints(size, otherwise) : given;
  };
  const Ints strides = values("strides", 2, 1), dilations = values("dilations", 2, 1);
  const Ints pads = values("pads", 4, 0);
  const Ints kernel = {w->shape()[2], w->shape()[3]};
  const Ints given_kernel = n.attr_ints("kernel_shape");
  require(given_kernel.empty() || given_kernel == kernel,
          "attribute kernel_shape must equal the spatial sizes of the filter, {}", w->type);
  const int64_t group = n.attr("group", 1), offset_group = n.attr("offset_group", 1);
  const Size batch = x->shape()[0];
  const int64_t channels = x->shape()[1], filters = w->shape()[0];
  require(group > 0 && offset_group > 0 && channels % group == 0 && filters % group == 0 &&
              channels % offset_group == 0,
          "group {} and offset_group {} must divide the numbers of channels of x and W, which are "
          "{} and {}",
          group, offset_group, x->type, w->type);
  const Ints sizes = spatial_sizes(x);
  const Tensor& offset = n.in(2);
  require(offset->rank() == 4, "offset must have four axes, but is {}", offset->type);
  const Size height = offset->shape()[2], width = offset->shape()[3];
  const int64_t window = kernel[0] * kernel[1];
  const DType dtype = x->type.dtype, wide = wide_dtype(dtype);
  const Dims places = {batch * offset_group, kernel[0], kernel[1], 2, height, width};
  const Tensor offsets = reshape(to_dtype(offset, wide), places);
  const Size points = height * width * window;
  Tensors positions;
  for (int64_t i = 0; i < 2; ++i) {
    const auto axis = static_cast<size_t>(i);
    const Tensor moved =
        squeeze(slice(offsets, {.starts = {i}, .ends = {i + 1}, .axes = {3}}), {3});
    const Tensor in_window = iota({kernel[0], kernel[1], 1, 1}, wide, i);
    const Tensor start = iota({1, 1, height, width}, wide, i + 2);
    const Tensor base = in_window * static_cast<double>(dilations[axis]) +
                        start * static_cast<double>(strides[axis]) -
                        static_cast<double>(pads[axis]);
    positions.push_back(reshape(moved + base, {batch * offset_group, points}));
  }
  const Tensor image = reshape(
      to_dtype(x, wide), {batch * offset_group, channels / offset_group, sizes[0] * sizes[1]});
  Tensor columns = sample_image(image, sizes, positions, {});
  if (n.has(4)) {
    columns = columns * reshape(to_dtype(n.in(4), wide), {batch * offset_group, 1, points});
  }
  const int64_t rows = channels / group * window;
  columns = reshape(columns, {batch, group, rows, height * width});
  const Tensor filter = reshape(to_dtype(w, wide), {group, filters / group, rows});
  Tensor y = reshape(matmul(filter, columns), {batch, filters, height, width});
  if (n.has(3)) y = y + reshape(to_dtype(n.in(3), wide), {filters, 1, 1});
  return {to_dtype(y, dtype)};
}

}  // namespace tenon::onnx::adapters
