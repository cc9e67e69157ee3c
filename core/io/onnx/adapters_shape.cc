// Ops that create tensors, and ops that rearrange elements without arithmetic.

#include "core/dispatch/dispatch.h"
#include "core/io/onnx/adapters.h"
#include "core/trace/control/control.h"

namespace tenon::onnx::adapters {

// ---- creation ----

Tensors constant(const NodeCall& n) {
  Scope& scope = current_scope();
  if (const TensorData* data = n.attr_tensor("value")) {
    return {upload(scope, scope.device(), *data)};
  }
  if (n.has_attr("value_int")) return {host_ints({n.attr("value_int", 0)}, {})};
  if (n.has_attr("value_ints")) return {host_ints(n.attr_ints("value_ints"))};
  std::vector<float> values = n.attr_floats("value_floats");
  Dims shape = {static_cast<int64_t>(values.size())};
  if (n.has_attr("value_float")) {
    values = {static_cast<float>(n.attr_float("value_float", 0))};
    shape = {};
  }
  require_code(n.has_attr("value_float") || n.has_attr("value_floats"), Code::kUnimplemented,
               "the attribute with the constant's value has a type that is not supported");
  return {from_host(scope, scope.device(), TensorType(DType::kF32, shape), values.data())};
}

Tensors constant_of_shape(const NodeCall& n) {
  Scope& scope = current_scope();
  const Dims shape = to_dims(n.sizes(0));
  const TensorData* data = n.attr_tensor("value");
  if (!data) return {fill(number(0), shape, DType::kF32)};
  require(count(data->type.shape) == 1, "attribute value must have one element, but is {}",
          data->type);
  const Tensor value = reshape(upload(scope, scope.device(), *data), {});
  return {fill(value, shape, data->type.dtype)};
}

Tensors eye_like(const NodeCall& n) {
  const TensorType& type = n.in(0)->type;
  require(type.rank() == 2, "input 0 must be a matrix, but is {}", type);
  return call_named("eye",
                    {{"rows", type.shape[0]},
                     {"columns", type.shape[1]},
                     {"k", n.attr("k", 0)},
                     {"dtype", n.attr_dtype("dtype", type.dtype)}},
                    {});
}

namespace {

// Creates a window function: a sum of cosines with the given coefficients. A periodic window spans
// one full period; otherwise the window is symmetric.
Tensors window(const NodeCall& n, std::initializer_list<double> coefficients) {
  constexpr double kPi = 3.14159265358979323846;
  const int64_t size = n.one_int(0);
  const DType dtype = n.attr_dtype("output_datatype", DType::kF32);
  const int64_t period = n.flag("periodic", true) ? size : size - 1;
  const Tensor place = iota({size}, wide_dtype(dtype), 0) / static_cast<double>(period);
  Tensor y = zeros(place->type);
  double turns = 0;
  for (const double coefficient : coefficients) {
    y = y + coefficient * cos((2 * kPi * turns) * place);
    ++turns;
  }
  return {cast(y, dtype)};
}

}  // namespace

Tensors hann_window(const NodeCall& n) { return window(n, {0.5, -0.5}); }
Tensors hamming_window(const NodeCall& n) { return window(n, {25.0 / 46, -21.0 / 46}); }
Tensors blackman_window(const NodeCall& n) { return window(n, {0.42, -0.5, 0.08}); }

Tensors shape_of(const NodeCall& n) {
  const Dims& shape = n.in(0)->shape();
  const auto rank = static_cast<int64_t>(shape.rank());
  const auto place = [&](std::string_view name, int64_t otherwise) {
    return std::clamp<int64_t>(from_front(n.attr(name, otherwise), shape.rank()), 0, rank);
  };
  const int64_t begin = place("start", 0), end = place("end", rank);
  Sizes sizes;
  for (int64_t i = begin; i < end; ++i) sizes.push_back(shape[static_cast<size_t>(i)]);
  return {sizes_tensor(sizes)};
}

// Returns the number of elements of the input as a scalar.
Tensors element_count(const NodeCall& n) {
  return {reshape(sizes_tensor({count(n.in(0)->shape())}), {})};
}

// ---- shapes ----

// A size of 0 copies the size of the input. With allowzero, it means an axis without elements.
Tensors reshape_to(const NodeCall& n) {
  const Tensor& x = n.in(0);
  Sizes shape = n.version() >= 5 ? n.sizes(1) : to_sizes(n.attr_ints("shape"));
  if (!n.flag("allowzero", false)) {
    for (size_t i = 0; i < shape.size(); ++i) {
      if (!shape[i].known() || shape[i] != 0) continue;
      require(i < x->rank(), "size {} of the shape is 0, but {} has no axis {}", i, x->type, i);
      shape[i] = x->shape()[i];
    }
  }
  return call_named("reshape", {{"shape", shape}}, {x});
}

Tensors squeeze_axes(const NodeCall& n) {
  return {squeeze(n.in(0), n.ints_since(13, "axes", 1).value_or(Ints()))};
}

Tensors unsqueeze(const NodeCall& n) {
  const Ints axes = n.ints_since(13, "axes", 1).value_or(Ints());
  return {axes.empty() ? n.in(0) : expand_dims(n.in(0), axes)};
}

// Broadcasts x and the target shape against each other, because ONNX lets either have size 1.
Tensors expand(const NodeCall& n) {
  const Tensor& x = n.in(0);
  const TensorType asked(x->type.dtype, to_dims(n.sizes(1)));
  return {broadcast_to(x, require_broadcast(x->type, asked, "shape"))};
}

Tensors tile(const NodeCall& n) { return call_named("tile", {{"repeats", n.sizes(1)}}, {n.in(0)}); }

// ---- slicing ----

Tensors slice_ranges(const NodeCall& n) {
  if (n.version() < 10) {
    return {slice(n.in(0), {.starts = to_sizes(n.attr_ints("starts")),
                            .ends = to_sizes(n.attr_ints("ends")),
                            .axes = n.attr_ints("axes")})};
  }
  return {slice(n.in(0), {.starts = n.sizes(1),
                          .ends = n.sizes(2),
                          .axes = n.has(3) ? n.ints(3) : Ints(),
                          .steps = n.has(4) ? n.ints(4) : Ints()})};
}

Tensors split(const NodeCall& n) {
  const Sizes sizes = n.sizes_since(13, "split", 1).value_or(Sizes());
  const auto outputs = static_cast<int64_t>(n.n_outputs());
  const int64_t parts = n.attr("num_outputs", outputs);
  require(parts == outputs,
          "attribute num_outputs must be the number of the node's outputs, {}, but is {}", outputs,
          parts);
  return call_named("split",
                    {{"axis", n.attr("axis", 0)},
                     {"num_outputs", sizes.empty() ? parts : int64_t{0}},
                     {"split", sizes}},
                    {n.in(0)});
}

// ---- padding ----

// Expands pads of the listed axes to pads of all axes. The axes are an input from version 18 on.
static Sizes spread_pads(const Sizes& pads, const Ints& axes, size_t rank) {
  require(pads.size() == 2 * axes.size(),
          "pads must have two values for each of {} axes, but has {}", axes.size(), pads.size());
  Sizes all(2 * rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(require_axis(axes[i], rank, "axes"));
    all[axis] = pads[i];
    all[rank + axis] = pads[axes.size() + i];
  }
  return all;
}

Tensors pad(const NodeCall& n) {
  const Tensor& x = n.in(0);
  const std::string mode = n.attr_text("mode", "constant");
  Sizes pads;
  Tensor value;
  if (n.version() < 11) {
    pads = to_sizes(n.attr_ints("pads"));
    value = number(n.attr_float("value", 0));
  } else {
    pads = n.sizes(1);
    if (n.has(2)) value = reshape(n.in(2), {});
  }
  if (n.has(3)) pads = spread_pads(pads, n.ints(3), x->rank());
  if (mode != "constant") return call_named("pad", {{"pads", pads}, {"mode", mode}}, {x});
  return call_named("pad", {{"pads", pads}}, {x, value});
}

}  // namespace tenon::onnx::adapters
