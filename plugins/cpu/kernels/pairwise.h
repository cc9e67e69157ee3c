// Sums of many terms as a tree: parts of bounded length are computed one by one, and their results
// are added in pairs, pairs of pairs and so on. The rounding error then grows with the length of a
// part and the logarithm of their number, instead of with the number of terms.

#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace tenon_cpu {

// Products take kLongestChain terms of a sum at most before the tree begins.
constexpr int64_t kLongestChain = 4096;

// How many of `n` parts the left branch of the tree takes: the largest power of two below `n`, so
// that the tree depends on `n` alone.
inline int64_t left_parts(int64_t n) {
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(n - 1)));
}

// Calls part(i, to) for each i of [begin, end), each of which writes `size` sums, and leaves their
// totals in `to`.
template <class T, class Part>
void sum_parts(int64_t begin, int64_t end, int64_t size, T* to, const Part& part) {
  if (end - begin <= 1) return part(begin, to);
  const int64_t middle = begin + left_parts(end - begin);
  sum_parts(begin, middle, size, to, part);
  std::vector<T> right(static_cast<size_t>(size));
  sum_parts(middle, end, size, right.data(), part);
  for (int64_t i = 0; i < size; ++i) to[i] += right[static_cast<size_t>(i)];
}

}  // namespace tenon_cpu
