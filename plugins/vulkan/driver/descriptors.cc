#include "plugins/vulkan/driver/descriptors.h"

#include <algorithm>
#include <bit>

namespace tenon_vulkan {
namespace {

constexpr uint32_t kSetsOfPool = 64;
constexpr uint64_t kWindowStep = 256;  // Alignment of offsets in bytes that satisfies every device.

// Rounds down to a multiple of `step`.
uint64_t align_down(uint64_t offset, uint64_t step) { return offset / step * step; }

}  // namespace

bool find_binding(const Driver& driver, const Block& block, uint64_t begin, uint64_t end,
                  Binding& binding) {
  const uint64_t most = driver.physical().capabilities.max_operand_bytes;
  if (block.size <= most) {
    binding = {&block, 0, block.size};
    return true;
  }
  // Bound ranges begin at multiples of half their size, so that each range overlaps the next one by
  // half and operands share few bindings. Only operands that fit into no such range get a range of
  // their own.
  const uint64_t half = align_down(most / 2, kWindowStep);
  // An empty operand may begin at the block's end.
  const uint64_t first = std::min(begin, block.size - 1);
  uint64_t offset = align_down(first, half);
  if (end - offset > most) offset = align_down(first, kWindowStep);
  if (end - offset > most) return false;
  binding = {&block, offset, std::min(most, block.size - offset)};
  return true;
}

size_t DescriptorSets::Hash::operator()(KeyView key) const {
  uint64_t hash = key.size();
  for (const uint64_t word : key) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  return hash;
}

DescriptorSets::~DescriptorSets() {
  for (VkBufferView view : views_) {
    driver_.vk().DestroyBufferView(driver_.device(), view, nullptr);
  }
  for (VkDescriptorPool pool : pools_) {
    driver_.vk().DestroyDescriptorPool(driver_.device(), pool, nullptr);
  }
}

tenon_error* DescriptorSets::get(const Layout& layout, std::span<const Binding> bindings,
                                 VkDescriptorSet& set) {
  key_.assign(1, layout.number);
  for (const Binding& binding : bindings) {
    key_.push_back(uint64_t{binding.block->serial} << 32 | binding.offset / kWindowStep);
  }
  const auto found = sets_.find(KeyView(key_));
  if (found != sets_.end()) {
    set = found->second;
    return nullptr;
  }
  if (tenon_error* error = allocate(layout, set)) return error;
  if (tenon_error* error = write(set, layout.kinds, bindings)) return error;
  sets_.emplace(key_, set);
  return nullptr;
}

tenon_error* DescriptorSets::allocate(const Layout& layout, VkDescriptorSet& set) {
  if (current_.size() <= layout.number) current_.resize(layout.number + 1);
  Pool& pool = current_[layout.number];
  if (pool.n_left == 0) {
    if (tenon_error* error = add_pool(layout.kinds, pool)) return error;
  }
  const VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                            .pNext = nullptr,
                                            .descriptorPool = pool.handle,
                                            .descriptorSetCount = 1,
                                            .pSetLayouts = &layout.set};
  const VkResult result = driver_.vk().AllocateDescriptorSets(driver_.device(), &info, &set);
  if (result != VK_SUCCESS) {
    pool.n_left = 0;  // The next call creates a new pool.
    return driver_.error(result, "cannot bind operands");
  }
  --pool.n_left;
  return nullptr;
}

tenon_error* DescriptorSets::add_pool(const OperandKinds& kinds, Pool& pool) {
  const auto n_texels = static_cast<uint32_t>(std::popcount(kinds.texels));
  const VkDescriptorPoolSize sizes[] = {
      {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
       .descriptorCount = kSetsOfPool * (kinds.n_operands + 1 - n_texels)},
      {.type = VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER, .descriptorCount = kSetsOfPool * n_texels}};
  const VkDescriptorPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                           .pNext = nullptr,
                                           .flags = 0,
                                           .maxSets = kSetsOfPool,
                                           .poolSizeCount = n_texels == 0 ? 1u : 2u,
                                           .pPoolSizes = sizes};
  pools_.reserve(pools_.size() + 1);
  Pool made = {.handle = VK_NULL_HANDLE, .n_left = kSetsOfPool};
  const VkResult result =
      driver_.vk().CreateDescriptorPool(driver_.device(), &info, nullptr, &made.handle);
  if (result != VK_SUCCESS) return driver_.error(result, "cannot create a descriptor pool");
  pools_.push_back(made.handle);
  pool = made;
  return nullptr;
}

tenon_error* DescriptorSets::add_view(const Binding& binding) {
  const VkBufferViewCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO,
                                       .pNext = nullptr,
                                       .flags = 0,
                                       .buffer = binding.block->buffer,
                                       .format = kTexelFormat,
                                       .offset = binding.offset,
                                       .range = binding.size / kTexelBytes * kTexelBytes};
  views_.reserve(views_.size() + 1);
  VkBufferView made = VK_NULL_HANDLE;
  const VkResult result = driver_.vk().CreateBufferView(driver_.device(), &info, nullptr, &made);
  if (result != VK_SUCCESS)
    return driver_.error(result, "cannot create a texel view of an operand");
  views_.push_back(made);
  return nullptr;
}

tenon_error* DescriptorSets::write(VkDescriptorSet set, const OperandKinds& kinds,
                                   std::span<const Binding> bindings) {
  buffers_.clear();
  const size_t first_view = views_.size();
  for (uint32_t i = 0; i < bindings.size(); ++i) {
    const Binding& binding = bindings[i];
    buffers_.push_back({binding.block->buffer, binding.offset, binding.size});
    if (descriptor_type(kinds, i) != VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER) continue;
    if (tenon_error* error = add_view(binding)) return error;
  }
  writes_.clear();
  size_t view = first_view;
  for (uint32_t i = 0; i < bindings.size(); ++i) {
    const VkDescriptorType type = descriptor_type(kinds, i);
    const bool is_texels = type == VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER;
    writes_.push_back({.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                       .pNext = nullptr,
                       .dstSet = set,
                       .dstBinding = i,
                       .dstArrayElement = 0,
                       .descriptorCount = 1,
                       .descriptorType = type,
                       .pImageInfo = nullptr,
                       .pBufferInfo = is_texels ? nullptr : &buffers_[i],
                       .pTexelBufferView = is_texels ? &views_[view++] : nullptr});
  }
  driver_.vk().UpdateDescriptorSets(driver_.device(), static_cast<uint32_t>(writes_.size()),
                                    writes_.data(), 0, nullptr);
  return nullptr;
}

}  // namespace tenon_vulkan
