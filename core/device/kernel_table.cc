#include "core/device/kernel_table.h"

#include <atomic>
#include <new>

#include "core/base/error.h"
#include "core/device/device.h"

namespace tenon {
namespace {

// Parses the signature of a kernel entry. `place` is the entry's index in the plugin's list, for
// error messages.
Signature signature_of(const tenon_kernel& line, size_t place) {
  require(line.prepare != nullptr,
          "kernels[{}].prepare is NULL; every kernel entry needs a prepare function", place);
  require(line.signature.data != nullptr,
          "kernels[{}].signature is NULL; give a signature such as \"T,T->T T:float\"", place);
  require(line.name.data != nullptr || line.name.size == 0,
          "kernels[{}].name is NULL but has a size; give a name, or size 0", place);
  require(line.op != 0 || line.name.size != 0,
          "kernels[{}] has op 0 and no name; set op, or the name of a custom op", place);
  constexpr size_t kMaxText = 65536;
  require(
      line.signature.size <= kMaxText && line.name.size <= kMaxText,
      "kernels[{}] has a signature of {} bytes and a name of {}; at most {} are allowed for each",
      place, line.signature.size, line.name.size, kMaxText);
  try {
    return Signature::parse({line.signature.data, line.signature.size});
  } catch (const Error& error) {
    fail_because(error, error.code(), "kernels[{}]: {}", {place, error.what()});
  }
}

}  // namespace

// Converts a plugin's refusal to a string.
std::string reason_of(const tenon_string& why) {
  const std::string_view reason(why.data ? why.data : "", why.size);
  if (reason == "out of memory") throw std::bad_alloc();
  return std::string(reason);
}

Ref<const PreparedKernel> PreparedKernel::create(Device& device, tenon_kernel_p* handle,
                                                 uint32_t traits, const tenon_kernel* loop_line,
                                                 const tenon_kernel* anchor_line,
                                                 std::string reason) {
  PreparedKernel* kernel;
  try {
    kernel = new PreparedKernel(device, handle, traits, loop_line, anchor_line);
  } catch (const std::bad_alloc&) {
    if (handle) device.retire(device.calls().release_kernel, handle);
    throw;
  }
  kernel->reason = std::move(reason);
  return Ref<const PreparedKernel>::adopt(kernel);
}

PreparedKernel::~PreparedKernel() {
  if (handle_) device_.retire(device_.calls().release_kernel, handle_);
}

void KernelTable::load(const tenon_plugin& plugin) {
  const auto* bytes = reinterpret_cast<const std::byte*>(plugin.kernels);
  for (size_t i = 0; i < plugin.n_kernels; ++i) {
    const auto* line = reinterpret_cast<const tenon_kernel*>(bytes + i * plugin.kernel_size);
    Line parsed{line, signature_of(*line, i)};
    if (line->op == 0) {
      const std::string name(line->name.data, line->name.size);
      if (parsed.signature.is_shaped()) custom_shaped_.insert(name);
      custom_lines_[name].push_back(std::move(parsed));
      continue;
    }
    // Op numbers up to kMaxOp may belong to ops of newer versions of Tenon; no call here uses them.
    // Numbers of custom ops are an error: each context assigns them itself, so a plugin must refer
    // to a custom op by name.
    if (is_custom(line->op)) {
      fail(
          Code::kInvalidArgument,
          "kernels[{}].op is {}, which is the number of a custom op; set op to 0 and give the name",
          {i, line->op});
    }
    constexpr uint32_t kMaxOp = 1u << 16;
    if (line->op > kMaxOp) continue;
    if (parsed.signature.is_shaped()) {
      if (shaped_.size() <= line->op) shaped_.resize(line->op + 1, false);
      shaped_[line->op] = true;
    }
    lines_[line->op].push_back(std::move(parsed));
  }
}

Ref<const PreparedKernel> KernelTable::find(const KernelKey& key, std::string_view custom_name,
                                            std::span<const OperandInfo> inputs,
                                            std::span<const TensorType> outputs) {
  const uint64_t hash = key.hash();
  std::lock_guard guard(mutex_);
  LruTable<Entry>& entries = is_shaped(key.op, custom_name) ? shaped_entries_ : entries_;
  const auto is_it = [&](const Entry& entry) {
    const KernelKey& other = entry.key;
    return other.op == key.op && other.flags == key.flags && other.words == key.words &&
           other.attrs == key.attrs;
  };
  if (const Entry* entry = entries.find(hash, is_it)) return entry->kernel;
  Entry entry{key, OwnedAttrs(key.attrs), prepare(key, custom_name, inputs, outputs)};
  entry.key.attrs = entry.attrs.view();
  return entries.add(hash, std::move(entry)).kernel;
}

size_t KernelTable::size() {
  std::lock_guard guard(mutex_);
  return entries_.size() + shaped_entries_.size();
}

Ref<const PreparedKernel> KernelTable::prepare(const KernelKey& key, std::string_view custom_name,
                                               std::span<const OperandInfo> inputs,
                                               std::span<const TensorType> outputs) {
  const auto none = [&](std::string reason) {
    return PreparedKernel::create(device_, nullptr, 0, nullptr, nullptr, std::move(reason));
  };
  const std::vector<Line>* lines = nullptr;
  if (!custom_name.empty()) {
    const auto at = custom_lines_.find(std::string(custom_name));
    if (at != custom_lines_.end()) lines = &at->second;
  } else if (const auto at = lines_.find(key.op); at != lines_.end()) {
    lines = &at->second;
  }
  if (!lines) return none("has no kernel for this op");

  std::vector<DType> in_dtypes, out_dtypes;
  std::vector<tenon_operand> in_operands, out_operands;
  for (const OperandInfo& input : inputs) {
    in_dtypes.push_back(input.dtype);
    in_operands.push_back(
        {to_c(input.dtype), static_cast<uint16_t>(input.rank), input.strides, nullptr, 0});
  }
  for (const TensorType& type : outputs) {
    out_dtypes.push_back(type.dtype);
    out_operands.push_back(
        {to_c(type.dtype), static_cast<uint16_t>(type.rank()), TENON_STRIDES_DENSE, nullptr, 0});
  }
  const CAttrs attrs(key.attrs);

  std::string reason = "has no kernel for these dtypes";
  for (const Line& line : *lines) {
    if (!line.signature.matches(in_dtypes, out_dtypes)) continue;
    for (size_t i = 0; i < inputs.size(); ++i) {
      in_operands[i].sizes = line.signature.is_shaped() ? inputs[i].sizes : nullptr;
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      out_operands[i].sizes = line.signature.is_shaped() ? outputs[i].shape.data() : nullptr;
    }
    const tenon_kernel_request request = {
        .struct_size = sizeof(tenon_kernel_request),
        .flags = key.flags,
        .line = line.line,
        .attrs = attrs.get(),
        .n_inputs = in_operands.size(),
        .n_outputs = out_operands.size(),
        .inputs = in_operands.data(),
        .outputs = out_operands.data(),
    };
    tenon_kernel_p* handle = nullptr;
    tenon_kernel_traits traits = {.struct_size = sizeof(tenon_kernel_traits), .flags = 0};
    tenon_string why = {nullptr, 0};
    n_prepared_.fetch_add(1, std::memory_order_relaxed);
    if (tenon_error* error =
            line.line->prepare(device_.handle(), &request, &handle, &traits, &why)) {
      device_.raise(error);
    }
    if (handle) {
      const tenon_kernel* loop_line = line.signature.is_loop() ? line.line : nullptr;
      const tenon_kernel* anchor_line = line.signature.is_anchor() ? line.line : nullptr;
      return PreparedKernel::create(device_, handle, traits.flags, loop_line, anchor_line);
    }
    if (why.size) reason = reason_of(why);
  }
  return none(std::move(reason));
}

void KernelTable::clear() {
  std::lock_guard guard(mutex_);
  entries_.clear();
  shaped_entries_.clear();
}

}  // namespace tenon
