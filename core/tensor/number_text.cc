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
Decimal parse_decimal(const std::string& text) {
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

// Rounds to one digit and `fraction_digits` digits after it.
Decimal round_digits(double value, int fraction_digits) {
  Decimal decimal = parse_decimal(fmt::format("{:.{}e}", value, fraction_digits));
  if (decimal.digits.empty()) decimal.point = 1;
  decimal.digits.resize(static_cast<size_t>(fraction_digits) + 1, '0');
  return decimal;
}

// Removes trailing zeros.
void trim_zeros(std::string& digits) {
  while (!digits.empty() && digits.back() == '0') digits.pop_back();
}

// Returns the number as a double. Does not use strtod, which depends on the locale. The rounding
// error is far below the precision of a half.
double to_double(const Decimal& decimal) {
  double value = 0;
  for (const char digit : decimal.digits) value = value * 10 + (digit - '0');
  value *= std::pow(10.0, decimal.point - static_cast<int>(decimal.digits.size()));
  return decimal.negative ? -value : value;
}

// Whether two numbers round to the same value of `dtype`, a half type.
bool is_same_half(DType dtype, double a, double b) {
  return dtype == DType::kF16 ? double_to_half(a) == double_to_half(b)
                              : double_to_bfloat16(a) == double_to_bfloat16(b);
}

// Returns the shortest digits that convert back to x, a value of a half type. Values just below a
// power of two are closer together than values just above it. Therefore, if two decimals are
// equally near to x, possibly only the one farther from zero converts back to x. It is found by
// rounding a double slightly farther from zero than x.
Decimal shortest_half_digits(Element x) {
  constexpr int kMaxFractionDigits = 8;  // Digits after the first: more than any half type needs.
  const double above = std::nextafter(x.value, x.value < 0 ? -INFINITY : INFINITY);
  for (int n = 0; n < kMaxFractionDigits; ++n) {
    for (const double start : {x.value, above}) {
      const Decimal decimal = parse_decimal(fmt::format("{:.{}e}", start, n));
      if (is_same_half(x.dtype, to_double(decimal), x.value)) return decimal;
    }
  }
  return round_digits(x.value, kMaxFractionDigits);
}

// Returns the shortest digits that convert back to the same value of the dtype.
Decimal shortest_digits(Element x) {
  Decimal decimal;
  if (size_of(x.dtype) >= 8) {
    decimal = parse_decimal(fmt::format("{}", x.value));
  } else if (x.dtype == DType::kF32) {
    decimal = parse_decimal(fmt::format("{}", static_cast<float>(x.value)));
  } else {
    decimal = shortest_half_digits(x);
  }
  trim_zeros(decimal.digits);
  if (decimal.digits.empty()) {
    decimal.digits = "0";
    decimal.point = 1;
  }
  return decimal;
}

// Formats all digits as d.ddde+xx.
NumberText to_scientific(const Decimal& decimal) {
  const int exponent = decimal.point - 1;
  return {(decimal.negative ? "-" : "") + decimal.digits.substr(0, 1), decimal.digits.substr(1),
          fmt::format("{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent))};
}

// Formats all digits without an exponent.
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

NumberText format_positional(Element x, int precision) {
  const Decimal decimal = shortest_digits(x);
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

NumberText format_scientific(Element x, int precision) {
  Decimal decimal = shortest_digits(x);
  if (decimal.digits.size() > static_cast<size_t>(precision) + 1) {
    decimal = round_digits(x.value, precision);
    trim_zeros(decimal.digits);
  }
  return to_scientific(decimal);
}

NumberText format_scientific_exactly(Element x, int precision) {
  const Decimal decimal = shortest_digits(x);
  const bool fits = decimal.digits.size() == static_cast<size_t>(precision) + 1;
  return to_scientific(fits ? decimal : round_digits(x.value, precision));
}

std::string scalar_text(Element x) {
  if (std::isnan(x.value)) return "nan";
  if (std::isinf(x.value)) return x.value < 0 ? "-inf" : "inf";
  const double magnitude = std::fabs(x.value);
  if (magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16)) {
    const NumberText text = to_positional(shortest_digits(x));
    return text.whole + "." + (text.fraction.empty() ? "0" : text.fraction);
  }
  const NumberText text = to_scientific(shortest_digits(x));
  return text.whole + (text.fraction.empty() ? "" : "." + text.fraction) + "e" + text.exponent;
}

}  // namespace tenon
