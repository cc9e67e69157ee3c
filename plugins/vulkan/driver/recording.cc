#include "plugins/vulkan/driver/recording.h"

#include <algorithm>

#include "plugins/vulkan/driver/block.h"
#include "plugins/vulkan/driver/device.h"
#include "plugins/vulkan/driver/parameters.h"

namespace tenon_vulkan {
namespace {

// Maximum number of cached command buffers per recording. Programs whose outputs alternate between
// several blocks use more than one.
constexpr size_t kMaxKept = 4;
// Number of replays without use after which a cached command buffer may be evicted.
constexpr uint64_t kEvictAfterReplays = 64;
constexpr uint64_t kParameterAlignment = 16;  // Alignment of the parameters of a dispatch.

// Returns a view of a launch. `number`: index among its inputs, outputs and workspace.
const tenon_view& view_of(const tenon_launch& launch, uint32_t number) {
  if (number < launch.n_inputs) return launch.inputs[number];
  number -= launch.n_inputs;
  return number < launch.n_outputs ? launch.outputs[number] : launch.workspace;
}

}  // namespace

tenon_error* Recording::add(const tenon_recorded_launch& launch) {
  adding_ = &launch;
  const auto& kernel = static_cast<const Kernel&>(*tenon_sdk::from_c(launch.kernel));
  return kernel.enqueue(*this, *launch.launch);
}

tenon_error* Recording::dispatch(const Dispatch& dispatch) {
  if (dispatch.groups[0] == 0 || dispatch.groups[1] == 0 || dispatch.groups[2] == 0) return nullptr;
  steps_.push_back({.pipeline = dispatch.pipeline->shared_from_this(),
                    .first_operand = static_cast<uint32_t>(places_.size()),
                    .n_operands = static_cast<uint32_t>(dispatch.operands.size()),
                    .first_word = static_cast<uint32_t>(words_.size()),
                    .n_words = static_cast<uint32_t>(dispatch.words.size()),
                    .groups = dispatch.groups,
                    .products = dispatch.products,
                    .iterations = dispatch.iterations,
                    .n = dispatch.n,
                    .parameters_at = parameter_bytes_});
  n_products_ += dispatch.products;
  words_.insert(words_.end(), dispatch.words.begin(), dispatch.words.end());
  const ParameterLayout layout(dispatch);
  uint64_t value_at = parameter_bytes_ + layout.values;
  for (size_t i = 0; i < dispatch.operands.size(); ++i) {
    const Operand& operand = dispatch.operands[i];
    places_.push_back(locate_operand(operand));
    record_use(places_.back(), parameter_bytes_ + i * sizeof(uint32_t), value_at);
    if (operand.buffer == nullptr) value_at += room_for_value(operand);
  }
  uint64_t size = layout.size;
  // Reserves space for a value after all other values. In replays without an error record, this
  // value is bound in place of the record.
  if (!places_.empty() && places_.back().where == Where::kRecord) {
    size += room_for_value(places_.back().operand);
  }
  parameter_bytes_ += round_up(size, kParameterAlignment);
  return nullptr;
}

// Records which parameters depend on this operand and what it accesses. `offset_at` and `value_at`:
// positions in the parameters of the operand's offset and, if it is passed by value, of its value.
void Recording::record_use(const Place& place, uint64_t offset_at, uint64_t value_at) {
  const Operand& operand = place.operand;
  if (place.where == Where::kByValue) {
    values_[place.number].push_back({value_at, operand.end - operand.begin});
  } else if (place.where == Where::kFixed) {
    if (operand.buffer == nullptr) return;
    const Buffer& buffer = from_c(operand.buffer);
    fixed_.push_back({buffer.block.serial, buffer.offset + operand.begin,
                      buffer.offset + operand.end, operand.is_written});
  } else {
    Slot& slot = place.where == Where::kRecord ? slots_.back() : slots_[place.number];
    slot.mentions.push_back({offset_at, operand.first});
    slot.begin = std::min(slot.begin, operand.begin);
    slot.end = std::max(slot.end, operand.end);
    slot.is_written = slot.is_written || operand.is_written;
  }
}

Recording::Place Recording::locate_operand(const Operand& operand) const {
  const tenon_launch& launch = *adding_->launch;
  const uint32_t n_views = launch.n_inputs + launch.n_outputs;
  Place place = {.operand = operand};
  if (operand.number > n_views) {
    place.where = Where::kRecord;
    place.operand.begin = place.operand.first = 0;
    place.operand.end = sizeof(tenon_error_record);
    return place;
  }
  const tenon_recorded_operand& recorded = adding_->operands[operand.number];
  place.number = recorded.number;
  if (recorded.kind == TENON_OPERAND_IN_SLOT) {
    place.where = Where::kInSlot;
    // Converts offsets in the view's buffer to offsets in the slot. The slot also contains the
    // bytes before the view's first element, so the difference `moved` is never negative.
    const uint64_t moved = recorded.offset - view_of(launch, operand.number).byte_offset;
    place.operand.begin += moved;
    place.operand.end += moved;
    place.operand.first += moved;
  } else if (recorded.kind == TENON_OPERAND_BY_VALUE) {
    place.where = Where::kByValue;
  } else if (operand.buffer == nullptr && operand.end > 0) {
    std::memcpy(&place.value, operand.value, std::min(operand.end, sizeof place.value));
  }
  return place;
}

Operand Recording::resolve_operand(const Place& place, const tenon_replay& replay) {
  Operand operand = place.operand;
  switch (place.where) {
    case Where::kFixed:
      if (operand.buffer == nullptr) operand.value = &place.value;
      break;
    case Where::kByValue:
      operand.value = &replay.values[place.number];
      break;
    case Where::kInSlot: {
      const tenon_slot& slot = replay.slots[place.number];
      operand.buffer = slot.buffer;
      operand.begin += slot.byte_offset;
      operand.end += slot.byte_offset;
      operand.first += slot.byte_offset;
      break;
    }
    case Where::kRecord: {
      tenon_launch launch = {};
      launch.record_buffer = replay.record_buffer;
      launch.record_offset = replay.record_offset;
      operand = error_record_of(launch);
      break;
    }
  }
  return operand;
}

tenon_error* Recording::require_pipelines() {
  if (has_pipelines_) return nullptr;
  for (const Step& step : steps_) {
    if (tenon_error* error = device_.pipelines().compiler().require(*step.pipeline)) return error;
  }
  has_pipelines_ = true;
  return nullptr;
}

Dispatch Recording::dispatch(size_t i, const tenon_replay& replay, Operand* operands) const {
  const Step& step = steps_[i];
  for (uint32_t k = 0; k < step.n_operands; ++k) {
    operands[k] = resolve_operand(places_[step.first_operand + k], replay);
  }
  return {.pipeline = step.pipeline.get(),
          .operands = {operands, step.n_operands},
          .words = {words_.data() + step.first_word, step.n_words},
          .groups = step.groups,
          .products = step.products,
          .iterations = step.iterations,
          .n = step.n};
}

// ---- kept commands

Access Recording::Slot::access(const SlotLocation& place) const {
  if (place.block == nullptr || begin >= end) return {};
  return {place.block->serial, (place.begin + begin) & ~uint64_t{3}, round_up(place.begin + end, 4),
          is_written};
}

void Recording::find_slots(const tenon_replay& replay, std::vector<SlotLocation>& slots) const {
  slots.clear();
  const auto add = [&](tenon_buffer_p* handle, uint64_t offset) {
    if (handle == nullptr) {
      slots.push_back({});
    } else {
      const Buffer& buffer = from_c(handle);
      slots.push_back({&buffer.block, buffer.offset + offset});
    }
  };
  for (size_t i = 0; i < replay.n_slots; ++i) {
    add(replay.slots[i].buffer, replay.slots[i].byte_offset);
  }
  add(replay.record_buffer, replay.record_offset);
}

// The cached commands have barriers for the conflicts that existed at the slot locations of the
// first replay. Conflicts within one slot do not depend on the slot's location.
bool Recording::can_reuse(const CachedCommands& kept, std::span<const SlotLocation> slots) const {
  const auto moved = [&](size_t i) { return slots[i].begin - kept.filled[i].begin; };
  for (size_t i = 0; i < slots.size(); ++i) {
    const Access access = slots_[i].access(slots[i]);
    for (size_t k = i + 1; k < slots.size(); ++k) {
      if (access.conflicts_with(slots_[k].access(slots[k])) && moved(i) != moved(k)) return false;
    }
    const auto meets = [&](const Access& fixed) { return access.conflicts_with(fixed); };
    if (moved(i) != 0 && std::any_of(fixed_.begin(), fixed_.end(), meets)) return false;
  }
  return true;
}

void Recording::update_parameters(CachedCommands& kept, std::span<const SlotLocation> slots,
                                  const tenon_replay& replay) const {
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].begin == kept.slots[i].begin) continue;
    kept.slots[i].begin = slots[i].begin;
    for (const OffsetUse& mention : slots_[i].mentions) {
      const auto first = static_cast<uint32_t>(slots[i].begin + mention.first);
      std::memcpy(kept.wanted.data() + mention.at, &first, sizeof first);
      kept.mark_stale(mention.at, mention.at + sizeof first);
    }
  }
  for (size_t i = 0; i < values_.size(); ++i) {
    if (std::memcmp(&kept.values[i], &replay.values[i], sizeof replay.values[i]) == 0) continue;
    kept.values[i] = replay.values[i];
    for (const Value& value : values_[i]) {
      std::memcpy(kept.wanted.data() + value.at, &replay.values[i], value.size);
      kept.mark_stale(value.at, value.at + value.size);
    }
  }
}

