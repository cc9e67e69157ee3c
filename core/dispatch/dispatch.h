// The dispatcher: every operation is one call of apply(). Read dispatch.cc first.

#pragma once

#include <string>

#include "core/dispatch/interpreter.h"
#include "core/dispatch/scope.h"
#include "core/ops/definition/op.h"

namespace tenon {

// Applies an op in a scope: promotes the inputs, then passes the call to the innermost interpreter.
// Throws user errors with the op's name; a failed call has no effect.
Tensors apply(Scope& scope, const OpDef& op, AnyAttrs attrs, Inputs inputs);

// Executes a call now, bypassing all interpreters.
Tensors eager(Scope& scope, const Call& call);

// Returns the device of the tensors in `inputs`, or the scope's device if there are none. If the
// tensors are on different devices, the error names two of them.
Device& common_device(Scope& scope, Inputs inputs);

// Creates a dense tensor with unspecified contents.
Tensor allocate(Device& device, DType dtype, const Dims& shape);
inline Tensor allocate(Device& device, const TensorType& type) {
  return allocate(device, type.dtype, type.shape);
}

// Notifies the recorder that host code accesses memory outside a call. The launches that are being
// recorded then cannot be replayed.
void note_host_read();

// Returns `x` if it is row-major without gaps, otherwise a copy with that layout.
Tensor dense(Scope& scope, const Tensor& x);
// Returns a dense copy in its own memory.
Tensor dense_copy(Scope& scope, const Tensor& x);

// Returns `x` if it is on `device`, otherwise a copy on `device`. Tapes do not record the copy.
Tensor to_device(Scope& scope, const Tensor& x, Device& device);

// Converts an inline scalar to an ordinary 0-d tensor on the scope's device.
Tensor with_dtype(Scope& scope, const TensorImpl& scalar, DType dtype);

// Throws FAILED_PRECONDITION if `x` is a tensor of a trace and therefore has no value.
void require_value(const TensorImpl& x);
// Throws FAILED_PRECONDITION if `x` belongs to a trace that does not enclose the scope's code.
void require_same_trace(const Scope& scope, const TensorImpl& x);
// Formats a tensor of a trace for error messages: y : f32[?,4]. Defined by the tracer.
std::string traced_text(const TensorImpl& x);

// Consumes a donated tensor: the callee now owns its storage.
void consume(TensorImpl& x);
// While tracing, returns the value of an i64[] tensor as a data-dependent size. Defined by the
// tracer.
Size read_traced_size(Scope& scope, const Tensor& x);
// Returns an alias: the same value under a new identity. Tapes that are active now treat both as
// the same tensor; later tapes do not. Callbacks receive aliases of their arguments, so that a tape
// inside the callback can watch an argument without watching a capture of the same tensor.
Tensor tracked_alias(Scope& scope, const Tensor& x);
// Returns an alias if `x` is donated, so that the first of several ops does not consume it.
Tensor without_donation(Scope& scope, const Tensor& x);
// Assigns the node of `from` to `to` in each active tape. Defined in core/autograd/tape.cc.
void tapes_assign_same_node(Scope& scope, const TensorImpl& from, TensorImpl& to);

// Creates a tensor from row-major elements in host memory.
Tensor from_host(Scope& scope, Device& device, const TensorType& type, const void* data);
// Copies a value to host memory, row-major. `bytes` must be the size of the value.
void to_host(Scope& scope, const Tensor& x, void* data, size_t bytes);
// Like the function above, but does not block: `data` must stay valid until `done` is called, on
// any thread.
void to_host(Scope& scope, const Tensor& x, void* data, size_t bytes, PendingWork::Done done);

// Blocks until the tensor's memory holds its value. Throws if computing it failed.
void wait_for(Scope& scope, const TensorImpl& x);

// Whether the device has a kernel for the call, so that eager() would launch it.
bool has_kernel(Scope& scope, const Call& call);

}  // namespace tenon
