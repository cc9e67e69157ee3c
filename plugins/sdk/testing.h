// Tests a plugin without the core: opens its library, prepares a kernel, and launches it on tensors
// given as literals.
//
//   Plugin plugin(TENON_PLUGIN_FILE);
//   const Launched y =
//       plugin.run(TENON_OP_add, nullptr, {f32({1, 2}), f32({3, 4})}, {f32({2}, {})});
//   EXPECT_EQ(y[0].numbers(), (Numbers{4, 6}));

#pragma once

#include <dlfcn.h>
#include <sys/mman.h>
#include <tenon/plugin.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugins/sdk/dtype.h"
#include "plugins/sdk/host.h"
#include "plugins/sdk/kernel.h"
#include "plugins/sdk/view.h"

namespace tenon_sdk::testing {

using Numbers = std::vector<double>;

// A view of elements in memory. Views are dense unless as() changes them.
struct Tensor {
  tenon_dtype dtype = TENON_DTYPE_NONE;
  List sizes;
  List strides;
  int64_t offset = 0;  // Offset of the first element, in elements.
  std::vector<std::byte> bytes;
  bool by_value = false;

  // Returns a view of the same elements with these sizes, strides and offset (in elements).
  Tensor as(List new_sizes, List new_strides, int64_t new_offset = 0) const {
    Tensor view = *this;
    view.sizes = std::move(new_sizes);
    view.strides = std::move(new_strides);
    view.offset = new_offset;
    return view;
  }

  // Returns all elements as doubles. Large 64-bit integers are rounded.
  Numbers numbers() const {
    Numbers result;
    dispatch<Any>(dtype, [&]<class T>(Type<T>) {
      for (const T& element : elements<T>()) result.push_back(static_cast<double>(element));
      return 0;
    });
    return result;
  }

  // Returns a copy of all elements, in the order of memory.
  template <class T>
  std::vector<T> elements() const {
    std::vector<T> result(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(static_cast<void*>(result.data()), bytes.data(), bytes.size());
    return result;
  }
};

// Returns an absent operand.
inline Tensor none() { return {}; }

// Returns a dense tensor. Elements without a value are zero.
template <class T, class Value>
Tensor tensor(List sizes, std::initializer_list<Value> values) {
  Tensor made;
  made.dtype = kDTypeOf<T>;
  const DenseStrides dense(sizes.size(), sizes.data());
  made.strides.assign(dense.values, dense.values + sizes.size());
  std::vector<T> elements;
  for (const Value value : values) elements.push_back(static_cast<T>(value));
  elements.resize(static_cast<size_t>(count(sizes.size(), sizes.data())));
  made.bytes.resize(elements.size() * sizeof(T));
  if (!elements.empty()) std::memcpy(made.bytes.data(), elements.data(), made.bytes.size());
  made.sizes = std::move(sizes);
  return made;
}

#define TENON_SDK_TENSOR(name, type, value)                                 \
  inline Tensor name(List sizes, std::initializer_list<value> values) {     \
    return tensor<type>(std::move(sizes), values);                          \
  }                                                                         \
  inline Tensor name(std::initializer_list<value> values) {                 \
    return tensor<type>(List{static_cast<int64_t>(values.size())}, values); \
  }
TENON_SDK_TENSOR(boolean, Bool, bool)
TENON_SDK_TENSOR(i8, int8_t, int8_t)
TENON_SDK_TENSOR(i32, int32_t, int32_t)
TENON_SDK_TENSOR(i64, int64_t, int64_t)
TENON_SDK_TENSOR(u8, uint8_t, uint8_t)
TENON_SDK_TENSOR(u32, uint32_t, uint32_t)
TENON_SDK_TENSOR(u64, uint64_t, uint64_t)
TENON_SDK_TENSOR(f16, Half, float)
TENON_SDK_TENSOR(bf16, BFloat16, float)
TENON_SDK_TENSOR(f32, float, float)
TENON_SDK_TENSOR(f64, double, double)
#undef TENON_SDK_TENSOR

// Returns an operand that is passed by value: a view of one element without a buffer.
inline Tensor by_value(Tensor scalar) {
  scalar.by_value = true;
  return scalar;
}

// The result of a launch.
struct Launched {
  std::vector<Tensor> outputs;
  std::string refusal;  // Why no kernel was prepared; `outputs` is empty then.
  uint32_t traits = 0;
  tenon_error_record record = {};
  bool overran = false;  // Whether the kernel wrote bytes outside an output.

