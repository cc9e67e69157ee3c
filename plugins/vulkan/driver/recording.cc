#include "plugins/vulkan/driver/recording.h"

#include "plugins/vulkan/driver/stream.h"

namespace tenon_vulkan {
namespace {

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
  steps_.push_back({.pipeline = dispatch.pipeline,
                    .first_operand = static_cast<uint32_t>(places_.size()),
                    .n_operands = static_cast<uint32_t>(dispatch.operands.size()),
                    .first_word = static_cast<uint32_t>(words_.size()),
                    .n_words = static_cast<uint32_t>(dispatch.words.size()),
                    .groups = dispatch.groups});
  words_.insert(words_.end(), dispatch.words.begin(), dispatch.words.end());
  for (const Operand& operand : dispatch.operands) places_.push_back(place_of(operand));
  return nullptr;
}

Recording::Place Recording::place_of(const Operand& operand) const {
  const tenon_launch& launch = *adding_->launch;
  const uint32_t n_views = launch.n_inputs + launch.n_outputs;
  Place place = {.operand = operand};
  if (operand.number > n_views) {
    place.where = Where::kRecord;
    return place;
  }
  const tenon_recorded_operand& recorded = adding_->operands[operand.number];
  place.number = recorded.number;
  if (recorded.kind == TENON_OPERAND_IN_SLOT) {
    place.where = Where::kInSlot;
    // Bytes before the view's first element are in the slot, too: the sum is never negative.
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

Operand Recording::operand_at(const Place& place, const tenon_replay& replay) {
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
      operand = record_of(launch);
      break;
    }
  }
  return operand;
}

Dispatch Recording::dispatch(size_t i, const tenon_replay& replay, Operand* operands) const {
  const Step& step = steps_[i];
  for (uint32_t k = 0; k < step.n_operands; ++k) {
    operands[k] = operand_at(places_[step.first_operand + k], replay);
  }
  return {.pipeline = step.pipeline,
          .operands = {operands, step.n_operands},
          .words = {words_.data() + step.first_word, step.n_words},
          .groups = step.groups};
}

// Every dispatch is told to the driver anew, at the price of any other: a few hundred nanoseconds,
// where its kernel's own part in a launch is saved. What the device takes longer for is not slowed
// down by it, since a batch is handed over as soon as it is full.
tenon_error* Stream::replay(const Recording& recording, const tenon_replay& replay) {
  const Lock lock(mutex_);
  std::array<Operand, kMostOperands> operands;
  const LaunchId id = {replay.work, replay.ticket};
  for (size_t i = 0; i < recording.n_dispatches(); ++i) {
    if (tenon_error* error = dispatch(recording.dispatch(i, replay, operands.data()))) return error;
    if (i == 0 || open_->n_commands == 1) open_->launches.push_back(id);
    if (open_->n_commands >= kMostCommands) submit();
  }
  submit_if_due();
  return nullptr;
}

}  // namespace tenon_vulkan
