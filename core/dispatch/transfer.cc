// Allocates outputs, makes dense copies, and copies data between host memory and devices.

#include <cstring>
#include <vector>

#include "core/base/error.h"
#include "core/base/size_table.h"
#include "core/dispatch/cell.h"
#include "core/dispatch/dispatch.h"
#include "core/dispatch/profiler.h"
#include "core/dispatch/recorder.h"
#include "core/ops/definition/formulas.h"
#include "core/ops/definition/op_ids.h"

namespace tenon {
namespace {

// Returns the offset of the first element in the storage, in bytes.
uint64_t byte_offset(const TensorImpl& x) {
  return static_cast<uint64_t>(x.offset) * size_of(x.type.dtype);
}

// Creates a tensor from elements in host memory. `scalar`: the inline scalar whose value `data`
// holds; NULL if there is none.
Tensor from_host(Scope& scope, Device& device, const TensorType& type, const void* data,
                 const TensorImpl* scalar) {
  check_size(type);
  ProfileSpan span(scope, "from_host", type, device);
  Tensor y = allocate(device, type);
  const uint64_t size = bytes_of(type);
  if (device.synchronous() && device.host_visible()) {
    if (size) std::memcpy(y->storage->data, data, size);
  } else if (device.synchronous()) {
    device.copy(scope.stream(device), {nullptr, const_cast<void*>(data), 0, 0},
                {y->storage->buffer, nullptr, 0, 0}, size);
  } else {
    scope.pending(device).write(*y->storage, data, size,
                                profiled_completion_callback(scope, device));
  }
  if (scope.recorder()) scope.recorder()->written(*y, scalar);
  span.end();
  return y;
}

}  // namespace

Tensor allocate(Device& device, DType dtype, const Dims& shape) {
  Tensor y = Tensor::adopt(new TensorImpl);
  y->type.dtype = dtype;
  y->type.shape = shape;
  y->strides.set_rank(shape.rank());
  int64_t n = 1;
  for (size_t i = shape.rank(); i-- > 0;) {
    y->strides[i] = n;
    n *= shape[i];
  }
  y->storage = device.allocator().allocate(static_cast<uint64_t>(n) * size_of(dtype));
  return y;
}

// Throws if `x` is a tensor of a trace and therefore has no value.
void require_value(const TensorImpl& x) {
  if (x.storage && x.storage->traced) [[unlikely]]
    fail_traced(x);
  require(!x.type.is_token(), "an order token has no value that can be read");
  require(!x.storage || !x.storage->list, "{} is a list of tensors, not a tensor", x.type);
}

// Throws if `x` belongs to a trace that does not enclose the scope's code.
void require_same_trace(const Scope& scope, const TensorImpl& x) {
  if (!x.storage || !x.storage->traced) [[likely]]
    return;
  if (!scope.traced_cells()) require_value(x);
  scope.traced_cells()->require_same_trace(x);
}

// Notifies the recorder that host code accesses memory outside a call.
void note_host_read() {
  const Scope* scope = find_current_scope();
  if (scope && scope->recorder()) scope->recorder()->interrupted();
}

// Returns `x` if it is dense, otherwise a dense copy.
Tensor dense(Scope& scope, const Tensor& x) {
  if (x->is_scalar_value()) return with_dtype(scope, *x, x->type.dtype);
  return x->dense ? x : dense_copy(scope, x);
}

// Returns a dense copy in its own memory.
Tensor dense_copy(Scope& scope, const Tensor& x) {
  const Scope::Unrecorded unrecorded(scope);
  TensorImpl* input = x.get();
  return std::move(apply(scope, op_def(OpId::k_copy), any_attrs(NoAttrs{}), {&input, 1})[0]);
}

// Converts an inline scalar to a 0-d tensor on the scope's device.
Tensor with_dtype(Scope& scope, const TensorImpl& scalar, DType dtype) {
  ElementBits bits;
  write_scalar(scalar, dtype, &bits);
  return from_host(scope, scope.device(), TensorType(dtype, Dims{}), &bits, &scalar);
}

Tensor from_host(Scope& scope, Device& device, const TensorType& type, const void* data) {
  return from_host(scope, device, type, data, nullptr);
}

namespace {

// Copies the value of `x` to `data` and returns true if the value is available without waiting.
// Otherwise sets `source` to a dense tensor, which the caller reads from its device, and returns
// false.
bool read_if_available(Scope& scope, const Tensor& x, void* data, size_t bytes, Tensor& source) {
  require_value(*x);
  if (scope.recorder()) scope.recorder()->interrupted();
  require(bytes == bytes_of(x->type), "{} has {} bytes, but the buffer has {}", x->type,
          bytes_of(x->type), bytes);
  if (x->is_scalar_value()) {
    ElementBits bits;
    write_scalar(*x, x->type.dtype, &bits);
    std::memcpy(data, &bits, bytes);
    return true;
  }
  source = dense(scope, x);
  Device& device = *source->storage->device;
  if (!device.synchronous()) return false;
  if (device.host_visible()) {
    if (bytes) std::memcpy(data, source->data(), bytes);
  } else {
    device.copy(scope.stream(device), {source->storage->buffer, nullptr, byte_offset(*source), 0},
                {nullptr, data, 0, 0}, bytes);
  }
  return true;
}

// Reads from an asynchronous device and waits. Reports a value error of the scope, if there is one.
void read_and_wait(Scope& scope, const Storage& from, uint64_t offset, void* data, size_t bytes) {
  const auto wrong = scope.pending(*from.device).read(from, offset, data, bytes);
  if (wrong) scope.report_value_error(Error(*wrong));
}

}  // namespace

void to_host(Scope& scope, const Tensor& x, void* data, size_t bytes) {
  ProfileSpan span(scope, *x);
  Tensor source;
  if (!read_if_available(scope, x, data, bytes, source)) {
    read_and_wait(scope, *source->storage, byte_offset(*source), data, bytes);
  }
  span.end();
}

void to_host(Scope& scope, const Tensor& x, void* data, size_t bytes, PendingWork::Done done) {
  ProfileSpan span(scope, *x);
  Tensor source;
  if (read_if_available(scope, x, data, bytes, source)) {
    span.end();
    done(nullptr);
    return;
  }
  const Storage& storage = *source->storage;
  scope.pending(*storage.device).read(storage, byte_offset(*source), data, bytes, std::move(done));
  span.end();
}

void wait_for(Scope& scope, const TensorImpl& x) {
  if (!x.storage || x.storage->device->synchronous()) return;
  read_and_wait(scope, *x.storage, 0, nullptr, 0);
}

// Waits for the integer in x, which determines the size of an output, and returns it.
int64_t read_integer(const Tensor& x) {
  Scope& scope = current_scope();
  require_value(*x);
  // An inline scalar is read without calling an op. This is possible while tracing, too.
  if (x->is_scalar_value() && !is_floating(x->type.dtype)) return x->int_value;
  if (x->storage && !x->storage->device->can_wait()) {
    fail(Code::kUnimplemented,
         "the size of an output depends on data, but {} cannot wait for it here: specify the "
         "attribute `size`",
         {x->storage->device->name()});
  }
  const Scope::Unrecorded unrecorded(scope);
  int64_t value = 0;
  to_host(scope, cast(x, DType::kI64), &value, sizeof value);
  return value;
}

// Returns the integer in x as a size. While tracing, this is a data-dependent size with the upper
// bound `most`.
Size read_size(const Tensor& x, Size most) {
  Scope& scope = current_scope();
  if (!scope.traced_cells()) return Size::number(read_integer(x));
  const Size size = read_traced_size(scope, x);
  SizeTable::current().set_upper_bound(size, most);
  return size;
}

// Waits for the bool in x and returns it.
bool read_bool(const Tensor& x) {
  Scope& scope = current_scope();
  require_value(*x);
  const Scope::Unrecorded unrecorded(scope);
  uint8_t value = 0;
  to_host(scope, x, &value, sizeof value);
  return value != 0;
}

namespace {

// Whether `to` can copy from buffers of `from` without the host.
bool can_copy_from_peer(const Device& to, const Device& from) {
  return to.has(TENON_FEATURE_PEER_COPY) && !to.synchronous() && to.can_wait() &&
         &to.context() == &from.context() && &to.plugin() == &from.plugin();
}

}  // namespace

Tensor to_device(Scope& scope, const Tensor& x, Device& device) {
  require_value(*x);
  if (x->is_scalar_value() || x->storage->device == &device) return x;
  if (scope.recorder()) scope.recorder()->interrupted();
  ProfileSpan span(scope, "to_device", x->type, device);
  const Tensor source = dense(scope, x);
  const Device& from = *source->storage->device;
  Tensor y;
  if (from.synchronous() && from.host_visible()) {
    y = from_host(scope, device, source->type, source->data());
  } else if (can_copy_from_peer(device, from)) {
    wait_for(scope, *source);
    y = allocate(device, source->type);
    scope.pending(device).copy_from_peer(*y->storage, *source->storage, byte_offset(*source),
                                         bytes_of(source->type));
  } else {
    std::vector<std::byte> bytes(bytes_of(source->type));
    to_host(scope, source, bytes.data(), bytes.size());
    y = from_host(scope, device, source->type, bytes.data());
  }
  span.end();
  return y;
}

// Marks a donated tensor as consumed.
void consume(TensorImpl& x) {
  x.donation = Donation::kConsumed;
  if (x.owners() == 1)
    x.storage.reset();  // Frees the memory, unless a tape still refers to the tensor.
}

// Returns an alias that tapes and traces treat as the same tensor.
Tensor tracked_alias(Scope& scope, const Tensor& x) {
  Tensor own =
      scope.traced_cells() && x->storage ? scope.traced_cells()->alias_in_trace(x) : alias_of(*x);
  if (scope.innermost()) tapes_assign_same_node(scope, *x, *own);
  return own;
}

// Returns an alias if `x` is donated, so that the first of several ops does not consume it.
Tensor without_donation(Scope& scope, const Tensor& x) {
  return x->donation == Donation::kNone ? x : tracked_alias(scope, x);
}

}  // namespace tenon
