#include "plugins/cuda/testing/cuda_testing.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

namespace tenon_cuda::testing {
namespace {

constexpr size_t kGuard = 64;

struct Error {
  tenon_code code;
  std::string message;
};
std::atomic<size_t> n_errors{0};

tenon_error* make_error(tenon_code code, tenon_string message) {
  ++n_errors;
  return reinterpret_cast<tenon_error*>(new Error{code, std::string(tenon_sdk::text(message))});
}
void release_error(tenon_error* error) {
  if (error == nullptr) return;
  --n_errors;
  delete reinterpret_cast<Error*>(error);
}
tenon_code error_code(const tenon_error* error) {
  return error == nullptr ? TENON_OK : reinterpret_cast<const Error*>(error)->code;
}
tenon_string error_message(const tenon_error* error) {
  return tenon_sdk::to_c(reinterpret_cast<const Error*>(error)->message);
}
void launch_failed(void*, uint64_t ticket, tenon_error* error) {
  std::lock_guard guard(reported_failures().mutex);
  reported_failures().failed[ticket] = take(error);
}

constexpr tenon_host kHost = {
    .struct_size = sizeof(tenon_host),
    .provides = TENON_HOST_FEATURE_ERROR_RECORDS | TENON_HOST_FEATURE_BROADCAST_VIEWS,
    .make_error = make_error,
    .release_error = release_error,
    .error_code = error_code,
    .error_message = error_message,
    .log = [](void*, int32_t, tenon_string) {},
    .launch_failed = launch_failed,
};

// Sets the fault in each emulated library. A library counts its own calls and ignores the names of
// functions of other libraries.
void set_fault(const char* text) {
  for (const char* const name : {"TENON_CUDA_DRIVER", "TENON_CUDA_NVRTC", "TENON_CUDA_CUBLASLT"}) {
    const char* const file = std::getenv(name);
    // RTLD_NODELETE keeps the library and its fault in memory, because the plugin opens cuBLASLt
    // only for the first product.
    void* const library =
        file != nullptr ? dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) : nullptr;
    if (library == nullptr) continue;
    const auto fail =
        reinterpret_cast<void (*)(const char*)>(dlsym(library, "tenon_emulated_fail"));
    if (fail != nullptr) fail(text);
    dlclose(library);
  }
}

tenon_operand operand_of(const Tensor& tensor) {
  tenon_operand operand = {};
  operand.dtype = tensor.dtype;
  operand.rank = static_cast<uint16_t>(tensor.sizes.size());
  bool dense = true, uniform = true;
  const tenon_sdk::DenseStrides row_major(tensor.sizes.size(), tensor.sizes.data());
  for (size_t i = 0; i < tensor.sizes.size(); ++i) {
    dense = dense && tensor.strides[i] == row_major.values[i];
    uniform = uniform && tensor.strides[i] == 0;
  }
  operand.strides = tensor.dtype == TENON_DTYPE_NONE   ? TENON_STRIDES_ABSENT
                    : tensor.by_value                  ? TENON_STRIDES_UNIFORM
                    : uniform && !tensor.sizes.empty() ? TENON_STRIDES_UNIFORM
                    : dense                            ? TENON_STRIDES_DENSE
                                                       : TENON_STRIDES_STRIDED;
  return operand;
}

std::vector<tenon_operand> operands_of(const std::vector<Tensor>& tensors) {
  std::vector<tenon_operand> operands;
  for (const Tensor& tensor : tensors) operands.push_back(operand_of(tensor));
  return operands;
}

}  // namespace

Failure take(tenon_error* error) {
  if (error == nullptr) return {};
  const Failure failure = {error_code(error), reinterpret_cast<Error*>(error)->message};
  release_error(error);
  return failure;
}

ReportedFailures& reported_failures() {
  static ReportedFailures reported;
  return reported;
}
size_t count_errors() { return n_errors; }
const tenon_host& host() { return kHost; }

Failure query(const tenon_plugin** out_plugin) {
  return take(tenon_plugin_query_v1_cuda(&kHost, out_plugin));
}

Fault::Fault(const std::string& what) { set_fault(what.c_str()); }
Fault::~Fault() { set_fault(""); }

Variable::Variable(const char* name, const char* value) : name_(name) {
  const char* const old = std::getenv(name);
  was_set_ = old != nullptr;
  if (was_set_) old_ = old;
  value != nullptr ? setenv(name, value, 1) : unsetenv(name);
}
Variable::~Variable() {
  was_set_ ? setenv(name_.c_str(), old_.c_str(), 1) : unsetenv(name_.c_str());
}

