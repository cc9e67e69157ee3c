// attention: for each query, the mean of the values, weighted by the softmax of the query-key
// scores.

#include "core/ops/attention/attention.h"

#include <cmath>
#include <limits>

namespace tenon::ops {
namespace {

using Attrs = AttentionAttrs;

enum Input { kQ, kK, kV, kMask };
enum Axis { kBatch, kHeads, kLength, kSize };

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// Returns the type of the scores: [batch, heads, queries, keys].
TensorType scores_type(const TensorType& q, const TensorType& k) {
  return TensorType(q.dtype,
                    {q.shape[kBatch], q.shape[kHeads], q.shape[kLength], k.shape[kLength]});
}

// Constraints.
//   C1  q, k and v are floating point and of one dtype; attn_mask is bool or of that dtype.
//   C2  q, k and v have four axes: batch, heads, length, size.
//   C3  q, k and v have the same batch; k and v have the same heads and length.
//   C4  q and k have the same size.
//   C5  The heads of q are a multiple of those of k.
//   C6  attn_mask can be broadcast to the batch, heads and length of q and the length of k.
//   C7  softcap is not negative.
//   C8  y has the batch, heads and length of q and the size of v.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType &q = in[kQ], &k = in[kK], &v = in[kV];
  require(is_floating(q.dtype) && k.dtype == q.dtype && v.dtype == q.dtype,
          "C1: q, k and v must be floating point and of one dtype, but are {}, {} and {}", q, k, v);
  require(q.rank() == 4 && k.rank() == 4 && v.rank() == 4,
          "C2: q, k and v must have four axes, but are {}, {} and {}", q, k, v);
  require(k.shape[kBatch] == q.shape[kBatch] && v.shape[kBatch] == q.shape[kBatch],
          "C3: q: {}, k: {} and v: {} differ in batch", q, k, v);
  require(k.shape[kHeads] == v.shape[kHeads] && k.shape[kLength] == v.shape[kLength],
          "C3: k: {} and v: {} differ in heads or length", k, v);
  require(q.shape[kSize] == k.shape[kSize], "C4: q: {} and k: {} differ in size", q, k);
  const int64_t heads = q.shape[kHeads], kv_heads = k.shape[kHeads];
  require(heads == kv_heads || (kv_heads > 0 && heads % kv_heads == 0),
          "C5: {} heads of q: {} are not a multiple of {} heads of k: {}", heads, q, kv_heads, k);
  if (in.has(kMask)) require_mask(in[kMask], scores_type(q, k), "C1", "C6");
  require(attrs.softcap >= 0, "C7: softcap must not be negative, but is {}", attrs.softcap);
  return {TensorType(q.dtype, {q.shape[kBatch], heads, q.shape[kLength], v.shape[kSize]})};  // C8
}

// Returns the factor by which the products of queries and keys are scaled. `size` is the head size.
double scale_of(const Attrs& attrs, int64_t size) {
  return attrs.scale > 0 ? attrs.scale : 1 / std::sqrt(static_cast<double>(size));
}

// Stacks the rows of all query heads that use the same key head. Each key head then needs only one
// matmul.
Tensor stack_grouped_heads(const Tensor& x, int64_t kv_heads) {
  const Dims& shape = x->shape();
  if (shape[kHeads] == kv_heads) return x;
  return reshape(
      x, {shape[kBatch], kv_heads, shape[kHeads] / kv_heads * shape[kLength], shape[kSize]});
}

// The mask as a bias of the scores: 0 where a query attends to a key, minus infinity elsewhere.
struct Bias {
  Tensor added;   // Empty if there is no mask and the attention is not causal.
  Tensor hidden;  // True for queries that attend to no key; the key axis has size 1.
};

// Computes the bias that results from `mask`, which may be an empty tensor, and from causal
// attention.
Bias bias_of(const Attrs& attrs, const Tensor& mask, const TensorType& scores) {
  const Tensor none = number(kMinusInfinity);
  Bias bias;
  if (mask) {
    Dims shape = mask->shape();
    while (shape.rank() < 4) shape.insert(0, 1);
    const Tensor all_axes = reshape(mask, shape);
    bias.added = mask->type.dtype == DType::kBool
                     ? where(all_axes, zeros(TensorType(scores.dtype, {})), none)
                     : to_dtype(all_axes, scores.dtype);
  }
  if (attrs.is_causal) {
    const Tensor query = iota({scores.shape[kLength], 1}, DType::kI64, 0);
    const Tensor key = iota({1, scores.shape[kSize]}, DType::kI64, 1);
    const Tensor before = bias.added ? bias.added : zeros(TensorType(scores.dtype, {1, 1, 1, 1}));
    bias.added = where(greater_equal(query, key), before, none);
  }
  if (mask) {  // Without a mask, each query attends at least to the first key.
    bias.hidden = equal(max(bias.added, {.axes = {-1}, .keepdims = true}), none);
    // softmax of a row of -infinity would be NaN.
    bias.added = where(bias.hidden, number(0), bias.added);
  }
  return bias;
}

// The operands of a call in the compute dtype, and the intermediate values that decompose() and
// vjp() share.
struct Weights {
  int64_t kv_heads;
  double scale;
  Tensor q;  // Multiplied by `scale` and passed through stack_grouped_heads().
  Tensor k;
  Bias bias;
  Tensor capped;  // tanh(scores / softcap), if softcap is set.
  Tensor p;       // Attention weights: [batch, heads, queries, keys].

