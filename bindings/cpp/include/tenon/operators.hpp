// Arithmetic operators. Comparisons are named functions, such as equal(a, b) and less(a, b),
// because they return tensors, not bools.

#pragma once

#include <algorithm>
#include <cmath>
#include <tenon/ops_gen.hpp>
#include <tenon/tensor.hpp>
#include <tenon/variable.hpp>
#include <type_traits>

namespace tenon {

inline Tensor operator-(const Input& x) { return neg(x); }
inline Tensor operator+(const Input& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Input& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Input& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Input& a, const Tensor& b) { return div(a, b); }
inline Tensor operator%(const Input& a, const Tensor& b) { return mod(a, b); }

// Tensors are immutable: x += y rebinds x to the sum.
inline Tensor& operator+=(Tensor& a, const Input& b) { return a = add({a, b.at()}, b.tensor()); }
inline Tensor& operator-=(Tensor& a, const Input& b) { return a = sub({a, b.at()}, b.tensor()); }
inline Tensor& operator*=(Tensor& a, const Input& b) { return a = mul({a, b.at()}, b.tensor()); }
inline Tensor& operator/=(Tensor& a, const Input& b) { return a = div({a, b.at()}, b.tensor()); }

// Variables are mutable: w += x assigns the sum.
inline const Variable& operator+=(const Variable& a, const Input& b) {
  a.assign_add(b.tensor(), b.at());
  return a;
}
inline const Variable& operator-=(const Variable& a, const Input& b) {
  a.assign_sub(b.tensor(), b.at());
  return a;
}
inline const Variable& operator*=(const Variable& a, const Input& b) {
  a.assign(mul({a.read(b.at()), b.at()}, b.tensor()), b.at());
  return a;
}
inline const Variable& operator/=(const Variable& a, const Input& b) {
  a.assign(div({a.read(b.at()), b.at()}, b.tensor()), b.at());
  return a;
}

inline Tensor Tensor::operator[](const Index& index) const {
  const SourceLocation at = index.at();
  if (!index.tensor().is_none()) return gather({*this, at}, index.tensor(), {.axis = 0});
  const int64_t i = index.number();
  const auto part = [&](int64_t start, int64_t end) {
    const SliceAttrs attrs = {.starts = {start}, .ends = {end}, .axes = {0}, .steps = {}};
    return squeeze({tenon::slice({*this, at}, attrs), at}, {.axes = {0}});
  };
  if (rank() > 0 && tenon_scope_is_tracing(current_scope(at))) {
    // The slice [i, i + 1) needs no size of x, so one trace serves all sizes. squeeze() fails if i
    // is out of range.
    return part(i, i == -1 ? INT64_MAX : i + 1);
  }
  if (rank() == 0) {
    throw Error(
        Code::kOutOfRange,
        "operator[]: a rank-0 tensor cannot be indexed, but the index is " + std::to_string(i), at);
  }
  const int64_t n = size(0, at);
  if (i < -n || i >= n) {
    throw Error(Code::kOutOfRange,
                "operator[]: index " + std::to_string(i) + " is outside [-" + std::to_string(n) +
                    ", " + std::to_string(n) + ")",
                at);
  }
  return part(i < 0 ? i + n : i, (i < 0 ? i + n : i) + 1);
}

inline void Variable::assign_add(const Tensor& value, SourceLocation at) const {
  assign(add({read(at), at}, value), at);
}
inline void Variable::assign_sub(const Tensor& value, SourceLocation at) const {
  assign(sub({read(at), at}, value), at);
}
inline Tensor Variable::operator[](const Index& index) const { return read(index.at())[index]; }

// ---- creating tensors on the current device

// Creates a tensor filled with a rank-0 value, which is cast to `dtype`.
inline Tensor full(const Shape& shape, const Tensor& value, DType dtype,
                   SourceLocation at = here()) {
  return fill({cast({value, at}, {.to = dtype}), at}, {.shape = shape});
}
// Fills with a number, whose C++ type determines the dtype: full({2, 3}, 1.5f) is float32.
template <class T>
requires std::is_arithmetic_v<T> Tensor full(const Shape& shape, T value,
                                             SourceLocation at = here()) {
  return fill({tensor<T>({value}, {}, at), at}, {.shape = shape});
}
inline Tensor zeros(const Shape& shape, DType dtype = kFloat32, SourceLocation at = here()) {
  return full(shape, 0, dtype, at);
}
inline Tensor ones(const Shape& shape, DType dtype = kFloat32, SourceLocation at = here()) {
  return full(shape, 1, dtype, at);
}
// Returns a rank-0 tensor of any dtype: scalar(2, kFloat16). Unlike a plain number, it does not
// adopt the dtype of the other operand.
inline Tensor scalar(const Tensor& value, DType dtype, SourceLocation at = here()) {
  return full({}, value, dtype, at);
}
// Returns a rank-0 tensor whose dtype is that of the C++ type T.
template <class T>
requires std::is_arithmetic_v<T> Tensor scalar(T value, SourceLocation at = here()) {
  return tensor<T>({value}, {}, at);
}

// Returns start, start + step, ..., excluding `stop`. The dtype is int64 if T is an integer type,
// or else that of T.
template <class T>
requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) Tensor
    arange(T start, std::type_identity_t<T> stop, std::type_identity_t<T> step = 1,
           SourceLocation at = here()) {
  if (!(step > 0 || step < 0)) {
    throw Error(Code::kInvalidArgument, "arange: step must not be 0 or NaN", at);
  }
  const double count = std::ceil((static_cast<double>(stop) - static_cast<double>(start)) /
                                 static_cast<double>(step));
  if (!(count < 9e15)) {
    throw Error(Code::kInvalidArgument, "arange: start, stop and step must give a finite count",
                at);
  }
  const DType dtype = std::is_integral_v<T> ? kInt64 : dtype_of<T>();
  const int64_t n = count > 0 ? static_cast<int64_t>(count) : 0;
  const Tensor steps = mul({iota({.shape = {n}, .dtype = dtype}, at), at}, step);
  return add({steps, at}, start);
}
template <class T>
requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) Tensor
    arange(T stop, SourceLocation at = here()) {
  return arange<T>(0, stop, 1, at);
}

