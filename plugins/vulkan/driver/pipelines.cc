#include "plugins/vulkan/driver/pipelines.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>

#include "plugins/vulkan/driver/cache_file.h"

namespace tenon_vulkan {

VkDescriptorType descriptor_type(const OperandKinds& kinds, uint32_t binding) {
  const bool may_be = binding > 0 && binding <= 32;
  const bool is_texels = may_be && (kinds.texels >> (binding - 1) & 1) != 0;
  return is_texels ? VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
}

void Pipelines::open() {
  file_ = cache_path(driver_);
  const std::vector<std::byte> kept = read_cache(file_, cache_key(driver_));
  kept_hash_ = hash_bytes(kept);
  VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                    .pNext = nullptr,
                                    .flags = 0,
                                    .initialDataSize = kept.size(),
                                    .pInitialData = kept.data()};
  const auto create = [&] {
    return driver_.vk().CreatePipelineCache(driver_.device(), &info, nullptr, &cache_);
  };
  VkResult result = create();
  if (result != VK_SUCCESS && !kept.empty()) {
    info.initialDataSize = 0;
    result = create();
  }
  if (result != VK_SUCCESS) cache_ = VK_NULL_HANDLE;  // The cache is optional.
}

Pipelines::~Pipelines() {
  compiler_.stop();
  save();
  const DeviceFunctions& vk = driver_.vk();
  by_hash_.clear();
  entries_.clear();
  for (const auto& layout : layouts_) {
    vk.DestroyPipelineLayout(driver_.device(), layout->pipeline, nullptr);
    vk.DestroyDescriptorSetLayout(driver_.device(), layout->set, nullptr);
  }
  if (cache_ != VK_NULL_HANDLE) vk.DestroyPipelineCache(driver_.device(), cache_, nullptr);
}

// Ignores failures, because the next run can compile the pipelines again.
void Pipelines::save() const {
  if (cache_ == VK_NULL_HANDLE || file_.empty() || entries_.empty() || driver_.is_lost()) return;
  try {
    size_t size = 0;
    const auto get = [&](void* data) {
      return driver_.vk().GetPipelineCacheData(driver_.device(), cache_, &size, data);
    };
    if (get(nullptr) != VK_SUCCESS) return;
    std::vector<std::byte> data(size);
    if (get(data.data()) != VK_SUCCESS) return;
    data.resize(size);
    if (hash_bytes(data) == kept_hash_)
      return;  // The cache is unchanged since it was last saved or loaded.
    write_cache(file_, cache_key(driver_), data);
  } catch (const std::exception&) {
  }
}

tenon_error* Pipelines::get(std::span<const uint32_t> spirv, const OperandKinds& kinds,
                            std::shared_ptr<const Pipeline>& pipeline) {
  const uint64_t hash = hash_bytes(std::as_bytes(spirv));
  {
    std::lock_guard guard(mutex_);
    pipeline = find(hash, spirv, kinds);
  }
  if (pipeline != nullptr) return nullptr;
  if (driver_.is_lost()) return driver_.lost_error();
  if (tenon_error* error = write_spirv_file(hash, spirv)) return error;
  const Layout* layout = nullptr;
  if (tenon_error* error = get_layout(kinds, layout)) return error;
  pipeline = find_or_add(hash, spirv, *layout);
  compiler_.queue_creation(pipeline);
  return nullptr;
}

std::shared_ptr<const Pipeline> Pipelines::find(uint64_t hash, std::span<const uint32_t> spirv,
                                                const OperandKinds& kinds) {
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto each = first; each != last; ++each) {
    const Entries::iterator entry = each->second;
    const std::span<const uint32_t> own = entry->pipeline->spirv();
    if (entry->pipeline->layout().kinds == kinds &&
        std::equal(spirv.begin(), spirv.end(), own.begin(), own.end())) {
      entries_.splice(entries_.end(), entries_, entry);
      return entry->pipeline;
    }
  }
  return nullptr;
}

// Adds the pipeline, unless another thread has added the same one in the meantime.
std::shared_ptr<const Pipeline> Pipelines::find_or_add(uint64_t hash,
                                                       std::span<const uint32_t> spirv,
                                                       const Layout& layout) {
  std::lock_guard guard(mutex_);
  if (std::shared_ptr<const Pipeline> found = find(hash, spirv, layout.kinds)) return found;
  by_hash_.reserve(by_hash_.size() + 1);
  entries_.push_back({hash, std::make_shared<const Pipeline>(driver_, spirv, layout)});
  try {
    by_hash_.emplace(hash, std::prev(entries_.end()));
  } catch (...) {
    entries_.pop_back();
    throw;
  }
  std::shared_ptr<const Pipeline> kept = entries_.back().pipeline;
  if (entries_.size() >= evict_at_) evict_unreferenced();
  return kept;
}

