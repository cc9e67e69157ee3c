#include <tenon/dlpack.h>

#include <memory>

#include "capi/src/boundary.h"
#include "capi/src/host_memory.h"

using namespace tenon::capi;
using tenon::Code;
using tenon::Tensor;

namespace {

// Keeps an exported tensor alive, and holds the DLPack struct that its consumer receives.
struct ExportedTensor {
  tenon_dlpack dlpack = {};
  Tensor tensor;
};

bool is_subbyte(tenon_dtype dtype) { return TENON_DTYPE_BITS(dtype) < 8; }

tenon_dlpack_dtype to_dlpack(tenon_dtype dtype) {
  return {static_cast<uint8_t>(TENON_DTYPE_CODE(dtype)),
          static_cast<uint8_t>(TENON_DTYPE_BITS(dtype)),
          static_cast<uint16_t>(TENON_DTYPE_LANES(dtype))};
}

void require_no_stream(const void* stream) {
  if (stream) fail_argument("stream", "must be NULL, because host memory has no streams");
}

void delete_dlpack(void* dlpack) {
  auto* self = static_cast<tenon_dlpack*>(dlpack);
  if (self && self->deleter) self->deleter(self);
}

}  // namespace

tenon_error* tenon_tensor_to_dlpack(tenon_scope* scope, tenon_tensor* tensor, void* stream,
                                    tenon_dlpack** out_dlpack) {
  clear_output(out_dlpack);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_dlpack, "out_dlpack");
    const Tensor x = get_value(self, tensor, "tensor");
    if (x->is_scalar_value()) fail_argument("tensor", "is an inline scalar, which has no memory");
    tenon::require_code(x->storage->device->host_visible(), Code::kUnimplemented,
                        "DLPack has no device type for the memory of {}",
                        x->storage->device->name());
    require_no_stream(stream);
    tenon::wait_for(self, *x);
    tenon::note_host_read();

    auto loan = std::make_unique<ExportedTensor>();
    loan->tensor = x;
    loan->dlpack.version = {TENON_DLPACK_MAJOR, TENON_DLPACK_MINOR};
    loan->dlpack.manager = loan.get();
    loan->dlpack.deleter = [](tenon_dlpack* dlpack) {
      delete static_cast<ExportedTensor*>(dlpack->manager);
    };
    loan->dlpack.flags = TENON_DLPACK_READ_ONLY;
    if (is_subbyte(tenon::to_c(x->type.dtype))) loan->dlpack.flags |= TENON_DLPACK_SUBBYTE_PADDED;
    loan->dlpack.tensor = {.data = x->data(),
                           .device = {TENON_DLPACK_CPU, 0},
                           .rank = static_cast<int32_t>(x->rank()),
                           .dtype = to_dlpack(tenon::to_c(x->type.dtype)),
                           .shape = x->type.shape.data(),
                           .strides = x->strides.data(),
                           .byte_offset = 0};
    *out_dlpack = &loan.release()->dlpack;
  });
}

tenon_error* tenon_tensor_from_dlpack(tenon_scope* scope, tenon_dlpack* dlpack, void* stream,
                                      bool copy, tenon_tensor** out_tensor) {
  clear_output(out_tensor);
  Payload loan(dlpack, dlpack ? delete_dlpack : nullptr);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(dlpack, "dlpack");
    require_pointer(out_tensor, "out_tensor");
    tenon::require(dlpack->version.major == TENON_DLPACK_MAJOR,
                   "dlpack has version {}, but only version {} is supported", dlpack->version.major,
                   TENON_DLPACK_MAJOR);
    const tenon_dlpack_tensor& given = dlpack->tensor;
    tenon::require_code(
        given.device.type == TENON_DLPACK_CPU, Code::kUnimplemented,
        "dlpack is on a device of type {}, but only host memory (type {}) is supported",
        given.device.type, TENON_DLPACK_CPU);
    require_no_stream(stream);
    if (given.rank < 0) fail_argument("dlpack", "has a negative rank");
    const tenon_dtype dtype = TENON_DTYPE(given.dtype.code, given.dtype.bits, given.dtype.lanes);
    tenon::require_code(
        !is_subbyte(dtype) || dlpack->flags & TENON_DLPACK_SUBBYTE_PADDED, Code::kUnimplemented,
        "dlpack packs elements of {} bits, but only elements in bytes of their own are supported",
        TENON_DTYPE_BITS(dtype));
    const tenon::TensorType type = get_type(dtype, given.shape, static_cast<size_t>(given.rank));
    auto* data = static_cast<char*>(given.data);
    const HostArray array =
        host_array(type, given.strides, data ? data + given.byte_offset : nullptr);
    if (array.bytes > 0) require_pointer(data, "dlpack.tensor.data");
    give(copy ? copy_from_host(self, array) : tensor_of_host_memory(self, array, std::move(loan)),
         out_tensor);
  });
}