Bench::Bench(const Settings& settings) { failure_ = take(open(settings)); }

tenon_error* Bench::open(const Settings& settings) {
  if (tenon_error* error = tenon_plugin_query_v1_cuda(&kHost, &plugin_)) return error;
  std::vector<tenon_string> keys, values;
  for (const auto& [key, value] : settings) {
    keys.push_back(tenon_sdk::to_c(key));
    values.push_back(tenon_sdk::to_c(value));
  }
  const tenon_instance_options options = {.struct_size = sizeof options,
                                          .option_keys = keys.data(),
                                          .option_values = values.data(),
                                          .n_options = keys.size()};
  if (tenon_error* error = plugin_->create(&kHost, &options, &instance_)) return error;
  if (tenon_error* error = calls().open_device(instance_, 0, &device_)) return error;
  return calls().open_stream(device_, &stream_);
}

Bench::~Bench() {
  if (stream_ != nullptr) calls().close_stream(stream_);
  if (device_ != nullptr) calls().close_device(device_);
  if (instance_ != nullptr) calls().destroy(instance_);
}

Result Bench::run(uint32_t op, const void* attrs, const std::vector<Tensor>& inputs,
                  const std::vector<Tensor>& outputs, uint32_t site) const {
  Result result;
  const std::vector<tenon_operand> in = operands_of(inputs), out = operands_of(outputs);
  tenon_kernel_request request = {};
  request.struct_size = sizeof request;
  request.flags = request_flags;
  request.attrs = attrs;
  request.n_inputs = in.size();
  request.n_outputs = out.size();
  request.inputs = in.data();
  request.outputs = out.data();
  tenon_kernel_traits traits = {.struct_size = sizeof traits, .flags = 0};
  tenon_kernel_p* kernel = nullptr;
  result.refusal = "no line for this op";
  for (size_t i = 0; i < plugin_->n_kernels && kernel == nullptr; ++i) {
    request.line = &plugin_->kernels[i];
    if (request.line->op != op) continue;
    tenon_string reason = {};
    result.failure = take(request.line->prepare(device_, &request, &kernel, &traits, &reason));
    if (result.failure.code != TENON_OK) return result;
    result.refusal = kernel != nullptr ? "" : std::string(tenon_sdk::text(reason));
  }
  if (kernel == nullptr) return result;
  result.failure = take(launch(kernel, traits.flags, inputs, outputs, site, result));
  calls().release_kernel(kernel);
  return result;
}

Result Bench::run_loop(const std::vector<Instruction>& instructions,
                       const std::vector<Tensor>& inputs, const std::vector<uint32_t>& given,
                       const std::vector<Tensor>& outputs, uint32_t row_axes) const {
  std::vector<tenon_loop_instruction> list;
  for (const Instruction& each : instructions) {
    tenon_loop_instruction instruction = {};
    for (size_t i = 0; i < plugin_->n_kernels; ++i) {
      if (plugin_->kernels[i].op == each.op) instruction.line = &plugin_->kernels[i];
    }
    instruction.attrs = each.attrs;
    instruction.inputs = each.inputs.data();
    instruction.n_inputs = static_cast<uint32_t>(each.inputs.size());
    instruction.dtype = each.dtype;
    instruction.flags = each.flags;
    list.push_back(instruction);
  }
  const std::vector<tenon_operand> in = operands_of(inputs);
  tenon_loop_request request = {};
  request.struct_size = sizeof request;
  request.n_inputs = in.size();
  request.n_instructions = list.size();
  request.n_outputs = given.size();
  request.inputs = in.data();
  request.instructions = list.data();
  request.outputs = given.data();
  request.row_axes = row_axes;
  return run_loop(request, inputs, outputs);
}

Result Bench::run_loop(const tenon_loop_request& request, const std::vector<Tensor>& inputs,
                       const std::vector<Tensor>& outputs) const {
  Result result;
  tenon_kernel_traits traits = {.struct_size = sizeof traits, .flags = 0};
  tenon_kernel_p* kernel = nullptr;
  tenon_string reason = {};
  result.failure = take(calls().prepare_loop(device_, &request, &kernel, &traits, &reason));
  result.refusal = std::string(tenon_sdk::text(reason));
  if (kernel == nullptr) return result;
  result.failure = take(launch(kernel, traits.flags, inputs, outputs, 7, result));
  calls().release_kernel(kernel);
  return result;
}

