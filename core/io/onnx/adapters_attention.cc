// Attention ops: dot-product attention, key-value caches, and recurrent replacements of attention.

#include <cmath>

#include "core/dispatch/dispatch.h"
#include "core/io/onnx/adapters.h"
#include "core/io/onnx/heads.h"
#include "core/trace/control/control.h"

namespace tenon::onnx::adapters {

// Reshapes [batch, length, heads * size] to [batch, heads, length, size].
Tensor split_heads(const Tensor& x, int64_t heads) {
  if (x->rank() == 4) return x;
  require(x->rank() == 3 && heads > 0 && x->shape()[2] % heads == 0,
          "input must have three axes, the last a multiple of {} heads, but is {}", heads, x->type);
  const Dims& shape = x->shape();
  return transpose(reshape(x, {shape[0], shape[1], heads, shape[2] / heads}), {0, 2, 1, 3});
}

Tensor join_heads(const Tensor& x) {
  const Dims& shape = x->shape();
  return reshape(transpose(x, {0, 2, 1, 3}), {shape[0], shape[2], shape[1] * shape[3]});
}

// Returns a size as an int64 scalar.
Tensor size_tensor(Size size) { return reshape(sizes_tensor({size}), {}); }

// Returns a bool mask [queries, keys] that is true where a query may attend to a key.
Tensor causal_mask(Size queries, Size keys, Size past) {
  const Tensor query = iota({queries, 1}, DType::kI64, 0), key = iota({1, keys}, DType::kI64, 1);
  return greater_equal(add(query, size_tensor(past)), key);
}

// Combines two masks into one that masks what either of them masks. Each may be absent.
Tensor combine_masks(const Tensor& mask, const Tensor& allowed) {
  if (!mask || !allowed) return mask ? mask : allowed;
  if (mask->type.dtype == DType::kBool) return logical_and(mask, allowed);
  return where(allowed, mask, number(-INFINITY));
}

namespace {

constexpr int64_t kHeadsAxis = 1, kLengthAxis = 2;

// Pads the last axis of a mask to `keys` elements, so that the additional keys are masked.
Tensor pad_mask_to_keys(const Tensor& mask, Size keys) {
  const size_t rank = mask->rank();
  require(rank > 0, "the mask must have at least one axis");
  const Size missing = keys - mask->shape()[rank - 1];
  if (missing == 0) return mask;
  require(
      missing > 0,
      "the last axis of the mask must have at most {} elements, one per key, but the mask is {}",
      keys, mask->type);
  Sizes pads(2 * rank, 0);
  pads[2 * rank - 1] = missing;
  const bool is_bool = mask->type.dtype == DType::kBool;
  return pad(mask, is_bool ? number_of(DType::kBool, 0) : number(-INFINITY), pads);
}

struct Operands {
  Tensor q, k, v;
  Size past = 0;  // Number of cached keys and values.
};

// Splits the inputs into heads, and appends keys and values to the cached ones.
Operands operands_of(const NodeCall& n) {
  const int64_t heads = n.attr("q_num_heads", 0), kv_heads = n.attr("kv_num_heads", 0);
  Operands all{split_heads(n.in(0), heads), split_heads(n.in(1), kv_heads),
               split_heads(n.in(2), kv_heads)};
  require(n.has(4) == n.has(5), "past_key and past_value must be given together");
  if (!n.has(4)) return all;
  require(n.rank(4) == 4, "past_key must have four axes, but is {}", n.in(4)->type);
  all.past = n.shape(4)[kLengthAxis];
  const Tensor keys[] = {n.in(4), all.k}, values[] = {n.in(5), all.v};
  all.k = concat(keys, kLengthAxis);
  all.v = concat(values, kLengthAxis);
  return all;
}

// Combines the mask input, the causal mask (if `is_causal`) and the mask of valid key lengths.
Tensor mask_of(const NodeCall& n, const Operands& x, bool is_causal) {
  const Size queries = x.q->shape()[kLengthAxis], keys = x.k->shape()[kLengthAxis];
  Tensor mask = n.optional(3);
  if (mask && mask->type.dtype != DType::kBool) mask = to_dtype(mask, x.q->type.dtype);
  if (mask) mask = pad_mask_to_keys(mask, keys);
  if (is_causal) mask = combine_masks(mask, causal_mask(queries, keys, x.past));
  if (n.has(6)) {
    const Tensor length = reshape(n.in(6), {-1, 1, 1, 1});
    mask = combine_masks(mask, less(iota({1, 1, 1, keys}, DType::kI64, 3), length));
  }
  return mask;
}

// The values of attribute qk_matmul_output_mode: which intermediate scores are output 3.
enum class Scores : int64_t { kProduct = 0, kCapped = 1, kMasked = 2, kSoftmax = 3 };

// Computes the attention scores up to the stage `selected`. `softcap`: bound of the scores; 0:
// none.
Tensor scores_of(const Operands& x, const Tensor& mask, double scale, double softcap,
                 Scores selected) {
  const DType dtype = x.q->type.dtype, wide = wide_dtype(dtype);
  const Dims &q = x.q->shape(), &k = x.k->shape();
  const Dims grouped = {q[0], k[kHeadsAxis], q[kHeadsAxis] / k[kHeadsAxis] * q[2], q[3]};
  const Tensor rows = reshape(to_dtype(x.q, wide) * scale, grouped);
  Tensor y = reshape(matmul(rows, to_dtype(x.k, wide), {.transpose_b = true}),
                     {q[0], q[kHeadsAxis], q[2], k[2]});
  if (softcap > 0 && selected != Scores::kProduct) y = tanh(y / softcap) * softcap;
  if (selected >= Scores::kMasked && mask) {
    y = mask->type.dtype == DType::kBool ? where(mask, y, number(-INFINITY))
                                         : y + to_dtype(mask, wide);
  }
  if (selected == Scores::kSoftmax) y = softmax(y, -1);
  return to_dtype(y, dtype);
}

}  // namespace

// Tenon computes attention in float32 or wider, so attribute softmax_precision is ignored.
Tensors attention(const NodeCall& n) {
  n.ignore("softmax_precision");
  const Operands x = operands_of(n);
  const double softcap = n.attr_float("softcap", 0);
  const int64_t selected = n.attr("qk_matmul_output_mode", 0);
  require(selected >= 0 && selected <= 3,
          "attribute qk_matmul_output_mode must be 0 to 3, but is {}", selected);
  require(!n.has_attr("scale") || n.attr_float("scale", 0) > 0,
          "attribute scale must be positive, but is {}", n.attr_float("scale", 0));
  const double scale = n.attr_float("scale", 0);
  const bool is_causal = n.flag("is_causal", false);
  // Without a key-value cache, Tenon's attention op applies the causal mask itself and skips masked
  // keys.
  const bool masks_causally = is_causal && (n.has(4) || n.has_output(3));
  const Tensor mask = mask_of(n, x, masks_causally);
  const Tensor y = call_named1("attention",
                               {{"is_causal", int64_t{is_causal && !masks_causally}},
                                {"scale", scale},
                                {"softcap", softcap}},
                               {x.q, x.k, x.v, mask});
  Tensors outputs = {n.rank(0) == 3 ? join_heads(y) : y, x.k, x.v};
  if (n.has_output(3)) {
    const double size = static_cast<double>(int64_t{x.q->shape()[3]});
    outputs.push_back(scores_of(x, mask, scale > 0 ? scale : 1 / std::sqrt(size), softcap,
                                static_cast<Scores>(selected)));
  }
  return outputs;
}

// Tenon computes the statistics in float32 or wider, so attribute stash_type is ignored. The result
// has the dtype of scale.
Tensors rms_normalization(const NodeCall& n) {
  n.ignore("stash_type");
  const Tensor &x = n.in(0), &scale = n.in(1);
  const DType dtype = scale->type.dtype;
  const bool is_same = x->type.dtype == dtype;
  const DType common = is_same ? dtype : wide_dtype(promote(x->type.dtype, dtype));
  const Tensor y = call_named1(
      "rms_norm", {{"axis", n.attr("axis", -1)}, {"epsilon", n.attr_float("epsilon", 1e-5)}},
      {to_dtype(x, common), to_dtype(scale, common)});
  return {to_dtype(y, dtype)};
}

// Writes an update into a cache along an axis. With mode "circular", indices wrap around at the
// end.
Tensors tensor_scatter(const NodeCall& n) {
  const Tensor &cache = n.in(0), &update = n.in(1);
  const size_t rank = cache->rank();
  const auto axis = static_cast<size_t>(require_axis(n.attr("axis", -2), rank, "axis"));
  require(axis > 0 && update->rank() == rank,
          "the axis must not be 0, and the update must have the rank of the cache, but axis is {}, "
          "the cache {} and the update {}",
          axis, cache->type, update->type);
  const std::string mode = n.attr_text("mode", "linear");
  require(mode == "linear" || mode == "circular",
          "attribute mode must be \"linear\" or \"circular\", but is \"{}\"", mode);
  Dims along, batch;
  for (size_t i = 0; i < rank; ++i) {
    along.push_back(i == axis ? update->shape()[axis] : Size(1));
    batch.push_back(i == 0 ? -1 : 1);
  }
  Tensor index = iota(along, DType::kI64, static_cast<int64_t>(axis));
  if (n.has(2)) index = add(index, reshape(cast(n.in(2), DType::kI64), batch));
  if (mode == "circular") index = mod(index, size_tensor(cache->shape()[axis]));
  return {scatter_elements(cache, broadcast_to(index, update->shape()), update,
                           {.axis = static_cast<int64_t>(axis)})};
}

// Attention that applies two graphs of the node: score_mod to the scores before the softmax, and
// prob_mod to the probabilities after it.
Tensors flex_attention(const NodeCall& n) {
  const Tensor &q = n.in(0), &k = n.in(1), &v = n.in(2);
  require(q->rank() == 4 && k->rank() == 4 && v->rank() == 4,
          "q, k and v must have four axes, but are {}, {} and {}", q->type, k->type, v->type);
  const DType dtype = q->type.dtype;
  const DType precision = n.attr_dtype("softmax_precision", wide_dtype(dtype));
  const Dims &a = q->shape(), &b = k->shape();
  const int64_t heads = a[1], kv_heads = b[1];
  require(kv_heads > 0 && heads % kv_heads == 0,
          "the heads of q must be a multiple of those of k, but they are {} and {}", heads,
          kv_heads);
  const double size = static_cast<double>(int64_t{a[3]});
  const double scale = n.attr_float("scale", 1 / std::sqrt(size));
  const Size rows = heads / kv_heads * a[2];
  const Tensor grouped = reshape(to_dtype(q, precision), {a[0], kv_heads, rows, a[3]});
  const Tensor product = matmul(grouped * scale, to_dtype(k, precision), {.transpose_b = true});
  Tensor scores = reshape(product, {a[0], heads, a[2], b[2]});
  const auto modified = [&](std::string_view name, const Tensor& x) {
    const Graph* graph = n.attr_graph(name);
    if (!graph) return x;
    const Tensor inputs[] = {x};
    const Tensors outputs = n.run(*graph, inputs);
    require(outputs.size() == 1 && outputs[0]->shape() == x->shape(),
            "the graph of attribute {} must return one tensor with the shape of its input {}", name,
            x->type);
    return outputs[0];
  };
  scores = modified("prob_mod", softmax(modified("score_mod", scores), -1));
  const Tensor y = matmul(reshape(scores, {a[0], kv_heads, rows, b[2]}), to_dtype(v, precision));
  return {to_dtype(reshape(y, {a[0], heads, a[2], v->shape()[3]}), dtype)};
}

// ---- recurrent replacements of attention ----

// A causal convolution: each output depends on earlier positions only. Input 3 holds the last
// positions of the previous call, and output 1 those of this call.
Tensors causal_conv_with_state(const NodeCall& n) {
  const Tensor &x = n.in(0), &w = n.in(1);
  require(x->rank() == 3 && w->rank() == 3,
          "input and weight must have three axes, but are {} and {}", x->type, w->type);
  const std::string activation = n.attr_text("activation", "none");
  const bool is_silu = activation == "silu" || activation == "swish";
  require(is_silu || activation == "none",
          "attribute activation must be \"none\", \"silu\" or \"swish\", but is \"{}\"",
          activation);
  const Dims& shape = x->shape();
  const int64_t channels = shape[1], kept = w->shape()[2] - 1;
  const Dims past = {shape[0], shape[1], kept};
  const Tensor parts[] = {n.has(3) ? n.in(3) : zeros(TensorType(x->type.dtype, past)), x};
  const Tensor padded = concat(parts, 2);
  Tensor y = call_named1("conv", {{"group", channels}}, {padded, w, n.optional(2)});
  if (is_silu) y = in_wide(y, [](const Tensor& wide) { return wide * sigmoid(wide); });
  const Size length = padded->shape()[2];
  return {y, slice(padded, {.starts = {length - kept}, .ends = {length}, .axes = {2}})};
}

namespace {

// Maximum length of a sequence. Each position is traced as several ops.
constexpr int64_t kMaxPositions = 1 << 14;

// Returns the slice of x at position i, with a length of 1.
Tensor at_position(const Tensor& x, int64_t i) {
  return slice(x, {.starts = {i}, .ends = {i + 1}, .axes = {kLengthAxis}});
}

}  // namespace

// Linear attention: a recurrent state maps keys to values, and queries read it. At each position
// the state decays and is updated. The delta rules add only the difference between the new value
// and the value that the state returns for the key.
Tensors linear_attention(const NodeCall& n) {
  n.ignore("chunk_size");  // Affects speed only.
  const std::string rule = n.attr_text("update_rule", "gated_delta");
  const bool is_gated = rule == "gated" || rule == "gated_delta";
  const bool is_delta = rule == "delta" || rule == "gated_delta";
  require(is_gated || is_delta || rule == "linear",
          "attribute update_rule must be \"linear\", \"gated\", \"delta\" or \"gated_delta\", but "
          "is \"{}\"",
          rule);
  require(n.has(4) == is_gated && n.has(5) == is_delta,
          "update_rule {} does not match the inputs (decay is given: {}, beta is given: {})", rule,
          n.has(4), n.has(5));
  const int64_t heads = n.attr("q_num_heads", 0), kv_heads = n.attr("kv_num_heads", 0);
  require(heads > 0 && kv_heads > 0 && heads % kv_heads == 0,
          "q_num_heads must be a positive multiple of kv_num_heads, but they are {} and {}", heads,
          kv_heads);
  const DType dtype = n.in(0)->type.dtype, wide = wide_dtype(dtype);
  const auto wide_heads = [&](size_t i, int64_t of) {
    require(n.rank(i) == 3, "input {} must have three axes, but is {}", i, n.in(i)->type);
    return split_heads(to_dtype(n.in(i), wide), of);
  };
  const Tensor q = wide_heads(0, heads), k = wide_heads(1, kv_heads), v = wide_heads(2, kv_heads);
  const Size batch = q->shape()[0];
  const int64_t length = q->shape()[2], d_k = k->shape()[3], d_v = v->shape()[3];
  require_code(length <= kMaxPositions, Code::kUnimplemented,
               "sequences of at most {} positions are supported, but this one has {}",
               kMaxPositions, length);
  // Decay factors: one for each head, or one for each feature of a key.
  const Tensor decay = is_gated ? exp(wide_heads(4, kv_heads)) : Tensor();
  const Tensor beta = is_delta ? wide_heads(5, n.in(5)->shape()[2] == 1 ? 1 : kv_heads) : Tensor();
  const double given_scale = n.attr_float("scale", 0);
  const double scale = given_scale != 0 ? given_scale : 1 / std::sqrt(static_cast<double>(d_k));

  const Dims state_shape = {batch, kv_heads, d_k, d_v};
  Tensor state = n.has(3) ? to_dtype(n.in(3), wide) : zeros(TensorType(wide, state_shape));
  Tensors outputs;
  for (int64_t i = 0; i < length; ++i) {
    const Tensor key = at_position(k, i);
    Tensor value = at_position(v, i);
    if (is_gated) state = state * transpose(at_position(decay, i), {0, 1, 3, 2});
    if (is_delta) value = at_position(beta, i) * (value - matmul(key, state));
    state = state + transpose(key, {0, 1, 3, 2}) * value;
    const Tensor rows = reshape(at_position(q, i), {batch, kv_heads, heads / kv_heads, d_k});
    outputs.push_back(reshape(matmul(rows, state) * scale, {batch, heads, 1, d_v}));
  }
  const Tensor y =
      length > 0 ? concat(outputs, kLengthAxis) : zeros(TensorType(wide, {batch, heads, 0, d_v}));
  return {to_dtype(join_heads(y), dtype), to_dtype(state, n.has(3) ? n.in(3)->type.dtype : dtype)};
}

}  // namespace tenon::onnx::adapters
