// The value type that evaluates expansions over tensors: each instruction calls one op. Devices
// without kernels for transcendental ops run these calls instead. A tracer records them as
// arithmetic ops.

#pragma once

#include "core/ops/definition/formulas.h"
#include "core/ops/definition/op_ids.h"

namespace tenon::ops {

// The dtype of an expansion's values, and the signed and unsigned integer dtypes of the same width.
template <class T>
struct ExpansionDTypes;

template <>
struct ExpansionDTypes<float> {
  static constexpr DType kValue = DType::kF32, kSigned = DType::kI32, kUnsigned = DType::kU32;
};

template <>
struct ExpansionDTypes<double> {
  static constexpr DType kValue = DType::kF64, kSigned = DType::kI64, kUnsigned = DType::kU64;
};

// A tensor, or a constant as a weak scalar. The members are not inline, because an expansion has
// hundreds of instructions and inlining would increase the code size.
class ExpansionOperand {
 public:
  explicit ExpansionOperand(Tensor t) : tensor_(std::move(t)) {}
  ExpansionOperand(const ExpansionOperand& other);
  ExpansionOperand(ExpansionOperand&& other) noexcept;
  ExpansionOperand& operator=(const ExpansionOperand& other);
  ~ExpansionOperand();
  const Tensor& tensor() const { return tensor_; }

