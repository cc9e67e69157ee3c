// The heart of Tenon: every operation is one apply(). Read dispatch.cc.

#pragma once

#include <string>

#include "core/dispatch/interpreter.h"
#include "core/dispatch/scope.h"
#include "core/ops/op.h"

namespace tenon {

// Applies an op in a scope: promotes, then hands the call to the innermost interpreter. Throws what
// the user got wrong, with the op's name; then nothing has happened.
Tensors apply(Scope& scope, const OpDef& op, AnyAttrs attrs, Inputs inputs);

// Runs a call now, whatever records.
Tensors eager(Scope& scope, const Call& call);

// The device that the tensors among `inputs` lie on, or the scope's if there are none. Two are an
// error that names both.
Device& common_device(Scope& scope, Inputs inputs);

// A new dense tensor on a device, with unspecified content.
Tensor allocate(Device& device, DType dtype, const Dims& shape);
inline Tensor allocate(Device& device, const TensorType& type) {
  return allocate(device, type.dtype, type.shape);
}

// For who shows the host memory without a call: what is written down there cannot run again.
void host_looks();

// The same value with row-major strides without gaps; itself if it has them.
Tensor dense(Scope& scope, const Tensor& x);
// The same in memory of its own.
Tensor copied(Scope& scope, const Tensor& x);

// A tensor on `device` of the same value, which is copied unless it is there already. Not recorded.
Tensor to_device(Scope& scope, const Tensor& x, Device& device);

// An inline scalar as an ordinary 0-d tensor on the scope's device.
Tensor with_dtype(Scope& scope, const TensorImpl& scalar, DType dtype);

// Throws FAILED_PRECONDITION for a tensor of a trace, which has no value to compute with or to
// read.
void require_value(const TensorImpl& x);
// Throws it for a tensor of a trace that the code of the scope is no part of.
void require_reach(const Scope& scope, const TensorImpl& x);
// What messages call a tensor of a trace: y : f32[?,4]. Defined by those who trace.
std::string traced_text(const TensorImpl& x);

// Ends a donated handle: its storage is the callee's.
void consume(TensorImpl& x);
// A size of the code under trace that a value will say, i64[]. Defined by those who trace.
Size read_traced_size(Scope& scope, const Tensor& x);
// The same value under another identity, which the tapes of the scope take for the same and those
// that come later do not. What a callback is given is one: a tape of its own that watches it does
// not watch the same tensor where the callback captured that.
Tensor another(Scope& scope, const Tensor& x);
// A donated tensor under another identity: for what is more than one op, of which the first would
// end it.
Tensor not_donated(Scope& scope, const Tensor& x);
void tapes_follow(Scope& scope, const TensorImpl& from, TensorImpl& to);  // Defined with the tape.

// Tensors from host memory, row-major, and back. `bytes` must be what the type takes.
Tensor from_host(Scope& scope, Device& device, const TensorType& type, const void* data);
void to_host(Scope& scope, const Tensor& x, void* data, size_t bytes);
// The same without blocking: `data` stays valid until `done` was called, on any thread.
void to_host(Scope& scope, const Tensor& x, void* data, size_t bytes, PendingWork::Done done);

// Blocks until the tensor's memory holds its value, and throws why it never will.
void wait_for(Scope& scope, const TensorImpl& x);

// True if the device has a kernel for the call, which eager() would launch.
bool has_kernel(Scope& scope, const Call& call);

}  // namespace tenon
