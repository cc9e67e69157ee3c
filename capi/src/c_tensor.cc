#include <tenon/tensor.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "capi/src/boundary.h"
#include "capi/src/completion.h"
#include "capi/src/host_memory.h"
#include "capi/src/structs.h"
#include "core/dispatch/dispatch.h"
#include "core/ops/definition/formulas.h"
#include "core/tensor/tensor_text.h"
#include "core/trace/tracer.h"

using namespace tenon::capi;
using tenon::Tensor;
using tenon::TensorImpl;
using tenon::TensorType;

namespace {

size_t size_in_bytes(const TensorType& type) {
  return static_cast<size_t>(tenon::count(type.shape)) * tenon::size_of(type.dtype);
}

bool is_traced(const TensorImpl& x) { return x.storage && x.storage->traced; }

// Returns the number of elements. For a traced tensor, this reads the size and may add a guard.
int64_t count_elements(const TensorImpl& x) {
  if (!is_traced(x)) return tenon::count(x.type.shape);
  const int64_t* shape = tenon::shape_or_recorded_failure(x);
  return std::accumulate(shape, shape + x.rank(), int64_t{1}, std::multiplies<>());
}

const tenon::Device* device_of(const tenon_tensor* tensor) {
  const TensorImpl* self = get_or_null(tensor);
  return self && self->storage ? self->storage->device : nullptr;
}

void require_size(const TensorType& type, size_t size) {
  tenon::require(size == size_in_bytes(type), "{} has {} bytes, but size is {}", type,
                 size_in_bytes(type), size);
}

// Creates an inline scalar by make(value). Returns NULL if memory is exhausted.
tenon_tensor* make_scalar_or_null(Tensor (*make)(void*), void* value) {
  try {
    return to_handle(make(value).leak());
  } catch (...) {
    return nullptr;
  }
}

// Reads the value of a tensor with one element and converts it to T, the C++ type of dtype `as`.
template <class T>
T read_item(tenon::Scope& scope, const Tensor& tensor, tenon::DType as) {
  const int64_t n = tenon::count(tensor->type.shape);
  tenon::require(n == 1, "only a tensor with one element can be read as an item, but this is {}",
                 tensor->type);
  uint64_t bits = 0;
  tenon::to_host(scope, tensor, &bits, tenon::size_of(tensor->type.dtype));
  T value{};
  convert_element(tensor->type.dtype, &bits, as, &value);
  return value;
}

}  // namespace

void tenon_tensor_retain(tenon_tensor* tensor) { retain_handle(tensor); }

void tenon_tensor_release(tenon_tensor* tensor) { release_handle(tensor); }

void tenon_tensor_release_all(tenon_tensor* const* tensors, size_t n_tensors) {
  if (!tensors) return;
  for (size_t i = 0; i < n_tensors; ++i) release_handle(tensors[i]);
}

tenon_error* tenon_tensor_donate(tenon_tensor* tensor) {
  return boundary([&] {
    TensorImpl& self = get(tensor, "tensor");
    if (self.donation != tenon::Donation::kNone) fail_argument("tensor", "was already donated");
    if (self.is_scalar_value()) fail_argument("tensor", "is an inline scalar, which has no memory");
    if (self.storage->imported)
      fail_argument("tensor", "has imported memory, which cannot be donated");
    self.donation = tenon::Donation::kDonated;
  });
}

tenon_error* tenon_tensor_from_data(tenon_scope* scope, tenon_dtype dtype, const int64_t* shape,
                                    size_t rank, const void* data, size_t size,
                                    tenon_tensor** out_tensor) {
  clear_output(out_tensor);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_tensor, "out_tensor");
    const TensorType type = get_type(dtype, shape, rank);
    require_size(type, size);
    if (size > 0) require_pointer(data, "data");
    give(tenon::from_host(self, self.device(), type, data), out_tensor);
  });
}

