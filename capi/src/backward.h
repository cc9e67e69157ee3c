// A derivative that the user wrote, as the core calls it.

#pragma once

#include <tenon/custom.h>

#include "capi/src/handles.h"

namespace tenon::capi {

// What the user's function sees of a call; it lives for one call of it.
class BackwardArgs {
 public:
  explicit BackwardArgs(const VjpArgs& args);

  const tenon_backward_args* get() const { return &c_; }
  size_t n_inputs() const { return inputs_.size(); }

  // Takes the gradients, each of its input's type or absent.
  Tensors take(Filled& filled, tenon_error* error) const;

 private:
  const VjpArgs& args_;
  std::vector<tenon_tensor*> inputs_;
  std::vector<tenon_tensor*> outputs_;
  std::vector<Tensor> kept_;
  std::vector<tenon_tensor*> cotangents_;
  tenon_backward_args c_ = {};
};

}  // namespace tenon::capi
