// Copies blocks of a transposed matrix to rows, with vectors.
//
// Vectors of 32 bytes consist of two halves of 16 bytes, and instructions that move lanes within
// the halves are the fastest. So a block of such vectors is loaded in halves, after which each half
// holds a square that is transposed on its own.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace tenon_simd {

// The number of rows and columns of a block.
template <class T>
constexpr size_t kTransposeLanes = sizeof(T) == 8   ? 4
                                   : sizeof(T) == 1 ? 16
                                                    : 8;

// A vector with one lane for each row of a block.
template <class T>
struct TransposeVector {
  typedef T type __attribute__((vector_size(sizeof(T) * kTransposeLanes<T>)));
};

// Interleaves the lanes of two vectors within each group of `kGroup` lanes. kUpper selects the
// upper half of the lanes of a group, instead of the lower half.
template <size_t kGroup, size_t kUpper, class V, size_t... kLane>
V interleave(V a, V b, std::index_sequence<kLane...>) {
  constexpr size_t n = sizeof...(kLane);
  return __builtin_shufflevector(
      a, b,
      (kLane / kGroup * kGroup + kUpper * kGroup / 2 + kLane % kGroup / 2 + kLane % 2 * n)...);
}

// Loads a vector of one or two halves of 16 bytes. The second half begins at from + distance.
template <class V, class T, size_t... kLane>
V load_halves(const T* from, size_t distance, std::index_sequence<kLane...>) {
  if constexpr (sizeof(V) == 16) {
    V x;
    std::memcpy(&x, from, sizeof x);
    return x;
  } else {
    typedef T Half __attribute__((vector_size(16)));
    Half lower, upper;
    std::memcpy(&lower, from, sizeof lower);
    std::memcpy(&upper, from + distance, sizeof upper);
    return __builtin_shufflevector(lower, upper, kLane...);
  }
}

// Stores to[i * pitch + j] = from[i + j * stride] for one block.
template <class T>
void transpose_block(const T* from, int64_t stride, T* to, int64_t pitch) {
  using V = typename TransposeVector<T>::type;
  constexpr size_t n = kTransposeLanes<T>;
  constexpr std::make_index_sequence<n> lanes;
  constexpr size_t group = std::min<size_t>(n, 16 / sizeof(T));  // The side of a square.
  V x[n], y[n];
#pragma GCC unroll 16
  for (size_t j = 0; j < n; ++j) {
    x[j] = load_halves<V>(from + j / group * group + j % group * static_cast<size_t>(stride),
                          static_cast<size_t>(stride) * group, lanes);
  }
  // Interleaving the first half of the columns with the second half once for each bit of the index
  // of a column exchanges rows and columns.
#pragma GCC unroll 4
  for (size_t bit = 1; bit < group; bit *= 2) {
#pragma GCC unroll 16
    for (size_t j = 0; j < n / 2; ++j) {
      const size_t row = j / (group / 2) * group, at = row + j % (group / 2);
      y[2 * j] = interleave<group, 0>(x[at], x[at + group / 2], lanes);
      y[2 * j + 1] = interleave<group, 1>(x[at], x[at + group / 2], lanes);
    }
#pragma GCC unroll 16
    for (size_t j = 0; j < n; ++j) x[j] = y[j];
  }
#pragma GCC unroll 16
  for (size_t i = 0; i < n; ++i) {
    std::memcpy(to + static_cast<int64_t>(i) * pitch, &x[i], sizeof(V));
  }
}

// Stores to[i * pitch + j] = from[i + j * stride] for i in [0, rows) and j in [0, columns). T is an
// unsigned integer of the size of the elements, which may have any type.
template <class T>
void copy_transposed(const T* from, int64_t stride, T* to, int64_t pitch, int64_t rows,
                     int64_t columns) {
  constexpr auto n = static_cast<int64_t>(kTransposeLanes<T>);
  const auto copy_one = [&](int64_t i, int64_t j) {
    std::memcpy(to + i * pitch + j, from + i + j * stride, sizeof(T));
  };
  const int64_t whole_rows = rows - rows % n, whole_columns = columns - columns % n;
  for (int64_t j = 0; j < whole_columns; j += n) {
    for (int64_t i = 0; i < whole_rows; i += n) {
      transpose_block(from + i + j * stride, stride, to + i * pitch + j, pitch);
    }
    for (int64_t i = whole_rows; i < rows; ++i) {
      for (int64_t k = j; k < j + n; ++k) copy_one(i, k);
    }
  }
  for (int64_t j = whole_columns; j < columns; ++j) {
    for (int64_t i = 0; i < rows; ++i) copy_one(i, j);
  }
}

// The unsigned integer with `size` bytes.
template <size_t size>
using BitsOfSize = std::conditional_t<
    size == 1, uint8_t,
    std::conditional_t<size == 2, uint16_t, std::conditional_t<size == 4, uint32_t, uint64_t>>>;

// Copies elements of any type, as above.
template <class T>
void copy_transposed_elements(const T* from, int64_t stride, T* to, int64_t pitch, int64_t rows,
                              int64_t columns) {
  using Bits = BitsOfSize<sizeof(T)>;
  copy_transposed(reinterpret_cast<const Bits*>(from), stride, reinterpret_cast<Bits*>(to), pitch,
                  rows, columns);
}

}  // namespace tenon_simd
