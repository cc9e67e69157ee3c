#include "capi/src/backward.h"

namespace tenon::capi {

BackwardArgs::BackwardArgs(const VjpArgs& args) : args_(args) {
  for (size_t i = 0; i < args.n_inputs(); ++i) {
    const bool is_absent = args.input_type(i).dtype == DType::kNone;
    inputs_.push_back(is_absent ? nullptr : to_handle(args.input(i).get()));
  }
  for (size_t i = 0; i < args.n_outputs(); ++i) {
    outputs_.push_back(to_handle(args.output(i).get()));
    kept_.push_back(args.cotangent(i));
    cotangents_.push_back(to_handle(kept_.back().get()));
  }
  c_ = {.struct_size = sizeof c_,
        .reserved = 0,
        .inputs = inputs_.data(),
        .n_inputs = inputs_.size(),
        .outputs = outputs_.data(),
        .cotangents = cotangents_.data(),
        .n_outputs = outputs_.size()};
}

Tensors BackwardArgs::take(Filled& filled, tenon_error* error) const {
  const std::vector<Tensor> given = filled.take(error, "the derivative", Entries::kNullable);
  Tensors gradients;
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i]) {
      const TensorType& type = args_.input_type(i);
      require(given[i]->type.dtype == type.dtype && given[i]->type.shape == type.shape,
              "the derivative gives {} for input {}, which is {}", given[i]->type, i, type);
    }
    gradients.push_back(given[i]);
  }
  return gradients;
}

}  // namespace tenon::capi
