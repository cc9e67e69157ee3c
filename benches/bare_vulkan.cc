#include "benches/bare_vulkan.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <spirv-tools/libspirv.hpp>
#include <vector>

namespace benches {
namespace {

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "bare vulkan: %s\n", what.c_str());
  std::exit(1);
}

// Exits unless `result` is VK_SUCCESS. `what` is the name of the call for the message.
void check(VkResult result, const char* what) {
  if (result != VK_SUCCESS) fail(std::string(what) + " returned " + std::to_string(result));
}

#define BARE_VULKAN_FUNCTIONS(F)            \
  F(EnumeratePhysicalDevices)               \
  F(GetPhysicalDeviceProperties2)           \
  F(CreateDevice)                           \
  F(GetPhysicalDeviceMemoryProperties)      \
  F(GetPhysicalDeviceQueueFamilyProperties) \
  F(GetDeviceQueue)                         \
  F(CreateBuffer)                           \
  F(GetBufferMemoryRequirements)            \
  F(AllocateMemory)                         \
  F(BindBufferMemory)                       \
  F(CreateDescriptorSetLayout)              \
  F(CreateDescriptorPool)                   \
  F(AllocateDescriptorSets)                 \
  F(UpdateDescriptorSets)                   \
  F(CreatePipelineLayout)                   \
  F(CreateShaderModule)                     \
  F(CreateComputePipelines)                 \
  F(CreateCommandPool)                      \
  F(AllocateCommandBuffers)                 \
  F(BeginCommandBuffer)                     \
  F(EndCommandBuffer)                       \
  F(CmdBindPipeline)                        \
  F(CmdBindDescriptorSets)                  \
  F(CmdDispatch)                            \
  F(CmdPipelineBarrier)                     \
  F(CmdFillBuffer)                          \
  F(CreateFence) F(QueueSubmit) F(WaitForFences) F(ResetFences) F(DestroyDevice) F(DestroyInstance)

}  // namespace

// Vulkan objects are not destroyed explicitly, because the process exits after the bench.
struct BareVulkan::State {
#define BARE_VULKAN_MEMBER(name) PFN_vk##name name = nullptr;
  BARE_VULKAN_FUNCTIONS(BARE_VULKAN_MEMBER)
#undef BARE_VULKAN_MEMBER

  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  uint32_t family = 0;
  VkQueue queue = VK_NULL_HANDLE;
  VkBuffer buffers[2] = {};
  VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  VkDescriptorSet set = VK_NULL_HANDLE;
  VkCommandPool pool = VK_NULL_HANDLE;
  VkFence fence = VK_NULL_HANDLE;

  void open_instance();
  void choose(const uint8_t* uuid);
  void open_device();
  void make_buffers(uint64_t bytes);
  void describe_buffers();
  VkDeviceMemory take_memory(VkBuffer buffer) const;
  VkCommandBuffer begin_commands() const;
};

void BareVulkan::State::open_instance() {
  void* const library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fail(dlerror());
  const auto find =
      reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
  if (find == nullptr) fail("libvulkan.so.1 does not export vkGetInstanceProcAddr");
  const auto create = reinterpret_cast<PFN_vkCreateInstance>(find(nullptr, "vkCreateInstance"));
  VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.apiVersion = VK_API_VERSION_1_1;
  VkInstanceCreateInfo info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  check(create(&info, nullptr, &instance), "vkCreateInstance");
#define BARE_VULKAN_FIND(name)                                       \
  name = reinterpret_cast<PFN_vk##name>(find(instance, "vk" #name)); \
  if (name == nullptr) fail("cannot find vk" #name);
  BARE_VULKAN_FUNCTIONS(BARE_VULKAN_FIND)
#undef BARE_VULKAN_FIND
}

void BareVulkan::State::choose(const uint8_t* uuid) {
  uint32_t n = 16;
  VkPhysicalDevice all[16];
  EnumeratePhysicalDevices(instance, &n, all);
  for (uint32_t i = 0; i < n; ++i) {
    VkPhysicalDeviceIDProperties id = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &id};
    GetPhysicalDeviceProperties2(all[i], &properties);
    if (std::memcmp(id.deviceUUID, uuid, VK_UUID_SIZE) != 0) continue;
    physical = all[i];
    break;  // Another driver may list the same device; the first match is used.
  }
  if (physical == VK_NULL_HANDLE)
    fail("the Vulkan loader does not list the device that Tenon uses");
}

