// Running an op as its parts, where a device has no kernel for it.

#pragma once

#include <functional>
#include <memory>

#include "core/dispatch/interpreter.h"
#include "core/dispatch/scope.h"

namespace tenon {

class Composites {
 public:
  explicit Composites(Scope& scope) : scope_(scope) {}

  // Runs the decomposition in the scope: what records there records the parts. Where nobody does,
  // what came before runs as what it launched then.
  Tensors call(const Call& call);

  // Whether a tape does better to record the call whole, and to compute its parts again on the way
  // back: where that is a launch or two.
  bool is_one(const Call& call);

 private:
  Scope& scope_;
};

inline Composites composites(Scope& scope) { return Composites(scope); }

// What composites and their ways back launched when they ran before. Each scope has its own. Where
// tapes, traces or recorders look on, they run as they are written.
class CompositePrograms {
 public:
  // What it is, beside its inputs.
  struct Key {
    const OpDef& op;
    AnyAttrs attrs;
    uint64_t part = 0;                       // 0: the call; of ways back each has a number.
    std::span<const TensorType> types = {};  // What a way back knows of values that it has not.
  };
  using Code = std::function<Tensors(TensorSpan inputs)>;

  virtual ~CompositePrograms() = default;
  // Inputs and outputs may be absent. Inputs that are donated may be written.
  virtual Tensors run(Scope& scope, const Key& key, TensorSpan inputs, const Code& code) = 0;
  // Whether it makes elementwise launches and reductions alone; a guess, if it comes for the second
  // time.
  virtual bool is_light(Scope& scope, const Key& key, TensorSpan inputs) = 0;
};

std::unique_ptr<CompositePrograms> new_composite_programs(Context& context);

}  // namespace tenon
