// Immutable lists of tensors of one type, for example to collect the results of a loop.
//
//   TensorList ys(kFloat32, {3});
//   ys = ys.push(x).push(2 * x);
//   Tensor all = ys.stack();  // The shape is {2, 3}.
//
// Blocks and functions take and return lists like tensors. A list is stored as a Tensor, but its
// entries are accessible only through TensorList. See tenon/list.h for details.

#pragma once

#include <tenon/control.hpp>

namespace tenon {

class TensorList {
 public:
  // Creates an empty list with preallocated memory for `capacity` entries.
  explicit TensorList(DType dtype, const Shape& shape = {}, int64_t capacity = 0,
                      SourceLocation at = here())
      : list_(create_tensor(at, [&](tenon_tensor** out) {
          return tenon_list_create(current_scope(at), dtype, shape.data(), shape.size(), capacity,
                                   out);
        })) {}
  // Wraps a tensor that is a list, as a block or a function receives it. Throws if it is not a
  // list.
  TensorList(Tensor list, SourceLocation at = here()) : list_(std::move(list)) {
    if (!is_list(list_)) {
      throw Error(Code::kInvalidArgument,
                  "TensorList: the tensor is not a list; use TensorList::unstack()", at);
    }
  }
  // Creates an empty list for tensors with the type of `entry`.
  static TensorList like(const Tensor& entry, int64_t capacity = 0, SourceLocation at = here()) {
    return create_tensor(at, [&](tenon_tensor** out) {
      return tenon_list_create_like(current_scope(at), entry.get(), capacity, out);
    });
  }
  // Creates a list of the slices of x along its first axis.
  static TensorList unstack(const Tensor& x, SourceLocation at = here()) {
    return create_tensor(at, [&](tenon_tensor** out) {
      return tenon_list_unstack(current_scope(at), x.get(), out);
    });
  }
  static bool is_list(const Tensor& x) { return tenon_tensor_is_list(x.get()); }

  operator const Tensor&() const { return list_; }
  tenon_tensor* get() const { return list_.get(); }

  // Returns a new list, in which the entry at an index is replaced.
  TensorList set(const Tensor& index, const Tensor& x, SourceLocation at = here()) const {
    return create_tensor(at, [&](tenon_tensor** out) {
      return tenon_list_set(current_scope(at), get(), index.get(), x.get(), out);
    });
  }
  // Returns a new list, to which an entry is appended.
  TensorList push(const Tensor& x, SourceLocation at = here()) const {
    return create_tensor(at, [&](tenon_tensor** out) {
      return tenon_list_push(current_scope(at), get(), x.get(), out);
    });
  }

  // Returns the entry at an index; zeros if it was never set.
  Tensor operator[](const Input& index) const {
    return create_tensor(index.at(), [&](tenon_tensor** out) {
      return tenon_list_get(current_scope(index.at()), get(), index.get(), out);
    });
  }
  // Returns the highest index that was set, plus 1, as an int64.
  Tensor length(SourceLocation at = here()) const {
    return create_tensor(
        at, [&](tenon_tensor** out) { return tenon_list_length(current_scope(at), get(), out); });
  }
  // Returns the first `length` entries, stacked along a new first axis. Inside functions, `length`
  // is required and must be computed from constants and shape().
  Tensor stack(const Tensor& length = {}, SourceLocation at = here()) const {
    return create_tensor(at, [&](tenon_tensor** out) {
      return tenon_list_stack(current_scope(at), get(), length.get(), out);
    });
  }
  // Like stack(), but concatenates the entries along their first axis.
  Tensor concat(const Tensor& length = {}, SourceLocation at = here()) const {
    return create_tensor(at, [&](tenon_tensor** out) {
      return tenon_list_concat(current_scope(at), get(), length.get(), out);
    });
  }

 private:
  // Returns the tensor that the C call `make` writes to its argument.
  template <class Make>
  static Tensor create_tensor(SourceLocation at, const Make& make) {
    tenon_tensor* result = nullptr;
    check(make(&result), at);
    return Tensor::adopt(result);
  }

  Tensor list_;
};

}  // namespace tenon