  const Tensor& operator[](size_t i) const { return outputs.at(i); }
};

// An error that a plugin creates through the host table kHost.
struct Error {
  tenon_code code;
  std::string message;
};

// Releases an error and returns its code; TENON_OK for NULL.
inline tenon_code code_of(tenon_error* error) {
  if (error == nullptr) return TENON_OK;
  const std::unique_ptr<Error> owned(reinterpret_cast<Error*>(error));
  return owned->code;
}

// The row axes of a loop, as a bit mask, and its number of per-row inputs.
struct Rows {
  uint32_t axes = 0, n_inputs = 0;
};

// An instance of a plugin with its first device and a stream. A failure to open them exits the test
// program, because no test can run without them.
class Plugin {
 public:
  using Options = std::vector<std::pair<std::string, std::string>>;  // Keys and values.

  explicit Plugin(const char* file, uint32_t threads = 0, const Options& given = {}) {
    void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    require(library != nullptr, "cannot open the library");
    void* const symbol = dlsym(library, TENON_PLUGIN_SYMBOL);
    require(symbol != nullptr, "the library does not export " TENON_PLUGIN_SYMBOL);
    const auto query = reinterpret_cast<tenon_plugin_query>(symbol);
    require(query(&kHost, &plugin_));
    tenon_instance_options options = {};
    options.struct_size = sizeof options;
    options.threads = threads;
    std::vector<tenon_string> keys, values;
    for (const auto& [key, value] : given) {
      keys.push_back({key.data(), key.size()});
      values.push_back({value.data(), value.size()});
    }
    options.option_keys = keys.data();
    options.option_values = values.data();
    options.n_options = keys.size();
    require(plugin_->create(&kHost, &options, &instance_));
    require(calls().open_device(instance_, 0, &device_));
    require(calls().open_stream(device_, &stream_));
  }
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;
  ~Plugin() {
    calls().close_stream(stream_);
    calls().close_device(device_);
    calls().destroy(instance_);
  }

  static const tenon_host* host() { return &kHost; }
  const tenon_plugin& description() const { return *plugin_; }
  const tenon_plugin_calls& calls() const { return *plugin_->calls; }
  tenon_device_p* device() const { return device_; }
  tenon_stream_p* stream() const { return stream_; }

  // Launches the first kernel of the op that does not refuse. Signatures are not checked, so pass
  // dtypes that the kernel supports. `outputs` specifies dtypes and sizes.
  Launched run(uint32_t op, const void* attrs, const std::vector<Tensor>& inputs,
               const std::vector<Tensor>& outputs) const {
    Launched launched;
    tenon_kernel_p* const kernel = prepare(op, attrs, inputs, outputs, launched).kernel;
    if (kernel == nullptr) return launched;
    launch(kernel, inputs, outputs, launched);
    calls().release_kernel(kernel);
    return launched;
  }

  // Launches a loop. Instructions refer to values by index: first the inputs, then the results of
  // earlier instructions. `given` lists the indices of the values that are outputs. If `in_place`
  // is set, the first output aliases that input.
  struct Instruction {
    uint32_t op;
    const void* attrs;
    std::vector<uint32_t> inputs;
    tenon_dtype dtype;
    uint32_t flags = 0;
  };
  Launched run_loop(const std::vector<Instruction>& instructions, const std::vector<Tensor>& inputs,
                    const std::vector<uint32_t>& given, const std::vector<Tensor>& outputs,
                    std::optional<size_t> in_place = {}, Rows rows = {}) const {
    Launched launched;
    std::vector<tenon_dtype> dtypes;
    for (const Tensor& x : inputs) dtypes.push_back(x.dtype);
    std::vector<tenon_loop_instruction> list;
    for (const Instruction& each : instructions) {
      std::vector<Tensor> operands;
      for (const uint32_t value : each.inputs) operands.push_back(Tensor{.dtype = dtypes[value]});
      const Line line = prepare(each.op, each.attrs, operands, {{.dtype = each.dtype}}, launched);
      if (line.kernel == nullptr) return launched;
      calls().release_kernel(line.kernel);
      dtypes.push_back(each.dtype);
      list.push_back({.line = line.line,
                      .attrs = each.attrs,
                      .inputs = each.inputs.data(),
                      .n_inputs = static_cast<uint32_t>(each.inputs.size()),
                      .dtype = each.dtype,
                      .flags = each.flags,
                      .reserved = 0});
    }
    const std::vector<tenon_operand> in = operands(inputs);
    const tenon_loop_request request = {.struct_size = sizeof request,
                                        .flags = 0,
                                        .n_inputs = in.size(),
                                        .n_instructions = list.size(),
                                        .n_outputs = given.size(),
                                        .inputs = in.data(),
                                        .instructions = list.data(),
                                        .outputs = given.data(),
                                        .row_axes = rows.axes,
                                        .n_row_inputs = rows.n_inputs};
    tenon_kernel_p* kernel = nullptr;
    tenon_kernel_traits traits = {.struct_size = sizeof traits, .flags = 0};
    tenon_string reason = {};
    require(calls().prepare_loop(device_, &request, &kernel, &traits, &reason));
    launched.traits = traits.flags;
    launched.refusal = kernel != nullptr ? "" : std::string(text(reason));
    if (kernel == nullptr) return launched;
    launch(kernel, inputs, outputs, launched, in_place);
    calls().release_kernel(kernel);
    return launched;
  }

