#include "plugins/vulkan/driver/block.h"

#include <bit>

namespace tenon_vulkan {
namespace {

constexpr VkMemoryPropertyFlags kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkMemoryPropertyFlags kCached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
constexpr VkMemoryPropertyFlags kMapped =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr uint32_t kNone = ~0u;

constexpr VkExternalMemoryHandleTypeFlagBits kPages =
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;

// Creates a buffer without memory. `more`: the pNext chain, for example for external memory; may be
// NULL.
VkResult make_buffer(const Driver& driver, uint64_t size, const void* more, VkBuffer& buffer) {
  const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                   .pNext = more,
                                   .flags = 0,
                                   .size = size,
                                   .usage = kBlockUsage,
                                   .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
                                   .queueFamilyIndexCount = 0,
                                   .pQueueFamilyIndices = nullptr};
  return driver.vk().CreateBuffer(driver.device(), &info, nullptr, &buffer);
}

VkMemoryRequirements requirements_of(const Driver& driver, VkBuffer buffer) {
  VkMemoryRequirements requirements;
  driver.vk().GetBufferMemoryRequirements(driver.device(), buffer, &requirements);
  return requirements;
}

// Allocates memory for the buffer of the block and binds it. `more`: as in make_buffer().
VkResult allocate_memory(const Driver& driver, uint64_t size, uint32_t memory_type,
                         const void* more, Block& block) {
  const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .pNext = more,
                                     .allocationSize = size,
                                     .memoryTypeIndex = memory_type};
  const DeviceFunctions& vk = driver.vk();
  const VkResult result = vk.AllocateMemory(driver.device(), &info, nullptr, &block.memory);
  if (result != VK_SUCCESS) return result;
  return vk.BindBufferMemory(driver.device(), block.buffer, block.memory, 0);
}

// Names the handles of the block for debugging tools.
void set_block_name(const Driver& driver, const Block& block) {
  if (!driver.has_names()) return;
  const std::string name =
      "block " + std::to_string(block.serial) + ", " + std::to_string(block.size) + " bytes";
  driver.set_name(VK_OBJECT_TYPE_BUFFER, block.buffer, name);
  driver.set_name(VK_OBJECT_TYPE_DEVICE_MEMORY, block.memory, name);
}

// Selects the memory type that has all required properties and the most preferred ones. If several
// qualify, selects the one on the largest heap. Never selects types with properties such as
// protected memory or memory that bypasses caches.
class Chooser {
 public:
  Chooser(const VkPhysicalDeviceMemoryProperties& memory, uint32_t allowed)
      : memory_(memory), allowed_(allowed) {}

  uint32_t choose(VkMemoryPropertyFlags required, VkMemoryPropertyFlags preferred,
                  VkMemoryPropertyFlags disliked = 0) const {
    uint32_t best = kNone;
    int best_score = 0;
    for (uint32_t i = 0; i < memory_.memoryTypeCount; ++i) {
      const VkMemoryPropertyFlags flags = memory_.memoryTypes[i].propertyFlags;
      if ((allowed_ >> i & 1) == 0 || (flags & required) != required) continue;
      if ((flags & ~(kLocal | kMapped | kCached)) != 0) continue;
      const int score = std::popcount(flags & preferred) - std::popcount(flags & disliked);
      const bool is_better =
          best == kNone || score > best_score || (score == best_score && bytes(i) > bytes(best));
      if (!is_better) continue;
      best = i;
      best_score = score;
    }
    return best;
  }
  uint64_t bytes(uint32_t type) const {
    return memory_.memoryHeaps[memory_.memoryTypes[type].heapIndex].size;
  }

 private:
  const VkPhysicalDeviceMemoryProperties& memory_;
  const uint32_t allowed_;
};

}  // namespace

