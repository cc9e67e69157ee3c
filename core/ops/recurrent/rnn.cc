// rnn: a simple recurrent network over sequences, with the inputs of ONNX's RNN.

#include "core/ops/recurrent/recurrent.h"

namespace tenon::ops {
namespace {

struct Attrs {
  Direction direction = Direction::kForward;  // The order of the time steps.
  int64_t layout = 0;                         // 0: the first axis is time; 1: the batch.
  // Inputs of activations are clipped to [-clip, clip]; 0: not clipped.
  double clip = 0;
  RnnActivation activation = RnnActivation::kTanh;  // Applied to the sum of both products.
  TENON_ATTRS(direction, layout, clip, activation)
};

// Returns the attributes that determine how the layer iterates over its time steps.
LayerIteration iteration_of(const Attrs& attrs) { return {attrs.direction, attrs.layout}; }

// Constraints.
//   C1  All inputs except sequence_lens are floating point and of one dtype; sequence_lens is int32
//       or int64.
//   C2  x, w and r have three axes.
//   C3  With x [T, B, I], or [B, T, I] in layout 1, D directions and H from r: w is [D, H, I],
//       r [D, H, H], b [D, 2H], sequence_lens [B] and each initial state
//       [D, B, H], or [B, D, H] in layout 1.
//   C4  layout is 0 or 1.
//   C5  clip is not negative.
//   C6  y is [T, D, B, H], or [B, T, D, H] in layout 1; final states have the shape of initial
//       ones.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  return infer_layer(iteration_of(attrs), attrs.clip, in, 1, 1);
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  return run_layer(iteration_of(attrs), in, 1, [&](const LayerWeights& weights) -> DirectedStep {
    const auto step = [&attrs, r = weights.r](const Tensor& input, const Tensors& states) {
      return Tensors{rnn_step(input, states[0], r, attrs.activation, attrs.clip)};
    };
    return {add_biases(weights.b), step};
  });
}

Cases<Attrs> cases() {
  using enum Direction;
  const CaseTensor x = f32({3, 2, 1}, {1, -1, 0.5, 2, -0.5, 1});
  const CaseTensor w = f32({1, 1, 1}, {1});
  const CaseTensor r = f32({1, 1, 1}, {0.5});
  const CaseTensor b = f32({1, 2}, {0.5, 0.25});
  const CaseTensor h = f32({1, 2, 1}, {0.5, -1});
  const CaseTensor w2 = f32({2, 1, 1}, {1, -1});
  const CaseTensor r2 = f32({2, 1, 1}, {0.5, 0.25});
  const CaseTensor b2 = f32({2, 2}, {0.5, 0.25, 0.25, 0.5});
  const CaseTensor none = absent();
  const CaseTensor both = f32({2, 2, 1}, {0.5, -1, 0, 1});
  return {
      {.name = "example",
       .inputs = {x, w, r},
       .expect = {f32({3, 1, 2, 1}, {0.7615941559557649, -0.7615941559557649, 0.7068184091418055,
                                     0.9245085015788143, -0.145549720033691, 0.8980895334390724}),
                  f32({1, 2, 1}, {-0.145549720033691, 0.8980895334390724})},
       .n_outputs = 2},
      {.name = "biases_and_first_states",
       .inputs = {x, w, r, b, none, h},
       .expect = {f32({3, 1, 2, 1}, {0.9640275800758169, -0.6351489523872873, 0.9392934615004468,
                                     0.9846921154168098, 0.6166904321191273, 0.977690934223814}),
                  f32({1, 2, 1}, {0.6166904321191273, 0.977690934223814})},
       .n_outputs = 2},
      {.name = "sequence_lens",
       .inputs = {x, w, r, b, i32({2, 3}), h},
       .expect = {f32({3, 1, 2, 1}, {0.9640275800758169, -0.6351489523872873, 0.9392934615004468,
                                     0.9846921154168098, 0, 0.977690934223814}),
                  f32({1, 2, 1}, {0.9392934615004468, 0.977690934223814})},
       .n_outputs = 2},
      {.name = "lengths_beyond_the_steps",
       .inputs = {x, w, r, b, i64({2, 7}), h},
       .expect = {f32({3, 1, 2, 1}, {0.9640275800758169, -0.6351489523872873, 0.9392934615004468,
                                     0.9846921154168098, 0, 0.977690934223814}),
                  f32({1, 2, 1}, {0.9392934615004468, 0.977690934223814})},
       .n_outputs = 2},
      {.name = "direction",
       .attrs = {.direction = kReverse},
       .inputs = {x, w, r, b},
       .expect = {f32({3, 1, 2, 1}, {0.9752408735651572, 0.24342188222650019, 0.8792514653101982,
                                     0.9968166503922907, 0.24491866240370913, 0.9413755384972874}),
                  f32({1, 2, 1}, {0.9752408735651572, 0.24342188222650019})},
       .n_outputs = 2},
      {.name = "reverse_begins_at_the_end_of_each_sequence",
       .attrs = {.direction = kReverse},
       .inputs = {x, w, r, b, i32({2, 0}), h},
       .expect = {f32({3, 1, 2, 1}, {0.975866186594111, 0, 0.9051482536448665, 0, 0, 0}),
                  f32({1, 2, 1}, {0.975866186594111, -1})},
       .n_outputs = 2},
      {.name = "bidirectional",
       .attrs = {.direction = kBidirectional},
       .inputs = {x, w2, r2, b2, i32({3, 2}), both},
       .expect = {f32({3, 2, 2, 1}, {0.9640275800758169, -0.6351489523872873, -0.1411094257414155,
                                     0.9153558672916907, 0.9392934615004468, 0.9846921154168098,
                                     0.4317705557608103, -0.7615941559557649, 0.6166904321191273, 0,
                                     0.8482836399575129, 0}),
                  f32({2, 2, 1}, {0.6166904321191273, 0.9846921154168098, -0.1411094257414155,
                                  0.9153558672916907})},
       .n_outputs = 2},
      {.name = "layout",
       .attrs = {.direction = kBidirectional, .layout = 1},
       .inputs = {f32({2, 3, 1}, {1, 0.5, -0.5, -1, 2, 1}), w2, r2, b2, i32({3, 2}),
                  f32({2, 2, 1}, {0.5, 0, -1, 1})},
       .expect = {f32({2, 3, 2, 1}, {0.9640275800758169, -0.1411094257414155, 0.9392934615004468,
                                     0.4317705557608103, 0.6166904321191273, 0.8482836399575129,
                                     -0.6351489523872873, 0.9153558672916907, 0.9846921154168098,
                                     -0.7615941559557649, 0, 0}),
                  f32({2, 2, 1}, {0.6166904321191273, -0.1411094257414155, 0.9846921154168098,
                                  0.9153558672916907})},
       .n_outputs = 2},
      {.name = "clip",
       .attrs = {.clip = 0.5},
       .inputs = {x, w, r, b},
       .expect = {f32({3, 1, 2, 1}, {0.46211715726000974, -0.24491866240370913, 0.46211715726000974,
                                     0.46211715726000974, 0.4470909899546043, 0.46211715726000974}),
                  f32({1, 2, 1}, {0.4470909899546043, 0.46211715726000974})},
       .n_outputs = 2},
      {.name = "activation",
       .attrs = {.activation = RnnActivation::kRelu},
       .inputs = {x, w, r, b, none, h},
       .expect = {f32({3, 1, 2, 1}, {2, 0, 2.25, 2.75, 1.375, 3.125}),
                  f32({1, 2, 1}, {1.375, 3.125})},
       .n_outputs = 2},
      {.name = "two_units",
       .attrs = {.direction = kBidirectional},
       .inputs = {f32({2, 1, 3}, {1, 0.25, 0.375, 0.875, 0.125, 0.625}),
                  f32({2, 2, 3},
                      {0.75, -0.625, -1, -0.375, -0.5, 0.75, 0.875, -1, 0, 0.625, -0.75, 0.625}),
                  f32({2, 2, 2}, {-0.75, -0.125, 0.625, -0.375, -0.375, -0.5, 0.5, -0.5}),
                  f32({2, 4}, {1, -0.125, 0, 0, 0.125, 0.125, 0, 1})},
       .expect = {f32({2, 2, 1, 2}, {0.8392850623555859, -0.330821117493628, 0.02747527211830963,
                                     0.9272188566883216, 0.3496226960398678, 0.5382837731102327,
                                     0.6443782610439008, 0.9617519264982222}),
                  f32({2, 1, 2}, {0.3496226960398678, 0.5382837731102327, 0.02747527211830963,
                                  0.9272188566883216})},
       .n_outputs = 2},
      {.name = "half",
       .inputs = {f16({1, 1, 1}, {0}), f16({1, 1, 1}, {1}), f16({1, 1, 1}, {0})},
       .expect = {f16({1, 1, 1, 1}, {0}), f16({1, 1, 1}, {0})},
       .n_outputs = 2},
      {.name = "drawn",
       .attrs = {.direction = kBidirectional},
       .inputs = {uniform({2, 2, 3}), uniform({2, 2, 3}), uniform({2, 2, 2}), uniform({2, 4})},
       .n_outputs = 2},
      {.name = "no_steps",
       .inputs = {f32({0, 2, 1}, {}), w, r, b, none, h},
       .expect = {f32({0, 1, 2, 1}, {}), h},
       .n_outputs = 2},
      {.name = "empty_batch", .inputs = {uniform({3, 0, 1}), w, r, b}, .n_outputs = 2},
      {.name = "weights_are_integers", .inputs = {x, i32({1, 1, 1}, {1}), r}, .error = "C1"},
      {.name = "floating_lengths", .inputs = {x, w, r, b, f32({2, 3})}, .error = "C1"},
      {.name = "no_directions", .inputs = {x, uniform({1, 1}), r}, .error = "C2"},
      {.name = "a_direction_too_few",
       .attrs = {.direction = kBidirectional},
       .inputs = {x, w, r},
       .error = "C3"},
      {.name = "bias_without_its_other_half", .inputs = {x, w, r, uniform({1, 1})}, .error = "C3"},
      {.name = "states_of_the_other_layout",
       .attrs = {.layout = 1},
       .inputs = {x, w, r, b, none, h},
       .error = "C3"},
      {.name = "no_such_layout", .attrs = {.layout = 2}, .inputs = {x, w, r}, .error = "C4"},
      {.name = "negative_clip", .attrs = {.clip = -1}, .inputs = {x, w, r}, .error = "C5"},
  };
}

}  // namespace

