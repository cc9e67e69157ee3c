// Encoders and the linear classifier of the domain ai.onnx.ml, for numbers. Strings are not
// supported.

#include <cmath>

#include "core/io/onnx/foreign/foreign.h"
#include "core/io/onnx/foreign/trees.h"

namespace tenon::onnx::adapters {
namespace {

// Throws if the node has an attribute of strings.
void refuse_strings(const NodeCall& n, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    require_code(n.attr_texts(name).empty(), Code::kUnimplemented,
                 "attribute {} is not supported, because it holds strings", name);
  }
}

// Returns for each element of x whether it equals each of the keys, along a new last axis. NaN
// equals NaN.
Tensor equal_to_each(const Tensor& x, const Tensor& keys) {
  const Tensor wide = expand_dims(x, {-1});
  if (!is_floating(x->type.dtype)) return equal(wide, keys);
  return logical_or(equal(wide, keys), logical_and(isnan(wide), isnan(keys)));
}

}  // namespace

// Replaces elements that equal one value, which may be NaN, by one number, or by one per feature.
Tensors imputer(const NodeCall& n) {
  const Tensor& x = n.in(0);
  const bool is_float = is_floating(x->type.dtype);
  const std::vector<float> floats = n.attr_floats("imputed_value_floats");
  const Ints ints = n.attr_ints("imputed_value_int64s");
  const double real = n.attr_float("replaced_value_float", 0);
  const int64_t whole = n.attr("replaced_value_int64", 0);
  require(is_float ? !floats.empty() : !ints.empty(),
          "the node has no imputed values for the dtype of X, {}", x->type);
  const Tensor values = to_dtype(is_float ? upload_floats(floats) : host_ints(ints), x->type.dtype);
  const Tensor is_replaced = !is_float          ? equal(x, integer(whole))
                             : std::isnan(real) ? isnan(x)
                                                : equal(x, number(real));
  const Tensor y = where(is_replaced, values, x);
  require(y->shape() == x->shape(), "{} imputed values do not fit the features of X, {}",
          is_float ? floats.size() : ints.size(), x->type);
  return {y};
}

// Concatenates the features of all inputs as float32.
Tensors feature_vectorizer(const NodeCall& n) {
  const Ints sizes = n.attr_ints("inputdimensions");
  require(n.n_inputs() > 0, "the node has no inputs");
  require(sizes.empty() || sizes.size() == n.n_inputs(),
          "attribute inputdimensions must have {} elements, but has {}", n.n_inputs(),
          sizes.size());
  Tensors parts;
  for (size_t i = 0; i < n.n_inputs(); ++i) {
    const Tensor x = to_dtype(n.in(i), DType::kF32);
    const Tensor rows = x->rank() == 1 ? expand_dims(x, {0}) : x;
    require(rows->rank() == 2, "input {} must have one or two axes, but is {}", i, x->type);
    require(sizes.empty() || rows->shape()[1] == sizes[i],
            "input {} must have {} features, but is {}", i, sizes.empty() ? 0 : sizes[i], x->type);
    parts.push_back(rows);
  }
  return {concat(parts, 1)};
}

// Adds an axis with one element per category: 1 for the category of the element, else 0. An unknown
// category has zeros only.
Tensors one_hot_encoder(const NodeCall& n) {
  refuse_strings(n, {"cats_strings"});
  require_code(n.flag("zeros", true), Code::kUnimplemented,
               "attribute zeros must be 1: unknown categories as errors are not supported");
  const Ints categories = n.attr_ints("cats_int64s");
  require(!categories.empty(), "attribute cats_int64s must not be empty");
  const Tensor hits = equal_to_each(cast(n.in(0), DType::kI64), host_ints(categories));
  return {cast(hits, DType::kF32)};
}

// Maps each element of `keys` to the element of `values` with the same index, and all others to the
// default.
Tensors label_encoder(const NodeCall& n) {
  refuse_strings(n, {"keys_strings", "values_strings"});
  for (const char* name : {"keys_tensor", "values_tensor", "default_tensor"}) {
    require_code(!n.has_attr(name), Code::kUnimplemented, "attribute {} is not supported", name);
  }
  n.ignore("default_string");
  const Tensor& x = n.in(0);
  const Ints int_keys = n.attr_ints("keys_int64s"), int_values = n.attr_ints("values_int64s");
  const std::vector<float> keys = n.attr_floats("keys_floats"),
                           values = n.attr_floats("values_floats");
  const double real = n.attr_float("default_float", -0.0);
  const int64_t whole = n.attr("default_int64", -1);
  const bool has_int_keys = !int_keys.empty(), has_int_values = !int_values.empty();
  const size_t n_keys = has_int_keys ? int_keys.size() : keys.size();
  const size_t n_values = has_int_values ? int_values.size() : values.size();
  require(n_keys > 0 && n_keys == n_values,
          "there must be as many keys as values, but there are {} and {}", n_keys, n_values);
  const Tensor table = has_int_keys ? host_ints(int_keys) : upload_floats(keys);
  require(x->type.dtype == table->type.dtype, "X must be {}, like the keys, but is {}",
          table->type.dtype, x->type);
  const Tensor hits = cast(equal_to_each(x, table), DType::kI32);
  const Tensor index = call_named1("argmax", {{"axis", int64_t{-1}}}, {hits});
  const Tensor is_known = greater(max(hits, {.axes = {-1}}), integer(0));
  const Tensor found =
      gather(has_int_values ? host_ints(int_values) : upload_floats(values), index, 0);
  return {where(is_known, found, has_int_values ? integer(whole) : number(real))};
}

// Returns the labels and the scores [N, classes].
Tensors linear_classifier(const NodeCall& n) {
  refuse_strings(n, {"classlabels_strings"});
  n.ignore("multi_class");  // Affects training only.
  const Ints classes = n.attr_ints("classlabels_ints");
  const std::vector<float> coefficients = n.attr_floats("coefficients"),
                           intercepts = n.attr_floats("intercepts");
  const std::string transform = n.attr_text("post_transform", "NONE");
  const Tensor x = to_dtype(n.in(0), DType::kF32);
  require(x->rank() == 2, "X must have two axes, but is {}", x->type);
  const auto n_classes = static_cast<int64_t>(classes.size()),
             size = static_cast<int64_t>(coefficients.size());
  require(n_classes >= 2, "there must be at least two classes, but there are {}", n_classes);
  require(x->shape()[1] * n_classes == size,
          "there must be one coefficient for each class and feature, but there are {} for {} "
          "classes and X: {}",
          size, n_classes, x->type);
  require(intercepts.empty() || intercepts.size() == classes.size(),
          "there must be {} intercepts, but there are {}", n_classes, intercepts.size());
  const Tensor w = reshape(upload_floats(coefficients), {n_classes, -1});
  Tensor scores = matmul(x, w, {.transpose_b = true});
  if (!intercepts.empty()) scores = scores + upload_floats(intercepts);
  const Tensor best = call_named1("argmax", {{"axis", int64_t{1}}}, {scores});
  return {gather(host_ints(classes), best, 0), transform_scores(scores, transform)};
}

}  // namespace tenon::onnx::adapters