 private:
  Tensor tensor_;
};

// Call an op on operands of `dtype`. If all operands are constants, one becomes a tensor of that
// dtype.
Tensor expansion_unary(OpId op, DType dtype, const ExpansionOperand& a);
Tensor expansion_binary(OpId op, DType dtype, const ExpansionOperand& a, const ExpansionOperand& b);
Tensor expansion_where(DType dtype, const ExpansionOperand& condition, const ExpansionOperand& a,
                       const ExpansionOperand& b);
Tensor expansion_bitcast(DType dtype, const ExpansionOperand& a, DType to);
Tensor expansion_cast(DType dtype, const ExpansionOperand& a, DType to);

#define TENON_EXPANSION_OPERATOR(Self, Result, symbol, op)             \
  friend Result operator symbol(const Self& a, const Self& b) {        \
    return Result(expansion_binary(OpId::k_##op, Self::kDType, a, b)); \
  }

class ExpansionBool : public ExpansionOperand {
 public:
  static constexpr DType kDType = DType::kBool;

  explicit ExpansionBool(Tensor t) : ExpansionOperand(std::move(t)) {}
  TENON_EXPANSION_OPERATOR(ExpansionBool, ExpansionBool, &, logical_and)
  TENON_EXPANSION_OPERATOR(ExpansionBool, ExpansionBool, |, logical_or)
  friend ExpansionBool operator!(const ExpansionBool& a) {
    return ExpansionBool(expansion_unary(OpId::k_logical_not, kDType, a));
  }
};

template <class T, bool kIsSigned>
class ExpansionInteger : public ExpansionOperand {
  using Self = ExpansionInteger;
  using Constant = std::conditional_t<kIsSigned, int64_t, uint64_t>;

 public:
  static constexpr DType kDType =
      kIsSigned ? ExpansionDTypes<T>::kSigned : ExpansionDTypes<T>::kUnsigned;

  explicit ExpansionInteger(Tensor t) : ExpansionOperand(std::move(t)) {}
  ExpansionInteger(Constant v) : ExpansionInteger(integer(static_cast<int64_t>(v))) {}

  TENON_EXPANSION_OPERATOR(Self, Self, +, add)
  TENON_EXPANSION_OPERATOR(Self, Self, -, sub)
  TENON_EXPANSION_OPERATOR(Self, Self, *, mul)
  TENON_EXPANSION_OPERATOR(Self, Self, &, bitwise_and)
  TENON_EXPANSION_OPERATOR(Self, Self, |, bitwise_or)
  TENON_EXPANSION_OPERATOR(Self, Self, ^, bitwise_xor)
  TENON_EXPANSION_OPERATOR(Self, Self, <<, shift_left)
  TENON_EXPANSION_OPERATOR(Self, Self, >>, shift_right)
  TENON_EXPANSION_OPERATOR(Self, ExpansionBool, ==, equal)
  TENON_EXPANSION_OPERATOR(Self, ExpansionBool, !=, not_equal)
  TENON_EXPANSION_OPERATOR(Self, ExpansionBool, <, less)
  TENON_EXPANSION_OPERATOR(Self, ExpansionBool, >, greater)
  friend Self operator<<(const Self& a, int n) { return a << Self(static_cast<Constant>(n)); }
  friend Self operator>>(const Self& a, int n) { return a >> Self(static_cast<Constant>(n)); }

  friend Self where(const ExpansionBool& c, const Self& a, const Self& b) {
    return Self(expansion_where(kDType, c, a, b));
  }
};

template <class T>
class ExpansionValue : public ExpansionOperand {
  using Self = ExpansionValue;

 public:
  using Scalar = T;
  using Int = ExpansionInteger<T, true>;
  using UInt = ExpansionInteger<T, false>;
  using Bool = ExpansionBool;
  static constexpr DType kDType = ExpansionDTypes<T>::kValue;

  explicit ExpansionValue(Tensor t) : ExpansionOperand(std::move(t)) {}
  ExpansionValue(double v) : ExpansionValue(number(v)) {}

  TENON_EXPANSION_OPERATOR(Self, Self, +, add)
  TENON_EXPANSION_OPERATOR(Self, Self, -, sub)
  TENON_EXPANSION_OPERATOR(Self, Self, *, mul)
  TENON_EXPANSION_OPERATOR(Self, Self, /, div)
  TENON_EXPANSION_OPERATOR(Self, Bool, ==, equal)
  TENON_EXPANSION_OPERATOR(Self, Bool, !=, not_equal)
  TENON_EXPANSION_OPERATOR(Self, Bool, <, less)
  TENON_EXPANSION_OPERATOR(Self, Bool, <=, less_equal)
  TENON_EXPANSION_OPERATOR(Self, Bool, >, greater)
  TENON_EXPANSION_OPERATOR(Self, Bool, >=, greater_equal)
  friend Self operator-(const Self& a) { return Self(expansion_unary(OpId::k_neg, kDType, a)); }

  friend Self abs(const Self& a) { return Self(expansion_unary(OpId::k_abs, kDType, a)); }
  friend Self sqrt(const Self& a) { return Self(expansion_unary(OpId::k_sqrt, kDType, a)); }
  friend Self round(const Self& a) { return Self(expansion_unary(OpId::k_round, kDType, a)); }
  friend Self where(const Bool& c, const Self& a, const Self& b) {
    return Self(expansion_where(kDType, c, a, b));
  }
  // Reinterprets the bits of `a` as an integer.
  friend Int as_int(const Self& a) { return Int(expansion_bitcast(kDType, a, Int::kDType)); }
  // Converts the value of `a` to an integer.
  friend Int to_int(const Self& a) { return Int(expansion_cast(kDType, a, Int::kDType)); }
};

#undef TENON_EXPANSION_OPERATOR

// Reinterprets the bits of an integer as a floating-point value.
template <class T, bool kIsSigned>
ExpansionValue<T> as_float(const ExpansionInteger<T, kIsSigned>& a) {
  return ExpansionValue<T>(expansion_bitcast(a.kDType, a, ExpansionDTypes<T>::kValue));
}

// Converts the value of an integer to floating point.
template <class T, bool kIsSigned>
ExpansionValue<T> to_float(const ExpansionInteger<T, kIsSigned>& a) {
  return ExpansionValue<T>(expansion_cast(a.kDType, a, ExpansionDTypes<T>::kValue));
}

// Reinterprets the bits of a signed integer as an unsigned one.
template <class T>
ExpansionInteger<T, false> as_uint(const ExpansionInteger<T, true>& a) {
  return ExpansionInteger<T, false>(expansion_bitcast(a.kDType, a, ExpansionDTypes<T>::kUnsigned));
}

// Reinterprets the bits of an unsigned integer as a signed one.
template <class T>
ExpansionInteger<T, true> as_int(const ExpansionInteger<T, false>& a) {
  return ExpansionInteger<T, true>(expansion_bitcast(a.kDType, a, ExpansionDTypes<T>::kSigned));
}

// Decomposes an op into its expansion, passed as a generic function. Half types are computed in
// float32. binary128, which oracles use, stays binary128, with the constants for float64.
template <class Expansion, class... Operands>
Tensors expand(const Expansion& expansion, const Tensor& x, const Operands&... others) {
  const DType dtype = x->type.dtype;
  if (dtype == DType::kF64 || dtype == DType::kF128) {
    return {expansion(ExpansionValue<double>(x), ExpansionValue<double>(others)...).tensor()};
  }
  const auto widened = [](const Tensor& t) { return ExpansionValue<float>(cast(t, DType::kF32)); };
  return {cast(expansion(widened(x), widened(others)...).tensor(), dtype)};
}

// Decompositions of unary and binary ops by the expansion with the same name.
#define TENON_EXPAND_UNARY(name)                                             \
  [](const NoAttrs&, TensorSpan in) {                                        \
    return expand([](const auto& x) { return expansions::name(x); }, in[0]); \
  }
#define TENON_EXPAND_BINARY(name)                                                             \
  [](const NoAttrs&, TensorSpan in) {                                                         \
    return expand([](const auto& a, const auto& b) { return expansions::name(a, b); }, in[0], \
                  in[1]);                                                                     \
  }

}  // namespace tenon::ops
