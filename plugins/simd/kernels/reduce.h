// Defines the order in which reductions combine elements. The order is the same for every memory
// layout, number of threads and vector width.
//
// The elements of one result are numbered in row-major order over the reduced axes. A block is
// kReduceBlock consecutive elements. In a block, element i is combined into partial result i mod
// kReduceLanes<T>. Partial results start from the identity and are combined as a tree: j with j +
// lanes / 2, then j with j + lanes / 4, and so on. The blocks' results are combined as a tree too:
// block 0 with block 1, 2 with 3 and so on, then those pairs in pairs.

#pragma once

#include <algorithm>
#include <memory>

#include "plugins/simd/kernels.h"

namespace tenon_simd {

constexpr int64_t kReduceBlock = 4096;
template <class T>
constexpr size_t kReduceLanes = 256 / sizeof(T);

struct Reducer {
  uint32_t op;
  tenon_dtype dtype;

  // Reduces a block of `n` contiguous elements.
  void (*block)(const void* x, size_t n, void* out);
  // Reduces each of `width` adjacent columns of a block. `offsets`: the offsets of the rows in
  // elements.
  void (*columns)(const void* x, const int64_t* offsets, size_t n_rows, size_t width, void* out);
  // Combines from[i] into to[i], for i in [0, n).
  void (*combine)(void* to, const void* from, size_t n);
  // Stores the result of reducing no elements.
  void (*fill_identity)(void* out, size_t n);
};

struct ReducerTable {
  const Reducer* entries;
  size_t n;
};
ReducerTable float_reducers();  // Defined in vectors/reduce.cc.
ReducerTable int_reducers();    // Defined in kernels/int_reduce.cc.

// Returns the reducer of an op for a dtype; NULL if there is none.
const Reducer* find_reducer(uint32_t op, tenon_dtype dtype);

// Combines the results of consecutive blocks in the order of the tree.
template <class T>
class BlockTree {
 public:
  explicit BlockTree(const Reducer& reducer) : reducer_(reducer) {}

  // Adds the result of the next block.
  void add(T block) {
    // Each trailing one bit of `n` stands for a complete subtree on the left of this block.
    for (uint64_t n = n_++; (n & 1) != 0; n /= 2) {
      T left = subtrees_[--depth_];
      reducer_.combine(&left, &block, 1);
      block = left;
    }
    subtrees_[depth_++] = block;
  }
  // Returns the combined result. Requires at least one block.
  T result() const {
    const size_t last = std::max<size_t>(depth_, 1) - 1;  // GCC warns of depth_ - 1.
    T total = subtrees_[last];
    for (size_t i = last; i-- > 0;) {
      T left = subtrees_[i];
      reducer_.combine(&left, &total, 1);
      total = left;
    }
    return total;
  }

 private:
  const Reducer& reducer_;
  T subtrees_[64] = {};
  size_t depth_ = 0;
  uint64_t n_ = 0;
};

// Reduces `n` > 0 contiguous elements.
template <class T>
T reduce_run(const Reducer& reducer, const T* x, int64_t n) {
  T block;
  if (n <= kReduceBlock) {
    reducer.block(x, static_cast<size_t>(n), &block);
    return block;
  }
  BlockTree<T> tree(reducer);
  for (int64_t first = 0; first < n; first += kReduceBlock) {
    reducer.block(x + first, static_cast<size_t>(std::min(kReduceBlock, n - first)), &block);
    tree.add(block);
  }
  return tree.result();
}

// The reduction of one row, block by block.
class RowReduction {
 public:
  virtual ~RowReduction() = default;
  // Adds the next kReduceBlock elements; the last block of a row may be shorter. `wide`: as in
  // RowKernel::reduce().
  virtual void add(const void* block, int64_t n, float* wide) = 0;
  // Stores the result for a row of `n` elements.
  virtual void finish(int64_t n, void* out) const = 0;
};

// A kernel that reduces rows. row_loop.cc also calls it for rows in the cache.
class RowKernel : public tenon_sdk::Kernel {
 public:
  static constexpr char kKind = 0;
  const void* kind() const override { return &kKind; }
  // Begins the reduction of a row. Returns NULL if the kernel reduces only whole rows.
  virtual std::unique_ptr<RowReduction> begin_row() const { return nullptr; }
  // Reduces each of `n_rows` contiguous rows of `n` elements. If widens() is true, `wide` is a
  // buffer for min(n, kReduceBlock) float32 elements.
  virtual void reduce(const void* x, int64_t n_rows, int64_t n, void* out, float* wide) const = 0;
  // Whether elements are converted to float32 before they are reduced.
  virtual bool widens() const = 0;
};

}  // namespace tenon_simd
