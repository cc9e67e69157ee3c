// One trace of a function: its graph, and the captures and states that the graph takes in addition
// to the arguments. Tapes record and differentiate a call of a trace as one op.

#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/autograd/tape.h"
#include "core/dispatch/cell.h"
#include "core/trace/derivative/derivative.h"
#include "core/trace/plans/executable.h"
#include "core/trace/statics.h"

namespace tenon {

// Returns the values of the graph's symbols for these arguments; nullopt if the graph does not
// serve them.
std::optional<Sizes> sizes_for(const Graph& graph, TensorSpan arguments);
// Describes the first guard that does not hold for the arguments, with its cause and the sizes.
// Empty if there is none, or if the arguments differ in more than unknown sizes.
std::string broken_guard(const Graph& graph, TensorSpan arguments);

class Trace final : public Object, public Pooled<Trace> {
 public:
  // The static arguments for which the function was traced, and the default static arguments.
  struct Arguments {
    std::shared_ptr<const OwnedStatics> all, defaults;
  };
  // The graph's inputs are arguments, captures and states, in any order. Its outputs are the new
  // values of the states, in the order of these inputs, followed by the function's outputs. A
  // recorded call saves at most `memory_budget` bytes for its backward pass, in addition to the
  // graph's inputs.
  Trace(Context& context, std::string name, std::shared_ptr<Graph> graph,
        std::vector<Tensor> captures, std::vector<Ref<Cell>> states, Arguments statics = {},
        uint64_t memory_budget = kSaveAll);
  void release() const {
    if (drop()) delete this;
  }

  Context& context() const { return *context_; }
  const std::string& name() const { return name_; }
  const Graph& graph() const { return *graph_; }
  const Executable& executable() const { return all_; }
  size_t n_arguments() const { return arguments_.size(); }
  const TensorType& argument_type(size_t i) const { return arguments_[i]->types[0]; }
  // Returns the name that the user chose or, if there is none, the name in the graph, which
  // consists of letters, digits and underscores.
  const std::string& argument_name(size_t i) const {
    const bool is_given = i < input_names_.size() && !input_names_[i].empty();
    return is_given ? input_names_[i] : arguments_[i]->names[0];
  }
  // Returns an empty string if the user chose no name.
  std::string output_name(size_t i) const {
    return i < output_names_.size() ? output_names_[i] : std::string();
  }
  // Sets the names for saved files. Must be called before other threads can use the trace.
  void set_names(std::vector<std::string> inputs, std::vector<std::string> outputs) {
    input_names_ = std::move(inputs);
    output_names_ = std::move(outputs);
  }
  size_t n_outputs() const { return graph_->outputs().size() - states_.size(); }
  const TensorType& output_type(size_t i) const {
    return graph_->outputs()[states_.size() + i].type();
  }
  const std::vector<Tensor>& captures() const { return captures_; }
  const std::vector<Ref<Cell>>& states() const { return states_; }
  const std::vector<Variable*>& variables() const { return variables_; }
  const Arguments& statics() const { return statics_; }
  // Returns the ops of calls with effects in program order. A call in a loop body is listed once.
  std::vector<const OpDef*> effects() const;

  std::optional<Sizes> sizes_for(TensorSpan arguments) const {
    return tenon::sizes_for(*graph_, arguments);
  }
  std::string broken_guard(TensorSpan arguments) const {
    return tenon::broken_guard(*graph_, arguments);
  }

  // Calls the trace with arguments that it serves. While tracing, its calls become part of the
  // outer trace. Tapes record it as one call.
  Tensors call(Scope& scope, TensorSpan arguments, const Sizes& sizes);

 private:
  // Maximum number of cached derivatives. There is one derivative for each combination of inputs,
  // outputs and sizes that callers use.
  static constexpr size_t kMaxDerivatives = 64;
  struct Known {
    std::shared_ptr<const Derivative> derivative;
    // The derivative as a trace. Created when the derivative itself is differentiated.
    Ref<Trace> whole;
  };
  // Like call(), without an event for profilers.
  Tensors run(Scope& scope, TensorSpan arguments, const Sizes& sizes);
  // Returns the inputs of the graph for a call.
  Tensors inputs(Scope& scope, TensorSpan arguments) const;
  // Returns, for each input, the number of owners that its memory must have to be reused; 0: never.
  SmallVector<uint8_t, 16> reusable_inputs(TensorSpan arguments) const;
  // Runs the forward pass of the derivative with respect to the inputs marked in `by`, and lets the
  // tapes record the call.
  Tensors run_recorded(Scope& scope, const Tensors& inputs, const Sizes& sizes,
                       const std::vector<bool>& by);
  // Runs the backward pass. `saved` are the residuals that `forward` returned. `inputs` are the
  // inputs of the call, or empty if the backward pass is not differentiated itself.
  Tensors gradients(const VjpArgs& args, const Sizes& sizes, const std::vector<bool>& by,
                    const Derivative& forward, TensorSpan saved, TensorSpan inputs);
  // Returns the derivative of the outputs marked in `from` with respect to the inputs marked in
  // `by`. If `forward` is given, the derivative can use its residuals.
  std::shared_ptr<const Derivative> derivative(Scope& scope, const Sizes& sizes,
                                               const std::vector<bool>& by,
                                               const std::vector<bool>& from,
                                               const Derivative* forward = nullptr);
  // Caches a derivative. If there are too many, evicts the least recently used one.
  void add_derivative(Known known);
  // Returns the derivative as a trace, so that it can be differentiated.
  Ref<Trace> trace_of_derivative(const std::shared_ptr<const Derivative>& derivative);

  Ref<Context> context_;
  std::string name_;
  std::shared_ptr<Graph> graph_;
  std::vector<Node*> arguments_, state_inputs_;
  std::vector<std::string> input_names_, output_names_;
  std::vector<Tensor> captures_;
  std::vector<Ref<Cell>> states_;
  std::vector<Variable*> variables_;  // A subset of the states.
  Arguments statics_;
  uint64_t memory_budget_;
  bool has_effects_ = false;
  Executable all_;
  std::mutex mutex_;
  std::vector<Known> derivatives_;  // In order of last use.
};

}  // namespace tenon
