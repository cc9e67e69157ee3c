// Launches over elements in parts, of which shaders see every operand whole: what they see of one
// at once is as little as 128 MiB on some devices.

#pragma once

#include <array>
#include <vector>

#include "plugins/vulkan/encoder.h"

namespace tenon_vulkan {

class Parts {
 public:
  // All operands have the sizes of the outputs, which are dense. Of an operand shaders see so many
  // bytes, wherever it begins.
  Parts(const tenon_launch& launch, uint64_t seen_bytes);
  Parts(const Parts&) = delete;

  // Goes to the next part, at first to the first one; false: there are no more.
  bool next();
  // The part, until the next one.
  const tenon_launch& launch() const { return part_; }

 private:
  using Sizes = std::array<int64_t, TENON_MAX_RANK>;

  const int64_t* strides_of(const tenon_view& view) const;
  // How far the operand's elements are apart that differ in axes behind this one.
  int64_t extent_behind(const tenon_view& view, size_t axis) const;
  int64_t most_at_once(size_t axis) const;

  const tenon_launch& whole_;
  const uint64_t seen_bytes_;
  size_t rank_;
  Sizes sizes_{}, dense_strides_{};
  // A part is one of each axis before this one, so many of it, and all of those behind it; it
  // begins there. So it is dense where the whole is.
  size_t axis_ = 0;
  int64_t at_once_;
  Sizes begin_{}, part_sizes_{};
  bool has_begun_ = false;
  std::vector<tenon_view> views_;  // The part's inputs, then outputs.
  tenon_launch part_;
};

}  // namespace tenon_vulkan
