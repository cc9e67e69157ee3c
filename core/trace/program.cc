// Planning the memory of a program.

#include <algorithm>

#include "core/trace/program_chains.h"

namespace tenon {
namespace {

constexpr uint64_t kAlign = 64;
uint64_t aligned(uint64_t bytes) {
  return (std::max<uint64_t>(bytes, 1) + kAlign - 1) / kAlign * kAlign;
}

}  // namespace

bool Program::can_write_on(const Launch& launch, uint32_t to, uint32_t from) const {
  const Shown &target = shown_[to], &source = shown_[from];
  const tenon_view &to_view = views_[to], &from_view = views_[from];
  if (source.buffer == kNone || source.offset != 0 || target.offset != 0 ||
      from_view.strides_class != TENON_STRIDES_DENSE || from_view.dtype != to_view.dtype ||
      from_view.rank != to_view.rank ||
      !std::equal(from_view.sizes, from_view.sizes + from_view.rank, to_view.sizes)) {
    return false;
  }
  // Nothing else of the launch is there.
  const auto first = shown_.begin() + launch.first_view;
  return std::none_of(first, first + launch.n_inputs + launch.n_outputs, [&](const Shown& other) {
    return &other != &source && other.buffer == source.buffer;
  });
}

bool Program::is_used_beside(uint32_t buffer, uint32_t launch) const {
  if (!chains_) return false;
  for (uint32_t i = 0; i < launches_.size(); ++i) {
    if (!chains_->beside(launch)[i]) continue;
    const auto first = shown_.begin() + launches_[i].first_view;
    if (std::any_of(first, shown_.begin() + launches_[i].end_views(),
                    [&](const Shown& shown) { return shown.buffer == buffer; })) {
      return true;
    }
  }
  return false;
}

bool Program::may_report_beside(uint32_t launch) const {
  for (uint32_t i = 0; chains_ && i < launches_.size(); ++i) {
    if (chains_->beside(launch)[i] && may_report(*launches_[i].op)) return true;
  }
  return false;
}

// Lets kernels write where an input lies that nobody needs any more.
void Program::share_in_place() {
  const auto replace = [&](uint32_t old, uint32_t instead) {
    for (Shown& shown : shown_) {
      if (shown.buffer == old) shown.buffer = instead;
    }
    for (Filled& each : filled_) {
      if (each.buffer != old) continue;
      each.buffer = instead;
      buffers_[instead].is_filled = true;
    }
  };
  for (uint32_t i = 0; i < launches_.size(); ++i) {
    const Launch& launch = launches_[i];
    for (uint32_t o = 0; o < launch.n_outputs; ++o) {
      const uint32_t to = launch.first_output() + o;
      const uint32_t output = shown_[to].buffer;
      const Buffer::Place place = buffers_[output].place;
      const bool is_made = place == Buffer::Place::kBlock || place == Buffer::Place::kOutput;
      if (!launch.kernel->may_alias(o) || !is_made || buffers_[output].first != i) continue;
      for (uint32_t from = launch.first_view; from < to - o; ++from) {
        const uint32_t input = shown_[from].buffer;
        if (!can_write_on(launch, to, from) || buffers_[input].place != Buffer::Place::kBlock ||
            buffers_[input].last != i || buffers_[input].bytes != buffers_[output].bytes ||
            is_used_beside(input, i)) {
          continue;
        }
        buffers_[output].first = buffers_[input].first;
        replace(input, output);
        break;
      }
    }
  }
  find_lives();
}

// The same of inputs of the program, which at a call may be there for that. What is written cannot
// be taken back: no call behind it may fail.
void Program::find_reuses() {
  uint32_t safe = 0;
  for (uint32_t i = 0; i < launches_.size(); ++i) {
    if (may_report(*launches_[i].op)) safe = i + 1;
  }
  std::vector<bool> taken(inputs_.size(), false);
  for (const Output& each : outputs_) {
    if (each.buffer == kNone) continue;
    const Buffer& buffer = buffers_[each.buffer];
    if (buffer.place == Buffer::Place::kInput) taken[buffer.index] = true;
  }
  for (uint32_t i = safe; i < launches_.size(); ++i) {
    if (may_report_beside(i)) continue;
    const Launch& launch = launches_[i];
    for (uint32_t o = 0; o < launch.n_outputs; ++o) {
      const uint32_t to = launch.first_output() + o;
      const Buffer& output = buffers_[shown_[to].buffer];
      if (!launch.kernel->may_alias(o) || output.place != Buffer::Place::kOutput ||
          output.first != i || output.is_filled) {
        continue;
      }
      for (uint32_t from = launch.first_view; from < to - o; ++from) {
        if (!can_write_on(launch, to, from)) continue;
        const Buffer& input = buffers_[shown_[from].buffer];
        if (input.place != Buffer::Place::kInput || input.last != i || taken[input.index] ||
            is_used_beside(shown_[from].buffer, i)) {
          continue;
        }
        taken[input.index] = true;
        reuses_.push_back({output.index, input.index, i});
        break;
      }
    }
  }
  std::sort(reuses_.begin(), reuses_.end(),
            [](const Reuse& a, const Reuse& b) { return a.output < b.output; });
}

void Program::find_lives() {
  for (Buffer& buffer : buffers_) buffer.first = kNone;
  for (uint32_t i = 0; i < launches_.size(); ++i) {
    for (uint32_t k = launches_[i].first_view; k < launches_[i].end_views(); ++k) {
      if (shown_[k].buffer == kNone) continue;
      Buffer& buffer = buffers_[shown_[k].buffer];
      buffer.first = std::min(buffer.first, i);
      buffer.last = i;
    }
  }
  for (const Filled& each : filled_) buffers_[each.buffer].first = 0;
}

// Whether two values may have the same place: all that uses one comes before what uses the other.
class Program::Neighbours {
 public:
  explicit Neighbours(const Program& program) : program_(program) {
    if (!program.chains_) return;
    users_.resize(program.buffers_.size());
    beside_.resize(program.buffers_.size());
    for (uint32_t i = 0; i < program.launches_.size(); ++i) {
      const Launch& launch = program.launches_[i];
      for (uint32_t k = launch.first_view; k < launch.end_views(); ++k) {
        const uint32_t buffer = program.shown_[k].buffer;
        if (buffer == kNone) continue;
        users_[buffer].set(i);
        beside_[buffer] |= program.chains_->beside(i);
      }
    }
  }