 private:
  static constexpr size_t kGuard = 64;

  struct Line {
    const tenon_kernel* line;
    tenon_kernel_p* kernel;
  };
  // Returns the first kernel of the op that does not refuse.
  Line prepare(uint32_t op, const void* attrs, const std::vector<Tensor>& inputs,
               const std::vector<Tensor>& outputs, Launched& launched) const {
    const std::vector<tenon_operand> in = operands(inputs), out = operands(outputs);
    tenon_kernel_request request = {};
    request.struct_size = sizeof request;
    request.attrs = attrs;
    request.n_inputs = in.size();
    request.n_outputs = out.size();
    request.inputs = in.data();
    request.outputs = out.data();
    tenon_kernel_traits traits = {};
    traits.struct_size = sizeof traits;
    tenon_kernel_p* kernel = nullptr;
    launched.refusal = "no line for this op";
    for (size_t i = 0; i < plugin_->n_kernels && kernel == nullptr; ++i) {
      request.line = &plugin_->kernels[i];
      if (request.line->op != op) continue;
      tenon_string reason = {};
      require(request.line->prepare(device_, &request, &kernel, &traits, &reason));
      launched.refusal = kernel != nullptr ? "" : std::string(text(reason));
    }
    launched.traits = traits.flags;
    return {request.line, kernel};
  }

  static tenon_error* make_error(tenon_code code, tenon_string message) {
    return reinterpret_cast<tenon_error*>(new Error{code, std::string(text(message))});
  }
  static void release_error(tenon_error* error) { delete reinterpret_cast<Error*>(error); }
  static tenon_code error_code(const tenon_error* error) {
    return reinterpret_cast<const Error*>(error)->code;
  }
  static tenon_string error_message(const tenon_error* error) {
    return to_c(reinterpret_cast<const Error*>(error)->message);
  }
  static void log(void*, int32_t, tenon_string) {}

  static constexpr tenon_host kHost = {
      .struct_size = sizeof(tenon_host),
      .provides = TENON_HOST_FEATURE_ERROR_RECORDS | TENON_HOST_FEATURE_BROADCAST_VIEWS,
      .make_error = make_error,
      .release_error = release_error,
      .error_code = error_code,
      .error_message = error_message,
      .log = log,
  };

  // Exits the program with a message unless `ok`.
  static void require(bool ok, const char* what) {
    if (ok) return;
    const char* why = dlerror();
    std::fprintf(stderr, "%s: %s\n", what, why != nullptr ? why : "");
    std::exit(1);
  }
  // Exits the program with the message of the error, unless it is NULL.
  static void require(tenon_error* error) {
    if (error == nullptr) return;
    std::fprintf(stderr, "error %d: %s\n", error_code(error), error_message(error).data);
    std::exit(1);
  }

  // Returns the stride class of a tensor.
  static tenon_stride_class stride_class_of(const Tensor& tensor) {
    if (tensor.dtype == TENON_DTYPE_NONE) return TENON_STRIDES_ABSENT;
    bool dense = true, uniform = true;
    const DenseStrides row_major(tensor.sizes.size(), tensor.sizes.data());
    for (size_t i = 0; i < tensor.sizes.size(); ++i) {
      dense = dense && tensor.strides[i] == row_major.values[i];
      uniform = uniform && tensor.strides[i] == 0;
    }
    if (tensor.by_value || (uniform && !tensor.sizes.empty())) return TENON_STRIDES_UNIFORM;
    return dense ? TENON_STRIDES_DENSE : TENON_STRIDES_STRIDED;
  }

  static std::vector<tenon_operand> operands(const std::vector<Tensor>& tensors) {
    std::vector<tenon_operand> result;
    for (const Tensor& tensor : tensors) {
      tenon_operand operand = {};
      operand.dtype = tensor.dtype;
      operand.rank = static_cast<uint16_t>(tensor.sizes.size());
      operand.strides = stride_class_of(tensor);
      result.push_back(operand);
    }
    return result;
  }

