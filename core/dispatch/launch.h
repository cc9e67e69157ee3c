// One kernel launch: finds the prepared kernel, builds the views of the operands and runs the
// kernel.

#pragma once

#include <tenon/plugin.h>

#include <string_view>

#include "core/dispatch/interpreter.h"
#include "core/dispatch/scope.h"

namespace tenon {

class Launcher {
 public:
  // Finds the kernel; does not run anything.
  Launcher(Scope& scope, Device& device, const Call& call, const TensorTypes& types);

  const PreparedKernel& kernel() const { return *kernel_; }

  // Allocates the outputs and launches. Throws value errors that the kernel reports.
  Tensors run();

 private:
  // Sizes and strides of an operand in the kernel's view. They differ from those of the tensor if
  // the operand is broadcast or OpDef::arrange changes its shape.
  struct Layout {
    bool own = false;
    StridedShape shape;
  };

  // Determines the layout of input i in the kernel's view.
  void determine_layout(size_t i);
  // Determines the layouts of the outputs that OpDef::arrange changes.
  void arrange_outputs();
  const int64_t* strides_of(size_t i) const {
    return layouts_[i].own ? layouts_[i].shape.strides.data() : tensors_[i]->strides.data();
  }
  // Copies strided inputs to dense tensors.
  void make_dense();
  // Allocates the outputs, or reuses the memory of donated inputs.
  Tensors outputs();
  // Launches now, or enqueues the launch on an asynchronous device.
  void launch(tenon_launch& launch, const Tensors& results);
  void enqueue(tenon_launch& launch, const Tensors& results, const Storage* workspace);

  Scope& scope_;
  Device& device_;
  const Call& call_;
  const TensorTypes& types_;
  SmallVector<OperandInfo, 4> infos_;
  SmallVector<Layout, 3> layouts_;
  TensorTypes arranged_;  // Output types in the kernel's view; empty if equal to types_.
  SmallVector<StridedShape, 1> arranged_outputs_;
  SmallVector<const TensorImpl*, 4> tensors_;
  SmallVector<Tensor, 1> held_;  // Keeps dense copies alive.
  Ref<const PreparedKernel> held_kernel_;
  const PreparedKernel* kernel_;
};

// Reports the scope's error record if the kernel wrote a value error into it.
void check_record(Scope& scope, Device& device, const OpDef& op);
// Reports the error record and clears it. `location` is the user's source line.
void report_record(Scope& scope, Device& device, const OpDef& op, std::string_view location);

// Copies the scope's error record to the device before a launch and back after it. For synchronous
// devices whose memory is not visible to the host.
class RecordOnDevice {
 public:
  RecordOnDevice(Scope& scope, Device& device, tenon_launch& launch);
  void copy_to_host();  // Copies the record back, after the launch.

 private:
  Scope& scope_;
  Device& device_;
  Ref<Storage> device_record_;
};

}  // namespace tenon
