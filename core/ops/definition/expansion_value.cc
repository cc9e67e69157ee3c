#include "core/ops/definition/expansion_value.h"

namespace tenon::ops {
namespace {

// Returns the operand as a tensor of `dtype`. A constant becomes a tensor of rank 0.
Tensor to_typed_tensor(DType dtype, const ExpansionOperand& a) {
  return a.tensor()->type.weak ? fill(a.tensor(), {}, dtype) : a.tensor();
}

// Returns `a` as an operand of a binary op. A constant stays a weak scalar if `other` is a tensor,
// whose dtype it adopts. If both are constants, `a` becomes a tensor of `dtype`.
Tensor binary_operand(DType dtype, const ExpansionOperand& a, const ExpansionOperand& other) {
  return other.tensor()->type.weak ? to_typed_tensor(dtype, a) : a.tensor();
}

}  // namespace

ExpansionOperand::ExpansionOperand(const ExpansionOperand& other) = default;
ExpansionOperand::ExpansionOperand(ExpansionOperand&& other) noexcept = default;
ExpansionOperand& ExpansionOperand::operator=(const ExpansionOperand& other) = default;
ExpansionOperand::~ExpansionOperand() = default;

Tensor expansion_unary(OpId op, DType dtype, const ExpansionOperand& a) {
  return call1(op, NoAttrs{}, {to_typed_tensor(dtype, a)});
}

Tensor expansion_binary(OpId op, DType dtype, const ExpansionOperand& a,
                        const ExpansionOperand& b) {
  return call1(op, NoAttrs{}, {binary_operand(dtype, a, b), b.tensor()});
}

Tensor expansion_where(DType dtype, const ExpansionOperand& condition, const ExpansionOperand& a,
                       const ExpansionOperand& b) {
  return where(condition.tensor(), binary_operand(dtype, a, b), b.tensor());
}

Tensor expansion_bitcast(DType dtype, const ExpansionOperand& a, DType to) {
  return bitcast(to_typed_tensor(dtype, a), to);
}

Tensor expansion_cast(DType dtype, const ExpansionOperand& a, DType to) {
  return cast(to_typed_tensor(dtype, a), to);
}

}  // namespace tenon::ops
