// All pipelines of a device, each once, and what is kept of them between runs.

#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "plugins/vulkan/driver/pipeline_makers.h"

namespace tenon_vulkan {

class Pipelines {
 public:
  explicit Pipelines(const Driver& driver) : driver_(driver), makers_(driver, cache_) {}
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;
  ~Pipelines();

  // Reads what earlier runs kept.
  void open();
  // Keeps it for later ones; done at the end, too.
  void save() const;

  // One that may not be made yet: threads are at it.
  tenon_error* get(std::span<const uint32_t> spirv, const OperandKinds& kinds,
                   std::shared_ptr<const Pipeline>& pipeline);
  PipelineMakers& makers() { return makers_; }

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
    std::shared_ptr<const Pipeline> pipeline;
  };
  using Entries = std::list<Entry>;

  std::shared_ptr<const Pipeline> find(uint64_t hash, std::span<const uint32_t> spirv,
                                       const OperandKinds& kinds);
  tenon_error* show(uint64_t hash, std::span<const uint32_t> spirv) const;
  tenon_error* get_layout(const OperandKinds& kinds, const Layout*& layout);
  tenon_error* make_layout(Layout& layout) const;
  std::shared_ptr<const Pipeline> keep(uint64_t hash, std::span<const uint32_t> spirv,
                                       const Layout& layout);
  void end_spare();
  void end(Entries::iterator entry);

  const Driver& driver_;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
  std::string file_;  // Empty: nothing is kept.
  uint64_t kept_hash_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Layout>> layouts_;  // By number.
  Entries entries_;                               // Those asked for last come last.
  std::unordered_multimap<uint64_t, Entries::iterator> by_hash_;
  size_t n_to_look_ = 2 * kMostSpare;  // So many, and it is looked for those to end.
  std::unordered_map<const Pipeline*, std::string> names_;
  PipelineMakers makers_;
};

}  // namespace tenon_vulkan
