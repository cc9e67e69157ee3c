// Sums and maxima over taps, where a tap is an offset into padded planes (kernels/conv_planes.h).

#pragma once

#include <cstdint>

namespace tenon_simd {

// Rows of elements, and what each element of y is computed from: for each k, the element of the
// same row and column that is offsets[k] further. Reads whole vectors, also past the last element.
template <class T>
struct ShiftedRows {
  const T* from;
  const int64_t* offsets;
  const T* filter;  // A factor for each k; NULL for maxima.
  int64_t k;
  int64_t from_row;
  int64_t rows, n;  // The rows of y are contiguous.
  T bias;
  bool add_bias;
  T* y;
  T* winners;  // For maxima, if not NULL: the k of the element, if it is not the padding's.
};

// y is the sum of the products with the filter, in ascending order from 0, plus the bias.
void add_shifted_rows(const ShiftedRows<float>& args);
void add_shifted_rows(const ShiftedRows<double>& args);

// y is the first NaN, or else the first of the largest elements.
void largest_of_shifted_rows(const ShiftedRows<float>& args);
void largest_of_shifted_rows(const ShiftedRows<double>& args);

}  // namespace tenon_simd
