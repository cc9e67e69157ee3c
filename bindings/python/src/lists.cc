// Lists of tensors. tenon/_lists.py wraps them as TensorList and TensorArray.
#include "native.h"

namespace tenon_python {

namespace {

// A tensor, list or index argument of a function in this file. None becomes NULL.
struct Argument {
  explicit Argument(nb::handle object) {
    if (!object.is_none() && !operand.set(object.ptr())) nb::raise_python_error();
  }
  operator const tenon_tensor*() const { return operand.handle; }
  Operand operand;
};

// Runs a C call without the GIL, and returns the tensor that it creates.
template <typename Call>
nb::object result_of(Call&& call) {
  tenon_tensor* result = nullptr;
  tenon_scope* here = scope();
  run_blocking([&] { return call(here, &result); });
  return take(result);
}

}  // namespace

// Adds the functions for lists of tensors to the module tenon._native.
void define_lists(nb::module_& module) {
  module.def("list_create", [](nb::handle dtype, nb::handle shape, int64_t capacity) {
    const std::vector<int64_t> sizes = to_sizes(shape);
    const tenon_dtype code = to_dtype(dtype);
    return result_of([&](tenon_scope* here, tenon_tensor** out) {
      return tenon_list_create(here, code, sizes.data(), sizes.size(), capacity, out);
    });
  });
  module.def("list_create_like", [](nb::handle entry, int64_t capacity) {
    const Argument like(entry);
    return result_of([&](tenon_scope* here, tenon_tensor** out) {
      return tenon_list_create_like(here, like, capacity, out);
    });
  });
  module.def("list_set", [](nb::handle list, nb::handle index, nb::handle tensor) {
    const Argument of(list), at(index), entry(tensor);
    return result_of([&](tenon_scope* here, tenon_tensor** out) {
      return tenon_list_set(here, of, at, entry, out);
    });
  });
  module.def("list_push", [](nb::handle list, nb::handle tensor) {
    const Argument of(list), entry(tensor);
    return result_of([&](tenon_scope* here, tenon_tensor** out) {
      return tenon_list_push(here, of, entry, out);
    });
  });
  module.def("list_get", [](nb::handle list, nb::handle index) {
    const Argument of(list), at(index);
    return result_of(
        [&](tenon_scope* here, tenon_tensor** out) { return tenon_list_get(here, of, at, out); });
  });
  module.def("list_length", [](nb::handle list) {
    const Argument of(list);
    return result_of(
        [&](tenon_scope* here, tenon_tensor** out) { return tenon_list_length(here, of, out); });
  });
  module.def(
      "list_stack",
      [](nb::handle list, nb::handle length) {
        const Argument of(list), n(length);
        return result_of([&](tenon_scope* here, tenon_tensor** out) {
          return tenon_list_stack(here, of, n, out);
        });
      },
      nb::arg("list"), nb::arg("length").none());
  module.def(
      "list_concat",
      [](nb::handle list, nb::handle length) {
        const Argument of(list), n(length);
        return result_of([&](tenon_scope* here, tenon_tensor** out) {
          return tenon_list_concat(here, of, n, out);
        });
      },
      nb::arg("list"), nb::arg("length").none());
  module.def("list_unstack", [](nb::handle tensor) {
    const Argument of(tensor);
    return result_of(
        [&](tenon_scope* here, tenon_tensor** out) { return tenon_list_unstack(here, of, out); });
  });
}

}  // namespace tenon_python
