// Copies strided operands of elementwise kernels to contiguous tiles. Elements are copied as
// unsigned integers of their size.

#pragma once

#include "plugins/simd/kernels.h"
#include "plugins/simd/kernels/transposed.h"

namespace tenon_simd {

// Calls `copy` with the type of unsigned integers of `size` bytes.
template <class Copy>
void with_unsigned_of_size(size_t size, const Copy& copy) {
  switch (size) {
    case 1:
      return copy(Type<uint8_t>());
    case 2:
      return copy(Type<uint16_t>());
    case 4:
      return copy(Type<uint32_t>());
    default:
      return copy(Type<uint64_t>());
  }
}

// Copies `n` elements of `size` bytes that are `stride` elements apart to contiguous memory.
inline void gather(size_t size, const void* from, int64_t stride, void* to, int64_t n) {
  with_unsigned_of_size(size, [&]<class T>(Type<T>) {
    const T* x = static_cast<const T*>(from);
    T* y = static_cast<T*>(to);
    for (int64_t i = 0; i < n; ++i) y[i] = x[i * stride];
  });
}

// Copies rows of `columns` elements that are `inner` elements apart to contiguous memory. The rows
// are `outer` elements apart.
template <class T>
void gather_rows_of(const T* from, int64_t outer, int64_t inner, T* to, int64_t rows,
                    int64_t columns) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) to[i * columns + j] = from[i * outer + j * inner];
  }
}

// Copies rows of elements of `size` bytes.
inline void gather_rows(size_t size, const void* from, int64_t outer, int64_t inner, void* to,
                        int64_t rows, int64_t columns) {
  with_unsigned_of_size(size, [&]<class T>(Type<T>) {
    gather_rows_of(static_cast<const T*>(from), outer, inner, static_cast<T*>(to), rows, columns);
  });
}

// Size of the blocks in which operands are read whose last axis is not contiguous, but another axis
// is. The elements of one column fill at least a cache line of 64 bytes if they have two bytes.
constexpr int64_t kBlockRows = 32, kBlockColumns = 128;

// Copies a block of elements of `size` bytes to rows that are kBlockColumns elements apart.
inline void gather_block(size_t size, const void* from, int64_t stride, void* to, int64_t rows,
                         int64_t columns) {
  with_unsigned_of_size(size, [&]<class T>(Type<T>) {
    copy_transposed(static_cast<const T*>(from), stride, static_cast<T*>(to), kBlockColumns, rows,
                    columns);
  });
}

}  // namespace tenon_simd
