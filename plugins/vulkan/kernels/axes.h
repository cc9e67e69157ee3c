// Axes as shaders go over them: a number counts elements in row-major order, and where an operand
// has one is the sum of coordinates times strides.

#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "plugins/sdk/view.h"
#include "plugins/vulkan/spirv/code.h"

namespace tenon_vulkan {

// Division by a number that the host knows, of any word: the quotient is
// (t + (word - t) / 2) / 2^shift with t the high word of word * multiplier (Granlund and
// Montgomery, 1994).
struct Divisor {
  uint32_t multiplier, shift;
};
// Of a number above 1.
Divisor divisor_of(uint32_t number);

// In a shader: the division by a number that was pushed with its divisor.
struct Division {
  spirv::U32 number, multiplier, shift;

  static constexpr uint32_t kWords = 3;
  static void push(spirv::Words& words, int64_t number);
  static Division load(spirv::Code& code, spirv::U32 at);

  // The quotient, and what is left: of a number above 1, and of any.
  std::pair<spirv::U32, spirv::U32> of(spirv::U32 x) const;
  std::pair<spirv::U32, spirv::U32> of_any(spirv::U32 x) const;

 private:
  spirv::U32 quotient(spirv::U32 x) const;
};

// At a launch: some axes, the last one first, those merged that all operands cross without a gap.
// What is pushed is how many there are, and for each its size, the division by it, and the strides
// of the operands. They are never fewer than kAtOnce: those added have strides of zero.
class Axes {
 public:
  static constexpr size_t kMostOperands = 32;
  static constexpr size_t kAtOnce = 3;  // Shaders go over so many without a loop.

  // The axes of `mask`, with the operands' strides.
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
  // Of the loop that a shader needs for what it does not go over at once, with its end.
  uint64_t iterations() const { return 1 + (rank_ > kAtOnce ? rank_ - kAtOnce : 0); }
  // How long the last axis is, with what merged.
  int64_t last_size() const { return rank_ == 0 ? 1 : sizes_[0]; }
  // Whether that is all there is: shaders may go over it as a line.
  bool is_line() const { return rank_ <= 1; }

 private:
  size_t rank_ = 0, n_operands_ = 0;
  std::array<size_t, TENON_MAX_RANK> axes_;  // Of those merged, the innermost.
  std::array<int64_t, TENON_MAX_RANK> sizes_;
  std::array<const int64_t*, kMostOperands> strides_;
};

inline constexpr uint32_t kAllAxes = ~uint32_t{0};

// In a shader: axes that were pushed at some parameter.
class AxesCode {
 public:
  AxesCode(spirv::Code& code, spirv::U32 at, uint32_t n_operands);

  // The parameter behind them.
  spirv::U32 end() const { return axis_at(count_); }

  // Where each operand has the element of that number.
  std::vector<spirv::U32> places(spirv::U32 number) const;
  // The same of a line.
  std::vector<spirv::U32> places_on_line(spirv::U32 number) const;
  // How far it is from an element to the next, for each operand, along the last axis.
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