  Weights(const Attrs& attrs, const Tensor& q_given, const Tensor& k_given, const Tensor& mask) {
    const DType wide = wide_dtype(q_given->type.dtype);
    kv_heads = k_given->shape()[kHeads];
    scale = scale_of(attrs, q_given->shape()[kSize]);
    q = stack_grouped_heads(to_dtype(q_given, wide) * scale, kv_heads);
    k = to_dtype(k_given, wide);
    TensorType type = scores_type(q_given->type, k_given->type);
    type.dtype = wide;
    Tensor scores = reshape(matmul(q, k, {.transpose_b = true}), type.shape);
    if (attrs.softcap > 0) {
      capped = tanh(scores / attrs.softcap);
      scores = capped * attrs.softcap;
    }
    bias = bias_of(attrs, mask, type);
    p = softmax(bias.added ? scores + bias.added : scores, -1);
  }

  // Replaces the rows of queries that attend to no key by zeros. `rows` is y or its cotangent.
  Tensor zero_hidden_rows(const Tensor& rows) const {
    return bias.hidden ? where(bias.hidden, number(0), rows) : rows;
  }
};

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const TensorType &q = in[kQ]->type, &v = in[kV]->type;
  const Dims shape{q.shape[kBatch], q.shape[kHeads], q.shape[kLength], v.shape[kSize]};
  if (count(v.shape) == 0 || count(shape) == 0) return {zeros(TensorType(q.dtype, shape))};
  const Weights w(attrs, in[kQ], in[kK], has(in, kMask) ? in[kMask] : Tensor());
  const Tensor y = matmul(stack_grouped_heads(w.p, w.kv_heads), to_dtype(in[kV], w.p->type.dtype));
  return {to_dtype(w.zero_hidden_rows(reshape(y, shape)), q.dtype)};
}

// Recomputes the attention weights instead of saving them, so that the tape holds only the
// operands.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const TensorType &q_type = v.input_type(kQ), &k_type = v.input_type(kK);
  const bool has_mask = v.n_inputs() > kMask && v.input_type(kMask).dtype != DType::kNone;
  Tensors grads(v.n_inputs(), Tensor());
  if (count(v.input_type(kV).shape) == 0 || count(v.output_type(0).shape) == 0) return grads;

  const Weights w(attrs, v.input(kQ), v.input(kK), has_mask ? v.input(kMask) : Tensor());
  const DType wide = w.p->type.dtype;
  const Tensor dy =
      stack_grouped_heads(w.zero_hidden_rows(to_dtype(v.cotangent(0), wide)), w.kv_heads);
  const Tensor p = stack_grouped_heads(w.p, w.kv_heads);
  if (v.needs(kV)) grads[kV] = to_dtype(matmul(p, dy, {.transpose_a = true}), q_type.dtype);
  const bool needs_mask = has_mask && v.needs(kMask);
  if (!v.needs(kQ) && !v.needs(kK) && !needs_mask) return grads;

  const Tensor dp = matmul(dy, to_dtype(v.input(kV), wide), {.transpose_b = true});
  Tensor ds = p * (dp - sum(dp * p, {.axes = {-1}, .keepdims = true}));
  if (needs_mask) {
    const Tensor each = reshape(ds, w.p->shape());
    grads[kMask] = to_dtype(sum_to(each, v.input_type(kMask)), q_type.dtype);
  }
  if (w.capped) ds = ds * (1.0 - square(stack_grouped_heads(w.capped, w.kv_heads)));
  if (v.needs(kQ)) {
    const Tensor dq = matmul(ds, w.k) * w.scale;
    grads[kQ] = to_dtype(reshape(dq, q_type.shape), q_type.dtype);
  }
  if (v.needs(kK)) grads[kK] = to_dtype(matmul(ds, w.q, {.transpose_a = true}), k_type.dtype);
  return grads;
}

