// A persistent (immutable) list of tensors. A modified copy shares all other entries with the
// original. Entries may be missing; the length is determined by the last entry that is set.
//
// The list is a tree with kWidth branches. get() and set() take a number of steps proportional to
// its depth.

#pragma once

#include <array>
#include <functional>
#include <memory>

#include "core/tensor/tensor.h"

namespace tenon {

class TensorList {
 public:
  // Returns an empty tensor for an entry that is not set.
  Tensor get(uint64_t index) const;
  // Returns one more than the index of the last entry that is set.
  uint64_t length() const;
  // Returns a copy with one entry replaced. An empty tensor removes the entry.
  TensorList set(uint64_t index, const Tensor& x) const;
  // Merges two lists. `combine` computes the entries that are set in both.
  using Combine = std::function<Tensor(const Tensor& a, const Tensor& b)>;
  static TensorList merge(const TensorList& a, const TensorList& b, const Combine& combine);

 private:
  static constexpr size_t kWidth = 8;

  // Level 0 holds entries; higher levels hold nodes of the level below.
  struct Node {
    std::array<std::shared_ptr<const Node>, kWidth> below;
    std::array<Tensor, kWidth> entries;
  };
  using Link = std::shared_ptr<const Node>;

  // Returns a copy of the tree below `node` in which entry `index` is x.
  static Link with_entry(const Link& node, int level, uint64_t index, const Tensor& x);
  // Returns the number of entries below `node` up to the last one that is set.
  static uint64_t length(const Node& node, int level);
  // Merges two trees of equal depth.
  static Link merge(const Link& a, const Link& b, const Combine& combine);
  // Returns the same list as a tree with `levels` levels above level 0.
  TensorList with_levels(int levels) const;
  // Returns the position, in its node of this level, of the branch that contains entry `index`.
  static size_t child_index(uint64_t index, int level) {
    return index >> (kBits * static_cast<unsigned>(level)) & (kWidth - 1);
  }
  static constexpr unsigned kBits = 3;
  static constexpr int kMaxLevels = 21;  // Covers every index below 2^63.

  Link root_;
  int levels_ = 0;  // Number of levels above level 0.
};

}  // namespace tenon
