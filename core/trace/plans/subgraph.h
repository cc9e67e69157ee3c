// A subgraph: the nodes needed to compute `outputs` from `inputs`, in execution order.
//
// Construction takes O(n log n) time for the nodes and values of the graph, one application O(n).

#pragma once

#include <span>
#include <vector>

#include "core/dispatch/scope.h"
#include "core/trace/graph/graph.h"
#include "core/trace/plans/segment.h"

namespace tenon {

// Whether the attributes contain symbolic sizes.
bool has_formulas(AnyAttrs attrs);
// Returns a copy of the attributes, with sizes[i] substituted for symbol i in all formulas.
OwnedAttrs substitute_sizes(const SizeTable& table, AnyAttrs attrs, std::span<const Size> sizes);

class Subgraph {
 public:
  // The graph must outlive the subgraph and not change. `inputs` and `outputs` are values of the
  // graph. Fails if an output depends on an input of the graph that is not in `inputs`. If `whole`
  // is true, dead calls are included, too.
  Subgraph(const Graph& graph, std::span<const Value> inputs, std::span<const Value> outputs,
           bool whole = false);

  // Applies the calls in the scope: the calls are executed, recorded by tapes, or added to another
  // trace. Repeated executions replay launch plans without dispatch. `sizes` holds the value of
  // each symbol. Values are released after their last use. `spare`: the number of
  // owners with which each input is reusable, as for LaunchPlan::run.
  Tensors apply(Scope& scope, std::span<const Size> sizes, TensorSpan given,
                std::span<const uint8_t> spare = {}) const;

  // Runs the subgraph as a do-while loop while its first output, a bool of rank 0, is true. After
  // each iteration, the other outputs replace the first tensors of `given`. Returns false, with no
  // effect, if the loop cannot be run by replaying one recorded plan.
  bool repeat(Scope& scope, std::span<const Size> sizes, Tensors& given, TripLimit& limit) const;

  std::span<const Node* const> nodes() const { return nodes_; }
  // Describes the segments and their launch plans (stages.h).
  std::string stages() const;

 private:
  struct Step {
    size_t begin, end;                 // Range of nodes_.
    std::unique_ptr<Segment> segment;  // NULL for a step that is one host op.
    Device* device;                    // The device of a segment's calls; NULL if it has none.
    std::vector<uint32_t> reads, gives;
    bool is_open = false;  // Whether attributes contain formulas of sizes.

    // Returns the sizes that are part of the cache key: none if there are no formulas, because one
    // plan then serves all sizes.
    std::span<const Size> own(std::span<const Size> sizes) const {
      return is_open ? sizes : std::span<const Size>();
    }
  };
  // For a subgraph of one step: maps its inputs and outputs to those of the step.
  struct SingleStep {
    std::vector<uint32_t> reads;  // For each input of the step, its index in `given`.
    // For each result, its index in the outputs of the step; kNone if it is an input instead.
    std::vector<uint32_t> gives;
    std::vector<uint32_t> passes;  // For each result that is an input, its index in `given`.
    std::vector<bool> may_reuse;   // For each input of the step, whether it is not also a result.
    // For each given value, its index in the inputs of the step, or kNone.
    std::vector<uint32_t> read_at;
    bool reads_all = false;  // Whether the step and the subgraph have the same inputs.
    // Whether the outputs of the step are those of the subgraph, in the same order.
    bool gives_all = false;
  };
  static constexpr uint32_t kNone = LaunchPlan::kNone;

  // Whether the subgraph consists of one step that runs on a device.
  bool has_single_step() const {
    return steps_.size() == 1 && steps_[0].segment && steps_[0].device;
  }
  // Groups the nodes into steps: segments of calls on one device, and host ops.
  void split_into_steps();
  // Sets single_step_, which maps the inputs and outputs of the subgraph to those of its only step.
  void map_single_step();
  // Finds the data-dependent symbols that nodes or given values determine.
  void find_data_dependent_sizes(std::span<const Value> given);
  // Returns `sizes` with entries for data-dependent sizes appended. Sets the entries that are sizes
  // of given values; the others are -1.
  Sizes with_data_dependent_sizes(std::span<const Size> sizes, TensorSpan given) const;
  // Sets the sizes that node i determines; `next` is the first entry of data_dependent_sizes_ not
  // yet set.
  void set_data_dependent_sizes(Sizes& sizes, size_t i, size_t& next,
                                const std::vector<Tensor>& values) const;
  // Applies node i and stores its outputs in `values`, which is indexed by slot.
  void apply_node(Scope& scope, std::span<const Size> sizes, size_t i,
                  std::vector<Tensor>& values) const;
  // Applies the nodes of a step one by one. `reads` are the inputs of the step.
  Tensors apply_nodes(Scope& scope, std::span<const Size> sizes, const Step& step, TensorSpan reads,
                      std::vector<Tensor>& values) const;
  // Runs a subgraph that has a single step, without a table of all values.
  Tensors apply_single_step(Scope& scope, std::span<const Size> sizes, TensorSpan given,
                            std::span<const uint8_t> spare) const;
  // Runs a step by its segment, which may replay a launch plan.
  void run_segment(Scope& scope, std::span<const Size> sizes, const Step& step,
                   std::vector<Tensor>& values) const;
  // Releases the values that no node after the range [begin, end) reads.
  void release_dead_values(size_t begin, size_t end, std::vector<Tensor>& values) const;

  const Graph& graph_;
  std::vector<const Node*> nodes_;  // Calls and constants.
  std::vector<bool> has_formulas_;  // By node.
  // Data-dependent symbols: determined by an output of a node, or by an axis of a given value.
  struct DataDependentSize {
    size_t symbol, place, axis;
  };
  std::vector<DataDependentSize> data_dependent_sizes_, sizes_of_inputs_;
  std::vector<uint32_t> given_, wanted_;
  // dead_[..dead_end_[i]] are the slots that no node after node i reads.
  std::vector<uint32_t> dead_, dead_end_;
  std::vector<Step> steps_;  // Consecutive ranges that cover all nodes.
  SingleStep single_step_;   // Set if has_single_step().
};

}  // namespace tenon
