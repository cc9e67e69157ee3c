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
  if (tenon_error* error = begin(commands, info)) return error;
  barrier(kWork, kTouches);
  return nullptr;
}

tenon_error* Commands::begin_secondary(VkCommandBuffer commands) {
  const VkCommandBufferInheritanceInfo inherited = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO,
      .pNext = nullptr,
      .renderPass = VK_NULL_HANDLE,
      .subpass = 0,
      .framebuffer = VK_NULL_HANDLE,
      .occlusionQueryEnable = VK_FALSE,
      .queryFlags = 0,
      .pipelineStatistics = 0};
  return begin(commands, {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                          .pNext = nullptr,
                          .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
                          .pInheritanceInfo = &inherited});
}

tenon_error* Commands::begin(VkCommandBuffer commands, const VkCommandBufferBeginInfo& info) {
  const VkResult result = driver_.vk().BeginCommandBuffer(commands, &info);
  if (result != VK_SUCCESS) return driver_.error(result, "cannot begin to record commands");
  commands_ = commands;
  pipeline_ = VK_NULL_HANDLE;
  set_ = VK_NULL_HANDLE;
  accesses_.clear();
  has_touched_more_ = false;
  return nullptr;
}

VkResult Commands::end() {
  barrier(VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  return driver_.vk().EndCommandBuffer(commands_);
}

VkResult Commands::end_secondary() { return driver_.vk().EndCommandBuffer(commands_); }

void Commands::barrier(VkPipelineStageFlags to_stages, VkAccessFlags to_accesses) {
  const VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .pNext = nullptr,
                               .srcAccessMask = kWrites,
                               .dstAccessMask = to_accesses};
  driver_.vk().CmdPipelineBarrier(commands_, kWork, to_stages, 0, 1, &all, 0, nullptr, 0, nullptr);
  accesses_.clear();
  has_touched_more_ = false;
}

bool Commands::needs_barrier(std::span<const Access> accesses) const {
  if (accesses_.size() + accesses.size() > max_accesses_) return true;
  return std::any_of(accesses.begin(), accesses.end(), [&](const Access& access) {
    return std::any_of(accesses_.begin(), accesses_.end(),
                       [&](const Access& before) { return before.conflicts_with(access); });
  });
}

void Commands::add_accesses(std::span<const Access> accesses) {
  if (has_touched_more_ || (!accesses_.empty() && needs_barrier(accesses))) {
    barrier(kWork, kTouches);
  }
  if (accesses.size() > max_accesses_) {
    has_touched_more_ = true;
  } else {
    accesses_.insert(accesses_.end(), accesses.begin(), accesses.end());
  }
}

void Commands::dispatch(const Pipeline& pipeline, VkDescriptorSet set, uint32_t first_word,
                        const std::array<uint32_t, 3>& groups, const char* label) {
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
  if (label != nullptr) [[unlikely]] {
    const VkDebugUtilsLabelEXT info = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT,
                                       .pNext = nullptr,
                                       .pLabelName = label,
                                       .color = {}};
    vk.CmdBeginDebugUtilsLabelEXT(commands_, &info);
  }
  vk.CmdDispatch(commands_, groups[0], groups[1], groups[2]);
  if (label != nullptr) [[unlikely]]
    vk.CmdEndDebugUtilsLabelEXT(commands_);
}

void Commands::execute(VkCommandBuffer secondary) {
  if (has_touched_more_ || !accesses_.empty()) barrier(kWork, kTouches);
  driver_.vk().CmdExecuteCommands(commands_, 1, &secondary);
  pipeline_ = VK_NULL_HANDLE;
  set_ = VK_NULL_HANDLE;
  has_touched_more_ = true;
}

void Commands::copy(const Block& from, const Block& to, std::span<const VkBufferCopy> regions) {
  driver_.vk().CmdCopyBuffer(commands_, from.buffer, to.buffer,
                             static_cast<uint32_t>(regions.size()), regions.data());
}

// Inserts a barrier, so that the timestamp and the next command wait for all earlier commands.
void Commands::write_time(const Query& query) {
  if (has_touched_more_ || !accesses_.empty()) barrier(kWork, kTouches);
  const DeviceFunctions& vk = driver_.vk();
  vk.CmdResetQueryPool(commands_, query.pool, query.index, 1);
  vk.CmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, query.pool, query.index);
}

void Commands::fill(const Block& block, uint64_t offset, uint64_t size, uint32_t word) {
  driver_.vk().CmdFillBuffer(commands_, block.buffer, offset, size, word);
}

}  // namespace tenon_vulkan
