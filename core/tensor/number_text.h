// Formats single numbers as NumPy does: with the shortest digits that identify the value, or with a
// fixed number of digits for a column.

#pragma once

#include <string>

#include "core/base/dtype.h"

namespace tenon {

// One element as a double, and its dtype, which determines the number of digits.
struct Element {
  DType dtype = DType::kF64;
  double value = 0;
};

// A decimal number, split at its point and its exponent: -12.5e+10 is {"-12", "5", "+10"}.
struct NumberText {
  std::string whole;
  std::string fraction;
  std::string exponent;  // Exponent with its sign; empty if there is none.
};

// Formats with at most `precision` digits after the point, without trailing zeros.
NumberText format_positional(Element x, int precision);

// Formats with one digit before the point and at most `precision` after it, without trailing zeros.
NumberText format_scientific(Element x, int precision);

// Formats with one digit before the point and exactly `precision` after it.
NumberText format_scientific_exactly(Element x, int precision);

// Formats a scalar: "2.5", "1e-05", "nan".
std::string scalar_text(Element x);

}  // namespace tenon