tenon_error* Bench::launch(tenon_kernel_p* kernel, uint32_t traits,
                           const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                           uint32_t site, Result& result) const {
  std::vector<std::vector<std::byte>> read(outputs.size());
  // Copies into these buffers may still be in flight when a later call fails, so the buffers
  // outlive the calls.
  struct Buffers {
    const tenon_plugin_calls& calls;
    tenon_stream_p* stream;
    std::vector<tenon_buffer_p*> all;
    ~Buffers() {
      take(calls.wait(stream));
      for (tenon_buffer_p* buffer : all) calls.release(buffer);
    }
  } buffers{calls(), stream_, {}};
  const auto allocate = [&](uint64_t size, tenon_buffer_p** buffer) {
    tenon_error* const error = calls().allocate(device_, size, buffer);
    if (error == nullptr) buffers.all.push_back(*buffer);
    return error;
  };
  const auto copy = [&](tenon_place from, tenon_place to, uint64_t size) {
    const tenon_copy_region region = {from, to, size, 0};
    return size > 0 ? calls().copy(stream_, &region) : nullptr;
  };

  std::vector<tenon_view> views;
  std::vector<const Tensor*> tensors;
  for (const Tensor& tensor : inputs) tensors.push_back(&tensor);
  for (const Tensor& tensor : outputs) tensors.push_back(&tensor);
  for (const Tensor* const tensor : tensors) {
    tenon_view view = {};
    view.dtype = tensor->dtype;
    view.rank = static_cast<uint16_t>(tensor->sizes.size());
    view.sizes = tensor->sizes.data();
    view.strides = tensor->strides.data();
    view.strides_class = operand_of(*tensor).strides;
    if (tensor->by_value) view.data = const_cast<std::byte*>(tensor->bytes.data());
    if (tensor->dtype != TENON_DTYPE_NONE && !tensor->by_value) {
      const size_t size = tensor->bytes.size();
      std::vector<std::byte> bytes(size + 2 * kGuard, std::byte{0xcd});
      const bool is_input = views.size() < inputs.size();
      if (is_input && size > 0) std::memcpy(bytes.data() + kGuard, tensor->bytes.data(), size);
      if (tenon_error* error = allocate(bytes.size(), &view.buffer)) return error;
      if (tenon_error* error =
              copy({nullptr, bytes.data(), 0, 0}, {view.buffer, nullptr, 0, 0}, bytes.size())) {
        return error;
      }
      if (tenon_error* error = calls().wait(stream_)) return error;
      view.byte_offset =
          kGuard + static_cast<uint64_t>(tensor->offset) * tenon_sdk::size_of(tensor->dtype);
    }
    views.push_back(view);
  }

  tenon_launch launch = {};
  launch.struct_size = sizeof launch;
  launch.site = site;
  launch.n_inputs = static_cast<uint32_t>(inputs.size());
  launch.n_outputs = static_cast<uint32_t>(outputs.size());
  launch.inputs = views.data();
  launch.outputs = views.data() + inputs.size();
  launch.work = result.outputs.data();
  if (tenon_error* error = allocate(sizeof result.record, &launch.record_buffer)) return error;
  const tenon_place record = {launch.record_buffer, nullptr, 0, 0};
  if (tenon_error* error = copy({nullptr, &result.record, 0, 0}, record, sizeof result.record)) {
    return error;
  }
  if ((traits & TENON_KERNEL_WORKSPACE) != 0) {
    launch.workspace_size = calls().workspace(kernel, &launch);
    launch.workspace.dtype = TENON_UINT8;
    if (launch.workspace_size > 0) {
      if (tenon_error* error = allocate(launch.workspace_size, &launch.workspace.buffer)) {
        return error;
      }
    }
  }
  if (tenon_error* error = calls().launch(kernel, stream_, &launch)) return error;

  result.outputs = outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (launch.outputs[i].buffer == nullptr) continue;
    read[i].resize(outputs[i].bytes.size() + 2 * kGuard);
    if (tenon_error* error = copy({launch.outputs[i].buffer, nullptr, 0, 0},
                                  {nullptr, read[i].data(), 0, 0}, read[i].size())) {
      return error;
    }
  }
  if (tenon_error* error = copy(record, {nullptr, &result.record, 0, 0}, sizeof result.record)) {
    return error;
  }
  if (tenon_error* error = calls().wait(stream_)) return error;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (read[i].empty()) continue;
    std::vector<std::byte>& bytes = result.outputs[i].bytes;
    if (!bytes.empty()) std::memcpy(bytes.data(), read[i].data() + kGuard, bytes.size());
    for (size_t k = 0; k < kGuard; ++k) {
      result.overran = result.overran || read[i][k] != std::byte{0xcd} ||
                       read[i][kGuard + bytes.size() + k] != std::byte{0xcd};
    }
  }
  return nullptr;
}

}  // namespace tenon_cuda::testing
