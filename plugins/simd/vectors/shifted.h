// Sums and maxima over taps, where a tap is an offset into padded planes (kernels/conv_planes.h).

#pragma once

#include <cstdint>

namespace tenon_simd {

// Arguments of the functions below. An element of y is computed from the elements at from + row *
// from_row + column + offsets[k], for each k. Whole vectors are read, which may extend past the
// last element.
template <class T>
struct ShiftedRows {
  const T* from;
  const int64_t* offsets;
  const T* filter;  // The factor for each k; NULL for maxima.
  int64_t k;
  int64_t from_row;
  int64_t rows, n;  // The rows of y are contiguous.
  T bias;
  bool add_bias;
  T* y;
  // Only for maxima; may be NULL. Receives the k of each maximum, as a number of type T.
  T* winners;
};

// y is the sum of the products with the filter, in ascending order from 0, plus the bias.
void add_shifted_rows(const ShiftedRows<float>& args);
void add_shifted_rows(const ShiftedRows<double>& args);

// y is the first NaN or, without NaN, the first of the largest elements.
void largest_of_shifted_rows(const ShiftedRows<float>& args);
void largest_of_shifted_rows(const ShiftedRows<double>& args);

}  // namespace tenon_simd
