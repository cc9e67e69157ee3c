// Single steps of the recurrent ops, and the checks of the cell ops.

#include "core/ops/definition/op_ids.h"
#include "core/ops/recurrent/recurrent.h"

namespace tenon {
namespace {

// Clips x to [-bound, bound]. Returns x itself if the bound is 0.
Tensor clip_symmetric(const Tensor& x, double bound) {
  return bound > 0 ? clip(x, number(-bound), number(bound)) : x;
}

// Splits the last axis into `parts` tensors of `size` elements each.
Tensors split_last_axis(const Tensor& x, int64_t parts, int64_t size) {
  const SplitAttrs attrs{.axis = -1, .split = Sizes(static_cast<size_t>(parts), size)};
  return call_op(OpId::k_split, any_attrs(attrs), {&x, 1});
}

// Returns x @ weights^T.
Tensor times_transposed(const Tensor& x, const Tensor& weights) {
  return matmul(x, weights, {.transpose_b = true});
}

// Returns the rows from `start` to `end` - 1.
Tensor slice_rows(const Tensor& x, int64_t start, int64_t end) {
  return slice(x, {.starts = {start}, .ends = {end}, .axes = {0}});
}

}  // namespace

EnumInfo enum_info(RnnActivation) {
  static constexpr const char* kNames[] = {"tanh", "relu"};
  return {"rnn_activation", kNames};
}

// Adds the two halves of b: the biases of the input product and of the recurrent product.
Tensor add_biases(const Tensor& b) {
  if (!b) return {};
  return sum(reshape(b, {2, b->shape()[0] / 2}), {.axes = {0}});
}

// Returns x @ w^T, plus the bias unless it is empty.
Tensor input_product(const Tensor& x, const Tensor& w, const Tensor& bias) {
  const Tensor product = times_transposed(x, w);
  return bias ? product + bias : product;
}

// Returns the next h of a simple recurrent network.
Tensor rnn_step(const Tensor& input, const Tensor& h, const Tensor& r, RnnActivation activation,
                double clip) {
  const Tensor sum = clip_symmetric(input + times_transposed(h, r), clip);
  return activation == RnnActivation::kRelu ? relu(sum) : tanh(sum);
}

GruStep::GruStep(const Tensor& r, const Tensor& b, bool linear_before_reset, double clip)
    : linear_before_reset_(linear_before_reset), clip_(clip), hidden_(r->shape()[1]) {
  const int64_t n = hidden_;
  if (linear_before_reset) {
    r_ = r;
    if (!b) return;
    input_bias_ = slice_rows(b, 0, 3 * n);
    hidden_bias_ = slice_rows(b, 3 * n, 6 * n);
  } else {
    r_ = slice_rows(r, 0, 2 * n);
    r_hidden_ = slice_rows(r, 2 * n, 3 * n);
    input_bias_ = add_biases(b);
  }
}

// Returns the next h of a GRU.
Tensor GruStep::operator()(const Tensor& input, const Tensor& h) const {
  const Tensors from_x = split_last_axis(input, 3, hidden_);
  Tensor from_h = times_transposed(h, r_);
  if (hidden_bias_) from_h = from_h + hidden_bias_;
  const Tensors parts = split_last_axis(from_h, linear_before_reset_ ? 3 : 2, hidden_);
  const Tensor update = sigmoid(clip_symmetric(from_x[0] + parts[0], clip_));
  const Tensor reset = sigmoid(clip_symmetric(from_x[1] + parts[1], clip_));
  const Tensor seen =
      linear_before_reset_ ? reset * parts[2] : times_transposed(reset * h, r_hidden_);
  const Tensor hidden = tanh(clip_symmetric(from_x[2] + seen, clip_));
  return (1.0 - update) * hidden + update * h;
}

// Returns the next h and c of an LSTM.
LstmState lstm_step(const Tensor& input, const LstmState& state, const Tensor& r,
                    const LstmOptions& options) {
  return lstm_update(input + times_transposed(state.h, r), state.c, r->shape()[1], options);
}

// Applies the gates of an LSTM to the sums of its products.
LstmState lstm_update(const Tensor& sums, const Tensor& previous, int64_t hidden,
                      const LstmOptions& options) {
  const Tensors gates = split_last_axis(sums, 4, hidden);
  const Tensors peepholes =
      options.peepholes ? split_last_axis(options.peepholes, 3, hidden) : Tensors();
  const auto gate = [&](size_t i, const Tensor& cell) {
    const Tensor sum = peepholes.empty() ? gates[i] : gates[i] + peepholes[i] * cell;
    return sigmoid(clip_symmetric(sum, options.clip));
  };
  const Tensor taken = gate(0, previous);
  const Tensor kept = options.input_forget ? 1.0 - taken : gate(2, previous);
  const Tensor c = kept * previous + taken * tanh(clip_symmetric(gates[3], options.clip));
  return {gate(1, c) * tanh(clip_symmetric(c, options.clip)), c};
}

// Checks constraints C1 to C3 of the cell ops. `w` is the index of the input weights, and `names`
// are the names of all inputs.
void require_cell(TypeSpan in, size_t w, int64_t gates, std::initializer_list<const char*> names) {
  const TensorType &x = in[0], &h = in[1];
  for (size_t i = 0; i < in.size(); ++i) {
    require(!in.has(i) || (is_floating(in[i].dtype) && in[i].dtype == x.dtype),
            "C1: {} must be floating point with the dtype of x: {}, but is {}", names.begin()[i], x,
            in[i]);
  }
  require(x.rank() == 2 && h.rank() == 2, "C2: x and h must have two axes, but are {} and {}", x,
          h);
  const Size batch = x.shape[0], features = x.shape[1], hidden = h.shape[1];
  const auto require_shape = [&](size_t i, const Dims& shape) {
    if (!in.has(i)) return;
    require(in[i].shape == shape, "C3: {} must have the shape {}, but is {}", names.begin()[i],
            shape, in[i]);
  };
  for (size_t i = 1; i < w; ++i) require_shape(i, {batch, hidden});
  require_shape(w, {gates * hidden, features});
  require_shape(w + 1, {gates * hidden, hidden});
  require_shape(w + 2, {2 * gates * hidden});
}

}  // namespace tenon
