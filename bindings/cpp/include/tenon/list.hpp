// Lists of tensors of one type, as values: what loops gather and go through.
//
//   TensorList ys(kFloat32, {3});
//   ys = ys.push(x).push(2 * x);
//   Tensor all = ys.stack();  // Of shape {2, 3}.
//
// Blocks and functions take and give them as they do tensors: a list is a Tensor that only these
// calls look into. tenon/list.h says the rest.

#pragma once

#include <tenon/control.hpp>

namespace tenon {

class TensorList {
 public:
  // Empty. For `capacity` entries there is memory from the start.
  explicit TensorList(DType dtype, const Shape& shape = {}, int64_t capacity = 0,
                      SourceLocation at = here())
      : list_(made(at, [&](tenon_tensor** out) {
          return tenon_list_create(current_scope(at), dtype, shape.data(), shape.size(), capacity,
                                   out);
        })) {}
  // What a block or a function was given, or gave.
  TensorList(Tensor list, SourceLocation at = here()) : list_(std::move(list)) {
    if (!is_list(list_)) {
      throw Error(Code::kInvalidArgument, "TensorList: the tensor is no list: use unstack", at);
    }
  }
  // Empty, of tensors of the type that one has.
  static TensorList like(const Tensor& entry, int64_t capacity = 0, SourceLocation at = here()) {
    return made(at, [&](tenon_tensor** out) {
      return tenon_list_create_like(current_scope(at), entry.get(), capacity, out);
    });
  }
  // The parts of a tensor along its first axis.
  static TensorList unstack(const Tensor& x, SourceLocation at = here()) {
    return made(at, [&](tenon_tensor** out) {
      return tenon_list_unstack(current_scope(at), x.get(), out);
    });
  }
  static bool is_list(const Tensor& x) { return tenon_tensor_is_list(x.get()); }

  operator const Tensor&() const { return list_; }
  tenon_tensor* get() const { return list_.get(); }

  // The list with another entry, at an index or behind its last.
  TensorList set(const Tensor& index, const Tensor& x, SourceLocation at = here()) const {
    return made(at, [&](tenon_tensor** out) {
      return tenon_list_set(current_scope(at), get(), index.get(), x.get(), out);
    });
  }
  TensorList push(const Tensor& x, SourceLocation at = here()) const {
    return made(at, [&](tenon_tensor** out) {
      return tenon_list_push(current_scope(at), get(), x.get(), out);
    });
  }

  // Zeros where nothing was set.
  Tensor operator[](const Input& index) const {
    return made(index.at(), [&](tenon_tensor** out) {
      return tenon_list_get(current_scope(index.at()), get(), index.get(), out);
    });
  }
  // One more than the last index that was set, an int64.
  Tensor length(SourceLocation at = here()) const {
    return made(
        at, [&](tenon_tensor** out) { return tenon_list_length(current_scope(at), get(), out); });
  }
  // The first entries along a new first axis, or one behind the other along the one that they have.
  // Inside of functions the length must be given, made of numbers and of what shape() gives.
  Tensor stack(const Tensor& length = {}, SourceLocation at = here()) const {
    return made(at, [&](tenon_tensor** out) {
      return tenon_list_stack(current_scope(at), get(), length.get(), out);
    });
  }
  Tensor concat(const Tensor& length = {}, SourceLocation at = here()) const {
    return made(at, [&](tenon_tensor** out) {
      return tenon_list_concat(current_scope(at), get(), length.get(), out);
    });
  }

 private:
  template <class Make>
  static Tensor made(SourceLocation at, const Make& make) {
    tenon_tensor* result = nullptr;
    check(make(&result), at);
    return Tensor::adopt(result);
  }

  Tensor list_;
};

}  // namespace tenon
