// Single numbers as NumPy prints them: the shortest digits that tell a value from its neighbours,
// and fixed numbers of digits where a column needs them.

#pragma once

#include <string>

#include "core/base/dtype.h"

namespace tenon {

// One element as a double and its dtype, which says how many digits it has.
struct Element {
  DType dtype = DType::kF64;
  double value = 0;
};

// A decimal number cut at its point and its exponent: -12.5e+10 is {"-12", "5", "+10"}.
struct NumberText {
  std::string whole;
  std::string fraction;
  std::string exponent;  // With its sign; empty for none.
};

// At most `precision` digits behind the point, without zeros at the end.
NumberText positional(Element x, int precision);

// One digit before the point and at most `precision` behind it, without zeros at the end.
NumberText scientific(Element x, int precision);

// One digit before the point and `precision` behind it.
NumberText scientific_exactly(Element x, int precision);

// A number on its own: "2.5", "1e-05", "nan".
std::string scalar_text(Element x);

}  // namespace tenon
