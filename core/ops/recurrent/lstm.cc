// lstm: a long short-term memory (LSTM) over sequences, with ONNX's inputs and gate order.

#include "core/ops/recurrent/recurrent.h"

namespace tenon::ops {
namespace {

struct Attrs {
  Direction direction = Direction::kForward;  // The order of the time steps.
  int64_t layout = 0;                         // 0: the first axis is time; 1: the batch.
  // Inputs of activations are clipped to [-clip, clip]; 0: not clipped.
  double clip = 0;
  bool input_forget = false;  // Whether the forget gate is 1 - input gate.
  TENON_ATTRS(direction, layout, clip, input_forget)
};

// Returns the attributes that determine how the layer iterates over its time steps.
LayerIteration iteration_of(const Attrs& attrs) { return {attrs.direction, attrs.layout}; }

// Constraints.
//   C1  All inputs are floating point and of one dtype, except sequence_lens, which is int32 or
//       int64.
//   C2  x, w and r have three axes.
//   C3  x is [T, B, I], or [B, T, I] in layout 1. With D directions and the hidden size H of r,
//       w is [D, 4H, I], r [D, 4H, H], b [D, 8H], sequence_lens [B], p [D, 3H] and each initial
//       state [D, B, H], or [B, D, H] in layout 1.
//   C4  layout is 0 or 1.
//   C5  clip is not negative.
//   C6  y is [T, D, B, H], or [B, T, D, H] in layout 1; the last states have the shape of
//       the initial ones.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  return infer_layer(iteration_of(attrs), attrs.clip, in, 4, 2);
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  return run_layer(iteration_of(attrs), in, 2, [&](const LayerWeights& weights) -> DirectedStep {
    const LstmOptions options{weights.p, attrs.input_forget, attrs.clip};
    const auto step = [options, r = weights.r](const Tensor& input, const Tensors& states) {
      const LstmState next = lstm_step(input, {states[0], states[1]}, r, options);
      return Tensors{next.h, next.c};
    };
    return {add_biases(weights.b), step};
  });
}

Cases<Attrs> cases() {
  using enum Direction;
  const CaseTensor x = f32({3, 2, 1}, {1, -1, 0.5, 2, -0.5, 1});
  const CaseTensor w = f32({1, 4, 1}, {1, 0.5, -1, 0.25});
  const CaseTensor r = f32({1, 4, 1}, {0.5, 1, -0.5, 2});
  const CaseTensor b = f32({1, 8}, {0.5, 0, -0.25, 1, 0.25, -0.5, 1, 0.5});
  const CaseTensor h = f32({1, 2, 1}, {0.5, -1});
  const CaseTensor w2 = f32({2, 4, 1}, {1, 0.5, -1, 0.25, -1, -0.5, 1, -0.25});
  const CaseTensor r2 = f32({2, 4, 1}, {0.5, 1, -0.5, 2, 0.25, 0.5, -0.25, 1});
  const CaseTensor b2 =
      f32({2, 8}, {0.5, 0, -0.25, 1, 0.25, -0.5, 1, 0.5, 0.5, 1, -0.5, 0.25, 1, -0.25, 0, 0.5});
  const CaseTensor none = absent();
  const CaseTensor p = f32({1, 3}, {0.5, -1, 2});
  const CaseTensor both = f32({2, 2, 1}, {0.5, -1, 0, 1});
  return {
      {.name = "example",
       .inputs = {x, w, r},
       .expect = {f32({3, 1, 2, 1},
                      {0.11027535112713323, -0.024832237894231658, 0.15885605326971394,
                       0.2528227592773267, 0.11344510585448785, 0.3509080023313442}),
                  f32({1, 2, 1}, {0.11344510585448785, 0.3509080023313442}),
                  f32({1, 2, 1}, {0.24235181276591206, 0.5711426791214503})},
       .n_outputs = 3},
      {.name = "biases_and_first_states",
       .inputs = {x, w, r, b, none, h, f32({1, 2, 1}, {1, -2})},
       .expect = {f32({3, 1, 2, 1}, {0.528225703971868, -0.11502360457590283, 0.5078285708140111,
                                     0.2337368908844976, 0.4090437496295948, 0.42873433796292343}),
                  f32({1, 2, 1}, {0.4090437496295948, 0.42873433796292343}),
                  f32({1, 2, 1}, {1.6596545052246303, 1.0156958214964047})},
       .n_outputs = 3},
      {.name = "sequence_lens",
       .inputs = {x, w, r, b, i32({2, 3}), h},
       .expect = {f32({3, 1, 2, 1}, {0.43772106227099294, -0.02395920108848695, 0.4631624631175879,
                                     0.42828547998792854, 0, 0.5043821665267986}),
                  f32({1, 2, 1}, {0.4631624631175879, 0.5043821665267986}),
                  f32({1, 2, 1}, {1.2456267543650554, 1.1980223161945796})},
       .n_outputs = 3},
      {.name = "lengths_beyond_the_steps",
       .inputs = {x, w, r, b, i64({2, 7}), h},
       .expect = {f32({3, 1, 2, 1}, {0.43772106227099294, -0.02395920108848695, 0.4631624631175879,
                                     0.42828547998792854, 0, 0.5043821665267986}),
                  f32({1, 2, 1}, {0.4631624631175879, 0.5043821665267986}),
                  f32({1, 2, 1}, {1.2456267543650554, 1.1980223161945796})},
       .n_outputs = 3},
      {.name = "direction",
       .attrs = {.direction = kReverse},
       .inputs = {x, w, r, b},
       .expect = {f32({3, 1, 2, 1}, {0.5033775969548967, 0.3452896320836356, 0.3661693685621382,
                                     0.5568857370994554, 0.14689570040310526, 0.3325787966871219}),
                  f32({1, 2, 1}, {0.5033775969548967, 0.3452896320836356}),
                  f32({1, 2, 1}, {1.2649105367630016, 1.3896578961594048})},
       .n_outputs = 3},
      {.name = "reverse_begins_at_the_end_of_each_sequence",
       .attrs = {.direction = kReverse},
       .inputs = {x, w, r, b, i32({2, 0}), h},
       .expect = {f32({3, 1, 2, 1}, {0.4905907114494081, 0, 0.37612962393489385, 0, 0, 0}),
                  f32({1, 2, 1}, {0.4905907114494081, -1}), f32({1, 2, 1}, {1.179797599789318, 0})},
       .n_outputs = 3},
      {.name = "bidirectional",
       .attrs = {.direction = kBidirectional},
       .inputs = {x, w2, r2, b2, i32({3, 2}), both, both},
       .expect = {f32({3, 2, 2, 1}, {0.48961389003747535, -0.0957799201688198, 0.4730580559461986,
                                     0.6293702039200354, 0.48786965690530254, 0.33547177750782303,
                                     0.47040122177062854, 0.45947945699072107, 0.4002128201721141,
                                     0, 0.4029058547264037, 0}),
                  f32({2, 2, 1}, {0.4002128201721141, 0.33547177750782303, 0.4730580559461986,
                                  0.6293702039200354}),
                  f32({2, 2, 1}, {1.5914267168118745, 0.6319569419272058, 1.0063789200092732,
                                  1.026934309630517})},
       .n_outputs = 3},
      {.name = "layout",
       .attrs = {.direction = kBidirectional, .layout = 1},
       .inputs = {f32({2, 3, 1}, {1, 0.5, -0.5, -1, 2, 1}), w2, r2, b2, i32({3, 2}),
                  f32({2, 2, 1}, {0.5, 0, -1, 1}), f32({2, 2, 1}, {0.5, 0, -1, 1})},
       .expect = {f32({2, 3, 2, 1}, {0.48961389003747535, 0.4730580559461986, 0.48786965690530254,
                                     0.47040122177062854, 0.4002128201721141, 0.4029058547264037,
                                     -0.0957799201688198, 0.6293702039200354, 0.33547177750782303,
                                     0.45947945699072107, 0, 0}),
                  f32({2, 2, 1}, {0.4002128201721141, 0.4730580559461986, 0.33547177750782303,
                                  0.6293702039200354}),
                  f32({2, 2, 1}, {1.5914267168118745, 1.0063789200092732, 0.6319569419272058,
                                  1.026934309630517})},
       .n_outputs = 3},
      {.name = "clip",
       .attrs = {.clip = 0.5},
       .inputs = {x, w, r, b},
       .expect = {f32({3, 1, 2, 1},
                      {0.13998482304026375, 0.07536068038635349, 0.19717072322156623,
                       0.21709109756132405, 0.17446802061504182, 0.22798005302427057}),
                  f32({1, 2, 1}, {0.17446802061504182, 0.22798005302427057}),
                  f32({1, 2, 1}, {0.5475382325428302, 0.4373811270108785})},
       .n_outputs = 3},
      {.name = "peepholes",
       .inputs = {x, w, r, b, none, none, h, p},
       .expect = {f32({3, 1, 2, 1}, {0.19532415856351537, -0.04970145258918469, 0.11654930190262026,
                                     0.2779413997327811, 0.03645584696157571, 0.19676268338073402}),
                  f32({1, 2, 1}, {0.03645584696157571, 0.19676268338073402}),
                  f32({1, 2, 1}, {2.6302859621506665, 1.5771206719369935})},
       .n_outputs = 3},
      {.name = "input_forget",
       .attrs = {.input_forget = true},
       .inputs = {x, w, r, b, none, none, h},
       .expect = {f32({3, 1, 2, 1}, {0.3522127236552378, -0.05069456031836896, 0.3913389355844872,
                                     0.4329398784729012, 0.30768362798048904, 0.4559021254944962}),
                  f32({1, 2, 1}, {0.30768362798048904, 0.4559021254944962}),
                  f32({1, 2, 1}, {0.9686388500196499, 0.9766223142545502})},
       .n_outputs = 3},
      {.name = "all_at_once",
       .attrs = {.clip = 0.5, .input_forget = true},
       .inputs = {x, w, r, b, none, none, h, p},
       .expect = {f32({3, 1, 2, 1}, {0.1698547247222814, -0.15866013026100034, 0.16467976807830378,
                                     0.06552542396898262, 0.16365074621661885, 0.1390667063427986}),
                  f32({1, 2, 1}, {0.16365074621661885, 0.1390667063427986}),
                  f32({1, 2, 1}, {0.46415576553907445, 0.3323930660803738})},
       .n_outputs = 3},
      {.name = "two_units",
       .attrs = {.direction = kBidirectional},
       .inputs = {f32({2, 1, 3}, {1, 0.25, 0.375, 0.875, 0.125, 0.625}),
                  f32({2, 8, 3},
                      {0.75,   -0.625, -1,     -0.375, -0.5,   0.75,   0.875,  -1,    0,     0.625,
                       -0.75,  0.625,  -0.75,  -0.125, 0.625,  -0.375, -0.375, -0.5,  0.5,   -0.5,
                       1,      -0.125, 0,      0,      0.125,  0.125,  0,      1,     0.625, 0.625,
                       0.375,  0.25,   -0.375, 1,      -0.125, -0.625, 0.75,   -0.75, 0.75,  0.25,
                       -0.875, -1,     -0.125, -1,     -0.75,  0,      1,      -0.125}),
                  f32({2, 8, 2},
                      {0.625, 0.875,  0.625,  0.25,  -0.125, 0,    -0.5,   0,    -0.25,  -0.5, 1,
                       -1,    -0.875, -0.625, 1,     0.375,  0.75, -0.625, 0.5,  -0.25,  0,    -1,
                       0.25,  0.75,   0.375,  -0.75, 0.125,  -0.5, 1,      0.75, -0.625, 0}),
                  f32({2, 16}, {0.875,  0.75,  0.5,    0.25,   -1,    0.5,   0,     -0.875,
                                -0.5,   0.125, 0.5,    0,      0.25,  0.75,  0.375, -0.25,
                                0.25,   0.25,  -0.875, -0.875, 0.375, -0.25, 0.25,  -0.375,
                                -0.625, -0.75, -0.25,  0.625,  -0.25, -0.25, 0.125, 1}),
                  none, none, none,
                  f32({2, 6}, {-0.25, 0.25, -0.125, 0.25, -0.125, 0.25, 0.125, 0.375, 1, -0.75,
                               0.125, -0.125})},
       .expect = {f32({2, 2, 1, 2}, {0.3956117299809897, -0.34780397713151967, -0.03874592944427436,
                                     0.29435139405677535, 0.435408506577673, -0.4922569891195339,
                                     -0.033432646688871664, 0.18559320214693253}),
                  f32({2, 1, 2}, {0.435408506577673, -0.4922569891195339, -0.03874592944427436,
                                  0.29435139405677535}),
                  f32({2, 1, 2}, {0.5913973768500225, -0.9690680337194764, -0.16636879806061722,
                                  0.6131689433152309})},
       .n_outputs = 3},
      {.name = "half",
       .inputs = {f16({1, 1, 1}, {0}), f16({1, 4, 1}, {1, 0.5, -1, 0.25}),
                  f16({1, 4, 1}, {0, 0, 0, 0})},
       .expect = {f16({1, 1, 1, 1}, {0}), f16({1, 1, 1}, {0}), f16({1, 1, 1}, {0})},
       .n_outputs = 3},
      {.name = "drawn",
       .attrs = {.direction = kBidirectional},
       .inputs = {uniform({2, 2, 3}), uniform({2, 8, 3}), uniform({2, 8, 2}), uniform({2, 16})},
       .n_outputs = 3},
      {.name = "no_steps",
       .inputs = {f32({0, 2, 1}, {}), w, r, b, none, h, f32({1, 2, 1}, {1, -2})},
       .expect = {f32({0, 1, 2, 1}, {}), h, f32({1, 2, 1}, {1, -2})},
       .n_outputs = 3},
      {.name = "empty_batch", .inputs = {uniform({3, 0, 1}), w, r, b}, .n_outputs = 3},
      {.name = "weights_are_integers",
       .inputs = {x, i32({1, 4, 1}, {1, 1, 1, 1}), r},
       .error = "C1"},
      {.name = "floating_lengths", .inputs = {x, w, r, b, f32({2, 3})}, .error = "C1"},
      {.name = "no_directions", .inputs = {x, uniform({4, 1}), r}, .error = "C2"},
      {.name = "a_direction_too_few",
       .attrs = {.direction = kBidirectional},
       .inputs = {x, w, r},
       .error = "C3"},
      {.name = "bias_without_its_other_half", .inputs = {x, w, r, uniform({1, 4})}, .error = "C3"},
      {.name = "states_of_the_other_layout",
       .attrs = {.layout = 1},
       .inputs = {x, w, r, b, none, h},
       .error = "C3"},
      {.name = "no_such_layout", .attrs = {.layout = 2}, .inputs = {x, w, r}, .error = "C4"},
      {.name = "negative_clip", .attrs = {.clip = -1}, .inputs = {x, w, r}, .error = "C5"},
  };
}

}  // namespace