// Evicts the least recently used unreferenced pipelines, until kMaxUnreferenced remain. Released
// programs, for example, leave the pipelines of their loops unreferenced. The host releases a
// kernel only after its work has completed, so the device does not use an unreferenced pipeline.
void Pipelines::evict_unreferenced() {
  const auto is_unreferenced = [](const Entry& entry) { return entry.pipeline.use_count() == 1; };
  auto n_unreferenced =
      static_cast<size_t>(std::count_if(entries_.begin(), entries_.end(), is_unreferenced));
  for (auto each = entries_.begin(); n_unreferenced > kMaxUnreferenced;) {
    const Entries::iterator entry = each++;
    if (!is_unreferenced(*entry)) continue;
    evict_entry(entry);
    --n_unreferenced;
  }
  evict_at_ = entries_.size() + kMaxUnreferenced;
}

void Pipelines::evict_entry(Entries::iterator entry) {
  const auto [first, last] = by_hash_.equal_range(entry->hash);
  by_hash_.erase(std::find_if(first, last, [&](const auto& each) { return each.second == entry; }));
  names_.erase(entry->pipeline.get());
  entries_.erase(entry);
}

size_t Pipelines::count() const {
  std::lock_guard guard(mutex_);
  return entries_.size();
}

void Pipelines::set_name(const Pipeline& pipeline, const std::string& name) {
  std::lock_guard guard(mutex_);
  if (name.empty() || !names_.try_emplace(&pipeline, name).second) return;
  driver_.set_name(VK_OBJECT_TYPE_PIPELINE, pipeline.handle(), name);
}

const char* Pipelines::name_of(const Pipeline& pipeline) const {
  std::lock_guard guard(mutex_);
  const auto found = names_.find(&pipeline);
  return found == names_.end() ? nullptr : found->second.c_str();
}

// Writes the module to the folder of option `shaders`.
tenon_error* Pipelines::write_spirv_file(uint64_t hash, std::span<const uint32_t> spirv) const {
  const std::string& folder = driver_.options().shaders;
  if (folder.empty()) return nullptr;
  char name[32];
  std::snprintf(name, sizeof name, "%016" PRIx64 ".spv", hash);
  const std::filesystem::path path = std::filesystem::path(folder) / name;
  if (std::filesystem::exists(path) || write_whole(path, {std::as_bytes(spirv)})) return nullptr;
  return driver_.error(TENON_UNAVAILABLE, "option shaders: cannot write " + path.string());
}

tenon_error* Pipelines::get_layout(const OperandKinds& kinds, const Layout*& layout) {
  const uint32_t most = driver_.physical().capabilities.max_operands;
  if (kinds.n_operands > most) {
    return driver_.error(TENON_UNIMPLEMENTED, "a shader has " + std::to_string(kinds.n_operands) +
                                                  " operands, but the device can bind only " +
                                                  std::to_string(most));
  }
  std::lock_guard guard(mutex_);
  const auto found = std::find_if(layouts_.begin(), layouts_.end(),
                                  [&](const auto& each) { return each->kinds == kinds; });
  if (found != layouts_.end()) {
    layout = found->get();
    return nullptr;
  }
  auto made = std::make_unique<Layout>();
  made->kinds = kinds;
  made->number = static_cast<uint32_t>(layouts_.size());
  layouts_.reserve(layouts_.size() + 1);
  if (tenon_error* error = make_layout(*made)) return error;
  layouts_.push_back(std::move(made));
  layout = layouts_.back().get();
  return nullptr;
}

tenon_error* Pipelines::make_layout(Layout& layout) const {
  std::vector<VkDescriptorSetLayoutBinding> bindings;
  for (uint32_t i = 0; i <= layout.kinds.n_operands; ++i) {
    bindings.push_back({.binding = i,
                        .descriptorType = descriptor_type(layout.kinds, i),
                        .descriptorCount = 1,
                        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                        .pImmutableSamplers = nullptr});
  }
  const VkDescriptorSetLayoutCreateInfo set = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
      .pNext = nullptr,
      .flags = 0,
      .bindingCount = static_cast<uint32_t>(bindings.size()),
      .pBindings = bindings.data()};
  const DeviceFunctions& vk = driver_.vk();
  VkResult result = vk.CreateDescriptorSetLayout(driver_.device(), &set, nullptr, &layout.set);
  if (result != VK_SUCCESS) return driver_.error(result, "cannot create a descriptor set layout");
  const VkPushConstantRange place = {
      .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .offset = 0, .size = sizeof(uint32_t)};
  const VkPipelineLayoutCreateInfo pipeline = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
      .pNext = nullptr,
      .flags = 0,
      .setLayoutCount = 1,
      .pSetLayouts = &layout.set,
      .pushConstantRangeCount = 1,
      .pPushConstantRanges = &place};
  result = vk.CreatePipelineLayout(driver_.device(), &pipeline, nullptr, &layout.pipeline);
  if (result == VK_SUCCESS) return nullptr;
  vk.DestroyDescriptorSetLayout(driver_.device(), layout.set, nullptr);
  return driver_.error(result, "cannot create a pipeline layout");
}

}  // namespace tenon_vulkan
