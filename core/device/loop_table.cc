#include "core/device/loop_table.h"

#include <cstddef>
#include <utility>

#include "core/base/error.h"
#include "core/device/device.h"
#include "core/device/plugin_library.h"

namespace tenon {

uint64_t LoopSpec::hash() const {
  uint64_t h = detail::mix(flags, rank);
  h = detail::mix(h, uint64_t{row_axes} << 32 | n_row_inputs);
  if (anchor.line != nullptr) {
    h = detail::mix(h, reinterpret_cast<uintptr_t>(anchor.line));
    for (const Anchor::Input& x : anchor.inputs) {
      h = detail::mix(h, static_cast<uint64_t>(x.dtype) << 32 | uint64_t{x.strides} << 16 | x.rank);
    }
    if (!anchor.attrs.view().empty()) h = detail::mix(h, anchor.attrs.view().hash());
  }
  for (const Input& x : inputs) {
    h = detail::mix(h, static_cast<uint64_t>(x.dtype) << 16 | x.strides);
  }
  for (const Instruction& each : instructions) {
    h = detail::mix(h, reinterpret_cast<uintptr_t>(each.line));
    h = detail::mix(h, static_cast<uint64_t>(each.dtype) | uint64_t{each.flags} << 32);
    for (const uint32_t input : each.inputs) h = detail::mix(h, input);
    if (!each.attrs.view().empty()) h = detail::mix(h, each.attrs.view().hash());
  }
  for (const uint32_t output : outputs) h = detail::mix(h, output);
  return h;
}

Ref<const PreparedKernel> LoopTable::find(const LoopSpec& loop) {
  const uint64_t hash = loop.hash();
  std::lock_guard guard(mutex_);
  const auto is_it = [&](const Entry& entry) { return entry.loop == loop; };
  if (const Entry* entry = entries_.find(hash, is_it)) return entry->kernel;
  return entries_.add(hash, {loop, prepare(loop)}).kernel;
}

size_t LoopTable::size() {
  std::lock_guard guard(mutex_);
  return entries_.size();
}

Ref<const PreparedKernel> LoopTable::prepare(const LoopSpec& loop) {
  std::vector<tenon_operand> inputs;
  for (const LoopSpec::Input& x : loop.inputs) {
    inputs.push_back({to_c(x.dtype), static_cast<uint16_t>(loop.rank), x.strides, nullptr, 0});
  }
  std::vector<tenon_loop_instruction> instructions;
  std::vector<CAttrs> attrs;
  for (const LoopSpec::Instruction& each : loop.instructions) {
    instructions.push_back({.line = each.line,
                            .attrs = attrs.emplace_back(each.attrs.view()).get(),
                            .inputs = each.inputs.data(),
                            .n_inputs = static_cast<uint32_t>(each.inputs.size()),
                            .dtype = to_c(each.dtype),
                            .flags = each.flags,
                            .reserved = 0});
  }
  const CAttrs anchor_attrs(loop.anchor.attrs.view());
  std::vector<tenon_operand> anchor_inputs;
  for (const LoopSpec::Anchor::Input& x : loop.anchor.inputs) {
    anchor_inputs.push_back({to_c(x.dtype), x.rank, x.strides, nullptr, 0});
  }
  const tenon_operand anchor_output = {to_c(loop.anchor.dtype), static_cast<uint16_t>(loop.rank),
                                       TENON_STRIDES_DENSE, nullptr, 0};
  const tenon_kernel_request anchor = {.struct_size = sizeof anchor,
                                       .flags = loop.flags,
                                       .line = loop.anchor.line,
                                       .attrs = anchor_attrs.get(),
                                       .n_inputs = anchor_inputs.size(),
                                       .n_outputs = 1,
                                       .inputs = anchor_inputs.data(),
                                       .outputs = &anchor_output};
  const tenon_loop_request request = {.struct_size = sizeof request,
                                      .flags = loop.flags,
                                      .n_inputs = inputs.size(),
                                      .n_instructions = instructions.size(),
                                      .n_outputs = loop.outputs.size(),
                                      .inputs = inputs.data(),
                                      .instructions = instructions.data(),
                                      .outputs = loop.outputs.data(),
                                      .row_axes = loop.row_axes,
                                      .n_row_inputs = loop.n_row_inputs,
                                      .anchor = loop.anchor.line != nullptr ? &anchor : nullptr};
  tenon_kernel_p* handle = nullptr;
  tenon_kernel_traits traits = {.struct_size = sizeof traits, .flags = 0};
  tenon_string why = {nullptr, 0};
  std::string reason;
  n_prepared_.fetch_add(1, std::memory_order_relaxed);
  try {
    device_.check(device_.calls().prepare_loop(device_.handle(), &request, &handle, &traits, &why));
    if (!handle) reason = reason_of(why);
  } catch (const Error& error) {
    if (error.is_transient()) throw;
    // A refusal is not an error: the executor launches the instructions one by one.
    reason = error.what();
    log_to_context(device_.context(), TENON_LOG_WARNING,
                   format("{} cannot prepare a loop: {}", {device_.name(), reason}));
  }
  if (handle && loop.anchor.line == nullptr && (traits.flags & TENON_KERNEL_WORKSPACE) != 0) {
    device_.calls().release_kernel(std::exchange(handle, nullptr));
    reason = "needs a workspace, which is not supported for loops";
  }
  return PreparedKernel::create(device_, handle, traits.flags, nullptr, nullptr, std::move(reason));
}

void LoopTable::clear() {
  std::lock_guard guard(mutex_);
  entries_.clear();
}

}  // namespace tenon
