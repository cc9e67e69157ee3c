#include "core/tensor/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/tensor/tensor.h"

namespace tenon {
namespace {

// The digits d1 d2 d3 ... of the number 0.d1d2d3... * 10^point.
struct Decimal {
  bool negative = false;
  std::string digits;
  int point = 0;
};

// Parses the output of fmt: "-125.5", "1.25e+10".
Decimal parse(const std::string& text) {
  Decimal decimal;
  bool is_after_point = false;
  size_t i = 0;
  for (; i < text.size() && text[i] != 'e'; ++i) {
    if (text[i] == '-') decimal.negative = true;
    if (text[i] == '.') is_after_point = true;
    if (text[i] < '0' || text[i] > '9') continue;
    decimal.digits += text[i];
    if (!is_after_point) ++decimal.point;
  }
  if (i < text.size()) decimal.point += std::atoi(text.c_str() + i + 1);
  const size_t zeros = std::min(decimal.digits.find_first_not_of('0'), decimal.digits.size());
  decimal.digits.erase(0, zeros);
  decimal.point -= static_cast<int>(zeros);
  return decimal;
}

// Rounds to `fraction_digits` digits after the first.
Decimal rounded(double value, int fraction_digits) {
  Decimal decimal = parse(fmt::format("{:.{}e}", value, fraction_digits));
  if (decimal.digits.empty()) decimal.point = 1;
  decimal.digits.resize(static_cast<size_t>(fraction_digits) + 1, '0');
  return decimal;
}

void trim_zeros(std::string& digits) {
  while (!digits.empty() && digits.back() == '0') digits.pop_back();
}

// Does not use strtod, which depends on the locale. The rounding error is far below the precision
// of a half.
double value_of(const Decimal& decimal) {
  double value = 0;
  for (const char digit : decimal.digits) value = value * 10 + (digit - '0');
  value *= std::pow(10.0, decimal.point - static_cast<int>(decimal.digits.size()));
  return decimal.negative ? -value : value;
}

bool is_same_half(DType dtype, double a, double b) {
  return dtype == DType::kF16 ? double_to_half(a) == double_to_half(b)
                              : double_to_bfloat16(a) == double_to_bfloat16(b);
}

// Values just below a power of two are closer together than values just above it. If two decimals
// are equally near to x, only the one farther from zero may convert back to x. Starting at a double
// slightly farther from zero than x selects this one.
Decimal shortest_half(Element x) {
  constexpr int kMaxFractionDigits = 8;  // Digits after the first: more than any half type needs.
  const double above = std::nextafter(x.value, x.value < 0 ? -INFINITY : INFINITY);
  for (int n = 0; n < kMaxFractionDigits; ++n) {
    for (const double start : {x.value, above}) {
      const Decimal decimal = parse(fmt::format("{:.{}e}", start, n));
      if (is_same_half(x.dtype, value_of(decimal), x.value)) return decimal;
    }
  }
  return rounded(x.value, kMaxFractionDigits);
}

// Returns the shortest digits that convert back to the same value of the dtype.
Decimal shortest(Element x) {
  Decimal decimal;
  if (size_of(x.dtype) >= 8) {
    decimal = parse(fmt::format("{}", x.value));
  } else if (x.dtype == DType::kF32) {
    decimal = parse(fmt::format("{}", static_cast<float>(x.value)));
  } else {
    decimal = shortest_half(x);
  }
  trim_zeros(decimal.digits);
  if (decimal.digits.empty()) {
    decimal.digits = "0";
    decimal.point = 1;
  }
  return decimal;
}

NumberText to_scientific(const Decimal& decimal) {
  const int exponent = decimal.point - 1;
  return {(decimal.negative ? "-" : "") + decimal.digits.substr(0, 1), decimal.digits.substr(1),
          fmt::format("{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent))};
}

NumberText to_positional(const Decimal& decimal) {
  NumberText text;
  std::string digits = decimal.digits;
  int point = decimal.point;
  if (point <= 0) {
    digits.insert(0, static_cast<size_t>(1 - point), '0');
    point = 1;
  }
  const auto whole = static_cast<size_t>(point);
  if (digits.size() < whole) digits.resize(whole, '0');
  text.whole = (decimal.negative ? "-" : "") + digits.substr(0, whole);
  text.fraction = digits.substr(whole);
  return text;
}

}  // namespace

NumberText positional(Element x, int precision) {
  const Decimal decimal = shortest(x);
  if (static_cast<int>(decimal.digits.size()) < decimal.point) {
    // The shortest digits end before the decimal point. Like NumPy, prints all digits of the
    // integer.
    return {fmt::format("{:.0f}", x.value), "", ""};
  }
  NumberText text = to_positional(decimal);
  if (text.fraction.size() <= static_cast<size_t>(precision)) return text;

  const std::string fixed = fmt::format("{:.{}f}", x.value, precision);
  const size_t point = fixed.find('.');
  text.whole = fixed.substr(0, point);
  text.fraction = point == std::string::npos ? "" : fixed.substr(point + 1);
  trim_zeros(text.fraction);
  return text;
}

NumberText scientific(Element x, int precision) {
  Decimal decimal = shortest(x);
  if (decimal.digits.size() > static_cast<size_t>(precision) + 1) {
    decimal = rounded(x.value, precision);
    trim_zeros(decimal.digits);
  }
  return to_scientific(decimal);
}

NumberText scientific_exactly(Element x, int precision) {
  const Decimal decimal = shortest(x);
  const bool fits = decimal.digits.size() == static_cast<size_t>(precision) + 1;
  return to_scientific(fits ? decimal : rounded(x.value, precision));
}

std::string scalar_text(Element x) {
  if (std::isnan(x.value)) return "nan";
  if (std::isinf(x.value)) return x.value < 0 ? "-inf" : "inf";
  const double magnitude = std::fabs(x.value);
  if (magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16)) {
    const NumberText text = to_positional(shortest(x));
    return text.whole + "." + (text.fraction.empty() ? "0" : text.fraction);
  }
  const NumberText text = to_scientific(shortest(x));
  return text.whole + (text.fraction.empty() ? "" : "." + text.fraction) + "e" + text.exponent;
}

}  // namespace tenon
