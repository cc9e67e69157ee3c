// One kernel launch: finding the prepared kernel, laying out the views, running it.

#pragma once

#include <tenon/plugin.h>

#include <string_view>

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
  // How the kernel sees an operand, where that is not as the tensor says: broadcast, or arranged
  // by the op.
  struct Layout {
    bool own = false;
    StridedShape shape;
  };

  void lay_out(size_t i);
  void arrange_outputs();
  const int64_t* strides_of(size_t i) const {
    return layouts_[i].own ? layouts_[i].shape.strides.data() : tensors_[i]->strides.data();
  }
  void make_dense();
  Tensors outputs();
  void launch(tenon_launch& launch, const Tensors& results);
  void enqueue(tenon_launch& launch, const Tensors& results);

  Scope& scope_;
  Device& device_;
  const Call& call_;
  const TensorTypes& types_;
  SmallVector<OperandInfo, 4> infos_;
  SmallVector<Layout, 3> layouts_;
  TensorTypes arranged_;  // The outputs, as the kernel sees them; empty: as they are.
  SmallVector<StridedShape, 1> arranged_outputs_;
  SmallVector<const TensorImpl*, 4> tensors_;
  SmallVector<Tensor, 1> held_;  // Dense copies.
  Ref<const PreparedKernel> held_kernel_;
  const PreparedKernel* kernel_;
};

// Reports what a kernel that ran wrote into the scope's error record, if it wrote something.
void check_record(Scope& scope, Device& device, const OpDef& op);
// Reports it, and clears the record. `location` is the user's source line.
void report_record(Scope& scope, Device& device, const OpDef& op, std::string_view location);

// On a synchronous device whose memory the host does not see: the scope's error record goes there
// before a launch, and back behind it.
class RecordOnDevice {
 public:
  RecordOnDevice(Scope& scope, Device& device, tenon_launch& launch);
  void read();

 private:
  Scope& scope_;
  Device& device_;
  Ref<Storage> there_;
};

}  // namespace tenon
