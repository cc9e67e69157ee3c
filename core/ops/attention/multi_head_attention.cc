// multi_head_attention: projects queries, keys and values into heads, applies attention, and
// projects the concatenated heads.

#include "core/ops/attention/attention.h"
#include "core/ops/definition/op_ids.h"

namespace tenon::ops {
namespace {

struct Attrs {
  int64_t num_heads = 1;     // Number of query heads.
  int64_t kv_num_heads = 0;  // Number of key and value heads; 0: the same as num_heads.
  bool is_causal = false;    // Whether query i attends only to keys 0 to i.
  double scale = 0;          // Factor of the scores; if not positive, 1 / sqrt(head size).
  double softcap = 0;        // If not 0, scores s become softcap * tanh(s / softcap).
  TENON_ATTRS(num_heads, kv_num_heads, is_causal, scale, softcap)
};

enum Input { kQuery, kKey, kValue, kWQ, kWK, kWV, kWO, kBQ, kBK, kBV, kBO, kMask };
constexpr const char* kNames[] = {"query", "key", "value", "w_q", "w_k", "w_v",
                                  "w_o",   "b_q", "b_k",   "b_v", "b_o", "attn_mask"};

// Returns the number of key and value heads.
int64_t kv_heads(const Attrs& attrs) {
  return attrs.kv_num_heads == 0 ? attrs.num_heads : attrs.kv_num_heads;
}

// Checks the weights `w` and the bias `b` of a projection. The weights must have `features` rows,
// and their columns must divide evenly into `heads`. Returns the number of columns.
int64_t require_projection(TypeSpan in, size_t w, size_t b, int64_t features, int64_t heads) {
  const TensorType& weights = in[w];
  require(weights.shape[0] == features, "C4: {} must have {} rows, but is {}", kNames[w], features,
          weights);
  const int64_t columns = weights.shape[1];
  require(columns % heads == 0, "C5: the columns of {}: {} are not a multiple of {} heads",
          kNames[w], weights, heads);
  if (in.has(b)) {
    require(in[b].shape == Dims{columns}, "C6: {} must have {} elements, but is {}", kNames[b],
            columns, in[b]);
  }
  return columns;
}

// Constraints.
//   C1  All inputs are floating point and of one dtype, except attn_mask, which may be bool.
//   C2  query, key and value have three axes, batch, length and features; weights have two.
//   C3  num_heads is positive. kv_num_heads is 0, which stands for num_heads, or a positive divisor
//       of num_heads.
//   C4  Each weight has one row for each feature of the tensor that it projects.
//   C5  The columns of w_q, w_k and w_v divide evenly into heads; those of w_q and w_k have the
//       same size.
//   C6  A bias has one element for each column of its weights.
//   C7  query, key and value have the same batch size, and key and value the same length.
//   C8  attn_mask satisfies C1 and C6 of attention.
//   C9  y has the batch and length of query and the columns of w_o.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType &query = in[kQuery], &key = in[kKey], &value = in[kValue];
  for (size_t i = 0; i < in.size() && i < kMask; ++i) {
    if (!in.has(i)) continue;
    require(is_floating(in[i].dtype) && in[i].dtype == query.dtype,
            "C1: {} must be floating point with the dtype of query: {}, but is {}", kNames[i],
            query, in[i]);
    const size_t rank = i <= kValue ? 3 : i <= kWO ? 2 : 1;
    require(in[i].rank() == rank, "C2: {} must have {} axes, but is {}", kNames[i], rank, in[i]);
  }
  const int64_t heads = attrs.num_heads;
  require(heads > 0 && attrs.kv_num_heads >= 0 && heads % kv_heads(attrs) == 0,
          "C3: num_heads {} must be positive and a multiple of kv_num_heads {}", heads,
          attrs.kv_num_heads);
  const int64_t q_columns = require_projection(in, kWQ, kBQ, query.shape[2], heads);
  const int64_t k_columns = require_projection(in, kWK, kBK, key.shape[2], kv_heads(attrs));
  const int64_t v_columns = require_projection(in, kWV, kBV, value.shape[2], kv_heads(attrs));
  require(q_columns / heads == k_columns / kv_heads(attrs),
          "C5: heads of w_q: {} and of w_k: {} differ in size", in[kWQ], in[kWK]);
  require_projection(in, kWO, kBO, v_columns / kv_heads(attrs) * heads, 1);
  require(query.shape[0] == key.shape[0] && key.shape[0] == value.shape[0] &&
              key.shape[1] == value.shape[1],
          "C7: query: {}, key: {} and value: {} must have the same batch size, and key and value "
          "the same length",
          query, key, value);
  if (in.has(kMask)) {
    const TensorType scores(query.dtype, {query.shape[0], heads, query.shape[1], key.shape[1]});
    require_mask(in[kMask], scores, "C8", "C8");
  }
  return {TensorType(query.dtype, {query.shape[0], query.shape[1], in[kWO].shape[1]})};  // C9
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const auto given = [&](size_t i) { return has(in, i) ? in[i] : Tensor(); };
  const auto projected = [&](const Tensor& x, size_t w, size_t b) {
    return call1(OpId::k_dense, NoAttrs{}, {x, in[w], given(b)});
  };
  const auto in_heads = [&](size_t x, size_t w, size_t b, int64_t heads) {
    const Tensor y = projected(in[x], w, b);
    const Dims& shape = y->shape();
    return transpose(reshape(y, {shape[0], shape[1], heads, shape[2] / heads}), {0, 2, 1, 3});
  };
  const Tensor q = in_heads(kQuery, kWQ, kBQ, attrs.num_heads);
  const Tensor k = in_heads(kKey, kWK, kBK, kv_heads(attrs));
  const Tensor v = in_heads(kValue, kWV, kBV, kv_heads(attrs));
  const AttentionAttrs how{
      .is_causal = attrs.is_causal, .scale = attrs.scale, .softcap = attrs.softcap};
  const Tensor y = call1(OpId::k_attention, how, {q, k, v, given(kMask)});
  const Dims& shape = y->shape();
  const Tensor joined =
      reshape(transpose(y, {0, 2, 1, 3}), {shape[0], shape[2], shape[1] * shape[3]});
  return {projected(joined, kWO, kBO)};
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({1, 2, 2}, {1, 0.5, -1, 2});
  const CaseTensor w_q = f32({2, 2}, {1, 0.5, -0.5, 1}), w_k = f32({2, 2}, {0.5, 1, 1, -1});
  const CaseTensor w_v = f32({2, 2}, {1, 2, 0, 1}), w_o = f32({2, 2}, {1, 0, 1, -1});
  const CaseTensor b_q = f32({0.5, -1}), b_k = f32({1, 0.25}), b_v = f32({0, 1});
  const CaseTensor none = absent();
  const auto y = [](std::initializer_list<double> values) { return f32({1, 2, 2}, values); };
  return {
      {.name = "example",
       .inputs = {x, x, x, w_q, w_k, w_v, w_o},
       .expect = {y(
           {3.055030878355089, -2.252794932419494, 3.4464590936344495, -2.4702550520191386})}},
      {.name = "num_heads",
       .attrs = {.num_heads = 2},
       .inputs = {x, x, x, w_q, w_k, w_v, w_o},
       .expect = {y(
           {2.24138622321347, -2.426719423121609, 2.9490668430261135, -2.486949685766104})}},
      {.name = "biases",
       .attrs = {.num_heads = 2},
       .inputs = {x, x, x, w_q, w_k, w_v, w_o, b_q, b_k, b_v, f32({10, 20})},
       .expect = {y({11.947290270667892, 17.75, 13.488239403271562, 16.870117995079223})}},
      {.name = "kv_num_heads",
       .attrs = {.num_heads = 2, .kv_num_heads = 1},
       .inputs = {x, x, x, w_q, f32({2, 1}, {0.5, 1}), f32({2, 1}, {1, 0}), w_o},
       .expect = {y(
           {-0.43025186231184864, 0.24491866240370913, 0.10375975890922379, 0.35835739835078595})}},
      {.name = "is_causal",
       .attrs = {.num_heads = 2, .is_causal = true},
       .inputs = {x, x, x, w_q, w_k, w_v, w_o},
       .expect = {y({3.5, -2.5, 2.9490668430261135, -2.486949685766104})}},
      {.name = "scale",
       .attrs = {.num_heads = 2, .scale = 2},
       .inputs = {x, x, x, w_q, w_k, w_v, w_o},
       .expect = {y(
           {2.1393649736632128, -2.4977223720139987, 3.2615253167279783, -2.4999311607722134})}},
      {.name = "softcap",
       .attrs = {.num_heads = 2, .softcap = 0.5},
       .inputs = {x, x, x, w_q, w_k, w_v, w_o},
       .expect = {y(
           {1.7492477884222162, -1.7674652379861053, 1.804245997707593, -1.8040813947311476})}},
      {.name = "mask",
       .attrs = {.num_heads = 2},
       .inputs = {x, x, x, w_q, w_k, w_v, w_o, none, none, none, none, boolean({0, 1})},
       .expect = {y({-1, 0, -1, 0})}},
      {.name = "other_keys",
       .attrs = {.num_heads = 2},
       .inputs = {x, f32({1, 3, 3}, {1, 2, 3, -1, 0.5, 0, 0, 1, -2}),
                  f32({1, 3, 3}, {1, 2, 3, -1, 0.5, 0, 0, 1, -2}), w_q,
                  f32({3, 2}, {1, 0, 0.5, 1, 0, -1}), f32({3, 2}, {1, 1, 0, 2, -1, 0}), w_o},
       .expect = {y(
           {0.8828041514465919, -1.9007424415633885, 1.1843598566461142, -1.9614041224722016})}},
      {.name = "drawn",
       .attrs = {.num_heads = 4, .kv_num_heads = 2},
       .inputs = {uniform({2, 3, 2}), uniform({2, 2, 3}), uniform({2, 2, 3}), uniform({2, 4}),
                  uniform({3, 2}), uniform({3, 4}), uniform({8, 2}), uniform({4}), absent(),
                  uniform({4})}},
      {.name = "empty_batch",
       .inputs = {uniform({0, 2, 2}), uniform({0, 2, 2}), uniform({0, 2, 2}), w_q, w_k, w_v, w_o}},
      {.name = "integers",
       .inputs = {i32({1, 1, 1}, {1}), i32({1, 1, 1}, {1}), i32({1, 1, 1}, {1}), w_q, w_k, w_v,
                  w_o},
       .error = "C1"},
      {.name = "no_batch", .inputs = {uniform({2, 2}), x, x, w_q, w_k, w_v, w_o}, .error = "C2"},
      {.name = "heads_do_not_divide",
       .attrs = {.num_heads = 2, .kv_num_heads = 3},
       .inputs = {x, x, x, w_q, w_k, w_v, w_o},
       .error = "C3"},
      {.name = "features_differ",
       .inputs = {x, x, x, uniform({3, 2}), w_k, w_v, w_o},
       .error = "C4"},
      {.name = "columns_leave_a_rest",
       .attrs = {.num_heads = 3},
       .inputs = {x, x, x, w_q, w_k, w_v, w_o},
       .error = "C5"},
      {.name = "keys_of_another_size",
       .inputs = {x, x, x, w_q, uniform({2, 3}), w_v, w_o},
       .error = "C5"},
      {.name = "bias_differs", .inputs = {x, x, x, w_q, w_k, w_v, w_o, f32({1})}, .error = "C6"},
      {.name = "lengths_differ",
       .inputs = {x, x, uniform({1, 3, 2}), w_q, w_k, w_v, w_o},
       .error = "C7"},
      {.name = "mask_differs",
       .inputs = {x, x, x, w_q, w_k, w_v, w_o, none, none, none, none, boolean({1, 1, 1})},
       .error = "C8"},
  };
}

}  // namespace