Cases<Attrs> cases() {
  const CaseTensor q = f32({1, 1, 2, 2}, {1, 0, 0, 2}), k = f32({1, 1, 3, 2}, {1, 0, 0, 1, 1, 1});
  const CaseTensor v = f32({1, 1, 3, 2}, {1, 2, 3, 4, 5, 6});
  const CaseTensor large = uniform({2, 4, 3, 2});
  const auto y = [](std::initializer_list<double> values) { return f32({1, 1, 2, 2}, values); };
  return {
      {.name = "example",
       .inputs = {q, k, v},
       .expect = {y({3, 4, 3.6748496446456187, 4.674849644645619})}},
      {.name = "is_causal",
       .attrs = {.is_causal = true},
       .inputs = {q, k, v},
       .expect = {y({1, 2, 2.608859365013914, 3.608859365013914})}},
      {.name = "scale",
       .attrs = {.scale = 0.5},
       .inputs = {q, k, v},
       .expect = {y({3, 4, 3.533912789509109, 4.53391278950911})}},
      {.name = "negative_scale_is_the_default",
       .attrs = {.scale = -1},
       .inputs = {q, k, v},
       .expect = {y({3, 4, 3.6748496446456187, 4.674849644645619})}},
      {.name = "softcap",
       .attrs = {.softcap = 0.5},
       .inputs = {q, k, v},
       .expect = {y({3, 4, 3.3000438910715113, 4.300043891071511})}},
      {.name = "bool_mask_and_a_query_without_keys",
       .inputs = {q, k, v, boolean({2, 3}, {1, 0, 1, 0, 0, 0})},
       .expect = {y({3, 4, 0, 0})}},
      {.name = "floating_mask",
       .inputs = {q, k, v, f32({0.5, -1, 0})},
       .expect = {y(
           {2.541557736391441, 3.5415577363914412, 3.6775196289731302, 4.677519628973131})}},
      {.name = "mask_of_minus_infinity",
       .inputs = {q, k, v, f32({2, 3}, {-INFINITY, 0, 1, -INFINITY, -INFINITY, -INFINITY})},
       .expect = {y({4.692921287572424, 5.692921287572425, 0, 0})}},
      {.name = "causal_and_mask",
       .attrs = {.is_causal = true},
       .inputs = {q, k, v, boolean({2, 3}, {0, 1, 1, 1, 1, 0})},
       .expect = {y({0, 0, 2.608859365013914, 3.608859365013914})}},
      {.name = "the_mask_is_stronger_than_softcap",
       .attrs = {.softcap = 0.5},
       .inputs = {q, k, v, boolean({1, 0, 1})},
       .expect = {y({3, 4, 3.486563433032298, 4.486563433032297})}},
      {.name = "two_heads_of_queries_for_each_of_keys",
       .inputs = {f32({1, 4, 1, 2}, {-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75}),
                  f32({1, 2, 2, 2}, {1, 0, 0, 1, 2, -1, 1, 1}), f32({1, 2, 2, 1}, {1, 2, 3, 4})},
       .expect = {f32({1, 4, 1, 1}, {1.544079443349226, 1.544079443349226, 3.58747900083961,
                                     3.669761549326657})}},
      {.name = "large_scores_do_not_overflow",
       .inputs = {f32({1, 1, 1, 1}, {100}), f32({1, 1, 2, 1}, {100, 0}), f32({1, 1, 2, 1}, {3, 4})},
       .expect = {f32({1, 1, 1, 1}, {3})}},
      {.name = "half",
       .inputs = {f16({1, 1, 1, 1}, {1}), f16({1, 1, 2, 1}, {3, 3}), f16({1, 1, 2, 1}, {1, 2})},
       .expect = {f16({1, 1, 1, 1}, {1.5})}},
      {.name = "grouped_with_all_attributes",
       .attrs = {.is_causal = true, .scale = 2, .softcap = 3},
       .inputs = {large, uniform({2, 2, 4, 2}), uniform({2, 2, 4, 3}), uniform({4, 1, 4})}},
      {.name = "bool_mask_for_each_batch",
       .inputs = {large, uniform({2, 4, 2, 2}), uniform({2, 4, 2, 1}),
                  boolean({2, 1, 3, 2}, {1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1})}},
      {.name = "blocks_of_queries",
       .attrs = {.is_causal = true},
       .inputs = {uniform({1, 2, 131, 5}, -2, 2), uniform({1, 1, 150, 5}, -2, 2),
                  uniform({1, 1, 150, 7})},
       // Too large for finite differences; smaller cases check the gradient.
       .check_gradient = false},
      {.name = "no_keys",
       .inputs = {uniform({1, 2, 2, 3}), uniform({1, 2, 0, 3}), uniform({1, 2, 0, 1})},
       .expect = {f32({1, 2, 2, 1}, {0, 0, 0, 0})}},
      {.name = "no_queries",
       .inputs = {uniform({2, 2, 0, 3}), uniform({2, 2, 4, 3}), uniform({2, 2, 4, 5})}},
      {.name = "heads_of_no_size",
       .inputs = {f32({1, 1, 1, 0}, {}), f32({1, 1, 2, 0}, {}), f32({1, 1, 2, 1}, {1, 2})},
       .expect = {f32({1, 1, 1, 1}, {1.5})}},
      {.name = "integers",
       .inputs = {i32({1, 1, 1, 1}, {1}), i32({1, 1, 1, 1}, {1}), i32({1, 1, 1, 1}, {1})},
       .error = "C1"},
      {.name = "integer_mask", .inputs = {q, k, v, i32({1, 0, 1})}, .error = "C1"},
      {.name = "no_heads", .inputs = {uniform({1, 2, 2}), k, v}, .error = "C2"},
      {.name = "batches_differ", .inputs = {uniform({2, 1, 2, 2}), k, v}, .error = "C3"},
      {.name = "values_for_other_keys", .inputs = {q, k, uniform({1, 1, 2, 2})}, .error = "C3"},
      {.name = "sizes_differ", .inputs = {q, uniform({1, 1, 3, 3}), v}, .error = "C4"},
      {.name = "heads_do_not_divide",
       .inputs = {uniform({1, 3, 2, 2}), uniform({1, 2, 3, 2}), uniform({1, 2, 3, 2})},
       .error = "C5"},
      {.name = "mask_differs", .inputs = {q, k, v, boolean({2, 2}, {1, 1, 1, 1})}, .error = "C6"},
      {.name = "negative_softcap", .attrs = {.softcap = -1}, .inputs = {q, k, v}, .error = "C7"},
  };
}

}  // namespace

