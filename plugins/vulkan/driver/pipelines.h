// Shaders made ready, each once, and what is kept of them between runs.

#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "plugins/vulkan/driver/driver.h"

namespace tenon_vulkan {

// What a shader's operands are.
struct OperandKinds {
  uint32_t n_operands = 0;
  uint32_t texels = 0;  // A bit for each that is seen as texels; the others are storage buffers.
  bool operator==(const OperandKinds&) const = default;
};

// Of a binding; 0 is the parameters, 1 + i is operand i.
VkDescriptorType descriptor_type(const OperandKinds& kinds, uint32_t binding);

// What all dispatches with such operands have in common.
struct Layout {
  OperandKinds kinds;
  uint32_t number = 0;  // Tells it from the device's other layouts.
  VkDescriptorSetLayout set = VK_NULL_HANDLE;
  VkPipelineLayout pipeline = VK_NULL_HANDLE;
};

class Pipeline : public std::enable_shared_from_this<Pipeline> {
 public:
  Pipeline(VkPipeline handle, const Layout& layout) : handle_(handle), layout_(layout) {}
  VkPipeline handle() const { return handle_; }
  const Layout& layout() const { return layout_; }

 private:
  VkPipeline handle_;
  const Layout& layout_;
};

// Says what is wrong with a module, or nothing. Asked of each module if the option `validate` is 1.
using ModuleCheck = std::string (*)(const Capabilities&, std::span<const uint32_t> spirv);

class Pipelines {
 public:
  explicit Pipelines(const Driver& driver) : driver_(driver) {}
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;
  ~Pipelines();

  // Reads what earlier runs kept.
  void open();
  // Keeps it for later ones; done at the end, too.
  void save() const;
  void set_check(ModuleCheck check) { check_ = check; }

  // Several threads make several at once.
  tenon_error* get(std::span<const uint32_t> spirv, const OperandKinds& kinds,
                   std::shared_ptr<const Pipeline>& pipeline);

  // How many there are. Those that nobody has are kept for a while.
  size_t count() const;
  static constexpr size_t kMostSpare = 256;

  // Names a pipeline after what it computes, unless it has a name: kernels may share one. Only with
  // names.
  void set_name(const Pipeline& pipeline, const std::string& name);
  // Stays as long as the pipeline; NULL: it has none.
  const char* name_of(const Pipeline& pipeline) const;

 private:
  struct Entry {
    uint64_t hash;
    std::vector<uint32_t> spirv;
    std::shared_ptr<const Pipeline> pipeline;
  };
  using Entries = std::list<Entry>;

  std::shared_ptr<const Pipeline> find(uint64_t hash, std::span<const uint32_t> spirv,
                                       const OperandKinds& kinds);
  tenon_error* check(std::span<const uint32_t> spirv) const;
  tenon_error* get_layout(const OperandKinds& kinds, const Layout*& layout);
  tenon_error* make_layout(Layout& layout) const;
  tenon_error* make(std::span<const uint32_t> spirv, const Layout& layout, VkPipeline& made) const;
  std::shared_ptr<const Pipeline> keep(uint64_t hash, std::span<const uint32_t> spirv,
                                       const Layout& layout, VkPipeline made);
  void end_spare();
  void end(Entries::iterator entry);

  const Driver& driver_;
  ModuleCheck check_ = nullptr;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
  std::string file_;  // Empty: nothing is kept.
  uint64_t kept_hash_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Layout>> layouts_;  // By number.
  Entries entries_;                               // Those asked for last come last.
  std::unordered_multimap<uint64_t, Entries::iterator> by_hash_;
  size_t n_to_look_ = 2 * kMostSpare;  // So many, and it is looked for those to end.
  std::unordered_map<const Pipeline*, std::string> names_;
};

}  // namespace tenon_vulkan
