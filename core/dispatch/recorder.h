// What sees the launches of a scope while it lives, so that they can be made again without anything
// being dispatched (core/trace/program.h).

#pragma once

#include <tenon/plugin.h>

#include <span>

#include "core/device/kernel_table.h"
#include "core/ops/op.h"

namespace tenon {

class LaunchRecorder {
 public:
  struct Launched {
    const PreparedKernel& kernel;
    const OpDef& op;
    AnyAttrs attrs;
    const tenon_launch& launch;
    std::span<const TensorImpl* const> inputs;  // What the launch's inputs show.
    TensorSpan outputs;
    const Storage* workspace;  // NULL if it has none.
    int64_t took_ns;           // The launch alone.
  };
  // A launch that succeeded, or was enqueued.
  virtual void launched(const Launched& launched) = 0;
  // A tensor whose memory the host wrote: the inline scalar's value, or what nothing else says.
  virtual void written(const TensorImpl& x, const TensorImpl* scalar) = 0;
  // The host has read a value, or something else happened that launches do not tell.
  virtual void interrupted() = 0;

 protected:
  ~LaunchRecorder() = default;
};

}  // namespace tenon
