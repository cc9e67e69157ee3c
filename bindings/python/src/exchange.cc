// Conversion of tensors from and to host memory, NumPy and other libraries: buffers and DLPack.
#include <cstdlib>
#include <cstring>

#include "native.h"

namespace tenon_python {

namespace {

// ---- buffers -----------------------------------------------------------------------------------

// A Py_buffer that is released when Tenon no longer needs its memory.
struct KeptBuffer {
  Py_buffer buffer;
};

// The destructor of a capsule that owns a KeptBuffer.
void release_buffer_object(PyObject* capsule) {
  auto* kept = static_cast<KeptBuffer*>(PyCapsule_GetPointer(capsule, nullptr));
  PyBuffer_Release(&kept->buffer);
  delete kept;
}

// Creates a tensor from an object with a buffer. Without `copy`, the tensor uses the buffer's
// memory.
nb::object from_buffer(nb::handle object, nb::handle dtype, nb::handle shape, bool copy) {
  const tenon_dtype code = to_dtype(dtype);
  const std::vector<int64_t> sizes = to_sizes(shape);
  auto* kept = new KeptBuffer;
  if (PyObject_GetBuffer(object.ptr(), &kept->buffer, PyBUF_STRIDES) != 0) {
    delete kept;
    nb::raise_python_error();
  }
  nb::object owner = nb::steal(PyCapsule_New(kept, nullptr, release_buffer_object));
  const Py_buffer& buffer = kept->buffer;
  tenon_scope* here = scope();
  tenon_tensor* result = nullptr;
  const bool is_dense = PyBuffer_IsContiguous(&buffer, 'C');
  if (copy && is_dense) {
    run_blocking([&] {
      return tenon_tensor_from_data(here, code, sizes.data(), sizes.size(), buffer.buf,
                                    static_cast<size_t>(buffer.len), &result);
    });
    return take(result);
  }
  if (copy) throw nb::value_error("tensor: a buffer must be contiguous to be copied");
  const int64_t item = TENON_DTYPE_SIZE(code);
  std::vector<int64_t> strides;
  // C takes the lowest address of all elements, which precedes `buf` if strides are negative.
  char* first = static_cast<char*>(buffer.buf);
  size_t bytes = buffer.len > 0 ? item : 0;
  for (int axis = 0; axis < buffer.ndim; ++axis) {
    strides.push_back(buffer.strides[axis] / item);
    if (buffer.len == 0 || buffer.shape[axis] < 2) continue;
    const Py_ssize_t reach = (buffer.shape[axis] - 1) * buffer.strides[axis];
    if (reach < 0) first += reach;
    bytes += static_cast<size_t>(std::abs(reach));
  }
  run_blocking([&] {
    return tenon_tensor_from_host(here, code, sizes.data(), sizes.size(), strides.data(), first,
                                  bytes, {release_payload, owner.release().ptr()}, &result);
  });
  return take(result);
}

// Copies the elements of `tensor` into the writable buffer of `target`.
void read_into(nb::handle tensor, nb::handle target) {
  Operand operand;
  if (!operand.set(tensor.ptr())) nb::raise_python_error();
  Py_buffer buffer;
  if (PyObject_GetBuffer(target.ptr(), &buffer, PyBUF_CONTIG) != 0) nb::raise_python_error();
  struct Owner {
    Py_buffer* buffer;
    ~Owner() { PyBuffer_Release(buffer); }
  } const owner{&buffer};
  tenon_scope* here = scope();
  run_blocking([&] {
    return tenon_tensor_read(here, operand.handle, buffer.buf, static_cast<size_t>(buffer.len));
  });
}

// ---- DLPack ------------------------------------------------------------------------------------

// The DLPack struct before version 1, which older libraries still use.
struct LegacyDlpack {
  tenon_dlpack_tensor tensor;
  void* manager;
  void (*deleter)(LegacyDlpack* self);
};

constexpr const char* kVersioned = "dltensor_versioned";
constexpr const char* kLegacy = "dltensor";

// Calls the deleter of an exported tensor that no library has imported.
template <typename Struct>
void delete_unused(PyObject* capsule, const char* name) {
  // A consumer renames the capsule when it takes ownership, and frees the tensor itself.
  if (!PyCapsule_IsValid(capsule, name)) return;
  auto* exported = static_cast<Struct*>(PyCapsule_GetPointer(capsule, name));
  if (exported->deleter) exported->deleter(exported);
}

// The capsule destructors for the two DLPack structs. Each frees the exported tensor unless a
// library has imported it.
void delete_versioned(PyObject* capsule) { delete_unused<tenon_dlpack>(capsule, kVersioned); }
void delete_legacy(PyObject* capsule) { delete_unused<LegacyDlpack>(capsule, kLegacy); }

// Exports a tensor as a capsule with a versioned or a legacy DLPack struct.
nb::object to_dlpack(nb::handle tensor, bool versioned) {
  Operand operand;
  if (!operand.set(tensor.ptr(), false)) nb::raise_python_error();
  tenon_dlpack* exported = nullptr;
  tenon_scope* here = scope();
  run_blocking([&] { return tenon_tensor_to_dlpack(here, operand.handle, nullptr, &exported); });
  if (versioned) return nb::steal(PyCapsule_New(exported, kVersioned, delete_versioned));
  if (exported->flags & TENON_DLPACK_SUBBYTE_PADDED) {
    exported->deleter(exported);
    throw nb::buffer_error("elements of less than 8 bits need DLPack 1.0 or later");
  }
  auto* legacy = new LegacyDlpack{exported->tensor, exported, [](LegacyDlpack* self) {
                                    auto* inner = static_cast<tenon_dlpack*>(self->manager);
                                    inner->deleter(inner);
                                    delete self;
                                  }};
  return nb::steal(PyCapsule_New(legacy, kLegacy, delete_legacy));
}

// Runs the deleter of another library's tensor later, on a thread that holds the GIL, because the
// deleter may need the GIL.
template <typename Struct>
void delete_later(Struct* foreign) {
  PyGILState_STATE state = PyGILState_Ensure();
  PyObject* capsule = PyCapsule_New(foreign, nullptr, [](PyObject* self) {
    auto* kept = static_cast<Struct*>(PyCapsule_GetPointer(self, nullptr));
    if (kept->deleter) kept->deleter(kept);
  });
  PyGILState_Release(state);
  release_later(capsule);
}

// Imports the tensor in a capsule, and marks the capsule as used.
nb::object from_dlpack(nb::handle capsule, bool copy) {
  tenon_dlpack* imported;
  if (PyCapsule_IsValid(capsule.ptr(), kVersioned)) {
    imported = static_cast<tenon_dlpack*>(PyCapsule_GetPointer(capsule.ptr(), kVersioned));
    PyCapsule_SetName(capsule.ptr(), "used_dltensor_versioned");
  } else {
    auto* legacy = static_cast<LegacyDlpack*>(PyCapsule_GetPointer(capsule.ptr(), kLegacy));
    if (!legacy) nb::raise_python_error();
    imported = new tenon_dlpack{{TENON_DLPACK_MAJOR, TENON_DLPACK_MINOR},
                                legacy,
                                [](tenon_dlpack* self) {
                                  delete_later(static_cast<LegacyDlpack*>(self->manager));
                                  delete self;
                                },
                                0,
                                legacy->tensor};
    PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  }
  tenon_tensor* result = nullptr;
  tenon_scope* here = scope();
  run_blocking([&] { return tenon_tensor_from_dlpack(here, imported, nullptr, copy, &result); });
  return take(result);
}

}  // namespace

// Adds the functions that exchange tensors with buffers and DLPack to the module tenon._native.
void define_exchange(nb::module_& module) {
  module.def("from_buffer", &from_buffer);
  module.def("read_into", &read_into);
  module.def("to_dlpack", &to_dlpack);
  module.def("from_dlpack", &from_dlpack);
}

}  // namespace tenon_python
