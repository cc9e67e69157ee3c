// The value type of expansions over tensors: each instruction is one op. So a transcendental op
// runs on a device that has no kernel for it, and a tracer writes it down as arithmetic.

#pragma once

#include "core/ops/formulas.h"

namespace tenon::ops {

// The dtypes of an expansion's numbers and of the integers beside them.
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

// A tensor, or a constant as a weak scalar, which adopts the dtype of the tensor that it meets.
template <DType kDType>
class ExpansionOperand {
 public:
  explicit ExpansionOperand(Tensor t) : tensor_(std::move(t)) {}
  const Tensor& tensor() const { return tensor_; }

  // A constant that meets no tensor must be given its dtype.
  Tensor typed() const { return tensor_->type.weak ? fill(tensor_, {}, kDType) : tensor_; }
  Tensor beside(const ExpansionOperand& other) const {
    return other.tensor_->type.weak ? typed() : tensor_;
  }

 private:
  Tensor tensor_;
};

class ExpansionBool {
 public:
  explicit ExpansionBool(Tensor t) : tensor_(std::move(t)) {}
  const Tensor& tensor() const { return tensor_; }

  friend ExpansionBool operator&(const ExpansionBool& a, const ExpansionBool& b) {
    return ExpansionBool(logical_and(a.tensor_, b.tensor_));
  }
  friend ExpansionBool operator|(const ExpansionBool& a, const ExpansionBool& b) {
    return ExpansionBool(logical_or(a.tensor_, b.tensor_));
  }
  friend ExpansionBool operator!(const ExpansionBool& a) {
    return ExpansionBool(logical_not(a.tensor_));
  }

 private:
  Tensor tensor_;
};

#define TENON_EXPANSION_OPERATOR(Self, Result, symbol, op)      \
  friend Result operator symbol(const Self& a, const Self& b) { \
    return Result(tenon::op(a.beside(b), b.tensor()));          \
  }

template <class T, bool kIsSigned>
class ExpansionInteger : public ExpansionOperand<kIsSigned ? ExpansionDTypes<T>::kSigned
                                                           : ExpansionDTypes<T>::kUnsigned> {
  using Self = ExpansionInteger;
  using Constant = std::conditional_t<kIsSigned, int64_t, uint64_t>;

 public:
  static constexpr DType kDType =
      kIsSigned ? ExpansionDTypes<T>::kSigned : ExpansionDTypes<T>::kUnsigned;

  explicit ExpansionInteger(Tensor t) : ExpansionOperand<kDType>(std::move(t)) {}
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
    return Self(tenon::where(c.tensor(), a.beside(b), b.tensor()));
  }
};

template <class T>
class ExpansionValue : public ExpansionOperand<ExpansionDTypes<T>::kValue> {
  using Self = ExpansionValue;

 public:
  using Scalar = T;
  using Int = ExpansionInteger<T, true>;
  using UInt = ExpansionInteger<T, false>;
  using Bool = ExpansionBool;
  static constexpr DType kDType = ExpansionDTypes<T>::kValue;

  explicit ExpansionValue(Tensor t) : ExpansionOperand<kDType>(std::move(t)) {}
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
  friend Self operator-(const Self& a) { return Self(neg(a.typed())); }

  friend Self abs(const Self& a) { return Self(tenon::abs(a.typed())); }
  friend Self sqrt(const Self& a) { return Self(tenon::sqrt(a.typed())); }
  friend Self round(const Self& a) { return Self(tenon::round(a.typed())); }
  friend Self where(const Bool& c, const Self& a, const Self& b) {
    return Self(tenon::where(c.tensor(), a.beside(b), b.tensor()));
  }
  friend Int as_int(const Self& a) { return Int(bitcast(a.typed(), Int::kDType)); }
  friend Int to_int(const Self& a) { return Int(cast(a.typed(), Int::kDType)); }
};

#undef TENON_EXPANSION_OPERATOR

template <class T, bool kIsSigned>
ExpansionValue<T> as_float(const ExpansionInteger<T, kIsSigned>& a) {
  return ExpansionValue<T>(bitcast(a.typed(), ExpansionDTypes<T>::kValue));
}

template <class T, bool kIsSigned>
ExpansionValue<T> to_float(const ExpansionInteger<T, kIsSigned>& a) {
  return ExpansionValue<T>(cast(a.typed(), ExpansionDTypes<T>::kValue));
}

template <class T>
ExpansionInteger<T, false> as_uint(const ExpansionInteger<T, true>& a) {
  return ExpansionInteger<T, false>(bitcast(a.typed(), ExpansionDTypes<T>::kUnsigned));
}

template <class T>
ExpansionInteger<T, true> as_int(const ExpansionInteger<T, false>& a) {
  return ExpansionInteger<T, true>(bitcast(a.typed(), ExpansionDTypes<T>::kSigned));
}

// The decomposition of an op into its expansion, which is given as a generic function. Half types
// are computed in float32.
template <class Expansion, class... Operands>
Tensors expand(const Expansion& expansion, const Tensor& x, const Operands&... others) {
  const DType dtype = x->type.dtype;
  if (dtype == DType::kF64) {
    return {expansion(ExpansionValue<double>(x), ExpansionValue<double>(others)...).tensor()};
  }
  const auto widened = [](const Tensor& t) { return ExpansionValue<float>(cast(t, DType::kF32)); };
  return {cast(expansion(widened(x), widened(others)...).tensor(), dtype)};
}

// The expansion of that name as a decomposition.
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