  // Returns a view of a new buffer with the tensor's elements (for an input). Guard bytes precede
  // them. An inaccessible page follows, so that reads past the end fail, too.
  tenon_view view_of(const Tensor& tensor, bool is_output) const {
    tenon_view view = {};
    view.dtype = tensor.dtype;
    view.rank = static_cast<uint16_t>(tensor.sizes.size());
    view.sizes = tensor.sizes.data();
    view.strides = tensor.strides.data();
    view.strides_class = stride_class_of(tensor);
    if (tensor.dtype == TENON_DTYPE_NONE) return view;
    const auto first = static_cast<uint64_t>(tensor.offset) * size_of(tensor.dtype);
    if (tensor.by_value) {
      view.data = const_cast<std::byte*>(tensor.bytes.data());
      return view;
    }
    const size_t size = tensor.bytes.size();
    require(calls().allocate(device_, kGuard + size + 2 * page_size(), &view.buffer));
    auto* const memory = static_cast<std::byte*>(calls().map(view.buffer));
    std::byte* const elements = end_of_elements(view.buffer, size) - size;
    std::memset(memory, 0xcd, static_cast<size_t>(elements - memory));
    if (size > 0) {
      is_output ? std::memset(elements, 0xcd, size)
                : std::memcpy(elements, tensor.bytes.data(), size);
    }
    protect(view.buffer, size, PROT_NONE);
    view.byte_offset = static_cast<uint64_t>(elements - memory) + first;
    // An empty tensor has no elements, so kernels must not depend on its address.
    view.data = size > 0 ? memory + view.byte_offset : nullptr;
    return view;
  }

  static size_t page_size() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }
  // Returns the first boundary of pages in a buffer before which the guard bytes and `size` bytes
  // have room.
  std::byte* end_of_elements(tenon_buffer_p* buffer, size_t size) const {
    const auto least = reinterpret_cast<uintptr_t>(calls().map(buffer)) + kGuard + size;
    return reinterpret_cast<std::byte*>((least + page_size() - 1) / page_size() * page_size());
  }
  // Sets the protection of the page after the elements.
  void protect(tenon_buffer_p* buffer, size_t size, int access) const {
    require(mprotect(end_of_elements(buffer, size), page_size(), access) == 0, "mprotect");
  }
  void release(const tenon_view& view, const Tensor& tensor) const {
    if (view.buffer == nullptr) return;
    protect(view.buffer, tensor.bytes.size(), PROT_READ | PROT_WRITE);
    calls().release(view.buffer);
  }

  // Whether the guard bytes before the elements are unchanged.
  static bool is_guard_intact(const std::byte* elements) {
    return std::all_of(elements - kGuard, elements,
                       [](std::byte each) { return each == std::byte{0xcd}; });
  }

  void launch(tenon_kernel_p* kernel, const std::vector<Tensor>& inputs,
              const std::vector<Tensor>& outputs, Launched& launched,
              std::optional<size_t> in_place = {}) const {
    std::vector<tenon_view> in, out;
    for (const Tensor& tensor : inputs) in.push_back(view_of(tensor, false));
    for (const Tensor& tensor : outputs) {
      const bool on_input = in_place && out.empty();
      out.push_back(on_input ? in[*in_place] : view_of(tensor, true));
    }
    tenon_launch launch = {};
    launch.struct_size = sizeof launch;
    launch.site = 7;
    launch.n_inputs = static_cast<uint32_t>(in.size());
    launch.n_outputs = static_cast<uint32_t>(out.size());
    launch.inputs = in.data();
    launch.outputs = out.data();
    launch.record = &launched.record;
    require(calls().launch(kernel, stream_, &launch));
    require(calls().wait(stream_));

    launched.outputs = outputs;
    for (size_t i = 0; i < outputs.size(); ++i) {
      std::vector<std::byte>& bytes = launched.outputs[i].bytes;
      const std::byte* const elements = end_of_elements(out[i].buffer, bytes.size()) - bytes.size();
      launched.overran = launched.overran || !is_guard_intact(elements);
      if (!bytes.empty()) std::memcpy(bytes.data(), elements, bytes.size());
    }
    for (size_t i = 0; i < in.size(); ++i) release(in[i], inputs[i]);
    for (size_t i = in_place ? 1 : 0; i < out.size(); ++i) release(out[i], outputs[i]);
  }

  const tenon_plugin* plugin_ = nullptr;
  tenon_instance_p* instance_ = nullptr;
  tenon_device_p* device_ = nullptr;
  tenon_stream_p* stream_ = nullptr;
};

}  // namespace tenon_sdk::testing
