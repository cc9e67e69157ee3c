// Adapts a user-defined derivative to the interface of the core.

#pragma once

#include <tenon/custom.h>

#include "capi/src/handles.h"

namespace tenon::capi {

// The arguments of the user's function; lives for one call of it.
class BackwardArgs {
 public:
  explicit BackwardArgs(const VjpArgs& args);

  const tenon_backward_args* get() const { return &c_; }
  size_t n_inputs() const { return inputs_.size(); }

  // Takes the gradients that the function filled in and checks that each is absent or has its
  // input's type.
  Tensors take(CallbackOutputs& filled, tenon_error* error) const;

 private:
  const VjpArgs& args_;
  std::vector<tenon_tensor*> inputs_;
  std::vector<tenon_tensor*> outputs_;
  std::vector<Tensor> kept_;
  std::vector<tenon_tensor*> cotangents_;
  tenon_backward_args c_ = {};
};

}  // namespace tenon::capi
