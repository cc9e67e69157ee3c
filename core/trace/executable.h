// A part of a graph that is run many times: as it was written where it is recorded or becomes part
// of another trace, and after the passes (core/trace/passes/) where it runs.

#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "core/trace/slice.h"

namespace tenon {

class Executable {
 public:
  // As for a slice.
  Executable(const Graph& graph, std::span<const Value> given, std::span<const Value> wanted);

  Tensors apply(Scope& scope, std::span<const Size> sizes, TensorSpan given,
                std::span<const uint8_t> spare = {}) const;
  bool repeat(Scope& scope, std::span<const Size> sizes, Tensors& given, TripLimit& limit) const;

 private:
  struct Optimised {
    std::shared_ptr<Graph> graph;
    Tensors constants;  // The last inputs.
    std::optional<Slice> slice;
  };
  // NULL where the code does not run, but is recorded.
  const Optimised* optimised(Scope& scope) const;

  const Graph& graph_;
  std::vector<Value> given_, wanted_;
  Slice written_;             // What is wanted of it.
  mutable std::mutex mutex_;  // Of those that optimise it.
  mutable std::atomic<bool> is_optimised_ = false;
  mutable Optimised optimised_;
};

}  // namespace tenon