tenon_error* tenon_tensor_from_host(tenon_scope* scope, tenon_dtype dtype, const int64_t* shape,
                                    size_t rank, const int64_t* strides, void* data, size_t size,
                                    tenon_deleter deleter, tenon_tensor** out_tensor) {
  clear_output(out_tensor);
  Payload loan(deleter.payload, deleter.function);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_tensor, "out_tensor");
    const TensorType type = get_type(dtype, shape, rank);
    HostArray array = host_array(type, strides, data);
    tenon::require(array.bytes <= size, "the elements end at byte {}, but size is {}", array.bytes,
                   size);
    if (array.bytes > 0) require_pointer(data, "data");
    if (data) array.data = static_cast<char*>(data) + array.bytes_before;
    give(tensor_of_host_memory(self, array, std::move(loan)), out_tensor);
  });
}

tenon_tensor* tenon_scalar_f64(double value) {
  return make_scalar_or_null([](void* v) { return tenon::make_scalar(*static_cast<double*>(v)); },
                             &value);
}

tenon_tensor* tenon_scalar_i64(int64_t value) {
  return make_scalar_or_null([](void* v) { return tenon::make_scalar(*static_cast<int64_t*>(v)); },
                             &value);
}

tenon_tensor* tenon_scalar_bool(bool value) {
  return make_scalar_or_null(
      [](void* v) { return tenon::make_scalar_bool(*static_cast<bool*>(v)); }, &value);
}

tenon_dtype tenon_tensor_dtype(const tenon_tensor* tensor) {
  const TensorImpl* self = get_or_null(tensor);
  return self ? tenon::to_c(self->type.dtype) : TENON_DTYPE_NONE;
}

size_t tenon_tensor_rank(const tenon_tensor* tensor) {
  const TensorImpl* self = get_or_null(tensor);
  return self ? self->rank() : 0;
}

tenon_error* tenon_tensor_size(const tenon_tensor* tensor, int64_t axis, int64_t* out_size) {
  clear_output(out_size);
  return boundary([&] {
    require_pointer(out_size, "out_size");
    const TensorImpl& self = get(tensor, "tensor");
    *out_size = tenon::read_size_of(
        self, static_cast<size_t>(tenon::require_axis(axis, self.rank(), "axis")));
  });
}

tenon_error* tenon_tensor_read_shape(const tenon_tensor* tensor, const int64_t** out_shape,
                                     size_t* out_rank) {
  clear_output(out_shape);
  clear_output(out_rank);
  return boundary([&] {
    require_pointer(out_shape, "out_shape");
    const TensorImpl& self = get(tensor, "tensor");
    *out_shape = tenon::read_shape(self);
    if (out_rank) *out_rank = self.rank();
  });
}

const int64_t* tenon_tensor_shape(const tenon_tensor* tensor) {
  const TensorImpl* self = get_or_null(tensor);
  return self ? tenon::shape_or_recorded_failure(*self) : nullptr;
}

const int64_t* tenon_tensor_strides(const tenon_tensor* tensor) {
  const TensorImpl* self = get_or_null(tensor);
  return self ? tenon::strides_or_recorded_failure(*self) : nullptr;
}

int64_t tenon_tensor_count(const tenon_tensor* tensor) {
  const TensorImpl* self = get_or_null(tensor);
  return self ? count_elements(*self) : 0;
}

size_t tenon_tensor_bytes(const tenon_tensor* tensor) {
  const TensorImpl* self = get_or_null(tensor);
  return self ? static_cast<size_t>(count_elements(*self)) * size_of(self->type.dtype) : 0;
}

tenon_string tenon_tensor_device_name(const tenon_tensor* tensor) {
  const tenon::Device* device = device_of(tensor);
  return device ? borrow_text(device->name()) : tenon_string TENON_STR("");
}

tenon_device* tenon_tensor_device(const tenon_tensor* tensor) {
  return to_handle(const_cast<tenon::Device*>(device_of(tensor)));
}

