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
    std::span<const TensorImpl* const> inputs;  // The tensors that the launch's input views show.
    TensorSpan outputs;
    const Storage* workspace;  // NULL if the launch has no workspace.
    int64_t duration_ns;       // Duration of the launch alone.
  };
  // Called after a launch succeeded or was enqueued.
  virtual void launched(const Launched& launched) = 0;
  // The host wrote the memory of `x`: with the value of the inline `scalar`, or with data from no
  // other source.
  virtual void written(const TensorImpl& x, const TensorImpl* scalar) = 0;
  // The host read a value, or something else happened that launches do not show.
  virtual void interrupted() = 0;

 protected:
  ~LaunchRecorder() = default;
};

}  // namespace tenon
