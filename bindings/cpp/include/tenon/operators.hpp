// Arithmetic as C++ writes it. Comparisons are functions, equal(a, b) and less(a, b), since their
// results are tensors.

#pragma once

#include <tenon/ops_gen.hpp>
#include <tenon/tensor.hpp>

namespace tenon {

inline Tensor operator-(const Tensor& x) { return neg(x); }
inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator%(const Tensor& a, const Tensor& b) { return mod(a, b); }

inline Tensor Tensor::operator[](int64_t index) const {
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
