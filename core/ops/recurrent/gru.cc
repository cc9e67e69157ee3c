// gru: a gated recurrent unit (GRU) over sequences, with ONNX's inputs and gate order.

#include "core/ops/recurrent/recurrent.h"

namespace tenon::ops {
namespace {

struct Attrs {
  Direction direction = Direction::kForward;  // The order of the time steps.
  int64_t layout = 0;                         // 0: the first axis is time; 1: the batch.
  // Inputs of activations are clipped to [-clip, clip]; 0: not clipped.
  double clip = 0;
  bool linear_before_reset =
      false;  // true: the reset gate scales the product r h; false: h itself.
  TENON_ATTRS(direction, layout, clip, linear_before_reset)
};

// Returns the attributes that determine how the layer iterates over its time steps.
LayerIteration iteration_of(const Attrs& attrs) { return {attrs.direction, attrs.layout}; }

// Constraints.
//   C1  All inputs are floating point and of one dtype, except sequence_lens, which is int32 or
//       int64.
//   C2  x, w and r have three axes.
//   C3  x is [T, B, I], or [B, T, I] in layout 1. With D directions and the hidden size H of r,
//       w is [D, 3H, I], r [D, 3H, H], b [D, 6H], sequence_lens [B] and each initial state
//       [D, B, H], or [B, D, H] in layout 1.
//   C4  layout is 0 or 1.
//   C5  clip is not negative.
//   C6  y is [T, D, B, H], or [B, T, D, H] in layout 1; the last states have the shape of
//       the initial ones.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  return infer_layer(iteration_of(attrs), attrs.clip, in, 3, 1);
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  return run_layer(iteration_of(attrs), in, 1, [&](const LayerWeights& weights) -> DirectedStep {
    const GruStep step(weights.r, weights.b, attrs.linear_before_reset, attrs.clip);
    return {step.input_bias(), [step](const Tensor& input, const Tensors& states) {
              return Tensors{step(input, states[0])};
            }};
  });
}

Cases<Attrs> cases() {
  using enum Direction;
  const CaseTensor x = f32({3, 2, 1}, {1, -1, 0.5, 2, -0.5, 1});
  const CaseTensor w = f32({1, 3, 1}, {1, 0.5, -1});
  const CaseTensor r = f32({1, 3, 1}, {0.5, 1, -0.5});
  const CaseTensor b = f32({1, 6}, {0.5, 0, -0.25, 0.25, -0.5, 1});
  const CaseTensor h = f32({1, 2, 1}, {0.5, -1});
  const CaseTensor w2 = f32({2, 3, 1}, {1, 0.5, -1, -1, -0.5, 1});
  const CaseTensor r2 = f32({2, 3, 1}, {0.5, 1, -0.5, 0.25, 0.5, -0.25});
  const CaseTensor b2 = f32({2, 6}, {0.5, 0, -0.25, 0.25, -0.5, 1, 1, -0.5, 0.25, -0.25, 0, 0.5});
  const CaseTensor none = absent();
  const CaseTensor both = f32({2, 2, 1}, {0.5, -1, 0, 1});
  return {
      {.name = "example",
       .inputs = {x, w, r},
       .expect = {f32({3, 1, 2, 1},
                      {-0.20482421480982513, 0.5567699411459397, -0.2912835985440579,
                       0.41422561877802383, 0.22991868499651663, 0.13077296012665557}),
                  f32({1, 2, 1}, {0.22991868499651663, 0.13077296012665557})},
       .n_outputs = 2},
      {.name = "biases_and_first_states",
       .inputs = {x, w, r, b, none, h},
       .expect = {f32({3, 1, 2, 1}, {0.3945360547237058, 0.322898386496309, 0.346687093562826,
                                     0.26100028926453134, 0.5370052278701024, 0.18505998234393056}),
                  f32({1, 2, 1}, {0.5370052278701024, 0.18505998234393056})},
       .n_outputs = 2},
      {.name = "sequence_lens",
       .inputs = {x, w, r, b, i32({2, 3}), h},
       .expect = {f32({3, 1, 2, 1}, {0.3945360547237058, 0.322898386496309, 0.346687093562826,
                                     0.26100028926453134, 0, 0.18505998234393056}),
                  f32({1, 2, 1}, {0.346687093562826, 0.18505998234393056})},
       .n_outputs = 2},
      {.name = "lengths_beyond_the_steps",
       .inputs = {x, w, r, b, i64({2, 7}), h},
       .expect = {f32({3, 1, 2, 1}, {0.3945360547237058, 0.322898386496309, 0.346687093562826,
                                     0.26100028926453134, 0, 0.18505998234393056}),
                  f32({1, 2, 1}, {0.346687093562826, 0.18505998234393056})},
       .n_outputs = 2},
      {.name = "direction",
       .attrs = {.direction = kReverse},
       .inputs = {x, w, r, b},
       .expect = {f32({3, 1, 2, 1},
                      {0.2439360228410035, 0.5031985145677538, 0.32891458108866267,
                       -0.08569686353967765, 0.3713985114875301, -0.03625952171453841}),
                  f32({1, 2, 1}, {0.2439360228410035, 0.5031985145677538})},
       .n_outputs = 2},
      {.name = "reverse_begins_at_the_end_of_each_sequence",
       .attrs = {.direction = kReverse},
       .inputs = {x, w, r, b, i32({2, 0}), h},
       .expect = {f32({3, 1, 2, 1}, {0.33135864441123153, 0, 0.42867542269907943, 0, 0, 0}),
                  f32({1, 2, 1}, {0.33135864441123153, -1})},
       .n_outputs = 2},
      {.name = "bidirectional",
       .attrs = {.direction = kBidirectional},
       .inputs = {x, w2, r2, b2, i32({3, 2}), both},
       .expect = {f32({3, 2, 2, 1}, {0.3945360547237058, 0.322898386496309, 0.6885139135708037,
                                     0.8288237373759922, 0.346687093562826, 0.26100028926453134,
                                     0.39885489812953584, 0.9931964305651775, 0.5370052278701024, 0,
                                     0.054543420118214996, 0}),
                  f32({2, 2, 1}, {0.5370052278701024, 0.26100028926453134, 0.6885139135708037,
                                  0.8288237373759922})},
       .n_outputs = 2},
      {.name = "layout",
       .attrs = {.direction = kBidirectional, .layout = 1},
       .inputs = {f32({2, 3, 1}, {1, 0.5, -0.5, -1, 2, 1}), w2, r2, b2, i32({3, 2}),
                  f32({2, 2, 1}, {0.5, 0, -1, 1})},
       .expect = {f32({2, 3, 2, 1}, {0.3945360547237058, 0.6885139135708037, 0.346687093562826,
                                     0.39885489812953584, 0.5370052278701024, 0.054543420118214996,
                                     0.322898386496309, 0.8288237373759922, 0.26100028926453134,
                                     0.9931964305651775, 0, 0}),
                  f32({2, 2, 1}, {0.5370052278701024, 0.6885139135708037, 0.26100028926453134,
                                  0.8288237373759922})},
       .n_outputs = 2},
      {.name = "clip",
       .attrs = {.clip = 0.5},
       .inputs = {x, w, r, b},
       .expect = {f32({3, 1, 2, 1},
                      {-0.09246675560504354, 0.25979140646772436, 0.04168999850434555,
                       -0.012758435493152948, 0.22360868745647527, -0.09928274135477384}),
                  f32({1, 2, 1}, {0.22360868745647527, -0.09928274135477384})},
       .n_outputs = 2},
      {.name = "linear_before_reset",
       .attrs = {.linear_before_reset = true},
       .inputs = {x, w, r, b, none, h},
       .expect = {f32({3, 1, 2, 1},
                      {0.3623785394405723, 0.17500358197611665, 0.23317919287987343,
                       0.11396126521363484, 0.35169629358205623, 0.008195289724653596}),
                  f32({1, 2, 1}, {0.35169629358205623, 0.008195289724653596})},
       .n_outputs = 2},
      {.name = "two_units",
       .attrs = {.direction = kBidirectional},
       .inputs = {f32({2, 1, 3}, {1, 0.25, 0.375, 0.875, 0.125, 0.625}),
                  f32({2, 6, 3},
                      {0.75,  -0.625, -1,    -0.375, -0.5,   0.75,   0.875,  -1,     0,
                       0.625, -0.75,  0.625, -0.75,  -0.125, 0.625,  -0.375, -0.375, -0.5,
                       0.5,   -0.5,   1,     -0.125, 0,      0,      0.125,  0.125,  0,
                       1,     0.625,  0.625, 0.375,  0.25,   -0.375, 1,      -0.125, -0.625}),
                  f32({2, 6, 2},
                      {0.75,  -0.75, 0.75,  0.25, -0.875, -1, -0.125, -1, -0.75, 0,    1, -0.125,
                       0.625, 0.875, 0.625, 0.25, -0.125, 0,  -0.5,   0,  -0.25, -0.5, 1, -1}),
                  f32({2, 12}, {-0.875, -0.625, 1,      0.375, 0.75,  -0.625, 0.5,   -0.25,
                                0,      -1,     0.25,   0.75,  0.375, -0.75,  0.125, -0.5,
                                1,      0.75,   -0.625, 0,     0.875, 0.75,   0.5,   0.25})},
       .expect = {f32({2, 2, 1, 2}, {0.22877917238937906, -0.3643080917803631, 0.432861479400274,
                                     0.7970537861915838, 0.37093571474101605, -0.3378340102562605,
                                     0.2968707797176527, 0.6318124929803205}),
                  f32({2, 1, 2}, {0.37093571474101605, -0.3378340102562605, 0.432861479400274,
                                  0.7970537861915838})},
       .n_outputs = 2},
      {.name = "half",
       .inputs = {f16({1, 1, 1}, {0}), f16({1, 3, 1}, {1, 0.5, -1}), f16({1, 3, 1}, {0, 0, 0})},
       .expect = {f16({1, 1, 1, 1}, {0}), f16({1, 1, 1}, {0})},
       .n_outputs = 2},
      {.name = "drawn",
       .attrs = {.direction = kBidirectional},
       .inputs = {uniform({2, 2, 3}), uniform({2, 6, 3}), uniform({2, 6, 2}), uniform({2, 12})},
       .n_outputs = 2},
      {.name = "no_steps",
       .inputs = {f32({0, 2, 1}, {}), w, r, b, none, h},
       .expect = {f32({0, 1, 2, 1}, {}), h},
       .n_outputs = 2},
      {.name = "empty_batch", .inputs = {uniform({3, 0, 1}), w, r, b}, .n_outputs = 2},
      {.name = "weights_are_integers", .inputs = {x, i32({1, 3, 1}, {1, 1, 1}), r}, .error = "C1"},
      {.name = "floating_lengths", .inputs = {x, w, r, b, f32({2, 3})}, .error = "C1"},
      {.name = "no_directions", .inputs = {x, uniform({3, 1}), r}, .error = "C2"},
      {.name = "a_direction_too_few",
       .attrs = {.direction = kBidirectional},
       .inputs = {x, w, r},
       .error = "C3"},
      {.name = "bias_without_its_other_half", .inputs = {x, w, r, uniform({1, 3})}, .error = "C3"},
      {.name = "states_of_the_other_layout",
       .attrs = {.layout = 1},
       .inputs = {x, w, r, b, none, h},
       .error = "C3"},
      {.name = "no_such_layout", .attrs = {.layout = 2}, .inputs = {x, w, r}, .error = "C4"},
      {.name = "negative_clip", .attrs = {.clip = -1}, .inputs = {x, w, r}, .error = "C5"},
  };
}

}  // namespace

