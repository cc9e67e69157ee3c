// simplify: applies identities that hold for all values, including -0, NaN and infinities.
//
//   x * 1, x / 1, x - 0                     x
//   x + 0                                   x for integers; for other dtypes only x + -0
//   identity(x), assign(x, variable), a cast to x's own dtype    x
//   a reshape or broadcast to x's own shape, a transpose that keeps the order of axes    x
//   neg(neg(x)), likewise logical_not and bitwise_not    x
//   transpose(transpose(x)) that restores x, and reshape(reshape(x))    x, reshape(x)
//
// Takes O(n) time for n nodes: an identity inspects a call and the producers of its inputs.

#include <cmath>

#include "core/ops/definition/formulas.h"
#include "core/ops/definition/op_ids.h"
#include "core/trace/control/control_ops.h"
#include "core/trace/passes/pass.h"
#include "core/trace/passes/rewriter.h"

namespace tenon {
namespace {

// Whether the node is a call of this op.
bool is_op(const Node* node, OpId id) {
  return node->kind == NodeKind::kCall && node->op == &op_def(id);
}

bool is_same_type(const TensorType& a, const TensorType& b) {
  return a.dtype == b.dtype && a.weak == b.weak && a.lists == b.lists &&
         identical(a.shape, b.shape);
}

// Whether `x` is an inline scalar equal to `value`. Distinguishes 0 from -0.
bool is_scalar(const Value& x, double value) {
  if (x.node->kind != NodeKind::kConstant) return false;
  const TensorImpl& scalar = *x.node->constant;
  if (scalar.type.dtype == DType::kBool) return false;
  if (!is_floating(scalar.type.dtype)) {
    return static_cast<double>(scalar.int_value) == value && !std::signbit(value);
  }
  return scalar.float_value == value && std::signbit(scalar.float_value) == std::signbit(value);
}

// Whether adding the inline scalar `x` changes nothing.
bool is_zero_summand(const Value& x, DType dtype) {
  return is_floating(dtype) ? is_scalar(x, -0.0) : is_scalar(x, 0.0);
}
// Whether subtracting the inline scalar `x` changes nothing: true for 0 and +0.0.
bool is_zero_subtrahend(const Value& x) { return is_scalar(x, 0.0); }

// Whether a transpose by `perm` keeps the order of the axes.
bool is_identity_permutation(const Ints& perm, size_t rank) {
  if (perm.empty()) return rank < 2;
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// Returns the attribute perm of a transpose.
const Ints& perm_of(const Node& node) {
  return static_cast<const TransposeAttrs*>(node.attrs.view().data)->perm;
}

// Whether transposing by `outer` after `inner` restores the order of the axes.
bool is_inverse_transpose(const Node& outer, const Node& inner) {
  const Ints &p = perm_of(outer), &q = perm_of(inner);
  const size_t rank = outer.types[0].rank();
  for (size_t i = 0; i < rank; ++i) {
    const size_t from = p.empty() ? rank - 1 - i : static_cast<size_t>(p[i]);
    const size_t at = q.empty() ? rank - 1 - from : static_cast<size_t>(q[from]);
    if (at != i) return false;
  }
  return true;
}

// Returns the existing value that equals the result of the call; empty if no identity applies.
Value find_equal_value(const Node& node, const Values& in) {
  if (in.empty() || !in[0] || node.types.size() != 1) return {};
  const TensorType& type = node.types[0];
  const auto if_same = [&](const Value& x) { return is_same_type(x.type(), type) ? x : Value(); };
  if (is_op(&node, OpId::k_identity) || node.op == &control::assign()) return if_same(in[0]);
  if (is_op(&node, OpId::k_mul)) {
    return is_scalar(in[1], 1) ? if_same(in[0]) : is_scalar(in[0], 1) ? if_same(in[1]) : Value();
  }
  if (is_op(&node, OpId::k_div)) return is_scalar(in[1], 1) ? if_same(in[0]) : Value();
  if (is_op(&node, OpId::k_sub)) return is_zero_subtrahend(in[1]) ? if_same(in[0]) : Value();
  if (is_op(&node, OpId::k_add)) {
    if (is_zero_summand(in[1], type.dtype)) return if_same(in[0]);
    return is_zero_summand(in[0], type.dtype) ? if_same(in[1]) : Value();
  }
  for (const OpId id : {OpId::k_cast, OpId::k_reshape, OpId::k_broadcast_to}) {
    if (is_op(&node, id)) return if_same(in[0]);
  }
  for (const OpId id : {OpId::k_neg, OpId::k_logical_not, OpId::k_bitwise_not}) {
    if (is_op(&node, id) && is_op(in[0].node, id)) return if_same(in[0].node->inputs[0]);
  }
  if (is_op(&node, OpId::k_transpose)) {
    if (is_identity_permutation(perm_of(node), type.rank())) return if_same(in[0]);
    if (is_op(in[0].node, OpId::k_transpose) && is_inverse_transpose(node, *in[0].node)) {
      return if_same(in[0].node->inputs[0]);
    }
  }
  return {};
}

}  // namespace

std::shared_ptr<Graph> simplify(Scope&, const Graph& graph, Tensors&) {
  Rewriter copy(graph);
  for (const Node& node : graph.nodes()) {
    if (node.kind == NodeKind::kInput) continue;
    Values inputs = copy.inputs_of(node);
    if (node.kind == NodeKind::kConstant) {
      copy.copy(node, std::move(inputs));
    } else if (const Value instead = find_equal_value(node, inputs)) {
      copy.map_outputs(node, instead);
    } else {
      if (is_op(&node, OpId::k_reshape) && is_op(inputs[0].node, OpId::k_reshape)) {
        inputs[0] = inputs[0].node->inputs[0];
      }
      copy.copy(node, std::move(inputs));
    }
  }
  return copy.finish();
}

}  // namespace tenon