OpDef lstm_def() {
  return define<Attrs>({
      .name = "lstm",
      .summary = "A long short-term memory (LSTM) applied to sequences.",
      .formula =
          "i, o, f, g = split(x[t] @ w^T + h[t - 1] @ r^T + b[:4H] + b[4H:]); p_i, p_o, p_f = "
          "split(p); i = sigmoid(i + p_i * c[t - 1]); f = sigmoid(f + p_f * c[t - 1]); c[t] = f * "
          "c[t - 1] + i * tanh(g); o = sigmoid(o + p_o * c[t]); h[t] = o * tanh(c[t])",
      .details = "The gates are in ONNX's order: input, output, forget, cell. Half types are "
                 "computed in float32. ONNX's other activations are not supported.",
      .inputs =
          {{"x", "[T, B, I], the inputs at all steps"},
           {"w", "[D, 4H, I], the weights of x"},
           {"r", "[D, 4H, H], the weights of h"},
           {"b", "[D, 8H], the biases of the products with w, then of those with r",
            InputKind::kOptional},
           {"sequence_lens", kSequenceLensDoc, InputKind::kOptional},
           {"initial_h", "[D, B, H], the initial h; zeros if absent", InputKind::kOptional},
           {"initial_c", "[D, B, H], the initial c; zeros if absent", InputKind::kOptional},
           {"p",
            "[D, 3H], the peephole weights of the input, output and forget gates; zeros if absent",
            InputKind::kOptional}},
      .outputs = {{"y", "[T, D, B, H], h at every step"},
                  {"y_h", "[D, B, H], the last h"},
                  {"y_c", "[D, B, H], the last c"}},
      .attrs_doc = {{"direction", kDirectionDoc},
                    {"layout", kLayoutDoc},
                    {"clip", kClipDoc},
                    {"input_forget", "Whether f is 1 - i instead of a separate gate."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kComposite,
      .onnx = "LSTM",
  });
}

}  // namespace tenon::ops
