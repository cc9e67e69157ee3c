#include "core/io/onnx/foreign/foreign.h"

#include "core/dispatch/dispatch.h"

namespace tenon::onnx {
namespace {

constexpr AdapterOfOp kOps[] = {
#define TENON_ONNX_FOREIGN(domain, op, function) {domain, #op, adapters::function},
#include "core/io/onnx/foreign/foreign.def"
};

}  // namespace

Adapter find_foreign_adapter(std::string_view domain, std::string_view op) {
  for (const AdapterOfOp& entry : kOps) {
    if (entry.op == op && entry.domain == domain) return entry.adapter;
  }
  return nullptr;
}

namespace adapters {

Tensor upload_floats(std::span<const float> values) {
  return upload_floats(values, {static_cast<int64_t>(values.size())});
}

Tensor upload_floats(std::span<const float> values, const Dims& shape) {
  require(count(shape) == static_cast<int64_t>(values.size()),
          "the attribute has {} numbers, but a tensor of type {} holds a different number",
          values.size(), TensorType(DType::kF32, shape));
  Scope& scope = current_scope();
  return from_host(scope, scope.device(), TensorType(DType::kF32, shape), values.data());
}

Tensor column(const Tensor& x, int64_t i) {
  return slice(x, {.starts = {i}, .ends = {i + 1}, .axes = {1}});
}

Tensor join_columns(const Tensor& a, const Tensor& b) {
  const Tensor both[] = {a, b};
  return concat(both, 1);
}

}  // namespace adapters
}  // namespace tenon::onnx
