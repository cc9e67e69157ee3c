// Arithmetic as C++ writes it. Comparisons are functions, equal(a, b) and less(a, b), since their
// results are tensors.

#pragma once

#include <algorithm>
#include <cmath>
#include <tenon/ops_gen.hpp>
#include <tenon/tensor.hpp>
#include <tenon/variable.hpp>
#include <type_traits>

namespace tenon {

inline Tensor operator-(const Tensor& x) { return neg(x); }
inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator%(const Tensor& a, const Tensor& b) { return mod(a, b); }

// Tensors do not change: x += y makes x name the sum.
inline Tensor& operator+=(Tensor& a, const Tensor& b) { return a = add(a, b); }
inline Tensor& operator-=(Tensor& a, const Tensor& b) { return a = sub(a, b); }
inline Tensor& operator*=(Tensor& a, const Tensor& b) { return a = mul(a, b); }
inline Tensor& operator/=(Tensor& a, const Tensor& b) { return a = div(a, b); }

// Variables do: w += x assigns the sum.
inline const Variable& operator+=(const Variable& a, const Tensor& b) {
  a.assign_add(b);
  return a;
}
inline const Variable& operator-=(const Variable& a, const Tensor& b) {
  a.assign_sub(b);
  return a;
}
inline const Variable& operator*=(const Variable& a, const Tensor& b) {
  a.assign(mul(a.read(), b));
  return a;
}
inline const Variable& operator/=(const Variable& a, const Tensor& b) {
  a.assign(div(a.read(), b));
  return a;
}

inline Tensor Tensor::operator[](int64_t index) const {
  if (rank() > 0 && tenon_scope_is_tracing(current_scope())) {
    // Reads no size, so that one trace serves all; an index outside fails where it is squeezed.
    const int64_t end = index == -1 ? INT64_MAX : index + 1;
    return squeeze(
        tenon::slice(*this, {.starts = {index}, .ends = {end}, .axes = {0}, .steps = {}}),
        {.axes = {0}});
  }
  if (rank() == 0 || index < -size(0) || index >= size(0)) {
    throw Error(Code::kOutOfRange, "operator[]: index " + std::to_string(index) +
                                       (rank() == 0 ? " of a tensor without axes"
                                                    : " is outside [-" + std::to_string(size(0)) +
                                                          ", " + std::to_string(size(0)) + ")"));
  }
  const int64_t at = index < 0 ? index + size(0) : index;
  return squeeze(tenon::slice(*this, {.starts = {at}, .ends = {at + 1}, .axes = {0}, .steps = {}}),
                 {.axes = {0}});
}

inline Tensor Tensor::operator[](const Tensor& index) const {
  return gather(*this, index, {.axis = 0});
}

inline void Variable::assign_add(const Tensor& value) const { assign(add(read(), value)); }
inline void Variable::assign_sub(const Tensor& value) const { assign(sub(read(), value)); }
inline Tensor Variable::operator[](int64_t index) const { return read()[index]; }
inline Tensor Variable::operator[](const Tensor& index) const { return read()[index]; }

// ---- new tensors by shape, on the current device

inline Tensor full(const Shape& shape, const Tensor& value, DType dtype) {
  return fill(cast(value, {.to = dtype}), {.shape = shape});
}
// Of the dtype of the value: full({2, 3}, 1.5f) is of float32.
template <class T>
requires std::is_arithmetic_v<T> Tensor full(const Shape& shape, T value) {
  return fill(tensor<T>({value}, {}), {.shape = shape});
}
inline Tensor zeros(const Shape& shape, DType dtype = kFloat32) { return full(shape, 0, dtype); }
inline Tensor ones(const Shape& shape, DType dtype = kFloat32) { return full(shape, 1, dtype); }
// A tensor without axes, of any dtype: scalar(2, kFloat16). Unlike a plain number, it does not take
// the dtype of the tensor that it meets.
inline Tensor scalar(const Tensor& value, DType dtype) { return full({}, value, dtype); }
template <class T>
requires std::is_arithmetic_v<T> Tensor scalar(T value) { return full({}, value); }

// Of the shape and dtype of x. Inside a function the sizes are those of each call.
inline Tensor full_like(const Tensor& x, const Tensor& value) {
  const Tensor each = scalar(value, x.dtype());
  if (tenon_scope_is_tracing(current_scope())) return where(equal(x, x), each, each);
  return fill(each, {.shape = Shape(x.shape().begin(), x.shape().end())});
}
inline Tensor zeros_like(const Tensor& x) { return full_like(x, 0); }
inline Tensor ones_like(const Tensor& x) { return full_like(x, 1); }

// start, start + step, ... up to and without stop. Integers give int64, floating types their own
// dtype.
template <class T>
requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) Tensor
    arange(T start, std::type_identity_t<T> stop, std::type_identity_t<T> step = 1) {
  if (!(step > 0 || step < 0)) {
    throw Error(Code::kInvalidArgument, "arange: step must not be 0 or NaN");
  }
  const double count = std::ceil((static_cast<double>(stop) - static_cast<double>(start)) /
                                 static_cast<double>(step));
  if (!(count < 9e15)) {
    throw Error(Code::kInvalidArgument, "arange: start, stop and step must give a finite count");
  }
  const DType dtype = std::is_integral_v<T> ? kInt64 : dtype_of<T>();
  return add(
      mul(iota({.shape = {count > 0 ? static_cast<int64_t>(count) : 0}, .dtype = dtype}), step),
      start);
}
template <class T>
requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) Tensor arange(T stop) {
  return arange<T>(0, stop);
}

