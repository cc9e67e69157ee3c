#include "core/tensor/tensor_list.h"

#include <algorithm>

namespace tenon {

Tensor TensorList::get(uint64_t index) const {
  if (levels_ < kMaxLevels && index >> (kBits * static_cast<unsigned>(levels_ + 1)) != 0) {
    return Tensor();
  }
  const Node* node = root_.get();
  for (int level = levels_; node && level > 0; --level) {
    node = node->below[child_index(index, level)].get();
  }
  return node ? node->entries[child_index(index, 0)] : Tensor();
}

// Returns one more than the index of the last entry that is set.
uint64_t TensorList::length() const { return root_ ? length(*root_, levels_) : 0; }

// Returns the number of entries below `node` up to the last one that is set. Searches from the end,
// because nodes whose entries were all removed may remain there.
uint64_t TensorList::length(const Node& node, int level) {
  for (size_t i = kWidth; i-- > 0;) {
    if (level == 0) {
      if (node.entries[i]) return i + 1;
    } else if (node.below[i]) {
      const uint64_t inside = length(*node.below[i], level - 1);
      if (inside > 0) return (uint64_t{i} << (kBits * static_cast<unsigned>(level))) + inside;
    }
  }
  return 0;
}

// Returns a copy with one entry replaced. An empty tensor removes the entry.
TensorList TensorList::set(uint64_t index, const Tensor& x) const {
  int levels = levels_;
  while (levels < kMaxLevels && index >> (kBits * static_cast<unsigned>(levels + 1)) != 0) {
    ++levels;
  }
  TensorList result = with_levels(levels);
  result.root_ = with_entry(result.root_, levels, index, x);
  return result;
}

// Returns a copy of the tree below `node` in which entry `index` is x.
TensorList::Link TensorList::with_entry(const Link& node, int level, uint64_t index,
                                        const Tensor& x) {
  auto made = node ? std::make_shared<Node>(*node) : std::make_shared<Node>();
  const size_t at = child_index(index, level);
  if (level == 0) {
    made->entries[at] = x;
  } else {
    made->below[at] = with_entry(made->below[at], level - 1, index, x);
  }
  return made;
}

// Returns the same list as a tree with `levels` levels above level 0.
TensorList TensorList::with_levels(int levels) const {
  TensorList result = *this;
  for (; result.levels_ < levels; ++result.levels_) {
    if (!result.root_) continue;
    auto above = std::make_shared<Node>();
    above->below[0] = std::move(result.root_);
    result.root_ = std::move(above);
  }
  return result;
}

TensorList TensorList::merge(const TensorList& a, const TensorList& b, const Combine& combine) {
  const int levels = std::max(a.levels_, b.levels_);
  TensorList result = a.with_levels(levels);
  result.root_ = merge(result.root_, b.with_levels(levels).root_, combine);
  return result;
}

TensorList::Link TensorList::merge(const Link& a, const Link& b, const Combine& combine) {
  if (!a || !b) return a ? a : b;
  auto made = std::make_shared<Node>(*a);
  for (size_t i = 0; i < kWidth; ++i) {
    made->below[i] = merge(a->below[i], b->below[i], combine);
    const Tensor &x = a->entries[i], &y = b->entries[i];
    made->entries[i] = x && y ? combine(x, y) : x ? x : y;
  }
  return made;
}

}  // namespace tenon
