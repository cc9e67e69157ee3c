#include "capi/src/c_backward.h"

#include "core/dispatch/dispatch.h"
#include "core/trace/control/control.h"

namespace tenon::capi {

BackwardArgs::BackwardArgs(const VjpArgs& args) : args_(args) {
  Scope& scope = current_scope();
  // The callback receives new handles. Thus it can distinguish them from tensors that it captured.
  const auto own = [&](const Tensor& x) {
    kept_.push_back(tracked_alias(scope, x));
    return to_handle(kept_.back().get());
  };
  for (size_t i = 0; i < args.n_inputs(); ++i) {
    const bool is_absent = args.input_type(i).dtype == DType::kNone;
    inputs_.push_back(is_absent ? nullptr : own(args.input(i)));
  }
  for (size_t i = 0; i < args.n_outputs(); ++i) {
    outputs_.push_back(own(args.output(i)));
    cotangents_.push_back(own(args.cotangent(i)));
  }
  c_ = {.struct_size = sizeof c_,
        .reserved = 0,
        .inputs = inputs_.data(),
        .n_inputs = inputs_.size(),
        .outputs = outputs_.data(),
        .cotangents = cotangents_.data(),
        .n_outputs = outputs_.size()};
}

// Returns the gradients in `filled`, after checking their types. Throws `error` if it is not NULL.
Tensors BackwardArgs::take(CallbackOutputs& filled, tenon_error* error) const {
  const std::vector<Tensor> given = filled.take(error, "the derivative", Entries::kNullable);
  Tensors gradients;
  for (size_t i = 0; i < given.size(); ++i) {
    Tensor g = given[i];
    if (g) {
      const TensorType& type = args_.input_type(i);
      g = as_tensor(g, type.dtype);
      require(g->type.dtype == type.dtype && g->type.shape == type.shape,
              "the derivative returned {} for input {}, but the input is {}", g->type, i, type);
    }
    gradients.push_back(std::move(g));
  }
  return gradients;
}

}  // namespace tenon::capi
