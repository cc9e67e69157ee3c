#include "plugins/vulkan/driver/held_dispatches.h"

#include "plugins/vulkan/driver/pipeline.h"

namespace tenon_vulkan {

void HeldDispatches::push(const Dispatch& dispatch, const LaunchId& launch,
                          const std::string& name) {
  Held held = {.pipeline = dispatch.pipeline->shared_from_this(),
               .operands = {dispatch.operands.begin(), dispatch.operands.end()},
               .values = {},
               .words = {dispatch.words.begin(), dispatch.words.end()},
               .groups = dispatch.groups,
               .products = dispatch.products,
               .launch = launch,
               .name = name};
  for (const Operand& operand : held.operands) {
    if (operand.buffer != nullptr) continue;
    const auto* const value = static_cast<const std::byte*>(operand.value);
    held.values.insert(held.values.end(), value, value + (operand.end - operand.begin));
  }
  held_.push_back(std::move(held));
}

// Returns the first held dispatch, which refers to memory of this object.
Dispatch HeldDispatches::dispatch() {
  Held& first = held_.front();
  const std::byte* value = first.values.data();
  for (Operand& operand : first.operands) {
    if (operand.buffer != nullptr) continue;
    operand.value = value;
    value += operand.end - operand.begin;
  }
  return {.pipeline = first.pipeline.get(),
          .operands = first.operands,
          .words = first.words,
          .groups = first.groups,
          .products = first.products};
}

void HeldDispatches::pop_launch() {
  const LaunchId launch = held_.front().launch;
  while (!held_.empty() && held_.front().launch == launch) held_.pop_front();
}

}  // namespace tenon_vulkan
