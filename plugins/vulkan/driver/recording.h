// Recorded launches as a list of dispatches, with operands whose addresses each replay supplies.
//
// A replay executes the cached command buffer of an earlier replay if its slots are in the same
// blocks and each pair of overlapping slots has the same distance as before. Otherwise the
// dispatches are encoded one by one.

#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "plugins/vulkan/driver/cached_commands.h"
#include "plugins/vulkan/driver/commands.h"
#include "plugins/vulkan/encoder.h"

namespace tenon_vulkan {

class Device;

class Recording final : public Encoder {
 public:
  Recording(Device& device, size_t n_slots, size_t n_values)
      : device_(device), slots_(n_slots + 1), values_(n_values) {}

  // Appends the dispatches of a launch. Called once for each recorded launch, in order.
  tenon_error* add(const tenon_recorded_launch& launch);

  Device& device() const { return device_; }
  size_t n_dispatches() const { return steps_.size(); }
  // Returns the number of multiplications of all dispatches.
  uint64_t n_products() const { return n_products_; }
  uint64_t parameter_bytes() const { return parameter_bytes_; }
  // Returns the offset of the parameters of dispatch `i` in bytes.
  uint64_t parameters_at(size_t i) const { return steps_[i].parameters_at; }

  // Blocks until the pipelines of all dispatches are created.
  tenon_error* require_pipelines();

  // Returns dispatch `i` with the buffers of the replay. `operands` is an array of kMaxOperands
  // elements that the result refers to.
  Dispatch dispatch(size_t i, const tenon_replay& replay, Operand* operands) const;

  // Computes the locations of a replay's slots. The last one is the location of the error record.
  void find_slots(const tenon_replay& replay, std::vector<SlotLocation>& slots) const;
  // Whether a replay with these slots can execute the cached commands, which were encoded for other
  // offsets in the same blocks. For each pair of overlapping slots of which at least one is
  // written, the distance must be the same as when the commands were encoded.
  bool can_reuse(const CachedCommands& kept, std::span<const SlotLocation> slots) const;
  // Stores the parameters of this replay in `kept.wanted` and marks the changed ones as stale.
  void update_parameters(CachedCommands& kept, std::span<const SlotLocation> slots,
                         const tenon_replay& replay) const;

  // Returns the cached commands with this key, or NULL.
  std::shared_ptr<CachedCommands> find_cached_commands(const CachedCommands::Key& key);
  // Whether another command buffer may be cached: fewer than kMaxKept are cached, or one was not
  // used for kEvictAfterReplays replays and can be evicted.
  bool may_cache_commands();
  // Caches the commands, in place of those with the same key or of the least recently used ones.
  void cache_commands(std::shared_ptr<CachedCommands> kept);

  // Called by a kernel from within `add`.
  tenon_error* dispatch(const Dispatch& dispatch) override;

 private:
  enum class Where : uint8_t { kFixed, kInSlot, kByValue, kRecord };

  // The location of an operand in a replay. Offsets in a slot are relative to the slot's beginning.
  struct Place {
    Where where = Where::kFixed;
    uint32_t number = 0;
    Operand operand;
    // The value of an operand that is passed by value and the same in every replay.
    tenon_element value = {};
  };
  struct Step {
    PipelineRef pipeline;
    uint32_t first_operand, n_operands;
    uint32_t first_word, n_words;
    std::array<uint32_t, 3> groups;
    uint64_t products, iterations, n;
    uint64_t parameters_at;
  };
  // A parameter that holds the offset of an operand: the position of the parameter, and the
  // operand's offset from the beginning of its slot.
  struct OffsetUse {
    uint64_t at, first;
  };
  // The parameters that depend on a slot's location, and the bytes of the slot that dispatches
  // access.
  struct Slot {
    std::vector<OffsetUse> mentions;
    uint64_t begin = ~uint64_t{0}, end = 0;  // The range that is accessed.
    bool is_written = false;

    Access access(const SlotLocation& place) const;
  };
  struct Value {
    uint64_t at, size;
  };

  // Determines where replays find this operand of the launch that is being added.
  Place locate_operand(const Operand& operand) const;
  // Returns the operand with the buffer or the value that the replay supplies.
  static Operand resolve_operand(const Place& place, const tenon_replay& replay);
  void record_use(const Place& place, uint64_t offset_at, uint64_t value_at);

  Device& device_;
  std::vector<Step> steps_;
  std::vector<Place> places_;
  std::vector<uint32_t> words_;
  uint64_t parameter_bytes_ = 0, n_products_ = 0;
  std::vector<Slot> slots_;
  std::vector<std::vector<Value>> values_;
  // Accesses to memory outside slots, which is the same in every replay.
  std::vector<Access> fixed_;
  const tenon_recorded_launch* adding_ = nullptr;
  std::atomic<bool> has_pipelines_{false};

  std::mutex mutex_;
  std::vector<std::shared_ptr<CachedCommands>> kept_;
  uint64_t n_replays_ = 0;
};

inline Recording& from_c(tenon_recording_p* recording) {
  return *reinterpret_cast<Recording*>(recording);
}

}  // namespace tenon_vulkan
