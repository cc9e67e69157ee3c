// What recurrent ops share: one step of each kind, and the walk of a layer over its steps.
//
// A step takes the product of its input with the weights, biases included, so that a layer makes
// one product for all of its steps before the walk.

#pragma once

#include <functional>

#include "core/ops/formulas.h"

namespace tenon {

// ---- steps

enum class RnnActivation : int32_t { kTanh, kRelu };
EnumInfo enum_info(RnnActivation);

// h' from the input's part and the recurrent weights r [H, H]; `clip` bounds what the activation
// is given, 0 for not at all.
Tensor rnn_step(const Tensor& input, const Tensor& h, const Tensor& r, RnnActivation activation,
                double clip);

// The gates are update, reset and hidden: input [B, 3H], r [3H, H].
class GruStep {
 public:
  // `b` [6H] may be empty.
  GruStep(const Tensor& r, const Tensor& b, bool linear_before_reset, double clip);
  // What belongs to the product with the input; empty without biases.
  const Tensor& input_bias() const { return input_bias_; }
  Tensor operator()(const Tensor& input, const Tensor& h) const;

 private:
  bool linear_before_reset_;
  double clip_;
  int64_t hidden_;
  Tensor input_bias_;
  Tensor r_;            // The whole, or with the reset before the product update and reset.
  Tensor r_hidden_;     // The rest of it.
  Tensor hidden_bias_;  // Of the product with h, with the reset after it.
};

struct LstmState {
  Tensor h, c;
};

struct LstmOptions {
  Tensor peepholes;           // [3H]: what the gates input, output and forget see of the cell.
  bool input_forget = false;  // Whether the cell forgets as much as it takes in.
  double clip = 0;
};

// The gates are input, output, forget and cell: input [B, 4H], r [4H, H].
LstmState lstm_step(const Tensor& input, const LstmState& state, const Tensor& r,
                    const LstmOptions& options = {});

// The sum of both halves of the biases; empty without biases.
Tensor joined_biases(const Tensor& b);

// x @ w^T, and a bias if there is one.
Tensor input_product(const Tensor& x, const Tensor& w, const Tensor& bias);

// A step's inputs [B, I] and [B, H], its `gates` times H weights, and biases: C1 to C3 of each.
void require_cell(TypeSpan in, size_t w, int64_t gates, std::initializer_list<const char*> names);

// ---- layers

enum class Direction : int32_t { kForward, kReverse, kBidirectional };
EnumInfo enum_info(Direction);

// What a layer's attributes say of its walk.
struct Walk {
  Direction direction;
  int64_t layout;

  bool batch_first() const { return layout == 1; }
  int64_t directions() const { return direction == Direction::kBidirectional ? 2 : 1; }
};

// The constraints C1 to C6 that the layers' files list, with `gates` gates and `states` states, h
// and maybe c. Inputs are x, w, r, b, sequence_lens, initial_h, initial_c and p, as far as the
// layer has them.
TensorTypes infer_layer(const Walk& walk, double clip, TypeSpan in, int64_t gates, size_t states);

// The weights of one direction, in the dtype to compute in; b and p may be empty.
struct LayerWeights {
  Tensor w, r, b, p;
};

// The new states, h first, from the input's part and the old ones.
using Step = std::function<Tensors(const Tensor& input, const Tensors& states)>;

struct DirectedStep {
  Tensor input_bias;  // May be empty.
  Step step;
};

// y and the last states, by what `step_of` makes of the weights of each direction.
Tensors run_layer(const Walk& walk, TensorSpan in, size_t states,
                  const std::function<DirectedStep(const LayerWeights&)>& step_of);

// ---- documents

inline constexpr const char* kDirectionDoc =
    "Which way the steps are taken: forward, reverse, or bidirectional, each way by its own "
    "weights.";
inline constexpr const char* kLayoutDoc =
    "0 for [T, B, I] and [D, B, H], 1 for the batch first: [B, T, I] and [B, D, H].";
inline constexpr const char* kClipDoc =
    "What activations are given is held within [-clip, clip]; 0 for no bound.";
inline constexpr const char* kSequenceLensDoc =
    "[B], how many steps each sequence has; else T. Behind them its states stay as they are and "
    "its outputs are zeros; in reverse it begins at its own last step. More than T counts as T, "
    "less than 0 as 0";

}  // namespace tenon
