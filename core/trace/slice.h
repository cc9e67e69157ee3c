// A part of a graph: the calls that some of its values need, in order, where others are given.
//
// Making one takes O(n log n) time for the nodes and values of the graph, and applying one O(n).

#pragma once

#include <span>
#include <vector>

#include "core/dispatch/scope.h"
#include "core/trace/graph.h"
#include "core/trace/segment.h"

namespace tenon {

// Whether attributes hold sizes that are no numbers.
bool has_formulas(AnyAttrs attrs);
// A copy in which formulas are what the symbols make of them.
OwnedAttrs evaluated(const SizeTable& table, AnyAttrs attrs, std::span<const Size> sizes);

class Slice {
 public:
  // The graph outlives the slice and does not change meanwhile. Fails if a value needs an input
  // that is not given.
  // `whole`: also the calls that nothing needs.
  Slice(const Graph& graph, std::span<const Value> given, std::span<const Value> wanted,
        bool whole = false);

  // Applies the calls in the scope, whatever that does: they run, are recorded, or become part of
  // another trace. What runs alike again is launched without being dispatched. `sizes` says what
  // each symbol of the graph is. What nothing needs any more is released on the way. `spare`: what
  // is given whose memory nobody else needs any more, as for a program.
  Tensors apply(Scope& scope, std::span<const Size> sizes, TensorSpan given,
                std::span<const uint8_t> spare = {}) const;

  // Applies itself as long as the first value wanted, a bool of rank 0, is true; the others take
  // the place of the first values given, which they are at the end. At least once. False, and
  // nothing has happened: where that takes more than launching what was launched before.
  bool repeat(Scope& scope, std::span<const Size> sizes, Tensors& given, TripLimit& limit) const;

  std::span<const Node* const> nodes() const { return nodes_; }

 private:
  struct Step {
    size_t begin, end;                 // Nodes.
    std::unique_ptr<Segment> segment;  // NULL for a call that no device runs.
    Device* device;                    // Where the calls of a segment run; NULL if there are none.
    std::vector<uint32_t> reads, gives;
    bool is_open = false;  // Whether attributes are formulas of sizes.

    // Those that make a difference to it: without formulas, one program serves all.
    std::span<const Size> own(std::span<const Size> sizes) const {
      return is_open ? sizes : std::span<const Size>();
    }
  };
  // Where the only step finds what it reads, and where what is wanted is found.
  struct Alone {
    std::vector<uint32_t> reads;  // Places in what is given.
    std::vector<uint32_t> gives;  // For each value wanted a place in what the step gives, or kNone,
    std::vector<uint32_t> passes;   // and then one in what is given.
    std::vector<bool> may_reuse;    // Of what it reads: whether nothing passes it on.
    std::vector<uint32_t> read_at;  // Of what is given: its place in what the step reads, or kNone.
    bool reads_all = false;         // All that is given, in its order.
    bool gives_all = false;         // All that is wanted, in its order.
  };
  static constexpr uint32_t kNone = Program::kNone;

  // One step with a device is all there is.
  bool is_alone() const { return steps_.size() == 1 && steps_[0].segment && steps_[0].device; }
  void split();
  void find_places();
  void find_births(std::span<const Value> given);
  // The sizes with room for those that are born, of which some are known of what is given.
  Sizes with_births(std::span<const Size> sizes, TensorSpan given) const;
  // Reads the sizes that node i gives; `next` is the first birth that no earlier node has given.
  void give_birth(Sizes& sizes, size_t i, size_t& next, const std::vector<Tensor>& values) const;
  void apply_node(Scope& scope, std::span<const Size> sizes, size_t i,
                  std::vector<Tensor>& values) const;
  Tensors apply_nodes(Scope& scope, std::span<const Size> sizes, const Step& step, TensorSpan reads,
                      std::vector<Tensor>& values) const;
  Tensors apply_alone(Scope& scope, std::span<const Size> sizes, TensorSpan given,
                      std::span<const uint8_t> spare) const;
  void run_segment(Scope& scope, std::span<const Size> sizes, const Step& step,
                   std::vector<Tensor>& values) const;
  void release(size_t begin, size_t end, std::vector<Tensor>& values) const;

  const Graph& graph_;
  std::vector<const Node*> nodes_;  // Calls and constants.
  std::vector<bool> has_formulas_;  // Of each node: whether its attributes do.
  // Where symbols that are born get their values: from what a node gives, or from an axis of what
  // is given.
  struct Birth {
    size_t symbol, place, axis;
  };
  std::vector<Birth> births_, known_births_;
  std::vector<uint32_t> given_, wanted_;
  // Of each node, the slots that nothing behind it reads: a part of `dead_` up to this place.
  std::vector<uint32_t> dead_, dead_end_;
  std::vector<Step> steps_;  // All nodes, in order.
  Alone alone_;              // If it is_alone().
};

}  // namespace tenon
