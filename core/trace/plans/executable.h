// A subgraph that is run many times. Tracers and tapes use the original subgraph. Execution uses a
// version that the passes have optimised (core/trace/passes/).

#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "core/trace/plans/subgraph.h"

namespace tenon {

class Executable {
 public:
  // The arguments are those of Subgraph.
  Executable(const Graph& graph, std::span<const Value> given, std::span<const Value> wanted);

  // Runs the subgraph; see Subgraph::apply().
  Tensors apply(Scope& scope, std::span<const Size> sizes, TensorSpan given,
                std::span<const uint8_t> spare = {}) const;
  // Runs the subgraph as a loop body; see Subgraph::repeat().
  bool repeat(Scope& scope, std::span<const Size> sizes, Tensors& given, TripLimit& limit) const;
  // Describes the optimised graph, its segments and their launch plans (stages.h).
  std::string stages() const;

 private:
  struct Optimised {
    std::shared_ptr<Graph> graph;
    Tensors constants;  // Values of the trailing inputs, which passes have added.
    std::optional<Subgraph> slice;
  };
  // Returns the optimised subgraph, which the first call creates. Returns NULL if a tape or a
  // tracer is active, because these use the original subgraph.
  const Optimised* optimised(Scope& scope) const;

  const Graph& graph_;
  std::vector<Value> given_, wanted_;
  Subgraph original_;         // The unoptimised subgraph.
  mutable std::mutex mutex_;  // Guards optimised_.
  mutable std::atomic<bool> is_optimised_ = false;
  mutable Optimised optimised_;
};

}  // namespace tenon
