// Which memory the operands of a dispatch are in, as the driver wants to know it.
//
// Blocks of memory are few and are bound whole, so that the same few sets serve all dispatches of a
// stream: where in its block an operand begins is a parameter.

#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "plugins/vulkan/driver/block.h"
#include "plugins/vulkan/driver/pipelines.h"

namespace tenon_vulkan {

// A part of a block that shaders see: all of it, or a window on one that is too large.
struct Binding {
  const Block* block;
  uint64_t offset, size;
  bool operator==(const Binding&) const = default;
};

// Where a shader finds bytes [begin, end) of a block. False: they are too many to be seen at once.
bool bind(const Driver& driver, const Block& block, uint64_t begin, uint64_t end, Binding& binding);

// Sets of descriptors, made as they are asked for; they end together.
class DescriptorSets {
 public:
  // So many that a program which runs on and on needs no others, and few enough to be forgotten.
  static constexpr size_t kMost = 4096;

  explicit DescriptorSets(const Driver& driver) : driver_(driver) {}
  DescriptorSets(const DescriptorSets&) = delete;
  DescriptorSets& operator=(const DescriptorSets&) = delete;
  ~DescriptorSets();

  bool is_full() const { return sets_.size() >= kMost; }

  // Binding 0 is the parameters.
  tenon_error* get(const Layout& layout, std::span<const Binding> bindings, VkDescriptorSet& set);

 private:
  // The layout's number; a block's serial number and the window on it, for each binding.
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

  tenon_error* allocate(const Layout& layout, VkDescriptorSet& set);
  tenon_error* add_pool(const OperandKinds& kinds, Pool& pool);
  tenon_error* write(VkDescriptorSet set, const OperandKinds& kinds,
                     std::span<const Binding> bindings);
  tenon_error* add_view(const Binding& binding);

  const Driver& driver_;
  std::unordered_map<Key, VkDescriptorSet, Hash, Equal> sets_;
  std::vector<Pool> current_;  // By the layout's number.
  std::vector<VkDescriptorPool> pools_;
  std::vector<VkBufferView> views_;  // Blocks as texels.
  Key key_;                          // Of the question at hand; and what is written to a set.
  std::vector<VkDescriptorBufferInfo> buffers_;
  std::vector<VkWriteDescriptorSet> writes_;
};

}  // namespace tenon_vulkan
