// Splits elementwise launches into parts, each of whose operands fits into one binding. A binding
// holds only 128 MiB on some devices.

#pragma once

#include <array>
#include <vector>

#include "plugins/vulkan/encoder.h"

namespace tenon_vulkan {

class Parts {
 public:
  // All operands have the sizes of the outputs, which are dense. A binding holds `bindable_bytes`
  // of an operand, at any offset.
  Parts(const tenon_launch& launch, uint64_t bindable_bytes);
  Parts(const Parts&) = delete;

  // Advances to the next part, initially the first. Returns false if there are no more.
  bool next();
  // The current part; valid until next().
  const tenon_launch& launch() const { return part_; }

 private:
  using Sizes = std::array<int64_t, TENON_MAX_RANK>;

  const int64_t* strides_of(const tenon_view& view) const;
  // The distance between an operand's elements that differ only in axes after this one.
  int64_t extent_after(const tenon_view& view, size_t axis) const;
  int64_t max_at_once(size_t axis) const;

  const tenon_launch& whole_;
  const uint64_t bindable_bytes_;
  size_t rank_;
  Sizes sizes_{}, dense_strides_{};
  // A part has one index of each axis before `axis_`, `at_once_` indices of `axis_`, and all of the
  // axes after it, and begins at `begin_`. So a part is dense if the whole operand is.
  size_t axis_ = 0;
  int64_t at_once_;
  Sizes begin_{}, part_sizes_{};
  bool has_begun_ = false;
  std::vector<tenon_view> views_;  // Inputs of the part, then outputs.
  tenon_launch part_;
};

}  // namespace tenon_vulkan