tenon_value* tenon_tensor_as_value(tenon_tensor* tensor) {
  return reinterpret_cast<tenon_value*>(tensor);
}

const void* tenon_tensor_data(const tenon_tensor* tensor) {
  const tenon::Device* device = device_of(tensor);
  if (!device || !device->host_visible() || !device->synchronous()) return nullptr;
  const TensorImpl* self = get_or_null(tensor);
  tenon::note_host_read();
  return self->dense ? self->data() : nullptr;
}

tenon_error* tenon_tensor_read(tenon_scope* scope, tenon_tensor* tensor, void* out_data,
                               size_t size) {
  return boundary_in(scope, [&](tenon::Scope& self) {
    const Tensor x = get_value(self, tensor, "tensor");
    require_size(x->type, size);
    if (size > 0) require_pointer(out_data, "out_data");
    tenon::to_host(self, x, out_data, size);
  });
}

tenon_error* tenon_tensor_read_async(tenon_scope* scope, tenon_tensor* tensor, void* out_data,
                                     size_t size, tenon_done_callback done) {
  Completion completion(done);
  return boundary_in(scope, [&](tenon::Scope& self) {
    completion.require_function();
    const Tensor x = get_value(self, tensor, "tensor");
    require_size(x->type, size);
    if (size > 0) require_pointer(out_data, "out_data");
    completion.start_work(
        self.context(), [&](auto finished) { tenon::to_host(self, x, out_data, size, finished); });
  });
}

tenon_error* tenon_tensor_item_f64(tenon_scope* scope, tenon_tensor* tensor, double* out_value) {
  clear_output(out_value);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_value, "out_value");
    *out_value = read_item<double>(self, get_value(self, tensor, "tensor"), tenon::DType::kF64);
  });
}

tenon_error* tenon_tensor_item_i64(tenon_scope* scope, tenon_tensor* tensor, int64_t* out_value) {
  clear_output(out_value);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_value, "out_value");
    const Tensor x = get_value(self, tensor, "tensor");
    tenon::require(!tenon::is_floating(x->type.dtype),
                   "{} is floating point: read it as a double, or cast it", x->type);
    *out_value = read_item<int64_t>(self, x, tenon::DType::kI64);
  });
}

tenon_error* tenon_tensor_copy_to(tenon_scope* scope, tenon_tensor* tensor, tenon_string device,
                                  tenon_tensor** out_tensor) {
  clear_output(out_tensor);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_tensor, "out_tensor");
    const Tensor x = get_value(self, tensor, "tensor");
    tenon::Device& to = self.context().device(get_text(device, "device"));
    give(tenon::to_device(self, x, to), out_tensor);
  });
}

tenon_error* tenon_tensor_format(tenon_scope* scope, tenon_tensor* tensor,
                                 const tenon_format_options* options, tenon_string* out_text) {
  clear_output(out_text);
  return boundary_in(scope, [&](tenon::Scope& self) {
    constexpr tenon_format_options kDefault = TENON_FORMAT_OPTIONS_DEFAULT;
    require_pointer(out_text, "out_text");
    const tenon_format_options given = read_struct(options, kDefault, "options");
    const tenon::TextOptions text = get_text_options(given);
    // A traced tensor is formatted without its value, even after its tracing has ended.
    const TensorImpl& shown = get(tensor, "tensor");
    if (is_traced(shown)) {
      *out_text = copy_text(tenon::traced_text(shown));
      return;
    }
    const Tensor x = get_tensor(self, tensor, "tensor");
    std::vector<char> data(size_in_bytes(x->type));
    tenon::to_host(self, x, data.data(), data.size());
    std::string words = tenon::to_text(x->type, data.data(), text);
    if (given.long_form) {
      words += " : " + tenon::to_string(x->type);
      words += x->storage ? " on " + x->storage->device->name() : ", inline";
    }
    *out_text = copy_text(words);
  });
}
