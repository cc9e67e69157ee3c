// Ops that onnxruntime's optimiser writes when it fuses nodes: activations, matrix products,
// normalisation and attention.

#include <cmath>

#include "core/dispatch/dispatch.h"
#include "core/io/onnx/foreign/foreign.h"
#include "core/io/onnx/heads.h"

namespace tenon::onnx::adapters {
namespace {

// Applies GELU. `is_tanh`: uses the approximation by tanh.
Tensor gelu_of(const Tensor& x, bool is_tanh) {
  return call_named1("gelu", {{"approximate", int64_t{is_tanh}}}, {x});
}

// Adds the bias, which may be absent.
Tensor plus(const Tensor& x, const Tensor& bias) { return bias ? x + bias : x; }

// Applies the activation `name`; none if it is empty. parameter(i, default) returns its i-th
// parameter.
template <class Parameter>
Tensor apply_activation(const Tensor& x, const std::string& name, const Parameter& parameter) {
  if (name.empty()) return x;
  if (name == "Relu") return relu(x);
  if (name == "Tanh") return tanh(x);
  if (name == "Sigmoid") return sigmoid(x);
  if (name == "LeakyRelu") {
    return call_named1("leaky_relu", {{"alpha", parameter(0, 0.01)}}, {x});
  }
  if (name == "Clip") {
    return minimum(maximum(x, number(parameter(0, -INFINITY))), number(parameter(1, INFINITY)));
  }
  if (name == "HardSigmoid") {
    return call_named1("hard_sigmoid", {{"alpha", parameter(0, 0.2)}, {"beta", parameter(1, 0.5)}},
                       {x});
  }
  fail(Code::kUnimplemented, "activation {} is not supported", {name});
}

}  // namespace

Tensors exact_gelu(const NodeCall& n) { return {gelu_of(n.in(0), false)}; }
Tensors bias_gelu(const NodeCall& n) { return {gelu_of(n.in(0) + n.in(1), false)}; }
Tensors fast_gelu(const NodeCall& n) { return {gelu_of(plus(n.in(0), n.optional(1)), true)}; }

Tensors quick_gelu(const NodeCall& n) {
  const double alpha = n.attr_float("alpha", 1.702);
  return {in_wide(n.in(0), [&](const Tensor& x) { return x * sigmoid(x * alpha); })};
}

Tensors fused_mat_mul(const NodeCall& n) {
  n.require_attr("transBatchA", 0);
  n.require_attr("transBatchB", 0);
  const double alpha = n.attr_float("alpha", 1);
  // For a vector, the attributes transA and transB have no effect.
  const auto transposes = [&](std::string_view name, size_t i) {
    return n.flag(name, false) && n.rank(i) > 1;
  };
  const Tensor y =
      matmul(n.in(0), n.in(1),
             {.transpose_a = transposes("transA", 0), .transpose_b = transposes("transB", 1)});
  return {alpha == 1 ? y : y * alpha};
}

Tensors fused_gemm(const NodeCall& n) {
  const char* const names[] = {"activation_alpha", "activation_beta", "activation_gamma"};
  for (const char* name : names) n.ignore(name);
  const Tensor y = gemm(n)[0];
  return {apply_activation(y, n.attr_text("activation", ""), [&](size_t i, double otherwise) {
    return n.attr_float(names[i], otherwise);
  })};
}

// Convolves, adds input 3 if it is present, and applies the activation.
Tensors fused_conv(const NodeCall& n) {
  const std::vector<float> parameters = n.attr_floats("activation_params");
  const Tensor y = plus(convolve(n, n.in(0), n.in(1), n.optional(2)), n.optional(3));
  return {apply_activation(y, n.attr_text("activation", ""), [&](size_t i, double otherwise) {
    return i < parameters.size() ? double{parameters[i]} : otherwise;
  })};
}

// ---- normalisation ----

namespace {

// Returns the outputs of SkipLayerNormalization and its variants: output 0 is normalised, and
// output 3 is the sum before normalisation. The node must not use outputs 1 and 2 (mean and
// inv_std_var), which are for training.
Tensors outputs_with_sum(const NodeCall& n, const Tensor& y, const Tensor& sum) {
  require_code(!n.has_output(1) && !n.has_output(2), Code::kUnimplemented,
               "the outputs mean and inv_std_var are not supported");
  return {y, Tensor(), Tensor(), sum};
}

}  // namespace

Tensors skip_layer_normalization(const NodeCall& n) {
  const Tensor sum = plus(n.in(0) + n.in(1), n.optional(4));
  const Tensor y = call_named1("layer_norm",
                               {{"axis", int64_t{-1}}, {"epsilon", n.attr_float("epsilon", 1e-12)}},
                               {sum, n.in(2), n.optional(3)});
  return outputs_with_sum(n, y, sum);
}

Tensors skip_rms_normalization(const NodeCall& n) {
  const Tensor sum = plus(n.in(0) + n.in(1), n.optional(3));
  const Tensor y =
      call_named1("rms_norm", {{"axis", int64_t{-1}}, {"epsilon", n.attr_float("epsilon", 1e-12)}},
                  {sum, n.in(2)});
  return outputs_with_sum(n, y, sum);
}

// Adds the embeddings of words, positions and segments, and normalises the sum.
Tensors embed_layer_normalization(const NodeCall& n) {
  n.ignore("mask_index_type");
  const Tensor& ids = n.in(0);
  require(ids->rank() == 2, "input_ids must have two axes, but are {}", ids->type);
  require_code(!n.has_output(1) || n.has(7), Code::kUnimplemented,
               "the output mask_index without a mask is not supported");
  const Tensor positions = n.has(8) ? n.in(8) : iota({1, ids->shape()[1]}, DType::kI64, 1);
  Tensor sum = gather(n.in(2), ids, 0) + gather(n.in(3), positions, 0);
  if (n.has(1)) sum = sum + gather(n.in(4), n.in(1), 0);
  const Tensor y = call_named1("layer_norm",
                               {{"axis", int64_t{-1}}, {"epsilon", n.attr_float("epsilon", 1e-12)}},
                               {sum, n.in(5), n.in(6)});
  // The number of unmasked elements of each sequence.
  const Tensor lengths =
      n.has_output(1) ? cast(tenon::sum(cast(n.in(7), DType::kI32), {.axes = {1}}), DType::kI32)
                      : Tensor();
  return {y, lengths, sum};
}

// ---- attention ----

namespace {

// Converts a mask of keys to a bool tensor with four axes. The mask holds one length per sequence,
// one bool per key, or one bool per query and key.
Tensor key_mask(const Tensor& mask, Size keys) {
  if (!mask) return mask;
  if (mask->rank() == 1) {
    return less(iota({1, 1, 1, keys}, DType::kI64, 3),
                reshape(cast(mask, DType::kI64), {-1, 1, 1, 1}));
  }
  const Tensor allowed = not_equal(mask, number_of(mask->type.dtype, 0));
  const Dims& shape = mask->shape();
  if (mask->rank() == 2) return reshape(allowed, {shape[0], 1, 1, shape[1]});
  require(mask->rank() == 3, "a mask of keys must have one to three axes, but is {}", mask->type);
  return reshape(allowed, {shape[0], 1, shape[1], shape[2]});
}

struct Heads {
  Tensor q, k, v;  // [batch, heads, length, size].
};

// Computes attention of each head. `mask` is bool; `bias` is added to the scores. Both are
// optional.
Tensor attention_of_heads(const Heads& x, const Tensor& mask, const Tensor& bias, double scale,
                          Size past, bool is_causal) {
  Tensor all = combine_masks(bias, mask);
  if (is_causal) {
    all = combine_masks(all, causal_mask(x.q->shape()[2], x.k->shape()[2], past));
  }
  return join_heads(call_named1("attention", {{"scale", scale}}, {x.q, x.k, x.v, all}));
}

// Returns the elements from `start` up to `end` of the last axis.
Tensor slice_last_axis(const Tensor& x, Size start, Size end) {
  return slice(x, {.starts = {start}, .ends = {end}, .axes = {-1}});
}

}  // namespace

Tensors multi_head_attention(const NodeCall& n) {
  n.require_attr("do_rotary", 0);
  n.ignore("mask_filter_value");  // Masked keys get weight 0 for any value of it.
  const int64_t heads = n.attr("num_heads", 0);
  require_code(n.has(1) && n.has(2) && n.rank(0) == 3, Code::kUnimplemented,
               "packed queries, keys and values are not supported");
  require_code(!n.has(8) && !n.has(9), Code::kUnimplemented,
               "shared buffers of past keys are not supported");
  const Tensor& query = n.in(0);
  const Size hidden = query->shape()[2];
  const auto biased = [&](const Tensor& x, Size start) {
    if (!n.has(3) || x->rank() != 3) return x;
    return x + slice_last_axis(n.in(3), start, start + x->shape()[2]);
  };
  Heads x{split_heads(biased(query, 0), heads), split_heads(biased(n.in(1), hidden), heads),
          split_heads(biased(n.in(2), hidden * 2), heads)};
  Size past = 0;
  if (n.has(6) && n.has(7)) {
    past = n.in(6)->shape()[2];
    const Tensor keys[] = {n.in(6), x.k}, values[] = {n.in(7), x.v};
    x.k = concat(keys, 2);
    x.v = concat(values, 2);
  }
  const Tensor y =
      attention_of_heads(x, key_mask(n.optional(4), x.k->shape()[2]), n.optional(5),
                         n.attr_float("scale", 0), past, n.flag("unidirectional", false));
  return {y, x.k, x.v};
}

// Attention whose queries, keys and values are the result of a single matrix product. Axis 0 of the
// input `past` has two elements: keys and values.
Tensors packed_attention(const NodeCall& n) {
  n.require_attr("do_rotary", 0);
  n.require_attr("past_present_share_buffer", 0);
  n.ignore("mask_filter_value");
  const int64_t heads = n.attr("num_heads", 0);
  const Tensor& w = n.in(1);
  require(w->rank() == 2, "weights must have two axes, but are {}", w->type);
  const Ints sizes = n.attr_ints("qkv_hidden_sizes");
  require(sizes.empty() || sizes.size() == 3,
          "attribute qkv_hidden_sizes must have three sizes, but has {}", sizes.size());
  const int64_t third = w->shape()[1] / 3;
  const int64_t q_size = sizes.empty() ? third : sizes[0],
                k_size = sizes.empty() ? third : sizes[1];
  const Tensor all = plus(matmul(n.in(0), w), n.optional(2));
  Heads x{split_heads(slice_last_axis(all, 0, q_size), heads),
          split_heads(slice_last_axis(all, q_size, q_size + k_size), heads),
          split_heads(slice_last_axis(all, q_size + k_size, w->shape()[1]), heads)};
  Size past = 0;
  if (n.has(4)) {
    past = n.in(4)->shape()[3];
    const auto half = [&](int64_t i) {
      return squeeze(slice(n.in(4), {.starts = {i}, .ends = {i + 1}, .axes = {0}}), {0});
    };
    const Tensor keys[] = {half(0), x.k}, values[] = {half(1), x.v};
    x.k = concat(keys, 2);
    x.v = concat(values, 2);
  }
  const Tensor y =
      attention_of_heads(x, key_mask(n.optional(3), x.k->shape()[2]), n.optional(5),
                         n.attr_float("scale", 0), past, n.flag("unidirectional", false));
  if (!n.has_output(1)) return {y};
  const Tensor both[] = {expand_dims(x.k, {0}), expand_dims(x.v, {0})};
  return {y, concat(both, 0)};
}

// Input 1 holds one position for each element, or a single first position for all sequences.
Tensors rotary_embedding(const NodeCall& n) {
  n.ignore("is_packed_batching");
  require_code(n.attr_float("scale", 1) == 1, Code::kUnimplemented,
               "attribute scale is not supported");
  const Tensor& x = n.in(0);
  const size_t length_axis = x->rank() == 4 ? 2 : 1;
  require(x->rank() >= 3, "input must have three or four axes, but is {}", x->type);
  const Dims rows = {x->shape()[0], x->shape()[length_axis]};
  Tensor positions = n.in(1);
  if (positions->rank() == 1) {
    positions = broadcast_to(add(iota({1, rows[1]}, positions->type.dtype, 1), positions), rows);
  }
  const int64_t rotated = n.attr("rotary_embedding_dim", 0);
  int64_t heads = n.attr("num_heads", 0);
  // If the number of heads is not given, derives it from the width of the cos and sin caches.
  if (heads == 0 && x->rank() == 3) heads = x->shape()[2] / (2 * n.in(2)->shape()[1]);
  return call_named("rotary_embedding",
                    {{"interleaved", n.attr("interleaved", 0)},
                     {"num_heads", heads},
                     {"rotary_embedding_dim", rotated}},
                    {x, n.in(2), n.in(3), positions});
}

}  // namespace tenon::onnx::adapters
