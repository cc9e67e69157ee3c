// One kernel launch: finding the prepared kernel, laying out the views, running it.

#pragma once

#include <tenon/plugin.h>

#include "core/dispatch/interpreter.h"
#include "core/dispatch/scope.h"

namespace tenon {

class Launcher {
 public:
  // Finds the kernel; nothing runs yet.
  Launcher(Scope& scope, Device& device, const Call& call, const TensorTypes& types);

  const PreparedKernel& kernel() const { return *kernel_; }

  // Allocates the outputs and launches. Throws what the kernel found wrong with a value.
  Tensors run();

 private:
  // An input as the kernel will see it: broadcast, if the op is elementwise.
  struct Layout {
    const int64_t* strides = nullptr;  // NULL: `repeated`.
    Dims repeated;
  };

  void lay_out(size_t i);
  void make_dense();
  Tensors outputs();
  void launch(tenon_launch& launch);
  [[noreturn]] void fail_value();

  Scope& scope_;
  Device& device_;
  const Call& call_;
  const TensorTypes& types_;
  SmallVector<OperandInfo, 4> infos_;
  SmallVector<Layout, 3> layouts_;
  SmallVector<const TensorImpl*, 4> tensors_;
  SmallVector<Tensor, 1> held_;  // Dense copies.
  Ref<const PreparedKernel> held_kernel_;
  const PreparedKernel* kernel_;
};

}  // namespace tenon
