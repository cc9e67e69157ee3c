// The derivative of a graph: its forward part, which also gives what the way back needs, and the
// way back.
//
// Making one takes O(n log n) time for the n nodes of both, beside what their ops' derivatives
// take.
//
// Both are parts of one graph, which is had by tracing the calls anew under a tape and asking that
// for its gradients. So whatever the tape can differentiate, a graph can.

#pragma once

#include <memory>
#include <optional>

#include "core/base/error.h"
#include "core/trace/checkpoints.h"
#include "core/trace/executable.h"

namespace tenon {

class Derivative {
 public:
  // What is kept for the way back.
  struct Keep {
    uint64_t memory_budget = kKeepAll;  // Bytes, beside the inputs.
    // One by the same inputs from more outputs, whose forward part it is that runs: what it keeps.
    const Derivative* forward = nullptr;
  };
  // Of the outputs that `from` marks by the inputs that `by` marks, for calls in which the symbols
  // are like `sizes`: numbers, or formulas of the trace under way.
  Derivative(Scope& scope, const Graph& primal, std::span<const Size> sizes,
             const std::vector<bool>& by, const std::vector<bool>& from,
             const Keep& keep = {kKeepAll, nullptr});

  bool is_of(const std::vector<bool>& by, const std::vector<bool>& from) const {
    return by_ == by && from_ == from;
  }
  // Whether the forward part of another keeps all that the way back takes.
  bool takes_from(const Derivative& forward) const;
  // Whether the decisions that the way back took hold.
  bool serves(std::span<const Size> sizes) const;
  // Makes them hold, by guards of the trace under way if need be.
  void require_served(std::span<const Size> sizes) const;
  // The values of the graph that the way back takes, and which input of the primal graph one is.
  std::span<const Value> saved() const { return saved_; }
  std::optional<size_t> input_that_is(const Value& saved) const;
  // The inputs of the primal graph that these depend on, if one has what calls with effects gave.
  const std::vector<bool>& inputs_of_saved() const { return inputs_of_saved_; }
  std::span<const Value> pushed() const { return pushed_; }

  // The outputs of the primal graph, and behind them what the way back needs.
  Tensors forward(Scope& scope, std::span<const Size> sizes, TensorSpan inputs) const;
  // The same to do it once more, from the inputs: behind the outputs only what calls with effects
  // gave, and then the values saved, of which no effect comes again.
  Tensors forward_pushing(Scope& scope, std::span<const Size> sizes, TensorSpan inputs) const;
  Tensors saved_again(Scope& scope, std::span<const Size> sizes, TensorSpan inputs,
                      TensorSpan pushed) const;
  // Throws why there is no way back.
  void require_way_back() const {
    if (error_) throw Error(*error_);
  }
  // The gradients by the inputs marked, none where there is none; of the outputs marked, the
  // cotangents. `saved` is what forward() gave, of this derivative or of one by the same inputs
  // from more outputs.
  Tensors backward(Scope& scope, std::span<const Size> sizes, TensorSpan saved,
                   const Derivative& saved_by, TensorSpan cotangents) const;

  // The whole as one graph, without states: its arguments are the inputs and the cotangents, its
  // outputs those gradients that there are. Nothing in it is computed twice.
  const std::shared_ptr<Graph>& graph() const { return graph_; }
  const std::vector<Tensor>& captures() const { return captures_; }
  // Such outputs in the form of backward().
  Tensors spread(Tensors gradients) const;

 private:
  std::vector<Value> taken_by_way_back(uint32_t end,
                                       const std::function<bool(const Value&)>& is_kept) const;
  void find_saved(uint32_t end, std::span<const std::optional<int64_t>> examples, const Keep& keep);
  void find_pushed();
  void make_way_back(uint32_t end);

  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  std::shared_ptr<Graph> way_back_;  // As it runs, if it computes again what is not kept.
  std::vector<bool> by_, from_;
  // saved_ is in the order of slots.
  std::vector<Value> inputs_, outputs_, saved_, pushed_, cotangents_, captured_;
  std::vector<bool> inputs_of_saved_;
  std::vector<size_t> input_at_;  // Of each slot: which input it is, or the number of inputs.
  std::vector<Value> gradients_;  // By the inputs marked; without a node where there is none.
  std::vector<Tensor> captures_;
  std::optional<size_t> order_;  // Among what is captured: where the way back has effects.
  std::optional<Error> error_;   // Why there is no way back.
  std::optional<Executable> forward_, backward_, pushing_, again_;
};

}  // namespace tenon
