#include "plugins/vulkan/kernels/parts.h"

#include <algorithm>
#include <limits>

namespace tenon_vulkan {
namespace {

// Alignment of parts in elements. It is a multiple of all alignments that vectorised loops require,
// so that each part can be vectorised.
constexpr int64_t kPartAlignment = 65536;

bool is_one_element(const tenon_view& view) {
  return view.buffer == nullptr || view.strides_class == TENON_STRIDES_UNIFORM;
}

}  // namespace

Parts::Parts(const tenon_launch& launch, uint64_t bindable_bytes)
    : whole_(launch), bindable_bytes_(bindable_bytes), part_(launch) {
  const tenon_view& out = launch.outputs[0];
  views_.assign(launch.inputs, launch.inputs + launch.n_inputs);
  views_.insert(views_.end(), launch.outputs, launch.outputs + launch.n_outputs);
  const bool has_strides = std::any_of(views_.begin(), views_.end(), [](const tenon_view& view) {
    return view.strides_class == TENON_STRIDES_STRIDED;
  });
  rank_ = has_strides ? out.rank : 1;
  if (has_strides) {
    std::copy_n(out.sizes, rank_, sizes_.begin());
  } else {
    sizes_[0] = tenon_sdk::count(out);
  }
  int64_t stride = 1;
  for (size_t axis = rank_; axis-- > 0;) {
    dense_strides_[axis] = stride;
    stride *= sizes_[axis];
  }
  while (axis_ + 1 < rank_ && max_at_once(axis_) == 0) ++axis_;
  at_once_ = std::max<int64_t>(max_at_once(axis_), 1);
  if (axis_ + 1 == rank_ && at_once_ > kPartAlignment)
    at_once_ = at_once_ / kPartAlignment * kPartAlignment;
  part_sizes_ = sizes_;
  std::fill_n(part_sizes_.begin(), axis_, 1);
  for (tenon_view& view : views_) {
    view.rank = static_cast<uint16_t>(rank_);
    view.sizes = part_sizes_.data();
    if (!has_strides) view.strides = dense_strides_.data();
  }
  part_.inputs = views_.data();
  part_.outputs = views_.data() + launch.n_inputs;
}

const int64_t* Parts::strides_of(const tenon_view& view) const {
  return view.strides_class == TENON_STRIDES_STRIDED ? view.strides : dense_strides_.data();
}

int64_t Parts::extent_after(const tenon_view& view, size_t axis) const {
  const int64_t* const strides = strides_of(view);
  int64_t extent = 0;
  for (size_t k = axis + 1; k < rank_; ++k) extent += (sizes_[k] - 1) * std::abs(strides[k]);
  return extent;
}

// Returns the maximum number of indices along an axis for which a part fits into one binding. The
// part contains all indices of later axes. Returns 0 if a part with one index does not fit.
int64_t Parts::max_at_once(size_t axis) const {
  int64_t most = std::numeric_limits<int64_t>::max();
  for (const tenon_view& view : views_) {
    if (is_one_element(view)) continue;
    const auto n_seen = static_cast<int64_t>(bindable_bytes_ / tenon_sdk::size_of(view.dtype));
    const int64_t room = n_seen - 1 - extent_after(view, axis);
    const int64_t stride = std::abs(strides_of(view)[axis]);
    if (room < 0) return 0;
    if (stride > 0) most = std::min(most, room / stride + 1);
  }
  return most;
}

bool Parts::next() {
  if (has_begun_) {
    begin_[axis_] += at_once_;
    for (size_t axis = axis_; begin_[axis] >= sizes_[axis]; --axis) {
      if (axis == 0) return false;
      begin_[axis] = 0;
      ++begin_[axis - 1];
    }
  }
  has_begun_ = true;
  part_sizes_[axis_] = std::min(at_once_, sizes_[axis_] - begin_[axis_]);
  for (size_t i = 0; i < views_.size(); ++i) {
    if (is_one_element(views_[i])) continue;
    const tenon_view& whole =
        i < whole_.n_inputs ? whole_.inputs[i] : whole_.outputs[i - whole_.n_inputs];
    int64_t first = 0;
    for (size_t axis = 0; axis <= axis_; ++axis) first += begin_[axis] * strides_of(whole)[axis];
    views_[i].byte_offset =
        whole.byte_offset +
        static_cast<uint64_t>(first * static_cast<int64_t>(tenon_sdk::size_of(whole.dtype)));
  }
  return true;
}

}  // namespace tenon_vulkan
