// Kernels as C++ objects, and the functions that prepare them.
//
// A plugin writes `Prepared prepare_x(const Request&)`, names it in its kernels.def, and builds its
// list of kernels with TENON_SDK_KERNEL. plugins/null is a complete example.

#pragma once

#include <tenon/plugin.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "plugins/sdk/dtype.h"
#include "plugins/sdk/host.h"
#include "plugins/sdk/view.h"

namespace tenon_sdk {

// A prepared kernel. It is immutable, since a SYNCHRONOUS device may launch it on several threads
// at once.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // Enqueues one launch on the stream.
  virtual tenon_error* launch(tenon_stream_p* stream, const tenon_launch& launch) const = 0;
  // Returns the bytes of temporary memory that a launch of these sizes needs.
  virtual uint64_t workspace(const tenon_launch&) const { return 0; }
  // Identifies a class of kernels whose members its plugin uses in other kernels: the address of
  // the class's `kKind`. nullptr for other kernels.
  virtual const void* kind() const { return nullptr; }
};
using KernelPtr = std::unique_ptr<Kernel>;

// Returns the kernel as an object of class T, which has a static member `kKind`; nullptr if it is
// none. Unlike dynamic_cast, it works in builds without run-time type information.
template <class T>
T* kernel_cast(Kernel* kernel) {
  return kernel != nullptr && kernel->kind() == &T::kKind ? static_cast<T*>(kernel) : nullptr;
}

inline tenon_kernel_p* to_c(Kernel* kernel) { return reinterpret_cast<tenon_kernel_p*>(kernel); }
inline Kernel* from_c(tenon_kernel_p* kernel) { return reinterpret_cast<Kernel*>(kernel); }

// An owned copy of a list attribute, because the host's list is valid only until `prepare` returns.
using List = std::vector<int64_t>;
// Copies a list attribute.
inline List list(const int64_t* values, size_t n) { return List(values, values + n); }
// Copies a list attribute. If the list is empty, returns `n` elements equal to `value`.
inline List list_or(const int64_t* values, size_t n_values, size_t n, int64_t value) {
  return n_values == 0 ? List(n, value) : list(values, n_values);
}

// The request passed to prepare functions.
class Request {
 public:
  Request(tenon_device_p* device, const tenon_kernel_request& request)
      : device_(device), request_(request) {}

  tenon_device_p* device() const { return device_; }
  uint32_t op() const { return request_.line->op; }
  // Whether the kernel must use strict numerics.
  bool is_strict() const { return (request_.flags & TENON_REQUEST_STRICT) != 0; }
  // Whether results must repeat bitwise, as in strict numerics.
  bool is_deterministic() const {
    return (request_.flags & (TENON_REQUEST_STRICT | TENON_REQUEST_DETERMINISTIC)) != 0;
  }
  size_t n_inputs() const { return request_.n_inputs; }
  size_t n_outputs() const { return request_.n_outputs; }
  const tenon_operand& input(size_t i) const { return request_.inputs[i]; }
  const tenon_operand& output(size_t i) const { return request_.outputs[i]; }

  // Returns the attributes. A host older than this plugin passes a shorter struct; the missing
  // fields then keep the values of the parameter `attrs`. Lists belong to the host: copy them with
  // `list`.
  template <class Attrs>
  Attrs attrs(Attrs attrs = {}) const {
    if (request_.attrs == nullptr) return attrs;
    uint32_t given;
    std::memcpy(&given, request_.attrs, sizeof given);
    std::memcpy(static_cast<void*>(&attrs), request_.attrs, std::min<size_t>(given, sizeof attrs));
    return attrs;
  }

 private:
  tenon_device_p* device_;
  const tenon_kernel_request& request_;
};

// The result of a prepare function: a kernel, a refusal with its reason, or an error. The default
// is a refusal, so `dispatch` refuses dtypes that its list does not contain.
struct Prepared {
  KernelPtr kernel;
  uint32_t traits = 0;
  tenon_string reason = TENON_STR("does not support this dtype");
  tenon_error* error = nullptr;
};

// Returns a refusal with this reason.
template <size_t size>
Prepared refuse(const char (&reason)[size]) {
  return {.reason = {reason, size - 1}};
}

namespace detail {

template <class Function>
class FunctionKernel final : public Kernel {
 public:
  explicit FunctionKernel(Function function) : function_(std::move(function)) {}
  tenon_error* launch(tenon_stream_p*, const tenon_launch& launch) const override {
    if constexpr (std::is_void_v<decltype(function_(launch))>) {
      function_(launch);
      return nullptr;
    } else {
      return function_(launch);
    }
  }

 private:
  Function function_;
};

}  // namespace detail

// Makes a kernel from a function of the launch. The captures of the function are the
// kernel's state.
template <class Function>
Prepared kernel(uint32_t traits, Function function) {
  using Made = detail::FunctionKernel<Function>;
  return {.kernel = std::make_unique<Made>(std::move(function)), .traits = traits};
}

// Calls make(), and returns the resulting kernel, refusal or error to the host.
template <class Make>
tenon_error* answer(const Make& make, tenon_kernel_p** out_kernel, tenon_kernel_traits* out_traits,
                    tenon_string* out_reason) {
  *out_kernel = nullptr;
  try {
    Prepared prepared = make();
    if (prepared.error != nullptr) return prepared.error;
    if (prepared.kernel == nullptr) {
      *out_reason = prepared.reason;
      return nullptr;
    }
    fill_struct(out_traits, tenon_kernel_traits{.struct_size = 0, .flags = prepared.traits});
    *out_kernel = to_c(prepared.kernel.release());
    return nullptr;
  } catch (...) {  // Only std::bad_alloc can arrive here; other failures were returned as errors.
    *out_reason = TENON_STR("out of memory");  // For the host, this reason is a transient error.
    return nullptr;
  }
}

// Adapts `function` to the signature of tenon_kernel.prepare.
template <Prepared (*function)(const Request&)>
tenon_error* prepare(tenon_device_p* device, const tenon_kernel_request* request,
                     tenon_kernel_p** out_kernel, tenon_kernel_traits* out_traits,
                     tenon_string* out_reason) {
  return answer([&] { return function(Request(device, *request)); }, out_kernel, out_traits,
                out_reason);
}

// The size in bytes of an op's attribute struct; 0 for an op without attributes, whose struct is
// declared but not defined.
template <class Attrs, class = void>
inline constexpr uint32_t kAttrsSize = 0;
template <class Attrs>
inline constexpr uint32_t kAttrsSize<Attrs, std::void_t<decltype(sizeof(Attrs))>> = sizeof(Attrs);

// Converts an entry of kernels.def to an element of the plugin's kernel table.
#define TENON_SDK_KERNEL(op, signature, function)                                          \
  {                                                                                        \
    TENON_OP_##op, tenon_sdk::kAttrsSize<struct tenon_##op##_attrs>, TENON_STR(signature), \
        TENON_STR(""), tenon_sdk::prepare<function>                                        \
  }

}  // namespace tenon_sdk
