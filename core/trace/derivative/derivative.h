// The derivative of a graph: a forward pass, which also returns the residuals, and a backward pass.
//
// Construction takes O(n log n) time for the n nodes of both, plus the time of the ops'
// derivatives.
//
// Both passes are subgraphs of one graph. It is built by retracing the calls under a tape and
// asking the tape for gradients, so whatever a tape can differentiate, a graph can.

#pragma once

#include <memory>
#include <optional>

#include "core/base/error.h"
#include "core/trace/derivative/rematerialise.h"
#include "core/trace/plans/executable.h"

namespace tenon {

class Derivative {
 public:
  // Limits what is saved for the backward pass.
  struct ResidualLimits {
    uint64_t memory_budget = kSaveAll;  // Maximum number of bytes, in addition to the inputs.
    // A derivative of more outputs with respect to the same inputs, whose forward pass will run.
    // Only values that it saves can be used.
    const Derivative* forward = nullptr;
  };
  // Differentiates the outputs marked in `from` with respect to the inputs marked in `by`. `sizes`
  // are example values of the symbols: numbers, or formulas of the current trace.
  Derivative(Scope& scope, const Graph& primal, std::span<const Size> sizes,
             const std::vector<bool>& by, const std::vector<bool>& from,
             const ResidualLimits& keep = {kSaveAll, nullptr});

  bool is_of(const std::vector<bool>& by, const std::vector<bool>& from) const {
    return by_ == by && from_ == from;
  }
  // Whether the forward pass of `forward` saves every residual that this backward pass reads.
  bool can_use_residuals_of(const Derivative& forward) const;
  // Whether the guards taken by the backward pass hold for these sizes.
  bool serves(std::span<const Size> sizes) const;
  // Enforces these guards, by guards of the current trace if necessary.
  void require_served(std::span<const Size> sizes) const;
  // The residuals of the backward pass, and for each the input of the primal graph that it equals.
  std::span<const Value> saved() const { return saved_; }
  std::optional<size_t> input_index_of(const Value& saved) const;
  // The primal inputs that residuals depend on if some residual depends on a call with effects.
  const std::vector<bool>& inputs_of_saved() const { return inputs_of_saved_; }
  std::span<const Value> pushed() const { return saved_effects_; }

  // Returns the outputs of the primal graph, followed by the residuals.
  Tensors forward(Scope& scope, std::span<const Size> sizes, TensorSpan inputs) const;
  // For rematerialisation: forward_saving_effects() returns the outputs, followed only by results
  // of calls with effects. recompute_residuals() recomputes the residuals from these and the inputs
  // without repeating an effect.
  Tensors forward_saving_effects(Scope& scope, std::span<const Size> sizes,
                                 TensorSpan inputs) const;
  Tensors recompute_residuals(Scope& scope, std::span<const Size> sizes, TensorSpan inputs,
                              TensorSpan pushed) const;
  // Throws the error that tracing the backward pass failed with, if it did.
  void require_backward() const {
    if (error_) throw Error(*error_);
  }
  // Returns the gradients with respect to the marked inputs; null if an input has none.
  // `cotangents` belong to the marked outputs. `saved` are the residuals that forward() of this
  // derivative returned, or that of `saved_by`, a derivative of more outputs with respect to the
  // same inputs.
  Tensors backward(Scope& scope, std::span<const Size> sizes, TensorSpan saved,
                   const Derivative& saved_by, TensorSpan cotangents) const;

  // The whole derivative as one graph without states, without rematerialisation. Its arguments are
  // the inputs and the cotangents; its outputs are the existing gradients.
  const std::shared_ptr<Graph>& graph() const { return graph_; }
  const std::vector<Tensor>& captures() const { return captures_; }
  // Expands the outputs of graph() to the form that backward() returns.
  Tensors spread(Tensors gradients) const;

 private:
  std::vector<Value> residuals_of_backward(uint32_t end,
                                           const std::function<bool(const Value&)>& is_kept) const;
  void find_saved(uint32_t end, std::span<const std::optional<int64_t>> examples,
                  const ResidualLimits& keep);
  void find_effect_results();
  void make_backward(uint32_t end);

  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  std::shared_ptr<Graph>
      backward_graph_;  // The backward graph with rematerialisation, if it has any.
  std::vector<bool> by_, from_;
  // saved_ is sorted by slot.
  std::vector<Value> inputs_, outputs_, saved_, saved_effects_, cotangents_, captured_;
  std::vector<bool> inputs_of_saved_;
  std::vector<size_t>
      input_at_;  // For each slot, the index of the input, or the number of inputs if it is none.
  std::vector<Value>
      gradients_;  // For each marked input; a value without a node if there is no gradient.
  std::vector<Tensor> captures_;
  std::optional<size_t>
      order_;  // Index of the token among the captures, if the backward pass has effects.
  std::optional<Error> error_;  // Why there is no backward pass.
  std::optional<Executable> forward_, backward_, forward_saving_effects_, recompute_;
};

}  // namespace tenon