tenon_error* choose_memory_types(const Driver& driver, MemoryTypes& types) {
  VkBuffer probe = VK_NULL_HANDLE;
  if (const VkResult result = make_buffer(driver, 256, nullptr, probe); result != VK_SUCCESS) {
    return driver.error(result, "cannot make a buffer");
  }
  const VkMemoryRequirements requirements = requirements_of(driver, probe);
  driver.vk().DestroyBuffer(driver.device(), probe, nullptr);

  const Chooser chooser(driver.physical().memory, requirements.memoryTypeBits);
  types.device = chooser.choose(0, kLocal, kMapped);
  // On discrete GPUs, the host accesses device memory over a bus.
  const Capabilities& capabilities = driver.physical().capabilities;
  types.device_is_visible = false;
  if (driver.options().visible && (capabilities.is_integrated || capabilities.is_software)) {
    const uint32_t shared = chooser.choose(kLocal | kMapped | kCached, 0);
    if (shared != kNone && chooser.bytes(shared) == chooser.bytes(types.device)) {
      types.device = shared;
      types.device_is_visible = true;
    }
  }
  types.parameters = chooser.choose(kMapped, kLocal, kCached);
  types.upload = chooser.choose(kMapped, 0, kLocal);
  types.download = chooser.choose(kMapped, kCached, kLocal);
  if (types.device == kNone || types.upload == kNone) {
    return driver.error(TENON_UNAVAILABLE,
                        "the device has no memory type for buffers that the host can write");
  }
  types.device_bytes = chooser.bytes(types.device);
  return nullptr;
}

uint64_t remaining_budget_bytes(const Driver& driver, uint32_t memory_type) {
  if (!driver.physical().offers.memory_budget) return UINT64_MAX;
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {};
  budget.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT;
  VkPhysicalDeviceMemoryProperties2 memory = {};
  memory.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
  memory.pNext = &budget;
  driver.instance().vk().GetPhysicalDeviceMemoryProperties2(driver.physical().handle, &memory);
  const uint32_t heap = driver.physical().memory.memoryTypes[memory_type].heapIndex;
  const VkDeviceSize all = budget.heapBudget[heap], used = budget.heapUsage[heap];
  return all > used ? all - used : 0;
}

tenon_error* make_block(const Driver& driver, uint64_t size, uint32_t memory_type, bool is_mapped,
                        Block& block) {
  Block made;
  made.size = size;
  made.serial = driver.next_serial();
  VkResult result = make_buffer(driver, size, nullptr, made.buffer);
  if (result == VK_SUCCESS) {
    const VkMemoryRequirements requirements = requirements_of(driver, made.buffer);
    result = allocate_memory(driver, requirements.size, memory_type, nullptr, made);
  }
  if (result == VK_SUCCESS && is_mapped) {
    void* data = nullptr;
    result = driver.vk().MapMemory(driver.device(), made.memory, 0, VK_WHOLE_SIZE, 0, &data);
    made.data = static_cast<std::byte*>(data);
  }
  if (result == VK_SUCCESS) {
    set_block_name(driver, made);
    block = made;
    return nullptr;
  }
  destroy_block(driver, made);
  return driver.error(result, "cannot allocate " + std::to_string(size) + " bytes");
}

tenon_error* import_block(const Driver& driver, std::byte* pages, uint64_t size, Block& block) {
  Block made;
  made.size = size;
  made.serial = driver.next_serial();
  made.data = pages;
  made.is_imported = true;
  VkMemoryHostPointerPropertiesEXT possible = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT,
      .pNext = nullptr,
      .memoryTypeBits = 0};
  VkResult result =
      driver.vk().GetMemoryHostPointerPropertiesEXT(driver.device(), kPages, pages, &possible);
  if (result == VK_SUCCESS) {
    const VkExternalMemoryBufferCreateInfo more = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .pNext = nullptr,
        .handleTypes = kPages};
    result = make_buffer(driver, size, &more, made.buffer);
  }
  if (result == VK_SUCCESS) {
    const VkMemoryRequirements requirements = requirements_of(driver, made.buffer);
    const Chooser chooser(driver.physical().memory,
                          requirements.memoryTypeBits & possible.memoryTypeBits);
    const uint32_t type = chooser.choose(kMapped, kCached);
    const VkImportMemoryHostPointerInfoEXT more = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
        .pNext = nullptr,
        .handleType = kPages,
        .pHostPointer = pages};
    result = type == kNone || requirements.size > size
                 ? VK_ERROR_INVALID_EXTERNAL_HANDLE
                 : allocate_memory(driver, size, type, &more, made);
  }
  if (result == VK_SUCCESS) {
    set_block_name(driver, made);
    block = made;
    return nullptr;
  }
  destroy_block(driver, made);
  if (result == VK_ERROR_DEVICE_LOST) return driver.error(result, "");
  return driver.error(TENON_UNIMPLEMENTED, "the driver cannot import " + std::to_string(size) +
                                               " bytes of host memory: " + name_of(result));
}

void destroy_block(const Driver& driver, Block& block) {
  driver.vk().DestroyBuffer(driver.device(), block.buffer, nullptr);
  driver.vk().FreeMemory(driver.device(), block.memory, nullptr);
  block = {};
}

}  // namespace tenon_vulkan
