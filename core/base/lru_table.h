// A hash table of bounded size: a new entry evicts the least recently used one.

#pragma once

#include <cstdint>
#include <iterator>
#include <list>
#include <unordered_map>
#include <utility>

#include "core/base/work_steps.h"

namespace tenon {

template <class Entry>
class LruTable {
 public:
  // `max_size` must be at least 1.
  explicit LruTable(size_t max_size) : max_size_(max_size) {}

  // Returns the entry with this hash for which `is_it(entry)` is true; NULL if there is none.
  template <class IsIt>
  Entry* find(uint64_t hash, const IsIt& is_it) {
    const auto [first, last] = by_hash_.equal_range(hash);
    for (auto at = first; at != last; ++at) {
      count_steps();
      if (!is_it(std::as_const(at->second->entry))) continue;
      slots_.splice(slots_.begin(), slots_, at->second);
      return &at->second->entry;
    }
    return nullptr;
  }

  // Adds an entry. If the table is full, evicts the least recently used one. The reference is valid
  // until the entry is evicted.
  Entry& add(uint64_t hash, Entry entry) {
    if (slots_.size() == max_size_) evict();
    slots_.push_front({hash, std::move(entry)});
    try {
      by_hash_.emplace(hash, slots_.begin());
    } catch (...) {
      slots_.pop_front();
      throw;
    }
    return slots_.front().entry;
  }

  size_t size() const { return slots_.size(); }
  void clear() {
    by_hash_.clear();
    slots_.clear();
  }

 private:
  struct Slot {
    uint64_t hash;
    Entry entry;
  };
  using Slots = std::list<Slot>;

  // Removes the least recently used entry.
  void evict() {
    const auto oldest = std::prev(slots_.end());
    const auto [first, last] = by_hash_.equal_range(oldest->hash);
    for (auto at = first; at != last; ++at) {
      if (at->second != oldest) continue;
      by_hash_.erase(at);
      break;
    }
    slots_.pop_back();
  }

  size_t max_size_;
  Slots slots_;  // Most recently used first.
  std::unordered_multimap<uint64_t, typename Slots::iterator> by_hash_;
};

}  // namespace tenon
