// Shared by recurrent ops: single steps, and the loop of a layer over its time steps.
//
// A step receives the product of its input with the weights w, including the bias. A layer computes
// this product for all time steps at once, before the loop.

#pragma once

#include <functional>

#include "core/ops/definition/formulas.h"

namespace tenon {

// ---- steps

enum class RnnActivation : int32_t { kTanh, kRelu };
EnumInfo enum_info(RnnActivation);

// Returns the next h. `input` is the product of x and w [B, H], and r [H, H] are the recurrent
// weights. The input of the activation is clipped to [-clip, clip], or not if clip is 0.
Tensor rnn_step(const Tensor& input, const Tensor& h, const Tensor& r, RnnActivation activation,
                double clip);

// One step of a GRU. `input` [B, 3H] and r [3H, H] hold the gates in the order update, reset,
// hidden.
class GruStep {
 public:
  // The biases `b` [6H] may be an empty tensor.
  GruStep(const Tensor& r, const Tensor& b, bool linear_before_reset, double clip);
  // The bias to add to the product of x and w; an empty tensor if there are no biases.
  const Tensor& input_bias() const { return input_bias_; }
  // Returns the next h. `input` is the product of x and w, including input_bias().
  Tensor operator()(const Tensor& input, const Tensor& h) const;

 private:
  bool linear_before_reset_;
  double clip_;
  int64_t hidden_;
  Tensor input_bias_;
  // If linear_before_reset: all of r; otherwise only the update and reset rows.
  Tensor r_;
  Tensor r_hidden_;     // The hidden rows of r, unless linear_before_reset.
  Tensor hidden_bias_;  // The bias of the product with h, if linear_before_reset.
};

struct LstmState {
  Tensor h, c;
};

struct LstmOptions {
  Tensor peepholes;           // [3H]: weights of c in the input, output and forget gates.
  bool input_forget = false;  // Whether the forget gate is 1 - input gate.
  double clip = 0;
};

// One step of an LSTM. `input` [B, 4H] and r [4H, H] hold the gates in the order input, output,
// forget, cell.
LstmState lstm_step(const Tensor& input, const LstmState& state, const Tensor& r,
                    const LstmOptions& options = {});

// Applies the gates of an LSTM with `hidden` units: the second part of lstm_step(). `sums` [B, 4H]
// adds the products with the input and with h.
LstmState lstm_update(const Tensor& sums, const Tensor& c, int64_t hidden,
                      const LstmOptions& options);

// Adds the bias of the input product (first half of b) and that of the recurrent product (second
// half). Returns an empty tensor if b is empty.
Tensor add_biases(const Tensor& b);

// Returns x @ w^T, plus the bias unless it is empty.
Tensor input_product(const Tensor& x, const Tensor& w, const Tensor& bias);

// Checks constraints C1 to C3 of rnn_cell, gru_cell and lstm_cell: x is [B, I], states are [B, H],
// and weights have `gates` times H rows. `w` is the index of the input weights among the inputs;
// the recurrent weights and the biases follow directly. `names` are the names of all inputs.
void require_cell(TypeSpan in, size_t w, int64_t gates, std::initializer_list<const char*> names);

// ---- layers

enum class Direction : int32_t { kForward, kReverse, kBidirectional };
EnumInfo enum_info(Direction);

// The attributes of a layer that determine how it iterates over its time steps.
struct LayerIteration {
  Direction direction;
  int64_t layout;

  bool batch_first() const { return layout == 1; }
  int64_t directions() const { return direction == Direction::kBidirectional ? 2 : 1; }
};

// Infers the output types of a layer and checks the constraints C1 to C6 in its file. The layer has
// `gates` gates and `states` states: h and, for lstm, c. Its inputs are x, w, r, b, sequence_lens,
// initial_h, initial_c and p; absent ones are skipped.
TensorTypes infer_layer(const LayerIteration& iteration, double clip, TypeSpan in, int64_t gates,
                        size_t states);

// The weights of one direction, in the compute dtype; b and p may be empty.
struct LayerWeights {
  Tensor w, r, b, p;
};

// Computes one step. `input` is the product of x and w. Returns the new states, h first.
using Step = std::function<Tensors(const Tensor& input, const Tensors& states)>;

struct DirectedStep {
  Tensor input_bias;  // Empty if there are no biases.
  Step step;
};

// Runs a layer with `states` states. Returns y and the final states. `step_of` returns the step
// function of one direction for the weights of that direction.
Tensors run_layer(const LayerIteration& iteration, TensorSpan in, size_t states,
                  const std::function<DirectedStep(const LayerWeights&)>& step_of);

// ---- documentation of attributes and inputs

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
