#include "plugins/vulkan/driver/cached_commands.h"

#include "plugins/vulkan/driver/device.h"

namespace tenon_vulkan {

CachedCommands::Key CachedCommands::key_of(const Driver& driver, uint32_t stream,
                                           std::span<const SlotLocation> slots) {
  const uint64_t most = driver.physical().capabilities.max_operand_bytes;
  Key key = {stream};
  for (const SlotLocation& slot : slots) {
    key.push_back(slot.block == nullptr ? 0 : slot.block->serial);
    if (slot.block != nullptr && slot.block->size > most) key.push_back(slot.begin);
  }
  return key;
}

tenon_error* CachedCommands::open(uint64_t parameter_bytes) {
  const Driver& driver = device_.driver();
  if (tenon_error* error = device_.memory().allocate(parameter_bytes, parameters_)) return error;
  wanted.resize(parameter_bytes);
  stale_end = parameter_bytes;
  const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .pNext = nullptr,
                                        .flags = 0,
                                        .queueFamilyIndex = driver.physical().queue_family};
  VkResult result = driver.vk().CreateCommandPool(driver.device(), &pool, nullptr, &pool_);
  if (result == VK_SUCCESS) {
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .pNext = nullptr,
        .commandPool = pool_,
        .level = VK_COMMAND_BUFFER_LEVEL_SECONDARY,
        .commandBufferCount = 1};
    result = driver.vk().AllocateCommandBuffers(driver.device(), &info, &commands_);
  }
  if (result != VK_SUCCESS) return driver.error(result, "cannot record commands for replay");
  if (driver.has_names()) {
    driver.set_name(VK_OBJECT_TYPE_COMMAND_BUFFER, commands_,
                    "recording on stream " + std::to_string(key_[0]));
  }
  return nullptr;
}

CachedCommands::~CachedCommands() {
  const Driver& driver = device_.driver();
  if (pool_ != VK_NULL_HANDLE) {
    driver.vk().DestroyCommandPool(driver.device(), pool_, nullptr);
  }
  if (parameters_ != nullptr) device_.memory().release(std::move(parameters_));
}

}  // namespace tenon_vulkan