OpDef gru_def() {
  return define<Attrs>({
      .name = "gru",
      .summary = "A gated recurrent unit (GRU) applied to sequences.",
      .formula = "h[t] = gru_cell(x[t], h[t - 1], w, r, b)",
      .details = "The gates are in ONNX's order: update, reset, hidden. Half types are computed in "
                 "float32. ONNX's other activations are not supported.",
      .inputs = {{"x", "[T, B, I], the inputs at all steps"},
                 {"w", "[D, 3H, I], the weights of x"},
                 {"r", "[D, 3H, H], the weights of h"},
                 {"b", "[D, 6H], the biases of the products with w, then of those with r",
                  InputKind::kOptional},
                 {"sequence_lens", kSequenceLensDoc, InputKind::kOptional},
                 {"initial_h", "[D, B, H], the initial h; zeros if absent", InputKind::kOptional}},
      .outputs = {{"y", "[T, D, B, H], h at every step"}, {"y_h", "[D, B, H], the last h"}},
      .attrs_doc = {{"direction", kDirectionDoc},
                    {"layout", kLayoutDoc},
                    {"clip", kClipDoc},
                    {"linear_before_reset",
                     "Whether the reset gate scales the product with h in the hidden gate, instead "
                     "of h itself."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kComposite,
      .onnx = "GRU",
  });
}

}  // namespace tenon::ops
