#include "plugins/fake/launch.h"

#include <cstring>
#include <memory>
#include <new>
#include <vector>

namespace tenon_fake {
namespace {

// A copy of a launch and of all that it points to, with the addresses that the host may not know.
class OwnLaunch {
 public:
  explicit OwnLaunch(const tenon_launch& given) : launch_(given) {
    views_.reserve(given.n_inputs + given.n_outputs);
    for (size_t i = 0; i < given.n_inputs; ++i) add(given.inputs[i]);
    for (size_t i = 0; i < given.n_outputs; ++i) add(given.outputs[i]);
    // Only now do the lists stay where they are.
    size_t at = 0;
    for (size_t i = 0; i < views_.size(); ++i) {
      tenon_view& view = views_[i];
      view.sizes = dims_.data() + at;
      view.strides = dims_.data() + at + view.rank;
      at += 2 * view.rank;
      if (by_value_[i]) view.data = &scalars_[i];
    }
    launch_.inputs = views_.data();
    launch_.outputs = views_.data() + given.n_inputs;
    locate(launch_.workspace);
    if (launch_.record_buffer) {
      std::byte* const data = from_c(launch_.record_buffer).data + launch_.record_offset;
      launch_.record = reinterpret_cast<tenon_error_record*>(data);
      launch_.record_buffer = from_c(launch_.record_buffer).buffer;
    }
  }

  const tenon_launch& get() const { return launch_; }

 private:
  void add(const tenon_view& given) {
    tenon_view view = given;
    locate(view);
    dims_.insert(dims_.end(), given.sizes, given.sizes + given.rank);
    dims_.insert(dims_.end(), given.strides, given.strides + given.rank);
    const bool by_value = !given.buffer && given.data;
    uint64_t value = 0;
    if (by_value) std::memcpy(&value, given.data, TENON_DTYPE_BITS(given.dtype) / 8);
    by_value_.push_back(by_value);
    scalars_.push_back(value);
    views_.push_back(view);
  }

  static void locate(tenon_view& view) {
    if (!view.buffer) return;
    const Buffer& buffer = from_c(view.buffer);
    view.data = buffer.data + view.byte_offset;
    view.buffer = buffer.buffer;
  }

  tenon_launch launch_;
  std::vector<tenon_view> views_;
  std::vector<int64_t> dims_;  // The sizes and strides of one view after another.
  std::vector<uint64_t> scalars_;
  std::vector<bool> by_value_;
};

// The inner plugin's kernel as ours, if there is one.
tenon_error* wrap(Device& device, tenon_kernel_p* kernel, tenon_kernel_p** out_kernel) {
  if (!kernel) return nullptr;
  auto* const made = new (std::nothrow) Kernel{device, kernel};
  if (!made) {
    inner().release_kernel(kernel);
    return device.error(TENON_OUT_OF_MEMORY, "no memory for a kernel");
  }
  *out_kernel = reinterpret_cast<tenon_kernel_p*>(made);
  return nullptr;
}

const tenon_kernel* inner_line(const tenon_kernel* line) {
  return inner_plugin().kernels + (line - kernels());
}

// The list is the inner plugin's, but for who prepares.
tenon_error* prepare(tenon_device_p* self, const tenon_kernel_request* request,
                     tenon_kernel_p** out_kernel, tenon_kernel_traits* out_traits,
                     tenon_string* out_reason) {
  *out_kernel = nullptr;
  Device& device = from_c(self);
  if (request->line->op == device.options().refuse_op && request->line->op != 0) {
    *out_reason = TENON_STR("only claims this op");
    return nullptr;
  }
  tenon_kernel_request own = *request;
  own.line = inner_line(request->line);
  tenon_kernel_p* kernel = nullptr;
  tenon_error* error = own.line->prepare(device.device, &own, &kernel, out_traits, out_reason);
  return error ? error : wrap(device, kernel, out_kernel);
}

const std::vector<tenon_kernel>& list() {
  static const std::vector<tenon_kernel> lines = [] {
    const tenon_plugin& plugin = inner_plugin();
    std::vector<tenon_kernel> made(plugin.kernels, plugin.kernels + plugin.n_kernels);
    for (tenon_kernel& line : made) line.prepare = prepare;
    return made;
  }();
  return lines;
}

}  // namespace

const tenon_kernel* kernels() { return list().data(); }

size_t count_kernels() { return list().size(); }

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
  tenon_kernel_p* kernel = nullptr;
  tenon_error* error = inner().prepare_loop(device.device, &own, &kernel, out_traits, out_reason);
  return error ? error : wrap(device, kernel, out_kernel);
}

tenon_error* launch(tenon_kernel_p* self, tenon_stream_p* where, const tenon_launch* given) {
  const Kernel& kernel = from_c(self);
  Stream& stream = from_c(where);
  Device& device = stream.device();
  const Options& options = device.options();
  const uint64_t number = ++device.launches;
  if (number == options.fail_enqueue) {
    return device.error(TENON_INTERNAL, "launch " + std::to_string(number) + " was refused");
  }
  if (options.lose_at && number >= options.lose_at) device.lost = true;

  const auto own = std::make_shared<const OwnLaunch>(*given);
  return stream.enqueue(
      [&device, &stream, &options, own, number, inner_kernel = kernel.kernel]() -> tenon_error* {
        if (device.lost) return device.lost_error();
        tenon_error* error;
        if (number == options.fail_launch) {
          error = device.error(TENON_INTERNAL, "launch " + std::to_string(number) + " failed");
        } else {
          error = inner().launch(inner_kernel, stream.inner(), &own->get());
        }
        if (!error || !options.asynchronous || options.silent) return error;
        device.host().launch_failed(own->get().work, own->get().ticket, error);
        return nullptr;
      });
}

}  // namespace tenon_fake
