// The derivative of a graph: a forward pass, which also returns the residuals, and a backward pass.
//
// Construction takes O(n log n) time for the n nodes of both passes, plus the time of the ops'
// derivatives.
//
// Both passes are subgraphs of one graph. It is built by tracing the calls again under a tape, and
// then computing the gradients with this tape. A graph is therefore differentiable if its calls are
// differentiable by a tape.

#pragma once

#include <memory>
#include <optional>

#include "core/base/error.h"
#include "core/trace/derivative/rematerialise.h"
#include "core/trace/plans/executable.h"

namespace tenon {

class Derivative {
 public:
  // Limits the residuals: the values that are saved for the backward pass.
  struct ResidualLimits {
    uint64_t memory_budget = kSaveAll;  // Maximum number of bytes, in addition to the inputs.
    // If set, `forward` runs the forward pass, and this derivative reads only residuals that
    // `forward` saves. `forward` differentiates the same or more outputs with respect to the same
    // inputs.
    const Derivative* forward = nullptr;
  };
  // Differentiates the outputs marked in `from` with respect to the inputs marked in `by`. `sizes`
  // are example values of the symbols: numbers, or formulas of the current trace.
  Derivative(Scope& scope, const Graph& primal, std::span<const Size> sizes,
             const std::vector<bool>& by, const std::vector<bool>& from,
             const ResidualLimits& keep = {kSaveAll, nullptr});

  // Whether this derivative was made for the same marked inputs and outputs.
  bool is_of(const std::vector<bool>& by, const std::vector<bool>& from) const {
    return by_ == by && from_ == from;
  }
  // Whether the forward pass of `forward` saves every residual that this backward pass reads.
  bool can_use_residuals_of(const Derivative& forward) const;
  // Whether the guards that tracing the backward pass added hold for these sizes.
  bool guards_hold(std::span<const Size> sizes) const;
  // Fails unless the guards of the backward pass hold for `sizes`. In a trace, adds guards to it if
  // necessary.
  void require_guards(std::span<const Size> sizes) const;
  // The residuals of the backward pass.
  std::span<const Value> saved() const { return saved_; }
  // Returns the index of the input of the primal graph that is this residual; nullopt if it is no
  // input.
  std::optional<size_t> input_index_of(const Value& saved) const;
  // For each input of the primal graph, whether recompute_residuals() reads it.
  const std::vector<bool>& inputs_of_residuals() const { return inputs_of_saved_; }
  // The results of calls with effects that recompute_residuals() reads instead of repeating the
  // calls.
  std::span<const Value> effect_results() const { return saved_effects_; }

  // Returns the outputs of the primal graph, followed by the residuals.
  Tensors forward(Scope& scope, std::span<const Size> sizes, TensorSpan inputs) const;
  // For rematerialisation: returns the outputs of the primal graph, followed by the results of
  // calls with effects instead of all residuals.
  Tensors forward_saving_effects(Scope& scope, std::span<const Size> sizes,
                                 TensorSpan inputs) const;
  // Recomputes the residuals from the inputs and the saved results of calls with effects. Does not
  // repeat an effect.
  Tensors recompute_residuals(Scope& scope, std::span<const Size> sizes, TensorSpan inputs,
                              TensorSpan effect_results) const;
  // If tracing the backward pass failed, throws its error.
  void require_backward() const {
    if (error_) throw Error(*error_);
  }
  // Returns the gradients with respect to the marked inputs; null if an input has none.
  // `cotangents` are those of the marked outputs. `saved` are the residuals that saved_by.forward()
  // returned. `saved_by` is this derivative, or one of more outputs with respect to the same
  // inputs.
  Tensors backward(Scope& scope, std::span<const Size> sizes, TensorSpan saved,
                   const Derivative& saved_by, TensorSpan cotangents) const;

  // The derivative as one graph, without states and without rematerialisation. Its arguments are
  // the inputs and the cotangents. Its outputs are the gradients that exist.
  const std::shared_ptr<Graph>& graph() const { return graph_; }
  const std::vector<Tensor>& captures() const { return captures_; }
  // Converts the outputs of graph() to one gradient per marked input, null if an input has none.
  Tensors gradients_per_input(Tensors gradients) const;

 private:
  std::vector<Value> residuals_of_backward(uint32_t end,
                                           const std::function<bool(const Value&)>& is_kept) const;
  // Chooses the residuals. `examples` are the sizes of the traced call, `end` the first slot of the
  // backward pass.
  void find_saved(uint32_t end, std::span<const std::optional<int64_t>> examples,
                  const ResidualLimits& keep);
  void find_effect_results();
  void make_backward(uint32_t end);

  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  // The backward graph with rematerialised values; NULL if there are none.
  std::shared_ptr<Graph> backward_graph_;
  std::vector<bool> by_, from_;
  // saved_ is sorted by slot.
  std::vector<Value> inputs_, outputs_, saved_, saved_effects_, cotangents_, captured_;
  std::vector<bool> inputs_of_saved_;
  // Indices into inputs_ by slot; inputs_.size() for slots that are not inputs.
  std::vector<size_t> input_at_;
  // The gradient of each marked input; an empty Value if there is none.
  std::vector<Value> gradients_;
  std::vector<Tensor> captures_;
  // Index of the order token in captures_, if the backward pass has effects.
  std::optional<size_t> order_;
  std::optional<Error> error_;  // Why there is no backward pass.
  std::optional<Executable> forward_, backward_, forward_saving_effects_, recompute_;
};

}  // namespace tenon
