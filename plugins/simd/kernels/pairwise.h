// Pairwise summation: parts of bounded length are summed serially, and the sums of the parts are
// added as a tree. The rounding error grows with the length of a part and with the logarithm of the
// number of parts, not with the number of terms.

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tenon_simd {

// Maximum number of terms that are summed serially, before the tree begins.
constexpr int64_t kLongestChain = 4096;

// Returns the number of parts in the left branch of a tree of `n` parts: the largest power of two
// below `n`. So the tree depends only on `n`.
inline int64_t left_parts(int64_t n) {
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(n - 1)));
}

// Calls part(i, to), which writes `size` sums, for each i in [begin, end). Stores the totals of
// these sums in `to`.
template <class T, class Part>
void sum_parts(int64_t begin, int64_t end, int64_t size, T* to, const Part& part) {
  if (end - begin <= 1) return part(begin, to);
  const int64_t middle = begin + left_parts(end - begin);
  sum_parts(begin, middle, size, to, part);
  std::vector<T> right(static_cast<size_t>(size));
  sum_parts(middle, end, size, right.data(), part);
  for (int64_t i = 0; i < size; ++i) to[i] += right[static_cast<size_t>(i)];
}

// Receives the sums of parts one at a time, and adds them in the same order as the tree of
// sum_parts().
template <class T>
class PartSums {
 public:
  // Adds the sum of the next part.
  void add(T part) {
    // Each trailing one bit of the count stands for a complete subtree on the left of this part.
    for (uint64_t n = n_++; (n & 1) != 0; n /= 2) part = static_cast<T>(subtrees_[--depth_] + part);
    subtrees_[depth_++] = part;
  }
  // Returns the total of all parts. Requires at least one part.
  T total() const {
    T sum = subtrees_[depth_ - 1];
    for (size_t i = depth_ - 1; i-- > 0;) sum = static_cast<T>(subtrees_[i] + sum);
    return sum;
  }

 private:
  T subtrees_[64];
  size_t depth_ = 0;
  uint64_t n_ = 0;
};

// Like PartSums, but a part has `size` sums instead of one.
template <class T>
class PartTree {
 public:
  explicit PartTree(int64_t size) : size_(static_cast<size_t>(size)) {}

  // Adds the sums of the next part.
  void add(const T* part) {
    std::vector<T> sums(part, part + size_);
    // Each trailing one bit of the count stands for a complete subtree on the left of this part.
    for (uint64_t n = n_++; (n & 1) != 0; n /= 2) {
      add_to(subtrees_.back(), sums);
      sums = std::move(subtrees_.back());
      subtrees_.pop_back();
    }
    subtrees_.push_back(std::move(sums));
  }
  // Returns the totals. Must be called after the last part was added.
  const std::vector<T>& total() {
    while (subtrees_.size() > 1) {
      add_to(subtrees_[subtrees_.size() - 2], subtrees_.back());
      subtrees_.pop_back();
    }
    return subtrees_.back();
  }

 private:
  // Adds the sums of `right` to those of `left`.
  void add_to(std::vector<T>& left, const std::vector<T>& right) const {
    for (size_t i = 0; i < size_; ++i) left[i] += right[i];
  }

  const size_t size_;
  std::vector<std::vector<T>> subtrees_;
  uint64_t n_ = 0;
};

// Adds terms to targets, which are groups of elements of an output `y`. Terms of different targets
// may be interleaved in any order. After kLongestChain terms of a target, the partial sums in its
// elements of `y` are added to the summation tree of the target and reset to 0.
template <class T>
class ScatteredSums {
 public:
  // Each target has `width` contiguous elements of `y`.
  ScatteredSums(int64_t n_targets, int64_t width)
      : width_(width), n_terms_(static_cast<size_t>(n_targets)) {}

  // Must be called before each term of the target whose elements begin at index `at` of `y`.
  void begin_term(T* y, int64_t at) {
    const int64_t target = width_ == 1 ? at : at / width_;
    uint16_t& n = n_terms_[static_cast<size_t>(target)];
    if (n++ < kLongestChain) return;
    n = 1;
    move_to_tree(y, target);
  }
  // Must be called after the last term. Stores the total sums in `y`.
  void finish(T* y) {
    for (auto& [target, tree] : trees_) {
      T* const last = y + target * width_;
      tree.add(last);
      std::copy_n(tree.total().data(), width_, last);
    }
  }

 private:
  // Adds the elements of a target in `y` to the tree of the target, and sets the elements to 0.
  void move_to_tree(T* y, int64_t target) {
    T* const first = y + target * width_;
    trees_.try_emplace(target, width_).first->second.add(first);
    std::fill_n(first, width_, T{0});
  }

  const int64_t width_;
  std::vector<uint16_t> n_terms_;
  std::unordered_map<int64_t, PartTree<T>> trees_;
};

}  // namespace tenon_simd
