// Splits an elementwise launch into parts, so that each operand of a part fits into one binding. On
// some devices a binding is at most 128 MiB.

#pragma once

#include <array>
#include <vector>

#include "plugins/vulkan/encoder.h"

namespace tenon_vulkan {

class Parts {
 public:
  // All operands must have the sizes of the outputs, and the outputs must be dense.
  // `bindable_bytes`: maximum size of an operand at any offset.
  Parts(const tenon_launch& launch, uint64_t bindable_bytes);
  Parts(const Parts&) = delete;

  // Advances to the next part; the first call advances to the first part. Returns false after the
  // last part.
  bool next();
  // Returns the launch of the current part, which is valid until the next call of next().
  const tenon_launch& launch() const { return part_; }

 private:
  using Sizes = std::array<int64_t, TENON_MAX_RANK>;

  // Returns the strides of a view; those of a dense view are computed.
  const int64_t* strides_of(const tenon_view& view) const;
  // Returns the maximum distance, in elements, of two elements of an operand that differ only in
  // axes after this one.
  int64_t extent_after(const tenon_view& view, size_t axis) const;
  // Returns how many indices of this axis fit into one part; 0 if none fits.
  int64_t max_at_once(size_t axis) const;

  const tenon_launch& whole_;
  const uint64_t bindable_bytes_;
  size_t rank_;
  Sizes sizes_{}, dense_strides_{};
  // A part begins at the indices `begin_`. It has one index of each axis before `axis_`, at most
  // `at_once_` indices of `axis_`, and all indices of later axes. So a part of a dense operand is
  // dense.
  size_t axis_ = 0;
  int64_t at_once_;
  Sizes begin_{}, part_sizes_{};
  bool has_begun_ = false;
  std::vector<tenon_view> views_;  // The inputs of the part, followed by its outputs.
  tenon_launch part_;
};

}  // namespace tenon_vulkan
