// Code that an op runs, as a graph: the body of a loop, a branch. Its inputs are the op's operands.
//
// A region that is traced inside of other code has that one's table of sizes. What its symbols are
// comes with the op's attributes, as formulas or numbers of wherever the op is applied.

#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "core/dispatch/cell.h"
#include "core/trace/executable.h"

namespace tenon {

class Region {
 public:
  // The graph does not change any more. `vjp`: a derivative that the user gave.
  explicit Region(std::shared_ptr<Graph> graph, std::shared_ptr<const CustomVjp> vjp = nullptr);

  const Graph& graph() const { return *graph_; }
  const std::shared_ptr<const CustomVjp>& vjp() const { return vjp_; }
  // Whether the graph and all inside it were found to be sound, so that no pass has to look again:
  // code nested n deep would be looked at n times.
  bool is_verified() const { return is_verified_.load(std::memory_order_relaxed); }
  void set_verified() const { is_verified_.store(true, std::memory_order_relaxed); }
  Tensors apply(Scope& scope, std::span<const Size> sizes, TensorSpan operands) const {
    return all_.apply(scope, sizes, operands);
  }
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

// How the way back of a loop finds what it needs.
enum class LoopPolicy : int32_t {
  kStack,      // Each trip leaves it in lists.
  kRecompute,  // Each trip leaves what it began with, and the way back runs it again.
  kBounded     // As kStack, in memory for all trips that is there from the start.
};
EnumInfo enum_info(LoopPolicy);

// What every op that holds graphs has as attributes.
struct RegionAttrs {
  Regions regions;
  Sizes sizes;  // What the symbols of their table are.
  // Of a loop.
  LoopPolicy policy = LoopPolicy::kStack;
  Size max_trips = 0;  // 0: as many as there are.
  // Of code that is computed again: the bytes that are kept; -1: as many as there are.
  int64_t memory_budget = -1;
  TENON_ATTRS(regions, sizes, policy, max_trips, memory_budget)
};
inline const RegionAttrs& region_attrs(AnyAttrs attrs) {
  return *static_cast<const RegionAttrs*>(attrs.data);
}
inline bool has_regions(const OpDef& op) { return op.attrs == &attrs_type<RegionAttrs>(); }
// What code of some operands gives.
using Block = std::function<Tensors(TensorSpan operands)>;

// A block that was written down inside of the scope's trace, whose inputs are arguments, captures
// of the code around it, and states, in any order, and whose outputs are what it gives.
struct TracedBlock {
  std::shared_ptr<Graph> graph;
  std::vector<Node*> arguments, capture_inputs, state_inputs;
  std::vector<Tensor> captures;
  std::vector<Ref<Cell>> states;
  std::vector<Value> states_after;
  bool commits, reloads;  // As of a tracer.
};

// `like` are tensors of the types that the operands have. `name` is for messages: "a loop".
TracedBlock trace_block(Scope& scope, TensorSpan like, const char* name, const Block& block);

// Calls an op that holds the blocks as its regions, and gives what they give. Behind `operands`
// come what any of them takes from around it: the states that some block stores, which it then
// gives behind its outputs, the captures, and the states that they only read. `attrs` are those
// that do not follow from the blocks.
Tensors apply_blocks(Scope& scope, const OpDef& op, std::span<TracedBlock> blocks, Tensors operands,
                     RegionAttrs attrs, const std::shared_ptr<const CustomVjp>& vjp = nullptr);

// The symbols of the trace under way; none if none is.
Sizes current_symbols(Scope& scope);

// What the regions of a call give, all of the same types.
TensorTypes region_types(const RegionAttrs& attrs, TypeSpan);
// An op that holds graphs.
OpDef region_op(const ops::Definition<RegionAttrs>& definition, decltype(OpDef::run) run,
                decltype(OpDef::linearize) linearize);
// The `linearize` of an op whose derivative a D is, which goes forward and then back.
template <class D>
Linearized linearize_by(Scope& scope, const Call& call, const std::vector<bool>& by) {
  const auto derivative = std::make_shared<D>(scope, call, by);
  Linearized made;
  made.outputs = derivative->forward(scope, call);
  made.vjp = std::make_shared<const CustomVjp>(
      [derivative](const VjpArgs& args) { return derivative->backward(current_scope(), args); });
  return made;
}

// Those of a call that becomes part of `graph`, which is under trace: regions of another table are
// traced anew, with the graph's.
RegionAttrs adopted(Scope& scope, const Graph& graph, const RegionAttrs& attrs);

}  // namespace tenon
