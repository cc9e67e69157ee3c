#include <tenon/list.h>

#include "capi/src/boundary.h"
#include "core/base/error.h"
#include "core/ops/definition/formulas.h"
#include "core/trace/control/control.h"
#include "core/trace/control/lists.h"

using namespace tenon::capi;
using tenon::Dims;
using tenon::Size;
using tenon::Tensor;
using tenon::TensorType;

namespace {

Tensor get_list(const tenon::Scope& scope, const tenon_tensor* handle) {
  Tensor list = get_tensor(scope, handle, "list");
  if (!list->type.lists) {
    fail_argument("list", tenon::format("must be a list of tensors, but is {}", {list->type}));
  }
  return list;
}

// Returns the number of entries to stack: the value of `length`, or that of the list if it is NULL.
Size get_length(tenon::Scope& scope, const Tensor& list, const tenon_tensor* length) {
  const Tensor n = length ? get_tensor(scope, length, "length") : list_length(list);
  return size_in(scope, n, "list_stack: the length");
}

}  // namespace

bool tenon_tensor_is_list(const tenon_tensor* tensor) {
  const tenon::TensorImpl* self = get_or_null(tensor);
  return self && self->type.lists > 0;
}

tenon_error* tenon_list_create(tenon_scope* scope, tenon_dtype dtype, const int64_t* shape,
                               size_t rank, int64_t capacity, tenon_tensor** out_list) {
  clear_output(out_list);
  return boundary_in(scope, [&](tenon::Scope&) {
    require_pointer(out_list, "out_list");
    if (capacity < 0) fail_argument("capacity", "is negative");
    give(tenon::list_create(get_type(dtype, shape, rank), capacity), out_list);
  });
}

tenon_error* tenon_list_create_like(tenon_scope* scope, const tenon_tensor* entry, int64_t capacity,
                                    tenon_tensor** out_list) {
  clear_output(out_list);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_list, "out_list");
    if (capacity < 0) fail_argument("capacity", "is negative");
    const Tensor like = get_tensor(self, entry, "entry");
    TensorType type = like->type;
    type.weak = false;
    tenon::Device& device = like->storage ? *like->storage->device : self.device();
    const tenon::Scope::OnDevice on(self, device);
    give(tenon::list_create(type, capacity), out_list);
  });
}

tenon_error* tenon_list_set(tenon_scope* scope, const tenon_tensor* list, const tenon_tensor* index,
                            const tenon_tensor* tensor, tenon_tensor** out_list) {
  clear_output(out_list);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_list, "out_list");
    const Tensor to = get_list(self, list), at = get_tensor(self, index, "index");
    give(tenon::list_set(to, at, get_tensor(self, tensor, "tensor")), out_list);
  });
}

tenon_error* tenon_list_push(tenon_scope* scope, const tenon_tensor* list,
                             const tenon_tensor* tensor, tenon_tensor** out_list) {
  clear_output(out_list);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_list, "out_list");
    const Tensor to = get_list(self, list), x = get_tensor(self, tensor, "tensor");
    give(tenon::list_set(to, list_length(to), x), out_list);
  });
}

tenon_error* tenon_list_get(tenon_scope* scope, const tenon_tensor* list, const tenon_tensor* index,
                            tenon_tensor** out_tensor) {
  clear_output(out_tensor);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_tensor, "out_tensor");
    const Tensor from = get_list(self, list);
    give(tenon::list_get(from, get_tensor(self, index, "index")), out_tensor);
  });
}

tenon_error* tenon_list_length(tenon_scope* scope, const tenon_tensor* list,
                               tenon_tensor** out_length) {
  clear_output(out_length);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_length, "out_length");
    give(tenon::list_length(get_list(self, list)), out_length);
  });
}

tenon_error* tenon_list_stack(tenon_scope* scope, const tenon_tensor* list,
                              const tenon_tensor* length, tenon_tensor** out_tensor) {
  clear_output(out_tensor);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_tensor, "out_tensor");
    const Tensor from = get_list(self, list);
    give(tenon::list_stack(from, get_length(self, from, length)), out_tensor);
  });
}

tenon_error* tenon_list_concat(tenon_scope* scope, const tenon_tensor* list,
                               const tenon_tensor* length, tenon_tensor** out_tensor) {
  clear_output(out_tensor);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_tensor, "out_tensor");
    const Tensor from = get_list(self, list);
    if (from->rank() == 0) {
      fail_argument("list", tenon::format("has entries of type {}, which have no axis to "
                                          "concatenate along; use tenon_list_stack",
                                          {tenon::element_of(from->type)}));
    }
    const Size n = get_length(self, from, length);
    Dims shape = from->shape();
    shape[0] = n * shape[0];
    give(reshape(tenon::list_stack(from, n), shape), out_tensor);
  });
}

tenon_error* tenon_list_unstack(tenon_scope* scope, const tenon_tensor* tensor,
                                tenon_tensor** out_list) {
  clear_output(out_list);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_list, "out_list");
    give(tenon::list_unstack(get_tensor(self, tensor, "tensor")), out_list);
  });
}
