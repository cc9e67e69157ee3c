// Ops on regions and bounding boxes of images.

#include <algorithm>
#include <cmath>

#include "core/dispatch/dispatch.h"
#include "core/io/onnx/adapters.h"
#include "core/io/onnx/images.h"

namespace tenon::onnx::adapters {
namespace {

struct RoiAlignSettings {
  int64_t height, width;  // Size of the output for one region.
  double scale, shift;
  bool is_half_pixel, is_max;
};

// Divides each region of the image into a grid of cells. Returns the mean or maximum of `rows` *
// `columns` samples in each cell.
Tensor pool_regions(const Tensor& image, const Ints& sizes, const Tensor& rois,
                    const RoiAlignSettings& to, int64_t rows, int64_t columns) {
  const Size n_rois = rois->shape()[0];
  // Returns the sample positions along one axis, with shape [regions, cells * samples].
  const auto along = [&](int64_t axis, int64_t cells, int64_t samples) {
    const auto edge = [&](int64_t i) {
      return slice(rois, {.starts = {i}, .ends = {i + 1}, .axes = {1}}) * to.scale - to.shift;
    };
    const Tensor start = edge(1 - axis);
    Tensor length = edge(3 - axis) - start;
    if (!to.is_half_pixel) length = maximum(length, number(1));
    const auto total = static_cast<double>(cells * samples);
    const Tensor step = (iota({1, cells * samples}, rois->type.dtype, 1) + 0.5) / total;
    return start + length * step;
  };
  const Tensor y = along(0, to.height, rows), x = along(1, to.width, columns);
  struct Neighbours {
    Tensor low, high, weight, exists;
  };
  const auto neighbours = [&](const Tensor& p, int64_t size) {
    const auto last = static_cast<double>(size - 1);
    const Tensor exists =
        logical_and(greater_equal(p, number(-1)), less_equal(p, number(static_cast<double>(size))));
    const Tensor inside = where(exists, clamp_elements(p, 0, last), number(0));
    const Tensor low = floor(inside);
    return Neighbours{cast(low, DType::kI64), cast(clamp_elements(low + 1, 0, last), DType::kI64),
                      inside - low, exists};
  };
  const Neighbours v = neighbours(y, sizes[0]), h = neighbours(x, sizes[1]);
  const Dims grid = {n_rois, to.height * rows, to.width * columns};
  const auto outer = [&](const Tensor& a, const Tensor& b, const auto& join) {
    return join(expand_dims(a, {2}), expand_dims(b, {1}));
  };
  const Size points = grid[1] * grid[2];
  const Dims shape = {n_rois, image->shape()[1], points};
  Tensor result;
  for (int corner = 0; corner < 4; ++corner) {
    const bool is_high = corner >= 2, is_right = corner % 2 == 1;
    const Tensor index =
        outer(mul(is_high ? v.high : v.low, integer(sizes[1])), is_right ? h.high : h.low, add);
    const Tensor weight =
        outer(is_high ? v.weight : 1.0 - v.weight, is_right ? h.weight : 1.0 - h.weight, mul);
    const Tensor flat = reshape(index, {n_rois, 1, points});
    const Tensor value =
        gather_elements(image, broadcast_to(flat, shape), 2) * reshape(weight, {n_rois, 1, points});
    result = !result ? value : to.is_max ? maximum(result, value) : result + value;
  }
  const Tensor exists = reshape(outer(v.exists, h.exists, logical_and), {n_rois, 1, points});
  result = where(exists, result, number(0));
  result = reshape(result, {n_rois, image->shape()[1], to.height, rows, to.width, columns});
  return to.is_max ? max(result, {.axes = {3, 5}}) : mean(result, {.axes = {3, 5}});
}

}  // namespace

// Implements RoiAlign. If sampling_ratio is 0, the number of samples differs between regions.
Tensors roi_align(const NodeCall& n) {
  const Tensor &x = n.in(0), &rois = n.in(1);
  require(x->rank() == 4 && rois->rank() == 2 && rois->shape()[1] == 4,
          "x must have four axes and rois the shape [regions,4], but are {} and {}", x->type,
          rois->type);
  const std::string mode = n.attr_text("mode", "avg");
  require(mode == "avg" || mode == "max",
          "attribute mode must be \"avg\" or \"max\", but is \"{}\"", mode);
  const std::string half = n.version() >= 16 ? "half_pixel" : "output_half_pixel";
  const std::string transform = n.attr_text("coordinate_transformation_mode", half);
  require(transform == "half_pixel" || transform == "output_half_pixel",
          "attribute coordinate_transformation_mode must be \"half_pixel\" or "
          "\"output_half_pixel\", but is "
          "\"{}\"",
          transform);
  RoiAlignSettings to;
  to.height = n.attr("output_height", 1);
  to.width = n.attr("output_width", 1);
  to.is_half_pixel = transform == "half_pixel";
  to.scale = n.attr_float("spatial_scale", 1);
  to.shift = to.is_half_pixel ? 0.5 : 0;
  to.is_max = mode == "max";
  const int64_t ratio = n.attr("sampling_ratio", 0);
  constexpr int64_t kMaxSamples = int64_t{1} << 24;  // Maximum number for one region.
  const auto require_few = [&](double rows, double columns) {
    require_code(
        rows >= 0 && columns >= 0 &&
            rows * static_cast<double>(to.height) * columns * static_cast<double>(to.width) <=
                static_cast<double>(kMaxSamples),
        Code::kUnimplemented, "too many samples: {} by {} in each of {} by {} cells", rows, columns,
        to.height, to.width);
  };
  require(to.height > 0 && to.width > 0 && ratio >= 0,
          "output_height {}, output_width {} and sampling_ratio {} must not be negative", to.height,
          to.width, ratio);
  const Ints sizes = spatial_sizes(x);
  const DType dtype = x->type.dtype, wide = wide_dtype(dtype);
  const Tensor image = to_dtype(flatten_image(x), wide), regions = to_dtype(rois, wide);
  const Tensor& batch = n.in(2);
  if (ratio > 0) {
    require_few(static_cast<double>(ratio), static_cast<double>(ratio));
    const Tensor images = gather(image, batch, 0);
    return {to_dtype(pool_regions(images, sizes, regions, to, ratio, ratio), dtype)};
  }
  const std::vector<double> corners = n.numbers(1);
  Tensors parts;
  for (int64_t i = 0; i < static_cast<int64_t>(corners.size() / 4); ++i) {
    const double* corner = &corners[static_cast<size_t>(4 * i)];
    const auto samples = [&](double start, double end, int64_t cells) {
      double length = (end - start) * to.scale;
      if (!to.is_half_pixel) length = std::max(length, 1.0);
      return std::ceil(length / static_cast<double>(cells));
    };
    const double rows = samples(corner[1], corner[3], to.height);
    const double columns = samples(corner[0], corner[2], to.width);
    require_few(rows, columns);
    const auto part = [&](const Tensor& of) {
      return slice(of, {.starts = {i}, .ends = {i + 1}, .axes = {0}});
    };
    parts.push_back(pool_regions(gather(image, part(batch), 0), sizes, part(regions), to,
                                 std::max<int64_t>(static_cast<int64_t>(rows), 1),
                                 std::max<int64_t>(static_cast<int64_t>(columns), 1)));
  }
  if (parts.empty()) {
    return {zeros(TensorType(dtype, {0, x->shape()[1], to.height, to.width}))};
  }
  return {to_dtype(concat(parts, 0), dtype)};
}

namespace {

struct Box {
  float top, left, bottom, right;
  float area() const { return (bottom - top) * (right - left); }
};

// Returns the intersection over union of two boxes.
float overlap(const Box& a, const Box& b) {
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (height <= 0 || width <= 0) return 0;
  const float common = height * width, all = a.area() + b.area() - common;
  return all > 0 ? common / all : 0;
}

// Converts groups of four numbers to boxes. `by_centre`: the numbers are a centre and a size.
std::vector<Box> boxes_of(const std::vector<double>& numbers, bool by_centre) {
  std::vector<Box> boxes;
  for (size_t i = 0; i + 3 < numbers.size(); i += 4) {
    float c[4];
    for (size_t j = 0; j < 4; ++j) c[j] = static_cast<float>(numbers[i + j]);
    if (by_centre) {  // [x, y, width, height] of each box.
      boxes.push_back({c[1] - c[3] / 2, c[0] - c[2] / 2, c[1] + c[3] / 2, c[0] + c[2] / 2});
    } else {  // [y, x, y, x]: two opposite corners.
      boxes.push_back(
          {std::min(c[0], c[2]), std::min(c[1], c[3]), std::max(c[0], c[2]), std::max(c[1], c[3])});
    }
  }
  return boxes;
}

}  // namespace

// Selects boxes by descending score, and skips boxes whose overlap with a selected box exceeds the
// threshold. Runs on the host, because the number of selected boxes is data-dependent.
Tensors non_max_suppression(const NodeCall& n) {
  const Dims &boxes = n.shape(0), &scores = n.shape(1);
  require(boxes.rank() == 3 && boxes[2] == 4 && scores.rank() == 3 && scores[0] == boxes[0] &&
              scores[2] == boxes[1],
          "boxes must be [batch,boxes,4] and scores [batch,classes,boxes], but are {} and {}",
          n.in(0)->type, n.in(1)->type);
  const int64_t most = n.has(2) ? n.one_int(2) : 0;
  const float max_overlap = n.has(3) ? static_cast<float>(n.one_number(3)) : 0;
  const float least = n.has(4) ? static_cast<float>(n.one_number(4)) : -INFINITY;
  const bool by_centre = n.flag("center_point_box", false);
  const std::vector<Box> all = boxes_of(n.numbers(0), by_centre);
  const std::vector<double> numbers = n.numbers(1);
  const int64_t batch = boxes[0], n_boxes = boxes[1], classes = scores[1];
  Ints found;
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t c = 0; c < classes; ++c) {
      const double* score = numbers.data() + (b * classes + c) * n_boxes;
      const Box* box = all.data() + b * n_boxes;
      std::vector<int64_t> order;
      for (int64_t i = 0; i < n_boxes; ++i) {
        if (static_cast<float>(score[i]) > least) order.push_back(i);
      }
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t i, int64_t j) { return score[i] > score[j]; });
      std::vector<int64_t> selected;
      for (const int64_t i : order) {
        if (static_cast<int64_t>(selected.size()) >= most) break;
        const bool is_new = std::none_of(selected.begin(), selected.end(), [&](int64_t j) {
          return overlap(box[i], box[j]) > max_overlap;
        });
        if (is_new) selected.push_back(i);
      }
      for (const int64_t i : selected) {
        for (const int64_t value : {b, c, i}) found.push_back(value);
      }
    }
  }
  return {host_ints(found, {static_cast<int64_t>(found.size() / 3), 3})};
}

}  // namespace tenon::onnx::adapters
