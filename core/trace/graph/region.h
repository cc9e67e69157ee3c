// The graph of a loop body or a branch, held by an op. Its inputs are the op's operands.
//
// A region traced inside other code shares that code's size table. The op's attributes give the
// values of its symbols, as formulas or numbers of the graph in which the op is applied.

#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "core/dispatch/cell.h"
#include "core/trace/plans/executable.h"

namespace tenon {

class Region {
 public:
  // `graph` must not change after this call. `vjp` is a custom derivative, or NULL.
  explicit Region(std::shared_ptr<Graph> graph, std::shared_ptr<const CustomVjp> vjp = nullptr);

  const Graph& graph() const { return *graph_; }
  const std::shared_ptr<const CustomVjp>& vjp() const { return vjp_; }
  // Whether the graph and its nested regions were already verified, so that no pass verifies them
  // again. Without this flag, a graph nested n deep would be verified n times.
  bool is_verified() const { return is_verified_.load(std::memory_order_relaxed); }
  void set_verified() const { is_verified_.store(true, std::memory_order_relaxed); }
  // Runs the region once; see Subgraph::apply().
  Tensors apply(Scope& scope, std::span<const Size> sizes, TensorSpan operands) const {
    return all_.apply(scope, sizes, operands);
  }
  // Runs the region as a loop body; see Subgraph::repeat().
  bool repeat(Scope& scope, std::span<const Size> sizes, Tensors& operands,
              TripLimit& limit) const {
    return all_.repeat(scope, sizes, operands, limit);
  }

 private:
  std::shared_ptr<Graph> graph_;
  std::shared_ptr<const CustomVjp> vjp_;
  Executable all_;
  mutable std::atomic<bool> is_verified_{false};
};

// How the backward pass of a loop gets its residuals.
enum class LoopPolicy : int32_t {
  kStack,      // Each trip appends its residuals to lists.
  kRecompute,  // Each trip saves its initial values; the backward pass reruns the trip.
  kBounded     // As kStack, with lists preallocated for all trips.
};
EnumInfo enum_info(LoopPolicy);

// The attributes of every op that holds regions.
struct RegionAttrs {
  Regions regions;
  Sizes sizes;  // Values of the regions' symbols.
  // How a loop provides residuals to its backward pass. Ops other than loops ignore it.
  LoopPolicy policy = LoopPolicy::kStack;
  Size max_trips = 0;  // Only for loops; 0: no limit.
  // For the op recompute: maximum number of bytes to save for the backward pass; -1: no limit.
  int64_t memory_budget = -1;
  TENON_ATTRS(regions, sizes, policy, max_trips, memory_budget)
};
inline const RegionAttrs& region_attrs(AnyAttrs attrs) {
  return *static_cast<const RegionAttrs*>(attrs.data);
}
inline bool has_regions(const OpDef& op) { return op.attrs == &attrs_type<RegionAttrs>(); }
// Code that computes outputs from operands.
using Block = std::function<Tensors(TensorSpan operands)>;

// A block that was traced into a nested graph of the scope's trace. The graph's inputs are
// arguments, captures and states, in any order; its outputs are the block's.
struct TracedBlock {
  std::shared_ptr<Graph> graph;
  std::vector<Node*> arguments, capture_inputs, state_inputs;
  std::vector<Tensor> captures;
  std::vector<Ref<Cell>> states;
  std::vector<Value> final_states;
  // Whether the block contains calls before which states are committed, and calls after which
  // states are reloaded.
  bool commits, reloads;
};

// Traces `block` with operands of the same types as `like`. `name` is used in messages: "a loop".
TracedBlock trace_block(Scope& scope, TensorSpan like, const char* name, const Block& block);

// Adds a call of an op that holds the blocks as regions, and returns the blocks' outputs. Its
// inputs are `operands`, then states that some block stores, captures, and states that blocks only
// read. The call returns the stored states after its outputs. `attrs` are the attributes that do
// not follow from the blocks.
Tensors apply_blocks(Scope& scope, const OpDef& op, std::span<TracedBlock> blocks, Tensors operands,
                     RegionAttrs attrs, const std::shared_ptr<const CustomVjp>& vjp = nullptr);

// Returns the symbols of the current trace; empty outside a trace.
Sizes current_symbols(Scope& scope);

// Returns the output types of the first region. All regions of a call have the same output types.
TensorTypes region_types(const RegionAttrs& attrs, TypeSpan);
// Creates an op that holds regions.
OpDef region_op(const ops::Definition<RegionAttrs>& definition, decltype(OpDef::run) run,
                decltype(OpDef::linearize) linearize);
// Implements OpDef::linearize by a class D with the methods forward() and backward().
template <class D>
Linearized linearize_with_class(Scope& scope, const Call& call, const std::vector<bool>& by) {
  const auto derivative = std::make_shared<D>(scope, call, by);
  Linearized made;
  made.outputs = derivative->forward(scope, call);
  made.vjp = std::make_shared<const CustomVjp>(
      [derivative](const VjpArgs& args) { return derivative->backward(current_scope(), args); });
  return made;
}

// Returns the attributes for a call that is added to `graph`, which is being traced. Regions with
// another size table than the graph's are traced again with the graph's table.
RegionAttrs retrace_regions(Scope& scope, const Graph& graph, const RegionAttrs& attrs);

}  // namespace tenon