OpDef rnn_def() {
  return define<Attrs>({
      .name = "rnn",
      .summary = "A simple (Elman) recurrent network over sequences.",
      .formula = "h[t] = activation(x[t] @ w^T + h[t - 1] @ r^T + b[:H] + b[H:])",
      .details =
          "Half types are computed in float32. Other activations of ONNX's RNN are not supported.",
      .inputs = {{"x", "[T, B, I], the inputs of all steps"},
                 {"w", "[D, H, I], the weights applied to x"},
                 {"r", "[D, H, H], the recurrent weights, applied to h"},
                 {"b",
                  "[D, 2H], the biases added to the product with w, then those added to the "
                  "product with r",
                  InputKind::kOptional},
                 {"sequence_lens", kSequenceLensDoc, InputKind::kOptional},
                 {"initial_h", "[D, B, H], the initial h; zeros if absent", InputKind::kOptional}},
      .outputs = {{"y", "[T, D, B, H], h of every step"}, {"y_h", "[D, B, H], the final h"}},
      .attrs_doc = {{"direction", kDirectionDoc},
                    {"layout", kLayoutDoc},
                    {"clip", kClipDoc},
                    {"activation",
                     "The activation applied to the sum of each step: tanh or relu."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kComposite,
      .onnx = "RNN",
  });
}

}  // namespace tenon::ops