std::shared_ptr<CachedCommands> Recording::find_cached_commands(const CachedCommands::Key& key) {
  std::lock_guard guard(mutex_);
  ++n_replays_;
  const auto found = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const auto& each) { return each->key() == key; });
  if (found == kept_.end()) return nullptr;
  (*found)->last_replay = n_replays_;
  return *found;
}

bool Recording::may_cache_commands() {
  std::lock_guard guard(mutex_);
  return kept_.size() < kMaxKept || std::any_of(kept_.begin(), kept_.end(), [&](const auto& each) {
           return each->last_replay + kEvictAfterReplays < n_replays_;
         });
}

void Recording::cache_commands(std::shared_ptr<CachedCommands> kept) {
  std::lock_guard guard(mutex_);
  kept->last_replay = n_replays_;
  const auto same = std::find_if(kept_.begin(), kept_.end(),
                                 [&](const auto& each) { return each->key() == kept->key(); });
  if (same != kept_.end()) {
    *same = std::move(kept);
    return;
  }
  if (kept_.size() < kMaxKept) {
    kept_.push_back(std::move(kept));
    return;
  }
  *std::min_element(kept_.begin(), kept_.end(), [](const auto& a, const auto& b) {
    return a->last_replay < b->last_replay;
  }) = std::move(kept);
}

}  // namespace tenon_vulkan
