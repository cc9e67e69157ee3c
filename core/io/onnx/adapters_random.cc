// Ops that draw random numbers. All nodes of a model draw from one generator, which is seeded with
// the attributes `seed` of the nodes. A call continues where the previous call ended.

#include "core/dispatch/dispatch.h"
#include "core/dispatch/generator.h"
#include "core/io/onnx/adapters.h"

namespace tenon::onnx::adapters {
namespace {

// Calls an op that takes the generator's state as its first input.
Tensor draw(const NodeCall& n, std::string_view op, std::initializer_list<NamedAttr> attrs,
            const Tensor& input = {}) {
  n.ignore("seed");  // random_seed() has read it.
  const OpDef* def = find_op(op);
  NamedAttrs named(*def);
  for (const NamedAttr& attr : attrs) named.set(attr.name, attr.value);
  SmallVector<TensorImpl*, 6> inputs;
  if (input) inputs.push_back(input.get());
  return n.generator().draw(current_scope(), *def, named.view(), inputs, 0)[0];
}

Tensor draw_uniform(const NodeCall& n, const Dims& shape, DType dtype, double low, double high) {
  return draw(n, "random_uniform",
              {{"shape", to_sizes(shape)}, {"dtype", dtype}, {"low", low}, {"high", high}});
}

Tensors uniform(const NodeCall& n, const Dims& shape, DType dtype) {
  return {draw_uniform(n, shape, dtype, n.attr_float("low", 0), n.attr_float("high", 1))};
}

Tensors normal(const NodeCall& n, const Dims& shape, DType dtype) {
  return {draw(n, "random_normal",
               {{"shape", to_sizes(shape)},
                {"dtype", dtype},
                {"mean", n.attr_float("mean", 0)},
                {"scale", n.attr_float("scale", 1)}})};
}

}  // namespace

Tensors random_uniform_of_shape(const NodeCall& n) {
  return uniform(n, to_dims(n.attr_ints("shape")), n.attr_dtype("dtype", DType::kF32));
}

Tensors random_uniform_like(const NodeCall& n) {
  return uniform(n, n.shape(0), n.attr_dtype("dtype", n.in(0)->type.dtype));
}

Tensors random_normal_of_shape(const NodeCall& n) {
  return normal(n, to_dims(n.attr_ints("shape")), n.attr_dtype("dtype", DType::kF32));
}

Tensors random_normal_like(const NodeCall& n) {
  return normal(n, n.shape(0), n.attr_dtype("dtype", n.in(0)->type.dtype));
}

// Returns 1 with the probability in the input, else 0.
Tensors bernoulli(const NodeCall& n) {
  const Tensor& p = n.in(0);
  const DType wide = wide_dtype(p->type.dtype);
  const Tensor is_one = less(draw_uniform(n, p->shape(), wide, 0, 1), to_dtype(p, wide));
  return {cast(is_one, n.attr_dtype("dtype", p->type.dtype))};
}

// Draws classes. The rows of the input are the logarithms of unnormalised probabilities.
Tensors multinomial(const NodeCall& n) {
  const Tensor& x = n.in(0);
  require(x->rank() == 2, "input must have two axes, but is {}", x->type);
  const Tensor drawn =
      draw(n, "random_categorical", {{"num_samples", n.attr("sample_size", 1)}}, x);
  return {cast(drawn, n.attr_dtype("dtype", DType::kI32))};
}

// Dropout is the identity outside training.
Tensors dropout(const NodeCall& n) {
  const Tensor& x = n.in(0);
  n.ignore("seed");
  const bool training = n.version() >= 12 && n.has(2) && n.one_number(2) != 0;
  const double ratio = n.version() < 12 ? n.attr_float("ratio", 0.5)
                       : n.has(1)       ? n.one_number(1)
                                        : 0.5;
  const DType mask = n.version() >= 10 ? DType::kBool : x->type.dtype;
  if (!training || ratio == 0) return {x, ones(TensorType(mask, x->shape()))};
  require(ratio > 0 && ratio < 1, "the ratio must be in [0, 1), but is {}", ratio);
  const DType wide = wide_dtype(x->type.dtype);
  const Tensor is_kept = greater_equal(draw_uniform(n, x->shape(), wide, 0, 1), number(ratio));
  const Tensor y = where(is_kept, to_dtype(x, wide) * (1 / (1 - ratio)), number(0));
  return {to_dtype(y, x->type.dtype), is_kept};
}

}  // namespace tenon::onnx::adapters
