// Packed forms of operands, which the plugin keeps between launches: weights that several launches
// read need to be packed only once.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

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
  template <class Pack>
  Memory find(const Key& key, size_t bytes, const Pack& pack) {
    const auto call = [](const void* given, std::byte* to) {
      (*static_cast<const Pack*>(given))(to);
    };
    return find(key, bytes, &pack, call);
  }

 private:
  Memory find(const Key& key, size_t bytes, const void* pack,
              void (*call)(const void* pack, std::byte* to));

  struct Entry {
    Key key{};
    Memory memory;  // NULL if the form was requested only once.
    size_t bytes = 0;
    uint64_t last_use = 0;
  };

  // Returns the entry of the key. If there is none, it replaces the entry of its set that was not
  // used for the longest time.
  Entry& entry_of(const Key& key);
  void clear(Entry& entry);

  std::mutex mutex_;
  std::vector<Entry> entries_;  // A hash table of sets, allocated by the first request.
  size_t bytes_ = 0;            // Total size of the forms.
  uint64_t n_requests_ = 0;
};

}  // namespace tenon_simd
