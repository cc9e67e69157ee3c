// A list of tensors as a value: it never changes, and one with another entry shares the rest with
// it. Most entries may be missing; a list is as long as what was set in it.
//
// A tree of kWidth branches: set and get take as many steps as it is deep.

#pragma once

#include <array>
#include <functional>
#include <memory>

#include "core/tensor/tensor.h"

namespace tenon {

class TensorList {
 public:
  // Empty where nobody set it.
  Tensor get(uint64_t index) const;
  // One more than the last index that is set.
  uint64_t length() const;
  // The same but for one entry, which an empty tensor takes away.
  TensorList set(uint64_t index, const Tensor& x) const;
  // Entries of either, and what `combine` makes of those that both have.
  using Combine = std::function<Tensor(const Tensor& a, const Tensor& b)>;
  static TensorList merged(const TensorList& a, const TensorList& b, const Combine& combine);

 private:
  static constexpr size_t kWidth = 8;

  // Of level 0, entries; above, nodes of the level below.
  struct Node {
    std::array<std::shared_ptr<const Node>, kWidth> below;
    std::array<Tensor, kWidth> entries;
  };
  using Link = std::shared_ptr<const Node>;

  static Link with(const Link& node, int level, uint64_t index, const Tensor& x);
  static uint64_t length(const Node& node, int level);
  static Link merged(const Link& a, const Link& b, const Combine& combine);
  TensorList deepened(int levels) const;
  static size_t place(uint64_t index, int level) {
    return index >> (kBits * static_cast<unsigned>(level)) & (kWidth - 1);
  }
  static constexpr unsigned kBits = 3;
  static constexpr int kMostLevels = 21;  // For every index below 2^63.

  Link root_;
  int levels_ = 0;  // Those above 0.
};

}  // namespace tenon
