#include "plugins/vulkan/driver/commands.h"

#include <algorithm>

namespace tenon_vulkan {
namespace {

constexpr VkPipelineStageFlags kWork =
    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags kWrites = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
constexpr VkAccessFlags kTouches =
    kWrites | VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;

}  // namespace

tenon_error* Commands::begin(VkCommandBuffer commands) {
  const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                         .pNext = nullptr,
                                         .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
                                         .pInheritanceInfo = nullptr};
  const VkResult result = driver_.vk().BeginCommandBuffer(commands, &info);
  if (result != VK_SUCCESS) return driver_.error(result, "cannot begin to record commands");
  commands_ = commands;
  pipeline_ = VK_NULL_HANDLE;
  set_ = VK_NULL_HANDLE;
  barrier(kWork, kTouches);
  return nullptr;
}

VkResult Commands::end() {
  barrier(VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  return driver_.vk().EndCommandBuffer(commands_);
}

void Commands::barrier(VkPipelineStageFlags to_stages, VkAccessFlags to_accesses) {
  const VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .pNext = nullptr,
                               .srcAccessMask = kWrites,
                               .dstAccessMask = to_accesses};
  driver_.vk().CmdPipelineBarrier(commands_, kWork, to_stages, 0, 1, &all, 0, nullptr, 0, nullptr);
  n_accesses_ = 0;
}

bool Commands::needs_barrier(const Access& access) const {
  for (size_t i = 0; i < n_accesses_; ++i) {
    const Access& before = accesses_[i];
    if (before.block == access.block && (before.is_written || access.is_written) &&
        before.begin < access.end && access.begin < before.end) {
      return true;
    }
  }
  return false;
}

void Commands::order(std::span<const Access> accesses) {
  const bool is_hazard = n_accesses_ + accesses.size() > kMostAccesses ||
                         std::any_of(accesses.begin(), accesses.end(),
                                     [&](const Access& access) { return needs_barrier(access); });
  if (is_hazard && n_accesses_ > 0) barrier(kWork, kTouches);
  // A full list makes whatever comes next wait, so what it does not hold is not missed.
  const size_t n = std::min(accesses.size(), kMostAccesses - n_accesses_);
  std::copy_n(accesses.begin(), n, accesses_.begin() + n_accesses_);
  n_accesses_ += n;
}

void Commands::dispatch(const Pipeline& pipeline, VkDescriptorSet set, uint32_t first_word,
                        const std::array<uint32_t, 3>& groups) {
  const DeviceFunctions& vk = driver_.vk();
  const VkPipelineLayout layout = pipeline.layout().pipeline;
  if (pipeline.handle() != pipeline_) {
    pipeline_ = pipeline.handle();
    vk.CmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_);
  }
  if (set != set_) {
    set_ = set;
    vk.CmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0,
                             nullptr);
  }
  vk.CmdPushConstants(commands_, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof first_word,
                      &first_word);
  vk.CmdDispatch(commands_, groups[0], groups[1], groups[2]);
}

void Commands::copy(const Block& from, const Block& to, std::span<const VkBufferCopy> regions) {
  driver_.vk().CmdCopyBuffer(commands_, from.buffer, to.buffer,
                             static_cast<uint32_t>(regions.size()), regions.data());
}

void Commands::fill(const Block& block, uint64_t offset, uint64_t size, uint32_t word) {
  driver_.vk().CmdFillBuffer(commands_, block.buffer, offset, size, word);
}

}  // namespace tenon_vulkan
