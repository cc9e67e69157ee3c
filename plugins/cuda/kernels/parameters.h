// Builds the only parameter of a device function, a struct, from words of 8 bytes.

#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "plugins/cuda/encoder.h"
#include "plugins/sdk/view.h"

namespace tenon_cuda {

inline constexpr size_t kMaxRank = TENON_MAX_RANK;
// Maximum size of the struct in words. Older devices and drivers accept at most 4096 bytes.
inline constexpr size_t kMaxParameterWords = 4096 / 8;

using Words = std::vector<uint64_t>;

class Parameters {
 public:
  // Pushes one word.
  void push(int64_t value) { words_.push_back(static_cast<uint64_t>(value)); }
  void push_address(uint64_t address) { words_.push_back(address); }
  // Pushes an array of kMaxRank words: the values, followed by zeros.
  void push_list(std::span<const int64_t> values) {
    for (size_t i = 0; i < kMaxRank; ++i) push(i < values.size() ? values[i] : 0);
  }
  // Pushes the address of an operand, or its value, as three words.
  void push_operand(const tenon_view& view) {
    uint64_t value[2] = {};
    const uint64_t address = address_of(view);
    if (address == 0 && view.data != nullptr) {
      std::memcpy(value, view.data, tenon_sdk::size_of(view.dtype));
    }
    words_.push_back(address);
    words_.push_back(value[0]);
    words_.push_back(value[1]);
  }
  // Pushes a struct View of device/types.cuh.
  void push_view(const tenon_view& view) {
    push_operand(view);
    push_shape(view);
  }
  // Pushes a struct View with this address instead of the view's own.
  void push_view(const tenon_view& view, uint64_t address) {
    words_.insert(words_.end(), {address, 0, 0});
    push_shape(view);
  }

  const Words& words() const { return words_; }

 private:
  // Pushes the rank, the sizes and the strides of a view.
  void push_shape(const tenon_view& view) {
    push(view.rank);
    push_list({view.sizes, view.rank});
    if (view.strides_class == TENON_STRIDES_UNIFORM) {
      push_list({});
    } else {
      push_list({view.strides, view.rank});
    }
  }

  Words words_;
};

inline constexpr uint32_t kAllAxes = ~0u;

// Selected axes of several operands of one shape. Adjacent axes are merged if in every operand one
// stride covers both.
class Axes {
 public:
  // Selects the axes of `mask`. `strides`: the strides of each operand; NULL stands for zeros.
  Axes(size_t rank, const int64_t* sizes, uint32_t mask, std::span<const int64_t* const> strides) {
    for (size_t k = 0; k < strides.size(); ++k) strides_.emplace_back();
    std::vector<size_t> kept;  // Sorted from the last axis to the first.
    for (size_t axis = rank; axis-- > 0;) {
      if ((mask >> axis & 1) == 0 || sizes[axis] == 1) continue;
      bool merges = !sizes_.empty();
      for (size_t k = 0; merges && k < strides.size(); ++k) {
        if (strides[k] == nullptr) continue;
        merges = strides[k][axis] == strides_[k].back() * sizes_.back();
      }
      if (merges) {
        sizes_.back() *= sizes[axis];
        continue;
      }
      sizes_.push_back(sizes[axis]);
      for (size_t k = 0; k < strides.size(); ++k) {
        strides_[k].push_back(strides[k] == nullptr ? 0 : strides[k][axis]);
      }
    }
    std::reverse(sizes_.begin(), sizes_.end());
    for (auto& each : strides_) std::reverse(each.begin(), each.end());
  }

  // Returns the sizes of the merged axes.
  const std::vector<int64_t>& sizes() const { return sizes_; }
  // Returns the strides of an operand along the merged axes.
  const std::vector<int64_t>& strides(size_t operand) const { return strides_[operand]; }

 private:
  std::vector<int64_t> sizes_;
  std::vector<std::vector<int64_t>> strides_;
};

inline constexpr uint32_t kBlockSize = 256;

// Returns the number of blocks for `n` elements or rows, limited to a number that occupies the
// whole device. At the limit, each thread or block processes several elements or rows.
inline uint32_t blocks_for(tenon_device_p* device, int64_t n, int64_t per_block = kBlockSize) {
  constexpr int64_t kBlocksEach = 32;
  const int64_t wanted = (n + per_block - 1) / per_block;
  return static_cast<uint32_t>(std::min<int64_t>(wanted, multiprocessors(device) * kBlocksEach));
}

}  // namespace tenon_cuda
