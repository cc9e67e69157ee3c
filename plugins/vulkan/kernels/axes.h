// Axes as shaders go over them: a number counts elements in row-major order, and where an operand
// has one is the sum of coordinates times strides.

#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <vector>

#include "plugins/sdk/view.h"
#include "plugins/vulkan/spirv/code.h"

namespace tenon_vulkan {

// At a launch: some axes, the last one first, those merged that all operands cross without a gap.
// What is pushed is how many there are, their sizes, and for each operand its strides.
class Axes {
 public:
  static constexpr size_t kMostOperands = 32;

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

  void push(spirv::Words& words) const {
    words.push_back(static_cast<uint32_t>(rank_));
    for (size_t i = 0; i < rank_; ++i) words.push_back(static_cast<uint32_t>(sizes_[i]));
    for (size_t k = 0; k < n_operands_; ++k) {
      for (size_t i = 0; i < rank_; ++i) {
        words.push_back(static_cast<uint32_t>(strides_[k][axes_[i]]));
      }
    }
  }

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
  AxesCode(spirv::Code& code, spirv::U32 at, uint32_t n_operands)
      : code_(code), sizes_(at + 1), rank_(code.parameter(at)), n_operands_(n_operands) {}

  // The parameter behind them.
  spirv::U32 end() const { return sizes_ + rank_ * (n_operands_ + 1); }

  // Where each operand has the element of that number.
  std::vector<spirv::U32> places(spirv::U32 number) const;

 private:
  spirv::Code& code_;
  spirv::U32 sizes_, rank_;
  uint32_t n_operands_;
};

}  // namespace tenon_vulkan
