// Sums and maxima over taps, where a tap is an offset into padded planes (kernels/conv_planes.h).

#pragma once

#include <cstdint>

namespace tenon_simd {

// Arguments of the functions below. An element of y is computed from the elements at from + row *
// from_row + column + offsets[k], for each tap k. Whole vectors are read, which may extend past the
// last element.
template <class T>
struct ShiftedRows {
  const T* from;
  const int64_t* offsets;
  const T* filter;  // The factor of each tap k; NULL for maxima.
  int64_t k;
  int64_t from_row;
  int64_t rows, n;  // The rows of y are contiguous.
  T bias;
  bool add_bias;
  T* y;
  // Only for maxima; may be NULL. Receives the index of the tap of each maximum, as a number of
  // type T.
  T* winners;
};

// Computes each element of y as the sum of filter[k] * element over the taps k, in ascending order
// from 0. Then adds the bias if add_bias is true.
void add_shifted_rows(const ShiftedRows<float>& args);
void add_shifted_rows(const ShiftedRows<double>& args);

// Computes each element of y as the maximum over the taps: the first NaN or, without NaN, the first
// of the largest elements.
void largest_of_shifted_rows(const ShiftedRows<float>& args);
void largest_of_shifted_rows(const ShiftedRows<double>& args);

}  // namespace tenon_simd
