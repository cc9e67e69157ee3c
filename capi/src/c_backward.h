// Converts between a derivative that the user defined in C and the core's interface of derivatives.

#pragma once

#include <tenon/custom.h>

#include "capi/src/handles.h"

namespace tenon::capi {

// The arguments of one call of the user's derivative.
class BackwardArgs {
 public:
  explicit BackwardArgs(const VjpArgs& args);

  const tenon_backward_args* get() const { return &c_; }
  size_t n_inputs() const { return inputs_.size(); }

  // Returns the gradients that the derivative filled in. Throws `error` if it is not NULL. Checks
  // that each gradient is absent or has the type of its input.
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