OpDef attention_def() {
  return define<Attrs>({
      .name = "attention",
      .summary = "Scaled dot-product attention: for each query, the mean of the values weighted by "
                 "the softmax of its scores.",
      .formula = "s = q @ k^T * scale; s = softcap * tanh(s / softcap) if softcap > 0; "
                 "y = softmax(s + attn_mask) @ v",
      .details =
          "If q has a multiple of the heads of k, groups of query heads share a key head: head h "
          "of q attends to head h / (heads of q / heads of k) of k. True in a bool mask means that "
          "the query attends to the key; a floating-point mask is added to the scores. A query "
          "that attends to no key, because of masks or because there are no keys, gives zeros. If "
          "the head size is 0, all scores are 0. Half types are computed in float32.",
      .inputs = {{"q", "the queries, of shape (batch, heads, length, head size)"},
                 {"k", "the keys, of shape (batch, heads, length, head size)"},
                 {"v", "the values, of shape (batch, heads, length, head size)"},
                 {"attn_mask",
                  "bool or of the dtype of q; is broadcast to (batch, heads, queries, keys)",
                  InputKind::kOptional}},
      .outputs = {{"y",
                   "the result, with the batch, heads and length of q and the head size of v"}},
      .attrs_doc = {{"is_causal", kIsCausalDoc},
                    {"scale", kAttentionScaleDoc},
                    {"softcap", kSoftcapDoc}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kInputs,
      .numeric = Numeric::kComposite,
      .onnx = "Attention",
  });
}

}  // namespace tenon::ops
