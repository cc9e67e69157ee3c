// Iteration over axes in shaders. A linear index counts elements in row-major order; the offset of
// an element in an operand is the sum of coordinates times strides.

#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "plugins/sdk/view.h"
#include "plugins/vulkan/spirv/code.h"

namespace tenon_vulkan {

// Division of any word by a number that the host knows. The quotient is (t + (word - t) / 2) /
// 2^shift, where t is the high word of word * multiplier (Granlund and Montgomery, 1994).
struct Divisor {
  uint32_t multiplier, shift;
};
// `number` must be greater than 1.
Divisor divisor_of(uint32_t number);

// In a shader: division by a number that the host has pushed together with its Divisor.
struct Division {
  spirv::U32 number, multiplier, shift;

  static constexpr uint32_t kWords = 3;
  static void push(spirv::Words& words, int64_t number);
  static Division load(spirv::Code& code, spirv::U32 at);

  // Returns quotient and remainder: `of` requires a divisor greater than 1, `of_any` takes any.
  std::pair<spirv::U32, spirv::U32> of(spirv::U32 x) const;
  std::pair<spirv::U32, spirv::U32> of_any(spirv::U32 x) const;

 private:
  spirv::U32 quotient(spirv::U32 x) const;
};

// At a launch: selected axes, the last one first. Adjacent axes are merged where all operands
// traverse them without a gap. Pushes the number of axes, and for each its size, the division by
// it, and the strides of the operands. At least kAtOnce axes are pushed; padding axes have strides
// of zero.
class Axes {
 public:
  static constexpr size_t kMaxOperands = 32;
  static constexpr size_t kAtOnce = 3;  // Axes that shaders handle without a loop.

  // Selects the axes of `mask`, with the operands' strides.
  Axes(size_t rank, const int64_t* sizes, uint32_t mask, std::span<const int64_t* const> strides) {
    for (size_t axis = rank; axis-- > 0;) {
      if ((mask >> axis & 1) == 0 || sizes[axis] == 1) continue;
      bool merges = rank_ > 0;
      for (size_t k = 0; merges && k < strides.size(); ++k) {
        merges = strides[k][axis] == strides[k][axes_[rank_ - 1]] * sizes_[rank_ - 1];
      }
      if (merges) {
        sizes_[rank_ - 1] *= sizes[axis];
      } else {
        axes_[rank_] = axis;
        sizes_[rank_++] = sizes[axis];
      }
    }
    for (size_t k = 0; k < strides.size(); ++k) strides_[k] = strides[k];
    n_operands_ = strides.size();
  }

  void push(spirv::Words& words) const;
  // Iterations of the shader's loop over the axes beyond kAtOnce, including its final test.
  uint64_t iterations() const { return 1 + (rank_ > kAtOnce ? rank_ - kAtOnce : 0); }
  // Size of the last axis, including the axes merged into it.
  int64_t last_size() const { return rank_ == 0 ? 1 : sizes_[0]; }
  // Whether at most one axis is left after merging, so that shaders need no division to find an
  // element.
  bool is_line() const { return rank_ <= 1; }

 private:
  size_t rank_ = 0, n_operands_ = 0;
  std::array<size_t, TENON_MAX_RANK> axes_;  // Of each group of merged axes, the innermost axis.
  std::array<int64_t, TENON_MAX_RANK> sizes_;
  std::array<const int64_t*, kMaxOperands> strides_;
};

inline constexpr uint32_t kAllAxes = ~uint32_t{0};

// In a shader: reads axes that were pushed from parameter `at` on.
class AxesCode {
 public:
  AxesCode(spirv::Code& code, spirv::U32 at, uint32_t n_operands);

  // Index of the first parameter after the axes.
  spirv::U32 end() const { return axis_at(count_); }

  // Offset of the element with this linear index in each operand.
  std::vector<spirv::U32> places(spirv::U32 number) const;
  // Like places(), for axes of which is_line() is true.
  std::vector<spirv::U32> line_offsets(spirv::U32 number) const;
  // The stride of each operand along the last axis.
  const std::vector<spirv::U32>& last_strides() const { return first_[0].strides; }

 private:
  struct Axis {
    Division size;
    std::vector<spirv::U32> strides;
  };
  spirv::U32 axis_at(spirv::U32 axis) const { return at_ + 1 + axis * (n_operands_ + 3); }
  Axis load(spirv::U32 axis) const;

  spirv::Code& code_;
  spirv::U32 at_, count_;
  uint32_t n_operands_;
  std::vector<Axis> first_;
};

}  // namespace tenon_vulkan
