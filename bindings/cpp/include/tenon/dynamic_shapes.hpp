// Ops whose size attributes are given as tensors.
//
//   const Tensor n = shape(x)[0];
//   dynamic_reshape(y, stack({n, 2}));
//
// In a traced function, sizes computed from shape() stay symbolic, so that one trace serves all
// sizes. tenon/call.h lists the ops that may compute them. If a size depends on the values of other
// tensors, the host reads these when the function runs, and waits for the device.

#pragma once

#include <initializer_list>
#include <span>
#include <tenon/control.hpp>
#include <tenon/operators.hpp>
#include <utility>
#include <vector>

namespace tenon {

using SizeArguments = std::initializer_list<std::pair<std::string_view, Tensor>>;

// Calls an op by number. `attrs` is its C attribute struct, or nullptr. `sizes` replaces size
// attributes by tensors:
//
//   call_sized(TENON_OP_random_uniform, nullptr, {{"shape", shape(x)}}, {low, high});
inline std::vector<Tensor> call_sized(uint32_t op, const void* attrs, SizeArguments sizes,
                                      std::initializer_list<Tensor> inputs, size_t n_outputs = 1) {
  std::vector<tenon_size_argument> arguments;
  for (const auto& [name, value] : sizes) {
    arguments.push_back({.attribute = detail::c_text(name), .sizes = value.get()});
  }
  std::vector<tenon_tensor*> given, taken(n_outputs);
  for (const Tensor& input : inputs) given.push_back(input.get());
  check(tenon_call_sized(current_scope(), op, attrs, arguments.data(), arguments.size(),
                         given.data(), given.size(), taken.data(), taken.size()));
  std::vector<Tensor> outputs;
  for (tenon_tensor* output : taken) outputs.push_back(Tensor::adopt(output));
  return outputs;
}

// Returns a tensor filled with `value`. In this and the next functions, `sizes` is a rank-1 int64
// tensor.
inline Tensor dynamic_full(const Tensor& sizes, const Tensor& value, DType dtype) {
  return call_sized(TENON_OP_fill, nullptr, {{"shape", sizes}}, {cast(value, {.to = dtype})})[0];
}
inline Tensor dynamic_zeros(const Tensor& sizes, DType dtype = kFloat32) {
  return dynamic_full(sizes, 0, dtype);
}
inline Tensor dynamic_ones(const Tensor& sizes, DType dtype = kFloat32) {
  return dynamic_full(sizes, 1, dtype);
}
inline Tensor dynamic_iota(const Tensor& sizes, const IotaAttrs& attrs = {}) {
  const tenon_iota_attrs c_attrs = attrs.c();
  return call_sized(TENON_OP_iota, &c_attrs, {{"shape", sizes}}, {})[0];
}
inline Tensor dynamic_broadcast_to(const Tensor& x, const Tensor& sizes) {
  return call_sized(TENON_OP_broadcast_to, nullptr, {{"shape", sizes}}, {x})[0];
}
// Reshapes x. At most one size may be the constant -1; it is inferred from the other sizes.
inline Tensor dynamic_reshape(const Tensor& x, const Tensor& sizes) {
  return call_sized(TENON_OP_reshape, nullptr, {{"shape", sizes}}, {x})[0];
}
// Slices x. `starts` and `ends` are rank-1 int64 tensors with one element for each sliced axis.
inline Tensor dynamic_slice(const Tensor& x, const Tensor& starts, const Tensor& ends,
                            const SliceAttrs& attrs = {}) {
  const tenon_slice_attrs c_attrs = attrs.c();
  return call_sized(TENON_OP_slice, &c_attrs, {{"starts", starts}, {"ends", ends}}, {x})[0];
}

// Returns a tensor with the shape and dtype of x, filled with `value`.
inline Tensor full_like(const Tensor& x, const Tensor& value) {
  return dynamic_full(shape(x), value, x.dtype());
}
// Returns zeros with the shape and dtype of x.
inline Tensor zeros_like(const Tensor& x) { return full_like(x, 0); }
// Returns ones with the shape and dtype of x.
inline Tensor ones_like(const Tensor& x) { return full_like(x, 1); }

}  // namespace tenon