void BareVulkan::State::open_device() {
  uint32_t n = 16;
  VkQueueFamilyProperties families[16];
  GetPhysicalDeviceQueueFamilyProperties(physical, &n, families);
  while (family < n && (families[family].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) ++family;
  if (family == n) fail("the device has no compute queue");
  const float priority = 1;
  VkDeviceQueueCreateInfo queues = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queues.queueFamilyIndex = family;
  queues.queueCount = 1;
  queues.pQueuePriorities = &priority;
  VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queues;
  check(CreateDevice(physical, &info, nullptr, &device), "vkCreateDevice");
  GetDeviceQueue(device, family, 0, &queue);
  VkCommandPoolCreateInfo commands = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  commands.queueFamilyIndex = family;
  check(CreateCommandPool(device, &commands, nullptr, &pool), "vkCreateCommandPool");
  const VkFenceCreateInfo fences = {VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  check(CreateFence(device, &fences, nullptr, &fence), "vkCreateFence");
}

// Drivers list faster memory types first, so the first device-local type is used.
VkDeviceMemory BareVulkan::State::take_memory(VkBuffer buffer) const {
  VkMemoryRequirements needs;
  GetBufferMemoryRequirements(device, buffer, &needs);
  VkPhysicalDeviceMemoryProperties memory;
  GetPhysicalDeviceMemoryProperties(physical, &memory);
  VkMemoryAllocateInfo info = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  info.allocationSize = needs.size;
  for (uint32_t type = memory.memoryTypeCount; type-- > 0;) {
    const bool is_local =
        (memory.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0;
    if (is_local && (needs.memoryTypeBits >> type & 1) != 0) info.memoryTypeIndex = type;
  }
  VkDeviceMemory taken = VK_NULL_HANDLE;
  check(AllocateMemory(device, &info, nullptr, &taken), "vkAllocateMemory");
  return taken;
}

void BareVulkan::State::make_buffers(uint64_t bytes) {
  for (VkBuffer& buffer : buffers) {
    VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = bytes;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    check(CreateBuffer(device, &info, nullptr, &buffer), "vkCreateBuffer");
    check(BindBufferMemory(device, buffer, take_memory(buffer), 0), "vkBindBufferMemory");
  }
}

void BareVulkan::State::describe_buffers() {
  VkDescriptorSetLayoutBinding bindings[2] = {};
  for (uint32_t i = 0; i < 2; ++i) {
    bindings[i] = {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
  }
  VkDescriptorSetLayoutCreateInfo set_info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  set_info.bindingCount = 2;
  set_info.pBindings = bindings;
  check(CreateDescriptorSetLayout(device, &set_info, nullptr, &set_layout),
        "vkCreateDescriptorSetLayout");
  VkPipelineLayoutCreateInfo layout_info = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout_info.setLayoutCount = 1;
  layout_info.pSetLayouts = &set_layout;
  check(CreatePipelineLayout(device, &layout_info, nullptr, &layout), "vkCreatePipelineLayout");
  const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2};
  VkDescriptorPoolCreateInfo pool_info = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  pool_info.maxSets = 1;
  pool_info.poolSizeCount = 1;
  pool_info.pPoolSizes = &size;
  VkDescriptorPool sets = VK_NULL_HANDLE;
  check(CreateDescriptorPool(device, &pool_info, nullptr, &sets), "vkCreateDescriptorPool");
  VkDescriptorSetAllocateInfo allocation = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  allocation.descriptorPool = sets;
  allocation.descriptorSetCount = 1;
  allocation.pSetLayouts = &set_layout;
  check(AllocateDescriptorSets(device, &allocation, &set), "vkAllocateDescriptorSets");
  const VkDescriptorBufferInfo whole[2] = {{buffers[0], 0, VK_WHOLE_SIZE},
                                           {buffers[1], 0, VK_WHOLE_SIZE}};
  VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  write.dstSet = set;
  write.descriptorCount = 2;
  write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  write.pBufferInfo = whole;
  UpdateDescriptorSets(device, 1, &write, 0, nullptr);
}

VkCommandBuffer BareVulkan::State::begin_commands() const {
  VkCommandBufferAllocateInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  info.commandPool = pool;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  check(AllocateCommandBuffers(device, &info, &commands), "vkAllocateCommandBuffers");
  const VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  check(BeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
  return commands;
}

BareVulkan::BareVulkan(const uint8_t* uuid, uint64_t buffer_bytes)
    : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.open_instance();
  state.choose(uuid);
  state.open_device();
  state.make_buffers(buffer_bytes);
  state.describe_buffers();
  // Drivers may allocate pages on first use, so all memory is written before anything is measured.
  const VkCommandBuffer fill = state.begin_commands();
  for (const VkBuffer buffer : state.buffers) {
    state.CmdFillBuffer(fill, buffer, 0, VK_WHOLE_SIZE, 0x3f800000u);
  }
  check(state.EndCommandBuffer(fill), "vkEndCommandBuffer");
  run(Dispatch(fill));
}

BareVulkan::~BareVulkan() = default;

// Assembles the shader and records `times` dispatches of `groups` workgroups.
BareVulkan::Dispatch BareVulkan::prepare(const std::string& assembly,
                                         std::array<uint32_t, 3> groups, int times) {
  spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_1);
  tools.SetMessageConsumer(
      [](spv_message_level_t, const char*, const spv_position_t& at, const char* message) {
        std::fprintf(stderr, "line %zu: %s\n", at.line + 1, message);
      });
  std::vector<uint32_t> words;
  if (!tools.Assemble(assembly, &words) || !tools.Validate(words))
    fail("a shader is not valid SPIR-V");
  State& state = *state_;
  VkShaderModuleCreateInfo module_info = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  module_info.codeSize = words.size() * 4;
  module_info.pCode = words.data();
  VkComputePipelineCreateInfo info = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.layout = state.layout;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.pName = "main";
  check(state.CreateShaderModule(state.device, &module_info, nullptr, &info.stage.module),
        "vkCreateShaderModule");
  VkPipeline pipeline = VK_NULL_HANDLE;
  check(state.CreateComputePipelines(state.device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline),
        "vkCreateComputePipelines");
  const VkCommandBuffer commands = state.begin_commands();
  state.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  state.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, state.layout, 0, 1,
                              &state.set, 0, nullptr);
  VkMemoryBarrier barrier = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
  for (int i = 0; i < times; ++i) {
    if (i > 0) {
      state.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                               VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, nullptr, 0,
                               nullptr);
    }
    state.CmdDispatch(commands, groups[0], groups[1], groups[2]);
  }
  check(state.EndCommandBuffer(commands), "vkEndCommandBuffer");
  return Dispatch(commands);
}

// Submits the command buffer and waits until it has finished.
void BareVulkan::run(const Dispatch& dispatch) {
  State& state = *state_;
  VkSubmitInfo submit = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &dispatch.commands_;
  check(state.QueueSubmit(state.queue, 1, &submit, state.fence), "vkQueueSubmit");
  check(state.WaitForFences(state.device, 1, &state.fence, VK_TRUE, UINT64_MAX), "vkWaitForFences");
  check(state.ResetFences(state.device, 1, &state.fence), "vkResetFences");
}

}  // namespace benches
