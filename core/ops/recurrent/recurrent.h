// Shared by recurrent ops: one step of each kind, and the iteration of a layer over its steps.
//
// A step takes the product of its input with the weights, biases included. So a layer computes one
// product for all of its steps before the iteration.

#pragma once

#include <functional>

#include "core/ops/definition/formulas.h"

namespace tenon {

// ---- steps

enum class RnnActivation : int32_t { kTanh, kRelu };
EnumInfo enum_info(RnnActivation);

// Returns the next h. `input` is the product with the input, r [H, H] are the recurrent weights;
// `clip` bounds the input of the activation, 0 for no bound.
Tensor rnn_step(const Tensor& input, const Tensor& h, const Tensor& r, RnnActivation activation,
                double clip);

// The gates are update, reset and hidden: input [B, 3H], r [3H, H].
class GruStep {
 public:
  // `b` [6H] may be empty.
  GruStep(const Tensor& r, const Tensor& b, bool linear_before_reset, double clip);
  // The bias of the product with the input; empty without biases.
  const Tensor& input_bias() const { return input_bias_; }
  Tensor operator()(const Tensor& input, const Tensor& h) const;

 private:
  bool linear_before_reset_;
  double clip_;
  int64_t hidden_;
  Tensor input_bias_;
  Tensor r_;            // All of r. If the reset precedes the product: update and reset only.
  Tensor r_hidden_;     // The hidden part of r, if the reset precedes the product.
  Tensor hidden_bias_;  // Bias of the product with h, if the reset follows it.
};

struct LstmState {
  Tensor h, c;
};

struct LstmOptions {
  Tensor peepholes;           // [3H]: weights of the cell in the input, output and forget gates.
  bool input_forget = false;  // Whether the forget gate is one minus the input gate.
  double clip = 0;
};

// The gates are input, output, forget and cell: input [B, 4H], r [4H, H].
LstmState lstm_step(const Tensor& input, const LstmState& state, const Tensor& r,
                    const LstmOptions& options = {});

// The sum of both halves of the biases; empty without biases.
Tensor joined_biases(const Tensor& b);

// x @ w^T, and a bias if there is one.
Tensor input_product(const Tensor& x, const Tensor& w, const Tensor& bias);

// Checks C1 to C3 of each cell: inputs [B, I] and [B, H], weights of `gates` times H rows, biases.
void require_cell(TypeSpan in, size_t w, int64_t gates, std::initializer_list<const char*> names);

// ---- layers

enum class Direction : int32_t { kForward, kReverse, kBidirectional };
EnumInfo enum_info(Direction);

// How a layer iterates over its steps, as its attributes specify.
struct LayerIteration {
  Direction direction;
  int64_t layout;

  bool batch_first() const { return layout == 1; }
  int64_t directions() const { return direction == Direction::kBidirectional ? 2 : 1; }
};

// Checks the constraints C1 to C6 that the layers' files list, for `gates` gates and `states`
// states: h, and possibly c. Inputs are x, w, r, b, sequence_lens, initial_h, initial_c and p, as
// far as the layer has them.
TensorTypes infer_layer(const LayerIteration& walk, double clip, TypeSpan in, int64_t gates,
                        size_t states);

// The weights of one direction, in the compute dtype; b and p may be empty.
struct LayerWeights {
  Tensor w, r, b, p;
};

// Returns the new states, h first. `input` is the product with the input.
using Step = std::function<Tensors(const Tensor& input, const Tensors& states)>;

struct DirectedStep {
  Tensor input_bias;  // May be empty.
  Step step;
};

// Returns y and the last states. `step_of` builds the step of each direction from its weights.
Tensors run_layer(const LayerIteration& walk, TensorSpan in, size_t states,
                  const std::function<DirectedStep(const LayerWeights&)>& step_of);

// ---- documents

inline constexpr const char* kDirectionDoc =
    "The direction of the time steps: forward, reverse, or bidirectional, with separate weights "
    "for "
    "each direction.";
inline constexpr const char* kLayoutDoc =
    "0 for [T, B, I] and [D, B, H]; 1 for batch-first shapes, [B, T, I] and [B, D, H].";
inline constexpr const char* kClipDoc =
    "Inputs of activations are clipped to [-clip, clip]; 0 for no clipping.";
inline constexpr const char* kSequenceLensDoc =
    "[B], the number of time steps of each sequence; T if absent. After its last step a sequence "
    "keeps its state and outputs zeros; in reverse, it starts at its own last step. Values above T "
    "are treated as T, and negative ones as 0";

}  // namespace tenon
