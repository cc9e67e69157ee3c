// Arithmetic on elements that are known during tracing: sizes and fractions of sizes. If a result
// does not fit into a size, it is unknown, and the op computes it at run time.

#pragma once

#include "core/io/onnx/known.h"
#include "core/ops/definition/formulas.h"

namespace tenon::onnx {

// A rational number value / divisor, where both may be formulas. The divisor of an integer is 1.
struct Element {
  Size value = 0, divisor = 1;
};
using Maybe = std::optional<Element>;

// Whether the element is a number, not a formula.
inline bool is_number(const Element& x) { return x.value.known() && x.divisor.known(); }

// Returns element i.
inline Element at(const Known& known, size_t i) {
  return {known.values[i], known.divisors.empty() ? Size(1) : known.divisors[i]};
}

// Whether all elements are numbers, not formulas.
inline bool are_numbers(const Known& known) {
  for (size_t i = 0; i < known.size(); ++i) {
    if (!is_number(at(known, i))) return false;
  }
  return true;
}

// ---- arithmetic; the functions return nothing on overflow

// Converts a number to a size. Returns nothing if it is out of range, or if Size reserves its bits
// for formulas.
inline std::optional<Size> as_size(__int128 value) {
  constexpr __int128 kHole = __int128{1} << 60;
  const __int128 from_hole = value - Size::kFirstFormula;
  const bool fits = value >= INT64_MIN && value <= INT64_MAX;
  if (!fits || (from_hole > -kHole && from_hole < kHole)) return std::nullopt;
  return Size(static_cast<int64_t>(value));
}

// Applies an operation, in 128 bits if both operands are numbers.
template <class Compute>
inline std::optional<Size> compute_size(Size a, Size b, const Compute& compute) {
  if (a.known() && b.known()) return as_size(compute(__int128{a.word()}, __int128{b.word()}));
  return compute(a, b);
}

inline std::optional<Size> times(Size a, Size b) {
  return compute_size(a, b, [](auto x, auto y) { return x * y; });
}

// Combines the numerators of two elements over a common divisor.
template <class Combine>
inline Maybe with_common_divisor(const Element& a, const Element& b, const Combine& combine) {
  if (identical(a.divisor, b.divisor)) {
    const auto value = compute_size(a.value, b.value, combine);
    return value ? Maybe({*value, a.divisor}) : std::nullopt;
  }
  const auto x = times(a.value, b.divisor), y = times(b.value, a.divisor);
  const auto divisor = times(a.divisor, b.divisor);
  if (!x || !y || !divisor) return std::nullopt;
  const auto value = compute_size(*x, *y, combine);
  return value ? Maybe({*value, *divisor}) : std::nullopt;
}

inline Maybe add(const Element& a, const Element& b) {
  return with_common_divisor(a, b, [](auto x, auto y) { return x + y; });
}
inline Maybe sub(const Element& a, const Element& b) {
  return with_common_divisor(a, b, [](auto x, auto y) { return x - y; });
}
inline Maybe mul(const Element& a, const Element& b) {
  const auto value = times(a.value, b.value), divisor = times(a.divisor, b.divisor);
  return value && divisor ? Maybe({*value, *divisor}) : std::nullopt;
}

// Numbers are divided in 128 bits, because INT64_MIN / -1 would overflow int64 and trap.
inline std::optional<Size> quotient(Size a, Size b) {
  return compute_size(a, b, [](auto x, auto y) { return x / y; });
}
inline std::optional<Size> remainder(Size a, Size b) {
  return compute_size(a, b, [](auto x, auto y) { return x % y; });
}

// Returns a size as an element; nothing if there is no size.
inline Maybe integer_element(const std::optional<Size>& value) {
  return value ? Maybe({*value, 1}) : std::nullopt;
}

// Divides integers and rounds toward zero. Returns nothing for division by zero.
inline Maybe div_integers(const Element& a, const Element& b) {
  return b.value == 0 ? std::nullopt : integer_element(quotient(a.value, b.value));
}
// Divides. Returns nothing unless b is positive.
inline Maybe div_fractions(const Element& a, const Element& b) {
  if (!(b.value > 0)) return std::nullopt;
  return mul(a, {b.divisor, b.value});
}
// Returns the remainder. Returns nothing unless b is positive and a is not negative.
inline Maybe mod_integers(const Element& a, const Element& b) {
  if (!(b.value > 0) || !(a.value >= 0)) return std::nullopt;
  return integer_element(remainder(a.value, b.value));
}

// Compares two elements by `ask`, after multiplying by the divisors. If the result depends on
// unknown sizes, the sizes of the current call decide, and a guard records the decision.
template <class Ask>
std::optional<bool> compare_elements(const Element& a, const Element& b, const Ask& ask) {
  const auto x = times(a.value, b.divisor), y = times(b.value, a.divisor);
  if (!x || !y) return std::nullopt;
  return bool(ask(*x, *y));
}
// Returns a bool as an element 0 or 1; nothing if it is unknown.
inline Maybe bool_element(std::optional<bool> value) {
  return value ? Maybe({Size(*value ? 1 : 0), 1}) : std::nullopt;
}
inline Maybe min(const Element& a, const Element& b) {
  if (identical(a.divisor, b.divisor)) return Element{least(a.value, b.value), a.divisor};
  const auto less = compare_elements(a, b, [](Size x, Size y) { return x < y; });
  return less ? Maybe(*less ? a : b) : std::nullopt;
}
inline Maybe max(const Element& a, const Element& b) {
  if (identical(a.divisor, b.divisor)) return Element{greatest(a.value, b.value), a.divisor};
  const auto less = compare_elements(a, b, [](Size x, Size y) { return x < y; });
  return less ? Maybe(*less ? b : a) : std::nullopt;
}

// Rounds down to an integer.
inline Maybe floor_of(const Element& a) {
  if (identical(a.divisor, Size(1))) return a;
  if (a.value >= 0) return integer_element(quotient(a.value, a.divisor));
  // Computes floor(a / d) as -ceil(-a / d).
  const auto up = compute_size(a.divisor, a.value, [](auto d, auto x) { return d - 1 - x; });
  const auto minus = up ? quotient(*up, a.divisor) : std::nullopt;
  return minus ? sub({0, 1}, {*minus, 1}) : std::nullopt;
}
inline Maybe neg(const Element& a) { return sub({0, 1}, a); }
inline Maybe ceil_of(const Element& a) {
  const Maybe minus = neg(a), below = minus ? floor_of(*minus) : std::nullopt;
  return below ? neg(*below) : std::nullopt;
}
// Rounds toward zero.
inline Maybe truncate_element(const Element& a) { return a.value >= 0 ? floor_of(a) : ceil_of(a); }

// ---- lists of elements

// Returns the number of elements of a shape without formulas.
inline size_t count_of(const Dims& shape) { return static_cast<size_t>(int64_t{count(shape)}); }

// Returns an object without elements, for a tensor of this type.
inline Known empty_known(DType dtype, const Dims& shape) { return {dtype, shape, {}, {}}; }

// Appends an element. Returns false if it is out of the dtype's range, or if there are too many.
inline bool push(Known& to, const Element& x) {
  if (to.values.size() >= static_cast<size_t>(kMaxKnown)) return false;
  if (is_floating(to.dtype)) {
    to.values.push_back(x.value);
    to.divisors.push_back(x.divisor);
    return true;
  }
  if (!identical(x.divisor, Size(1))) return false;
  const bool has_sizes = to.dtype == DType::kI64 || to.dtype == DType::kI32;
  if (!has_sizes && !x.value.known()) return false;
  const bool is_narrow = to.dtype != DType::kI64 && x.value.known();
  const int64_t bound = to.dtype == DType::kI32 ? int64_t{1} << 31 : int64_t{1} << 7;
  if (is_narrow && (x.value.word() < -bound || x.value.word() >= bound)) return false;
  to.values.push_back(x.value);
  return true;
}

// Returns row-major strides, in elements.
inline Dims strides_of(const Dims& shape) {
  Dims strides = shape;
  Size step = 1;
  for (size_t i = shape.rank(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

// Returns the index in `from` of the element that broadcasting copies to element i of `shape`.
inline size_t broadcast_index(size_t i, const Dims& shape, const Dims& from) {
  const Dims strides = strides_of(from);
  size_t place = 0;
  for (size_t axis = shape.rank(); axis-- > 0;) {
    const auto size = static_cast<size_t>(int64_t{shape[axis]});
    const size_t along = i % size;
    i /= size;
    const size_t behind = shape.rank() - axis;
    if (behind > from.rank()) continue;
    const size_t own = from.rank() - behind;
    if (from[own] != 1) place += along * static_cast<size_t>(int64_t{strides[own]});
  }
  return place;
}

// Broadcasts x and `shape` against each other. Returns x in the resulting shape.
inline std::optional<Known> broadcast(const Known& x, const Dims& shape) {
  const Dims both = require_broadcast(TensorType(x.dtype, x.shape), TensorType(x.dtype, shape), "");
  if (count(both) > kMaxKnown) return std::nullopt;
  Known result = empty_known(x.dtype, both);
  for (size_t i = 0; i < count_of(both); ++i) {
    if (!push(result, at(x, broadcast_index(i, both, x.shape)))) return std::nullopt;
  }
  return result;
}

}  // namespace tenon::onnx
