// Runs the decompositions of composite ops for which the device has no kernel.

#pragma once

#include <functional>
#include <memory>

#include "core/dispatch/interpreter.h"
#include "core/dispatch/scope.h"

namespace tenon {

class Composites {
 public:
  explicit Composites(Scope& scope) : scope_(scope) {}

  // Runs the decomposition in the scope, so that interpreters record its ops. If nothing records, a
  // repeated call replays its cached launches.
  Tensors call(const Call& call);

  // Whether a tape should record the call as one op, whose decomposition it differentiates in the
  // backward pass. True if the decomposition takes only one or two launches.
  bool should_record_as_one_op(const Call& call);

 private:
  Scope& scope_;
};

inline Composites composites(Scope& scope) { return Composites(scope); }

// Caches the launches of composite ops and of their derivatives. Each scope has its own. Under
// tapes, traces and recorders, nothing is cached and the body runs op by op.
class CompositePlans {
 public:
  // The cache key, except for the inputs.
  struct Key {
    const OpDef& op;
    AnyAttrs attrs;
    uint64_t part = 0;  // 0 for the call itself; other values for its derivatives.
    // For a derivative: the types of the op's inputs and outputs. The derivative depends on them,
    // but does not receive all of these tensors.
    std::span<const TensorType> types = {};
  };
  using Code = std::function<Tensors(TensorSpan inputs)>;

  virtual ~CompositePlans() = default;
  // Inputs and outputs may be null. Donated inputs may be overwritten.
  virtual Tensors run(Scope& scope, const Key& key, TensorSpan inputs, const Code& code) = 0;
  // Whether the body launches only elementwise kernels and reductions. On the second call with a
  // key, the result is true as a guess, because nothing has been recorded yet.
  virtual bool is_light(Scope& scope, const Key& key, TensorSpan inputs) = 0;
};

std::unique_ptr<CompositePlans> new_composite_plans(Context& context);

}  // namespace tenon