// ---- parts of a tensor

// Splits an axis into n equal parts, of which the last may be smaller: split(x, 3, {.axis = 1}).
inline std::vector<Tensor> split(const Tensor& x, size_t n, const SplitAttrs& attrs = {}) {
  const bool differs = attrs.num_outputs != 0 && static_cast<size_t>(attrs.num_outputs) != n;
  if (differs || (!attrs.split.empty() && attrs.split.size() != n)) {
    throw Error(Code::kInvalidArgument,
                "split: " + std::to_string(n) + " parts are asked for, but " +
                    (differs ? "num_outputs is " + std::to_string(attrs.num_outputs)
                             : "split has " + std::to_string(attrs.split.size()) + " sizes") +
                    "; state the count once");
  }
  SplitAttrs counted = attrs;
  if (attrs.split.empty()) counted.num_outputs = static_cast<int64_t>(n);
  return detail::split_into(x, n, counted);
}
// The count is that of the attributes: split(x, {.axis = 1, .split = {1, 1, 2}}).
inline std::vector<Tensor> split(const Tensor& x, const SplitAttrs& attrs) {
  const size_t n = attrs.split.empty()
                       ? static_cast<size_t>(std::max<int64_t>(attrs.num_outputs, 1))
                       : attrs.split.size();
  return detail::split_into(x, n, attrs);
}

// All slices along an axis: unstack(x, {.axis = 1}).
inline std::vector<Tensor> unstack(const Tensor& x, const UnstackAttrs& attrs = {}) {
  return unstack(x, static_cast<size_t>(x.size(attrs.axis)), attrs);
}

// Tensors that are listed at the call: concat({a, b}, {.axis = 1}).
inline Tensor concat(std::initializer_list<Tensor> inputs, const ConcatAttrs& attrs = {}) {
  return concat(std::span<const Tensor>(inputs.begin(), inputs.size()), attrs);
}
inline Tensor stack(std::initializer_list<Tensor> inputs, const StackAttrs& attrs = {}) {
  return stack(std::span<const Tensor>(inputs.begin(), inputs.size()), attrs);
}
inline Tensor einsum(std::initializer_list<Tensor> inputs, const EinsumAttrs& attrs = {}) {
  return einsum(std::span<const Tensor>(inputs.begin(), inputs.size()), attrs);
}

}  // namespace tenon
