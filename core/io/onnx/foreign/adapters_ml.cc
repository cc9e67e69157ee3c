// Scaling, selection and linear models of the domain ai.onnx.ml.

#include "core/io/onnx/foreign/foreign.h"

namespace tenon::onnx::adapters {
namespace {

// Casts x to float32.
Tensor float32(const Tensor& x) { return to_dtype(x, DType::kF32); }

}  // namespace

// Subtracts an offset and multiplies by a scale. Each is one number for all features, or one per
// feature.
Tensors scaler(const NodeCall& n) {
  Tensor y = float32(n.in(0));
  const std::vector<float> offset = n.attr_floats("offset"), scale = n.attr_floats("scale");
  if (!offset.empty()) y = y - upload_floats(offset);
  if (!scale.empty()) y = y * upload_floats(scale);
  require(y->shape() == n.in(0)->shape(),
          "{} offsets and {} scales cannot be broadcast to the input, {}", offset.size(),
          scale.size(), n.in(0)->type);
  return {y};
}

// Divides each row by its norm. Rows with norm 0 are not changed.
Tensors normalizer(const NodeCall& n) {
  const std::string norm = n.attr_text("norm", "MAX");
  const Tensor x = float32(n.in(0));
  const Along row = {.axes = {-1}, .keepdims = true};
  Tensor size;
  if (norm == "MAX") {
    size = max(abs(x), row);
  } else if (norm == "L1") {
    size = sum(abs(x), row);
  } else {
    require(norm == "L2", "attribute norm must be \"MAX\", \"L1\" or \"L2\", but is \"{}\"", norm);
    size = sqrt(sum(x * x, row));
  }
  return {x / where(equal(size, number(0)), number(1), size)};
}

Tensors binarizer(const NodeCall& n) {
  const Tensor& x = n.in(0);
  return {cast(greater(x, number(n.attr_float("threshold", 0))), x->type.dtype)};
}

// Selects features by index. Features are the elements of the last axis.
Tensors array_feature_extractor(const NodeCall& n) {
  const Tensor& x = n.in(0);
  require(x->rank() > 0, "X must have at least one axis");
  const Tensor y = gather(x, reshape(n.in(1), {-1}), -1);
  return {x->rank() == 1 ? reshape(y, {1, count(y->shape())}) : y};
}

Tensors linear_regressor(const NodeCall& n) {
  const std::string transform = n.attr_text("post_transform", "NONE");
  require_code(transform == "NONE", Code::kUnimplemented,
               "attribute post_transform must be \"NONE\", but is \"{}\"", transform);
  const int64_t targets = n.attr("targets", 1);
  const std::vector<float> coefficients = n.attr_floats("coefficients");
  const std::vector<float> intercepts = n.attr_floats("intercepts");
  const auto given = static_cast<int64_t>(coefficients.size());
  require(targets > 0 && given % targets == 0,
          "the number of coefficients, {}, must be a multiple of the number of targets, {}", given,
          targets);
  const Tensor w = upload_floats(coefficients, {targets, given / targets});
  const Tensor y = matmul(float32(n.in(0)), w, {.transpose_b = true});
  return {intercepts.empty() ? y : y + upload_floats(intercepts, {targets})};
}

}  // namespace tenon::onnx::adapters
