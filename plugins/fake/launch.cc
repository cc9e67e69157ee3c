#include "plugins/fake/launch.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "plugins/fake/own_launch.h"

namespace tenon_fake {
namespace {

// Wraps a kernel of plugin `ref`; NULL stays NULL.
tenon_error* wrap_kernel(Device& device, uint32_t op, tenon_kernel_p* kernel,
                         tenon_kernel_p** out_kernel) {
  if (!kernel) return nullptr;
  auto* const made = new (std::nothrow) Kernel{device, kernel, op};
  if (!made) {
    inner().release_kernel(kernel);
    return device.error(TENON_OUT_OF_MEMORY, "out of host memory: cannot wrap a kernel");
  }
  *out_kernel = reinterpret_cast<tenon_kernel_p*>(made);
  return nullptr;
}

// Returns the kernel entry of plugin `ref` for an entry of this plugin.
const tenon_kernel* inner_line(const tenon_kernel* line) {
  return inner_plugin().kernels + (line - kernels());
}

// Implements `prepare` of every kernel entry: forwards to the entry of plugin `ref` and wraps its
// kernel.
tenon_error* prepare(tenon_device_p* self, const tenon_kernel_request* request,
                     tenon_kernel_p** out_kernel, tenon_kernel_traits* out_traits,
                     tenon_string* out_reason) {
  *out_kernel = nullptr;
  Device& device = from_c(self);
  if (request->line->op == device.options().refuse_op && request->line->op != 0) {
    *out_reason = TENON_STR("claims this op but has no kernel for it");
    return nullptr;
  }
  tenon_kernel_request own = *request;
  own.line = inner_line(request->line);
  tenon_kernel_p* kernel = nullptr;
  tenon_error* error = own.line->prepare(device.device, &own, &kernel, out_traits, out_reason);
  return error ? error : wrap_kernel(device, own.line->op, kernel, out_kernel);
}

// Returns the kernel entries of plugin `ref`, with `prepare` replaced by the function above.
const std::vector<tenon_kernel>& kernel_entries() {
  static const std::vector<tenon_kernel> lines = [] {
    const tenon_plugin& plugin = inner_plugin();
    std::vector<tenon_kernel> made(plugin.kernels, plugin.kernels + plugin.n_kernels);
    for (tenon_kernel& line : made) line.prepare = prepare;
    return made;
  }();
  return lines;
}

}  // namespace

const tenon_kernel* kernels() { return kernel_entries().data(); }

size_t count_kernels() { return kernel_entries().size(); }

tenon_error* prepare_loop(tenon_device_p* self, const tenon_loop_request* request,
                          tenon_kernel_p** out_kernel, tenon_kernel_traits* out_traits,
                          tenon_string* out_reason) {
  *out_kernel = nullptr;
  Device& device = from_c(self);
  std::vector<tenon_loop_instruction> instructions(request->instructions,
                                                   request->instructions + request->n_instructions);
  for (tenon_loop_instruction& each : instructions) each.line = inner_line(each.line);
  tenon_loop_request own = *request;
  own.instructions = instructions.data();
  tenon_kernel_request anchor;
  if (request->anchor != nullptr) {
    anchor = *request->anchor;
    anchor.line = inner_line(anchor.line);
    own.anchor = &anchor;
  }
  tenon_kernel_p* kernel = nullptr;
  tenon_error* error = inner().prepare_loop(device.device, &own, &kernel, out_traits, out_reason);
  return error ? error : wrap_kernel(device, 0, kernel, out_kernel);
}

// ---- launches

namespace {

// Writes one element after the end of an output, unless the output is empty.
void overrun(const tenon_view& output) {
  size_t bytes = TENON_DTYPE_BITS(output.dtype) / 8;
  const size_t element = bytes;
  for (size_t i = 0; i < output.rank; ++i) bytes *= static_cast<size_t>(output.sizes[i]);
  if (bytes > 0) std::memset(static_cast<std::byte*>(output.data) + bytes, 0x11, element);
}

// Runs one launch on plugin `ref`, with the faults that the options inject into this op.
tenon_error* run(const Options& options, uint32_t op, tenon_kernel_p* kernel,
                 tenon_stream_p* stream, const tenon_launch& launch) {
  const auto has_fault = [op](uint64_t faulty) { return op != 0 && op == faulty; };
  // Volatile, so that the compiler does not remove malloc and free.
  static void* volatile block;
  if (has_fault(options.leak_op)) block = std::malloc(24);
  if (has_fault(options.swallow_op)) {
    block = std::malloc(24);
    if (!block) return nullptr;
    std::free(block);
  }
  tenon_error* error = inner().launch(kernel, stream, &launch);
  if (!error && has_fault(options.overrun_op) && options.overrun_output < launch.n_outputs) {
    overrun(launch.outputs[options.overrun_output]);
  }
  return error;
}

}  // namespace

Faults::Faults(Device& device, uint64_t n) : device_(device), first_(device.launches += n) {
  first_ -= n - 1;
  const Options& options = device.options();
  for (uint64_t i = first_; i < first_ + n; ++i) refused_ = refused_ || i == options.fail_enqueue;
  if (options.lose_at && first_ + n > options.lose_at) device.lost = true;
}

// Returns the error if option `fail_enqueue` refuses a launch of the group; NULL otherwise.
tenon_error* Faults::enqueue_error() const {
  if (!refused_) return nullptr;
  const uint64_t number = device_.options().fail_enqueue;
  return device_.error(TENON_INTERNAL, "launch " + std::to_string(number) + " was refused");
}

// Returns the error with which launch `i` of the group fails; NULL if it does not fail.
tenon_error* Faults::launch_error(uint64_t i) const {
  if (device_.lost) return device_.lost_error();
  const uint64_t number = first_ + i;
  if (number != device_.options().fail_launch) return nullptr;
  return device_.error(TENON_INTERNAL, "launch " + std::to_string(number) + " failed");
}

// Reports a launch's error to the host and returns NULL, or returns the error if it must not be
// reported.
tenon_error* Faults::report_failure(tenon_error* error, void* work, uint64_t ticket) const {
  const Options& options = device_.options();
  if (!error || device_.lost || !options.asynchronous || options.silent) return error;
  device_.host().launch_failed(work, ticket, error);
  return nullptr;
}

tenon_error* launch(tenon_kernel_p* self, tenon_stream_p* where, const tenon_launch* given) {
  const Kernel& kernel = from_c(self);
  Stream& stream = from_c(where);
  const Faults faults(stream.device(), 1);
  if (tenon_error* error = faults.enqueue_error()) return error;

  const auto own = std::make_shared<OwnLaunch>(*given);
  own->locate();
  return stream.enqueue([&stream, faults, own, op = kernel.op, inner_kernel = kernel.kernel] {
    tenon_error* error = faults.launch_error(0);
    if (!error) {
      const Options& options = stream.device().options();
      error = run(options, op, inner_kernel, stream.inner(), own->get());
    }
    return faults.report_failure(error, own->get().work, own->get().ticket);
  });
}

}  // namespace tenon_fake