  bool can_share(uint32_t a, uint32_t b) const {
    const Buffer &x = program_.buffers_[a], &y = program_.buffers_[b];
    return (x.last < y.first || y.last < x.first) &&
           (users_.empty() || (users_[a] & beside_[b]).none());
  }

 private:
  const Program& program_;
  std::vector<Chains::Launches> users_, beside_;  // Of each value.
};

// The largest first, each at the first place that is free while it is needed.
void Program::plan() {
  chains_ = Chains::find(*this);
  find_lives();
  share_in_place();
  find_reuses();
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < buffers_.size(); ++i) {
    const Buffer& buffer = buffers_[i];
    if (buffer.place == Buffer::Place::kBlock && buffer.first != kNone) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return buffers_[a].bytes > buffers_[b].bytes; });
  const Neighbours neighbours(*this);
  std::vector<uint32_t> placed;  // By their places.
  for (const uint32_t i : order) {
    Buffer& buffer = buffers_[i];
    uint64_t at = 0;
    for (const uint32_t k : placed) {
      if (neighbours.can_share(i, k)) continue;
      const Buffer& other = buffers_[k];
      if (at + aligned(buffer.bytes) <= other.offset) break;
      at = std::max(at, other.offset + aligned(other.bytes));
    }
    buffer.offset = at;
    block_bytes_ = std::max(block_bytes_, at + aligned(buffer.bytes));
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                   [&](uint32_t a, uint32_t b) {
                                     return buffers_[a].offset < buffers_[b].offset;
                                   }),
                  i);
  }
  for (const Output& each : outputs_) {
    if (each.buffer == kNone || buffers_[each.buffer].place != Buffer::Place::kInput) continue;
    show_as(buffers_[each.buffer], each.type.dtype);
  }
  for (uint32_t i = 0; i < shown_.size(); ++i) {
    if (shown_[i].buffer != kNone) {
      const Buffer& buffer = buffers_[shown_[i].buffer];
      if (buffer.place == Buffer::Place::kInput) show_as(buffer, dtype_from_c(views_[i].dtype));
      if (buffer.place == Buffer::Place::kScalar) {
        // Its bits are the frame's.
        shown_[i].scalar = static_cast<uint32_t>(scalars_.size());
        shown_[i].scalar_input = buffer.index;
        shown_[i].dtype = buffer.dtype;
        scalars_.emplace_back();
      }
    }
    if (shown_[i].scalar_input != kNone) scalar_views_.push_back(i);
  }
  find_slot_views();
}

uint32_t Program::slot_of(const Buffer& buffer) const {
  switch (buffer.place) {
    case Buffer::Place::kInput:
      return buffer.index;
    case Buffer::Place::kOutput:
      return static_cast<uint32_t>(inputs_.size()) + buffer.index;
    case Buffer::Place::kBlock:
      return static_cast<uint32_t>(inputs_.size()) + n_output_buffers_;
    case Buffer::Place::kScalar:
    case Buffer::Place::kConstant:
      break;
  }
  return kNone;
}

void Program::find_slot_views() {
  std::vector<std::vector<uint32_t>> views(n_slots());
  for (uint32_t i = 0; i < shown_.size(); ++i) {
    const uint32_t buffer = shown_[i].buffer;
    const uint32_t slot = buffer == kNone ? kNone : slot_of(buffers_[buffer]);
    if (slot != kNone) views[slot].push_back(i);
  }
  for (const std::vector<uint32_t>& of_slot : views) {
    slot_views_.insert(slot_views_.end(), of_slot.begin(), of_slot.end());
    slot_ends_.push_back(static_cast<uint32_t>(slot_views_.size()));
  }
}

// An input may be shown as elements that are larger than its own.
void Program::show_as(const Buffer& buffer, DType dtype) {
  uint64_t& alignment = inputs_[buffer.index].alignment;
  alignment = std::max<uint64_t>(alignment, size_of(dtype));
}

}  // namespace tenon
