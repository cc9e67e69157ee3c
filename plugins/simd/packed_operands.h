// Packed forms of operands, which the plugin keeps between launches: weights that several launches
// read need to be packed only once.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace tenon_simd {

// The packed forms, as the first element of PackedOperands::Key::layout.
enum PackedForm : int64_t { kPackedFilters, kPackedWinograd, kPackedColumns };

class PackedOperands {
 public:
  // Identifies a packed form. `layout` has all that packing depends on besides the elements: sizes,
  // strides, the element type, and which form it is.
  struct Key {
    uint64_t content;  // tenon_view.content.
    const void* data;
    std::array<int64_t, 16> layout;

    bool operator==(const Key&) const = default;
  };
  using Memory = std::shared_ptr<const std::byte>;

  // Returns the packed form with this key: the kept one, or a new one of `bytes` bytes that `pack`
  // writes to the given address. Returns NULL for a key that is requested for the first time,
  // because most operands, such as the variables of a training step, are read only once; for
  // operands without a content number; and if the form is too large. Any thread may call it.
  Memory find(const Key& key, size_t bytes, const std::function<void(std::byte*)>& pack);

 private:
  struct Hash {
    size_t operator()(const Key& key) const;
  };
  struct Entry {
    Memory memory;  // NULL if the form was requested only once.
    size_t bytes = 0;
    uint64_t last_use = 0;
  };
  using Entries = std::unordered_map<Key, Entry, Hash>;

  // Removes entries that were not used for a long time.
  void remove_unused();

  std::mutex mutex_;
  Entries entries_;
  size_t bytes_ = 0;
  uint64_t n_requests_ = 0;
};

}  // namespace tenon_simd