// ---- splitting and joining

// Splits an axis into n chunks of equal size; the last may be smaller: split(x, 3, {.axis = 1}).
inline std::vector<Tensor> split(const Input& x, size_t n, const SplitAttrs& attrs = {}) {
  const bool differs = attrs.num_outputs != 0 && static_cast<size_t>(attrs.num_outputs) != n;
  if (differs || (!attrs.split.empty() && attrs.split.size() != n)) {
    throw Error(Code::kInvalidArgument,
                "split: n is " + std::to_string(n) + ", but " +
                    (differs ? "num_outputs is " + std::to_string(attrs.num_outputs)
                             : "split has " + std::to_string(attrs.split.size()) + " sizes") +
                    "; state the count once",
                x.at());
  }
  SplitAttrs counted = attrs;
  if (attrs.split.empty()) counted.num_outputs = static_cast<int64_t>(n);
  return detail::split_into(x, n, counted);
}
// Splits into as many chunks as the attributes specify: split(x, {.axis = 1, .split = {1, 1, 2}}).
inline std::vector<Tensor> split(const Input& x, const SplitAttrs& attrs) {
  const size_t n = attrs.split.empty()
                       ? static_cast<size_t>(std::max<int64_t>(attrs.num_outputs, 1))
                       : attrs.split.size();
  return detail::split_into(x, n, attrs);
}

// Returns all slices along an axis, without that axis: unstack(x, {.axis = 1}).
inline std::vector<Tensor> unstack(const Input& x, const UnstackAttrs& attrs = {}) {
  return unstack(x, static_cast<size_t>(x.tensor().size(attrs.axis, x.at())), attrs);
}

// Overloads that take braced lists: concat({a, b}, {.axis = 1}).
inline Tensor concat(std::initializer_list<Tensor> inputs, const ConcatAttrs& attrs = {},
                     SourceLocation at = here()) {
  return concat(std::span<const Tensor>(inputs.begin(), inputs.size()), attrs, at);
}
inline Tensor stack(std::initializer_list<Tensor> inputs, const StackAttrs& attrs = {},
                    SourceLocation at = here()) {
  return stack(std::span<const Tensor>(inputs.begin(), inputs.size()), attrs, at);
}
inline Tensor einsum(std::initializer_list<Tensor> inputs, const EinsumAttrs& attrs = {},
                     SourceLocation at = here()) {
  return einsum(std::span<const Tensor>(inputs.begin(), inputs.size()), attrs, at);
}

}  // namespace tenon
