// Descriptor sets for the operands of a dispatch.
//
// Memory consists of few blocks, and each block is usually bound as a whole. Therefore all
// dispatches of a stream share a few sets. Shaders read the offset of an operand in its block from
// the parameters.

#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "plugins/vulkan/driver/block.h"
#include "plugins/vulkan/driver/pipelines.h"

namespace tenon_vulkan {

// The range of a block that is bound: all of it, or a window if the block is too large.
struct Binding {
  const Block* block;
  uint64_t offset, size;
  bool operator==(const Binding&) const = default;
};

// Finds the binding for bytes [begin, end) of a block. Returns false if no binding can hold that
// many bytes.
bool find_binding(const Driver& driver, const Block& block, uint64_t begin, uint64_t end,
                  Binding& binding);

// Descriptor sets, created on demand and destroyed together.
class DescriptorSets {
 public:
  // Maximum number of sets before a new DescriptorSets object replaces this one. Long-running
  // programs rarely reach it, and replacing the object frees unused sets.
  static constexpr size_t kMaxSets = 4096;

  explicit DescriptorSets(const Driver& driver) : driver_(driver) {}
  DescriptorSets(const DescriptorSets&) = delete;
  DescriptorSets& operator=(const DescriptorSets&) = delete;
  ~DescriptorSets();

  // Whether kMaxSets sets exist.
  bool is_full() const { return sets_.size() >= kMaxSets; }

  // Sets `set` to the descriptor set with these bindings, which is created if there is none yet.
  // Binding 0 is the parameters; binding 1 + i is operand i.
  tenon_error* get(const Layout& layout, std::span<const Binding> bindings, VkDescriptorSet& set);

 private:
  // Identifies a descriptor set: the number of its layout, then the serial number of the block and
  // the bound range of each binding.
  using Key = std::vector<uint64_t>;
  using KeyView = std::span<const uint64_t>;
  struct Hash {
    using is_transparent = void;
    size_t operator()(KeyView key) const;
    size_t operator()(const Key& key) const { return (*this)(KeyView(key)); }
  };
  struct Equal {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }
  };
  struct Pool {
    VkDescriptorPool handle = VK_NULL_HANDLE;
    uint32_t n_left = 0;
  };

  // Allocates a descriptor set from the layout's current pool.
  tenon_error* allocate(const Layout& layout, VkDescriptorSet& set);
  // Creates a descriptor pool for sets with these operand kinds.
  tenon_error* add_pool(const OperandKinds& kinds, Pool& pool);
  // Writes the descriptors of the bindings to the set.
  tenon_error* write(VkDescriptorSet set, const OperandKinds& kinds,
                     std::span<const Binding> bindings);
  // Appends a texel buffer view of the binding to views_.
  tenon_error* add_view(const Binding& binding);

  const Driver& driver_;
  std::unordered_map<Key, VkDescriptorSet, Hash, Equal> sets_;
  std::vector<Pool> current_;  // Indexed by layout number.
  std::vector<VkDescriptorPool> pools_;
  std::vector<VkBufferView> views_;  // Texel views of blocks.
  Key key_;                          // Scratch memory of get() and write().
  std::vector<VkDescriptorBufferInfo> buffers_;
  std::vector<VkWriteDescriptorSet> writes_;
};

}  // namespace tenon_vulkan
