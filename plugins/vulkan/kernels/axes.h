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

// Constants for the division of any 32-bit word by a number that is known on the host. The quotient
// is (t + (word - t) / 2) / 2^shift, where t is the high word of word * multiplier (Granlund and
// Montgomery, 1994).
struct Divisor {
  uint32_t multiplier, shift;
};
// Returns the constants for division by `number`, which must be greater than 1.
Divisor make_divisor(uint32_t number);

// In a shader: division by a number that the host pushed as a parameter together with its Divisor.
struct Division {
  spirv::U32 number, multiplier, shift;

  static constexpr uint32_t kWords = 3;
  // push() appends the divisor and its constants to the parameters; load() reads them in the shader
  // from parameter `at` on.
  static void push(spirv::Words& words, int64_t number);
  static Division load(spirv::Code& code, spirv::U32 at);

  // Return quotient and remainder. divide() requires a divisor greater than 1; the second function
  // accepts any divisor.
  std::pair<spirv::U32, spirv::U32> divide(spirv::U32 x) const;
  std::pair<spirv::U32, spirv::U32> divide_by_any_divisor(spirv::U32 x) const;

 private:
  spirv::U32 quotient(spirv::U32 x) const;
};

// Host side: iterates over selected axes of a launch, from the last axis to the first. Adjacent
// axes are merged if one stride covers both in every operand. push() pushes the number of axes and,
// for each axis, its size with the Divisor and the strides of the operands. If there are fewer than
// kAtOnce axes, it also pushes padding axes whose strides are zero.
class Axes {
 public:
  static constexpr size_t kMaxOperands = 32;
  static constexpr size_t kAtOnce = 3;  // Number of axes that shaders process without a loop.

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
  // Returns the number of iterations of the shader's loop over all axes but the first kAtOnce. The
  // number includes the final loop test.
  uint64_t iterations() const { return 1 + (rank_ > kAtOnce ? rank_ - kAtOnce : 0); }
  // Returns the size of the last axis, including the axes that are merged into it.
  int64_t last_size() const { return rank_ == 0 ? 1 : sizes_[0]; }
  // Whether at most one axis is left after merging. Shaders then compute offsets without divisions.
  bool has_at_most_one_axis() const { return rank_ <= 1; }

 private:
  size_t rank_ = 0, n_operands_ = 0;
  std::array<size_t, TENON_MAX_RANK> axes_;  // The last of each group of merged axes.
  std::array<int64_t, TENON_MAX_RANK> sizes_;
  std::array<const int64_t*, kMaxOperands> strides_;
};

inline constexpr uint32_t kAllAxes = ~uint32_t{0};

// Shader side of the iteration: loads the axes that Axes::push() pushed from parameter `at` on.
class AxesCode {
 public:
  AxesCode(spirv::Code& code, spirv::U32 at, uint32_t n_operands);

  // Index of the first parameter after the axes.
  spirv::U32 end() const { return axis_at(count_); }

  // Returns the offset, in each operand, of the element with this linear index.
  std::vector<spirv::U32> operand_offsets(spirv::U32 number) const;
  // Like operand_offsets(), but requires that Axes::has_at_most_one_axis() was true.
  std::vector<spirv::U32> line_offsets(spirv::U32 number) const;
  // Returns the stride of each operand along the last axis.
  const std::vector<spirv::U32>& last_strides() const { return first_[0].strides; }

 private:
  struct Axis {
    Division size;
    std::vector<spirv::U32> strides;
  };
  // Returns the index of the first parameter of an axis.
  spirv::U32 axis_at(spirv::U32 axis) const { return at_ + 1 + axis * (n_operands_ + 3); }
  // Loads the size and the strides of an axis.
  Axis load(spirv::U32 axis) const;

  spirv::Code& code_;
  spirv::U32 at_, count_;
  uint32_t n_operands_;
  std::vector<Axis> first_;
};

}  // namespace tenon_vulkan
