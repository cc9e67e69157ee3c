// The functions of Stream that replay recordings.

#include "plugins/vulkan/driver/device.h"
#include "plugins/vulkan/driver/parameters.h"
#include "plugins/vulkan/driver/recording.h"
#include "plugins/vulkan/driver/sequences.h"
#include "plugins/vulkan/driver/stream.h"

namespace tenon_vulkan {

tenon_error* Stream::replay(Recording& recording, const tenon_replay& replay) {
  if (recording.n_dispatches() == 0) return nullptr;
  if (tenon_error* error = recording.require_pipelines()) return error;
  const Lock lock(mutex_);
  launching_ = {{replay.work, replay.ticket}, nullptr};
  encode_held_dispatches(Which::kAll);
  const std::shared_ptr<CachedCommands> kept = find_cached_commands(recording, replay);
  if (kept == nullptr) return replay_one_by_one(recording, replay);
  if (tenon_error* error = open_batch()) return error;
  recording.update_parameters(*kept, slots_, replay);
  open_->kept.push_back(kept);
  if (tenon_error* error = send_parameters(*kept)) return error;
  commands_.execute(kept->commands());
  open_->launches.push_back(launching_.id);
  open_->n_commands += static_cast<uint32_t>(recording.n_dispatches());
  open_->n_products += recording.n_products();
  submit_if_due();
  return nullptr;
}

// Returns cached commands that can execute the replay after an update of their parameters; encodes
// them if necessary. Returns NULL if the dispatches must be encoded one by one, for example because
// the work is too long for one submission.
std::shared_ptr<CachedCommands> Stream::find_cached_commands(Recording& recording,
                                                             const tenon_replay& replay) {
  if (recording.n_products() > driver_.physical().capabilities.max_products_per_submission)
    return nullptr;
  recording.find_slots(replay, slots_);
  CachedCommands::Key key = CachedCommands::key_of(driver_, serial_, slots_);
  std::shared_ptr<CachedCommands> kept = recording.find_cached_commands(key);
  if (kept == nullptr && !recording.may_cache_commands()) return nullptr;
  if (kept != nullptr) {
    if (slots_ != kept->slots && !recording.can_reuse(*kept, slots_)) return nullptr;
    return kept->is_due() ? coalesce_cached_commands(recording, replay, kept) : kept;
  }
  kept = std::make_shared<CachedCommands>(device_, std::move(key));
  const uint64_t n_replays = driver_.options().sequences ? CachedCommands::kNever - 1 : 0;
  if (tenon_error* error = encode_cached_commands(recording, replay, *kept, n_replays)) {
    // Ignores the error: encoding the dispatches one by one needs less memory and may succeed. If
    // it also fails, its error is reported.
    driver_.host().release(error);
    return nullptr;
  }
  recording.cache_commands(kept);
  return kept;
}

// Replaces the cached commands by commands in which small dispatches are coalesced into sequences.
// Pool threads create the pipelines of the sequences. Until all are created, returns the old
// commands.
std::shared_ptr<CachedCommands> Stream::coalesce_cached_commands(
    Recording& recording, const tenon_replay& replay, const std::shared_ptr<CachedCommands>& kept) {
  auto shorter = std::make_shared<CachedCommands>(device_, kept->key());
  if (tenon_error* error = encode_cached_commands(recording, replay, *shorter, kept->next_at)) {
    driver_.host().release(error);
    kept->next_at = CachedCommands::kNever;
    return kept;
  }
  if (!shorter->is_whole) {
    kept->awaited = std::move(shorter->sequences);
    return kept;
  }
  shorter->n_replays = kept->n_replays;
  recording.cache_commands(shorter);
  return shorter;
}

// Encodes the dispatches of a recording into `kept`. `n_replays`: number of replays so far. A
// sequence is encoded only if it pays off after at most that many replays.
tenon_error* Stream::encode_cached_commands(const Recording& recording, const tenon_replay& replay,
                                            CachedCommands& kept, uint64_t n_replays) {
  const size_t n = recording.n_dispatches();
  uint64_t list_at = recording.parameter_bytes();
  if (tenon_error* error = kept.open(list_at + (n_replays > 0 ? Sequence::bytes_for(n) : 0))) {
    return error;
  }
  kept.filled = kept.slots = slots_;
  kept.values.assign(replay.values, replay.values + replay.n_values);
  kept.sets.push_back(sets_);
  Commands commands(driver_, kMaxKeptAccesses);
  if (tenon_error* error = commands.begin_secondary(kept.commands())) return error;
  const Buffer& parameters = kept.parameters();
  const auto place_at = [&](uint64_t at) {
    return ParameterLocation{kept.wanted.data() + at, &parameters.block, parameters.offset + at};
  };
  std::array<Operand, kMaxOperands> operands;
  std::vector<Places> places(n);
  std::vector<BoundDispatch> all(n);
  for (size_t i = 0; i < n; ++i) {
    const Dispatch dispatch = recording.dispatch(i, replay, operands.data());
    const ParameterLocation at = place_at(recording.parameters_at(i));
    if (tenon_error* error = bind_dispatch(dispatch, at, places[i], all[i])) return error;
  }
  for (size_t i = 0; i < n;) {
    const Sequence sequence(device_, std::span(all).subspan(i));
    const size_t end = i + std::max<size_t>(sequence.size(), 1);
    if (sequence.min_replays_to_pay_off() > n_replays) {
      kept.next_at = std::min(kept.next_at, sequence.min_replays_to_pay_off());
    } else {
      const ParameterLocation list = place_at(list_at);
      if (tenon_error* error = encode_sequence(sequence, list, commands, kept)) return error;
      list_at += sequence.parameter_bytes();
      i = end;
    }
    for (; i < end; ++i) {
      if (tenon_error* error = encode_bound_dispatch(all[i], commands, kept.sets)) return error;
    }
  }
  const VkResult result = commands.end_secondary();
  return result == VK_SUCCESS ? nullptr
                              : driver_.error(result, "cannot record commands for replay");
}

// Encodes the sequence if its pipeline has been created. Otherwise, sets `is_whole` to false, so
// that the commands are encoded again later. Adds the pipeline to `sequences` in both cases.
// `is_whole` is stored here because another thread may create the pipeline at any time.
tenon_error* Stream::encode_sequence(const Sequence& sequence, const ParameterLocation& list,
                                     Commands& commands, CachedCommands& kept) {
  PipelineRef pipeline;
  if (tenon_error* error = sequence.get_pipeline(device_, pipeline)) return error;
  if (driver_.options().sequences) {
    if (tenon_error* error = device_.pipelines().compiler().require(*pipeline)) return error;
  }
  kept.sequences.push_back(pipeline);
  if (!pipeline->is_made()) {
    kept.is_whole = false;
    return nullptr;
  }
  if (driver_.has_names()) {
    device_.pipelines().set_name(*pipeline, "sequence of " + std::to_string(sequence.size()));
  }
  const std::vector<uint32_t> words = sequence.parameters();
  std::memcpy(list.data, words.data(), words.size() * sizeof(uint32_t));
  const auto first_word = static_cast<uint32_t>(list.offset / sizeof(uint32_t));
  return encode_bound_dispatch(sequence.bound_dispatch(*pipeline, first_word), commands, kept.sets);
}

// Encodes a copy of the stale parameters to device memory, which precedes the execution of the
// cached commands.
tenon_error* Stream::send_parameters(CachedCommands& kept) {
  const uint64_t begin = kept.stale_begin, end = kept.stale_end;
  if (begin >= end) return nullptr;
  Piece piece;
  if (tenon_error* error = parameters_.allocate(end - begin, open_->spent, piece)) return error;
  std::memcpy(piece.data(), kept.wanted.data() + begin, end - begin);
  const Buffer& parameters = kept.parameters();
  const uint64_t to = parameters.offset + begin;
  const Access access = {parameters.block.serial, to, to + (end - begin), true};
  const VkBufferCopy region = {piece.offset, to, end - begin};
  commands_.add_accesses({&access, 1});
  commands_.copy(*piece.block, parameters.block, {&region, 1});
  kept.mark_none_stale();
  return nullptr;
}

tenon_error* Stream::replay_one_by_one(const Recording& recording, const tenon_replay& replay) {
  std::array<Operand, kMaxOperands> operands;
  for (size_t i = 0; i < recording.n_dispatches(); ++i) {
    if (tenon_error* error = dispatch(recording.dispatch(i, replay, operands.data()))) return error;
  }
  submit_if_due();
  return nullptr;
}

}  // namespace tenon_vulkan
