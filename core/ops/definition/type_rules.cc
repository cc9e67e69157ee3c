#include "core/ops/definition/type_rules.h"

namespace tenon::ops {
namespace {

// Returns the shape that all inputs broadcast to. Promotion has already given them one dtype.
Dims broadcast(TypeSpan in) {
  Dims shape = in[0].shape;
  for (size_t i = 1; i < in.size(); ++i) {
    shape = require_broadcast(TensorType(in[0].dtype, shape), in[i], "C2");
  }
  return shape;
}

// Infers an output with the dtype and the broadcast shape of the inputs. `ok` is whether the op
// accepts this dtype. If it is false, throws an error that the dtype must be `wanted`.
TensorTypes infer_same(TypeSpan in, bool ok, std::string_view wanted) {
  require(ok, "C1: the input must be {}, but is {}", wanted, in[0].dtype);
  return {TensorType(in[0].dtype, broadcast(in))};
}

// As infer_same(), but infers a bool output.
TensorTypes infer_to_bool(TypeSpan in, bool ok, std::string_view wanted) {
  require(ok, "C1: the input must be {}, but is {}", wanted, in[0].dtype);
  return {TensorType(DType::kBool, broadcast(in))};
}

}  // namespace

OpDef define_unary(Definition<NoAttrs> d) {
  d.inputs = {{"x", "the input"}};
  d.outputs = {{"y", "the result, with the shape of x"}};
  d.elementwise = true;
  return define(d);
}

OpDef define_binary(Definition<NoAttrs> d) {
  d.inputs = {{"a", "the first operand"}, {"b", "the second operand"}};
  d.outputs = {{"y", "the result, with the broadcast shape of a and b"}};
  d.elementwise = true;
  d.promotes = Promotes::kAll;
  return define(d);
}

TensorTypes infer_any(const NoAttrs&, TypeSpan in) { return infer_same(in, true, "any"); }

TensorTypes infer_numeric(const NoAttrs&, TypeSpan in) {
  return infer_same(in, is_numeric(in[0].dtype), "numeric");
}

TensorTypes infer_floating(const NoAttrs&, TypeSpan in) {
  return infer_same(in, is_floating(in[0].dtype), "floating point");
}

TensorTypes infer_integer(const NoAttrs&, TypeSpan in) {
  return infer_same(in, is_integer(in[0].dtype), "an integer");
}

TensorTypes infer_integer_or_bool(const NoAttrs&, TypeSpan in) {
  return infer_same(in, !is_floating(in[0].dtype), "an integer or bool");
}

TensorTypes infer_bool(const NoAttrs&, TypeSpan in) {
  return infer_same(in, in[0].dtype == DType::kBool, "bool");
}

TensorTypes infer_floating_to_bool(const NoAttrs&, TypeSpan in) {
  return infer_to_bool(in, is_floating(in[0].dtype), "floating point");
}

TensorTypes infer_numeric_to_bool(const NoAttrs&, TypeSpan in) {
  return infer_to_bool(in, is_numeric(in[0].dtype), "numeric");
}

TensorTypes infer_any_to_bool(const NoAttrs&, TypeSpan in) {
  return infer_to_bool(in, true, "any");
}

}  // namespace tenon::ops
