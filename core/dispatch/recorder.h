// Observes the launches of a scope, so that they can be replayed without dispatch
// (core/trace/plans/launch_plan.h).

#pragma once

#include <tenon/plugin.h>

#include <span>

#include "core/device/kernel_table.h"
#include "core/ops/definition/op.h"

namespace tenon {

class LaunchRecorder {
 public:
  struct Launched {
    const PreparedKernel& kernel;
    const OpDef& op;
    AnyAttrs attrs;
    const tenon_launch& launch;
    // The tensors to which the input views of the launch refer.
    std::span<const TensorImpl* const> inputs;
    TensorSpan outputs;
    const Storage* workspace;  // NULL if the launch has no workspace.
    int64_t duration_ns;       // Duration of the launch alone.
  };
  // Called after a launch succeeded or was enqueued.
  virtual void launched(const Launched& launched) = 0;
  // Called when the host wrote the memory of `x`. `scalar` is the inline scalar whose value was
  // written, or NULL if other data was written.
  virtual void written(const TensorImpl& x, const TensorImpl* scalar) = 0;
  // Called when the host read a value, or did anything else that a replay of the launches would
  // miss.
  virtual void interrupted() = 0;

 protected:
  ~LaunchRecorder() = default;
};

}  // namespace tenon
