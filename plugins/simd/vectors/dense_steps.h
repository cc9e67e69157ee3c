// Vector loops of the decompositions in kernels/blocked.h, on rows of contiguous elements.
//
// A dot product uses 256 bytes of partial sums, which are added as a tree, so its result does not
// depend on the width of the vectors.

#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon_simd {

// A plane rotation of two neighbouring rows: row <- c row + s next, next <- c next - s row.
template <class T>
struct Rotation {
  T c, s;
};

// A sequence of rotations of rows (first, first + 1), (first + 1, first + 2) and so on or, with
// `descends`, of rows (first, first + 1), (first - 1, first) and so on.
struct RotationSweep {
  int64_t first;
  size_t begin, count;  // Range in the list of rotations.
  bool descends;
};

template <class T>
struct DenseSteps {
  T (*dot)(const T* a, const T* b, int64_t n);
  // y += a x.
  void (*add_scaled)(T a, const T* x, T* y, int64_t n);
  // Computes row += a x, and returns the dot product of the new row and z.
  T (*add_dot)(T a, const T* x, T* row, const T* z, int64_t n);
  // Computes row += a x + b y, and returns the dot product of the new row and z.
  T (*add_two_dot)(T a, const T* x, T b, const T* y, T* row, const T* z, int64_t n);
  // row += a x, then sums += b row.
  void (*add_sum)(T a, const T* x, T* row, T b, T* sums, int64_t n);
  // Applies the sweeps in order to rows of n elements.
  void (*rotate)(const RotationSweep* sweeps, size_t n_sweeps, const Rotation<T>* rotations,
                 T* rows, int64_t row_stride, int64_t n);
};

template <class T>
const DenseSteps<T>& dense_steps();
template <>
const DenseSteps<float>& dense_steps<float>();
template <>
const DenseSteps<double>& dense_steps<double>();

}  // namespace tenon_simd