OpDef multi_head_attention_def() {
  return define<Attrs>({
      .name = "multi_head_attention",
      .summary = "Multi-head attention: projects queries, keys and values into heads, applies "
                 "attention and projects the result.",
      .formula = "y = join(attention(heads(query @ w_q + b_q), heads(key @ w_k + b_k), "
                 "heads(value @ w_v + b_v), attn_mask)) @ w_o + b_o",
      .details =
          "A head is a block of consecutive columns. For masks and shared heads, see attention.",
      .inputs =
          {{"query", "batch, length, features"},
           {"key", "batch, length, features"},
           {"value", "batch, length, features"},
           {"w_q", "one row for each feature of query, one column for each element of its heads"},
           {"w_k", "the same for key"},
           {"w_v", "the same for value"},
           {"w_o",
            "one row for each element of the heads' outputs, one column for each feature of y"},
           {"b_q", "one element for each column of w_q", InputKind::kOptional},
           {"b_k", "one element for each column of w_k", InputKind::kOptional},
           {"b_v", "one element for each column of w_v", InputKind::kOptional},
           {"b_o", "one element for each column of w_o", InputKind::kOptional},
           {"attn_mask", "bool or of the dtype of query; broadcast to batch, heads, queries, keys",
            InputKind::kOptional}},
      .outputs = {{"y", "batch and length of query, the columns of w_o"}},
      .attrs_doc = {{"num_heads", "The number of query heads."},
                    {"kv_num_heads",
                     "The number of key and value heads; 0 for as many as query heads."},
                    {"is_causal", kIsCausalDoc},
                    {"scale", kAttentionScaleDoc},
                    {"softcap", kSoftcapDoc}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kComposite,
  });
}

}  // namespace tenon::ops
