// All pipelines of a device, deduplicated by SPIR-V, and the pipeline cache that persists between
// runs.

#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "plugins/vulkan/driver/pipeline_compiler.h"

namespace tenon_vulkan {

class Pipelines {
 public:
  explicit Pipelines(const Driver& driver) : driver_(driver), compiler_(driver, cache_) {}
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;
  ~Pipelines();

  // Loads the pipeline cache of earlier runs.
  void open();
  // Saves the pipeline cache for later runs. The destructor saves it, too.
  void save() const;

  // Returns the pipeline of a shader. Its VkPipeline may not exist yet; threads create it in the
  // background.
  tenon_error* get(std::span<const uint32_t> spirv, const OperandKinds& kinds,
                   std::shared_ptr<const Pipeline>& pipeline);
  PipelineCompiler& compiler() { return compiler_; }

  // Returns the number of pipelines. From time to time, unreferenced pipelines are evicted until
  // kMaxUnreferenced of them remain.
  size_t count() const;
  static constexpr size_t kMaxUnreferenced = 256;

  // Sets the name of a pipeline to that of its kernel. If several kernels share the pipeline, the
  // first name is kept. Does nothing unless has_names().
  void set_name(const Pipeline& pipeline, const std::string& name);
  // Returns the pipeline's name, which is valid as long as the pipeline. NULL if it has no name.
  const char* name_of(const Pipeline& pipeline) const;

 private:
  struct Entry {
    uint64_t hash;
    std::shared_ptr<const Pipeline> pipeline;
  };
  using Entries = std::list<Entry>;

  // Returns the cached pipeline of this shader, or NULL.
  std::shared_ptr<const Pipeline> find(uint64_t hash, std::span<const uint32_t> spirv,
                                       const OperandKinds& kinds);
  tenon_error* write_spirv_file(uint64_t hash, std::span<const uint32_t> spirv) const;
  // Returns the layout for these operand kinds in `layout`, and creates it if necessary.
  tenon_error* get_layout(const OperandKinds& kinds, const Layout*& layout);
  tenon_error* make_layout(Layout& layout) const;
  std::shared_ptr<const Pipeline> find_or_add(uint64_t hash, std::span<const uint32_t> spirv,
                                              const Layout& layout);
  void evict_unreferenced();
  // Removes the entry and its pipeline's name.
  void evict_entry(Entries::iterator entry);

  const Driver& driver_;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
  std::string file_;  // Empty: the cache is disabled.
  uint64_t kept_hash_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Layout>> layouts_;  // Indexed by layout number.
  Entries entries_;                               // Sorted by last use, most recent last.
  std::unordered_multimap<uint64_t, Entries::iterator> by_hash_;
  // Number of entries at which the next eviction of unreferenced pipelines takes place.
  size_t evict_at_ = 2 * kMaxUnreferenced;
  std::unordered_map<const Pipeline*, std::string> names_;
  PipelineCompiler compiler_;
};

}  // namespace tenon_vulkan
