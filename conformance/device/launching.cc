#include "conformance/device/launching.h"

#include <cstring>

#include "conformance/kit/dtypes.h"
#include "conformance/kit/line_signature.h"
#include "conformance/kit/op_registry.h"

namespace tenon_kit::device {
namespace {

std::vector<int64_t> dense_strides(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

// Describes the operands for `prepare`; with their sizes if the kernel is `shaped`.
std::vector<tenon_operand> operands_of(const std::vector<Arg>& args, bool shaped) {
  std::vector<tenon_operand> operands;
  for (const Arg& arg : args) {
    const tenon_stride_class strides = arg.dtype == TENON_DTYPE_NONE ? TENON_STRIDES_ABSENT
                                       : arg.by_value                ? TENON_STRIDES_UNIFORM
                                                                     : TENON_STRIDES_DENSE;
    operands.push_back({arg.dtype, static_cast<uint16_t>(arg.sizes.size()), strides,
                        shaped ? arg.sizes.data() : nullptr, 0});
  }
  return operands;
}

}  // namespace

uint64_t Arg::size() const {
  if (dtype == TENON_DTYPE_NONE) return 0;
  uint64_t n = 1;
  for (const int64_t size : sizes) n *= static_cast<uint64_t>(size);
  return n * facts(dtype).size;
}

Prepared::Prepared(const Bench& bench, size_t line, const void* attrs,
                   const std::vector<Arg>& inputs, const std::vector<Arg>& outputs, uint32_t flags)
    : bench_(bench) {
  const tenon_kernel& kernel = bench.plugin().kernel_entry(line);
  const std::string signature(kernel.signature.data, kernel.signature.size);
  const OpFacts* const op = find_op(kernel.op);
  const std::string name = (op ? op->name : "a custom op") + " \"" + signature + "\"";
  const bool shaped = parse_line_signature(signature).shaped;
  const std::vector<tenon_operand> in = operands_of(inputs, shaped);
  const std::vector<tenon_operand> out = operands_of(outputs, shaped);
  const tenon_kernel_request request = {sizeof request, flags,      &kernel,   attrs,
                                        in.size(),      out.size(), in.data(), out.data()};
  tenon_kernel_traits traits = {sizeof traits, 0};
  tenon_string reason = {nullptr, 0};
  tenon_error* error = kernel.prepare(bench.device(), &request, &handle_, &traits, &reason);
  if (error) {
    const bool both = handle_ != nullptr;
    const Failure failure = take_failure(error);
    require(!both, "prepare of {} returned a kernel and an error", name);
    throw Fault(fmt::format("prepare of {} failed: {}", name, failure.message));
  }
  traits_ = traits.flags;
  require(traits.struct_size <= sizeof traits,
          "prepare of {} increased the struct_size of its traits", name);
  require(reason.data != nullptr || reason.size == 0,
          "prepare of {} returned a reason that is NULL, but its size is not 0", name);
}

Prepared::~Prepared() {
  if (handle_) bench_.calls().release_kernel(handle_);
}

Launching::Launching(const Bench& bench, const Stream& stream, const Prepared& kernel,
                     std::vector<Arg> inputs, std::vector<Arg> outputs)
    : bench_(bench),
      stream_(stream),
      kernel_(kernel),
      args_(std::move(inputs)),
      n_inputs_(args_.size()),
      record_(bench, 64) {
  for (Arg& arg : outputs) args_.push_back(std::move(arg));
  for (const Arg& arg : args_) {
    buffers_.emplace_back(bench, arg.size() + 2 * kMargin);
    stream.fill(buffers_.back(), 0xc3);
    if (!arg.by_value) stream.write(buffers_.back(), kMargin, arg.bytes);
  }
  set_record({});
}

void Launching::set_record(const tenon_error_record& record) {
  Bytes bytes(sizeof record);
  std::memcpy(bytes.data(), &record, sizeof record);
  stream_.write_now(record_, 0, bytes);
}

// Reads the error record from the device, after the launch has completed.
tenon_error_record Launching::record() const {
  tenon_error_record record;
  const Bytes bytes = stream_.read_now(record_, 0, sizeof record);
  std::memcpy(&record, bytes.data(), sizeof record);
  return record;
}

tenon_error* Launching::launch(uint64_t ticket) {
  const bool visible = bench_.has(TENON_FEATURE_HOST_VISIBLE);
  std::vector<tenon_view> views;
  std::vector<std::vector<int64_t>> dims;
  std::vector<Bytes> values;
  for (const Arg& arg : args_) {
    dims.push_back(arg.sizes);
    dims.push_back(arg.by_value ? std::vector<int64_t>(arg.sizes.size(), 0)
                                : dense_strides(arg.sizes));
    values.push_back(arg.bytes);
  }
  for (size_t i = 0; i < args_.size(); ++i) {
    const Arg& arg = args_[i];
    tenon_view view = {};
    view.dtype = arg.dtype;
    view.rank = static_cast<uint16_t>(arg.sizes.size());
    view.sizes = dims[2 * i].data();
    view.strides = dims[2 * i + 1].data();
    view.strides_class = arg.by_value ? TENON_STRIDES_UNIFORM : TENON_STRIDES_DENSE;
    if (arg.by_value) {
      view.data = values[i].data();
    } else if (arg.dtype == TENON_DTYPE_NONE) {
      view.strides_class = TENON_STRIDES_ABSENT;
    } else {
      view.buffer = buffers_[i].get();
      view.byte_offset = kMargin;
      if (visible) {
        view.data = static_cast<std::byte*>(bench_.calls().map(view.buffer)) + kMargin;
      }
    }
    views.push_back(view);
  }
  tenon_launch launch = {};
  launch.struct_size = sizeof launch;
  launch.site = 77;
  launch.n_inputs = static_cast<uint32_t>(n_inputs_);
  launch.n_outputs = static_cast<uint32_t>(args_.size() - n_inputs_);
  launch.inputs = views.data();
  launch.outputs = views.data() + n_inputs_;
  launch.record_buffer = record_.get();
  if (visible) launch.record = static_cast<tenon_error_record*>(bench_.calls().map(record_.get()));
  if (!bench_.has(TENON_FEATURE_SYNCHRONOUS)) launch.work = this;
  launch.ticket = ticket;
  if (kernel_.traits() & TENON_KERNEL_WORKSPACE) {
    launch.workspace_size = bench_.calls().workspace(kernel_.get(), &launch);
    if (launch.workspace_size && !workspace_) workspace_.emplace(bench_, launch.workspace_size);
    launch.workspace.dtype = TENON_UINT8;
    if (workspace_) {
      launch.workspace.buffer = workspace_->get();
      if (visible) launch.workspace.data = bench_.calls().map(workspace_->get());
    }
  }
  tenon_error* const error = bench_.calls().launch(kernel_.get(), stream_.get(), &launch);
  for (auto& list : dims) std::fill(list.begin(), list.end(), int64_t{1} << 40);
  for (Bytes& bytes : values) std::fill(bytes.begin(), bytes.end(), 0xc3);
  std::memset(static_cast<void*>(views.data()), 0xc3, views.size() * sizeof(tenon_view));
  std::memset(static_cast<void*>(&launch), 0xc3, sizeof launch);
  return error;
}

// Reads output `i` from the device, after the launch has completed, and checks its margins.
Bytes Launching::output(size_t i) const {
  const size_t at = n_inputs_ + i;
  const uint64_t size = args_[at].size();
  const Bytes all = stream_.read_now(buffers_[at], 0, size + 2 * kMargin);
  for (uint64_t k = 0; k < kMargin; ++k) {
    require(all[k] == 0xc3 && all[kMargin + size + k] == 0xc3, "a launch wrote outside its output");
  }
  return Bytes(all.begin() + kMargin, all.end() - kMargin);
}

// Returns the index of the plugin's first kernel line for `op` that accepts inputs of these dtypes.
std::optional<size_t> line_of(const Plugin& plugin, uint32_t op,
                              const std::vector<tenon_dtype>& inputs) {
  for (size_t i = 0; i < plugin.facts->n_kernels; ++i) {
    const tenon_kernel& line = plugin.kernel_entry(i);
    if (line.op != op) continue;
    const LineSignature s =
        parse_line_signature(std::string_view(line.signature.data, line.signature.size));
    if (s.inputs.size() != inputs.size()) continue;
    bool fits = true;
    for (size_t k = 0; k < inputs.size(); ++k) {
      const LineOperand& operand = s.inputs[k];
      bool found = operand.dtype == inputs[k];
      if (operand.letter) {
        for (const tenon_dtype dtype : s.classes.at(operand.letter)) {
          found = found || dtype == inputs[k];
        }
      }
      fits = fits && found;
    }
    if (fits) return i;
  }
  return std::nullopt;
}

}  // namespace tenon_kit::device
