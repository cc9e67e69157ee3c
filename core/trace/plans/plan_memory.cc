// Memory planning for launch plans.
//
// Takes O(n log n) time for n launches, views and buffers. Plans of at most kMaxLargestFirst
// buffers use an algorithm that takes O(n^2) time and finds a smaller block. A plan with chains has
// at most Chains::kMaxLaunches launches, which bounds the comparisons for each launch.

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "core/base/work_steps.h"
#include "core/trace/plans/plan_chains.h"

namespace tenon {
namespace {

uint64_t round_up_to_alignment(uint64_t bytes) {
  return (std::max<uint64_t>(bytes, 1) + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
}

}  // namespace

// Whether the launch may write its output view `to` into the memory that its input view `from`
// reads.
bool LaunchPlan::can_overwrite(const Launch& launch, uint32_t to, uint32_t from) const {
  const ViewSource &target = shown_[to], &source = shown_[from];
  const tenon_view &to_view = views_[to], &from_view = views_[from];
  if (source.buffer == kNone || source.offset != 0 || target.offset != 0 ||
      from_view.strides_class != TENON_STRIDES_DENSE || from_view.dtype != to_view.dtype ||
      from_view.rank != to_view.rank ||
      !std::equal(from_view.sizes, from_view.sizes + from_view.rank, to_view.sizes)) {
    return false;
  }
  // The launch must not use the buffer in any other view.
  const auto first = shown_.begin() + launch.first_view;
  return std::none_of(
      first, first + launch.n_inputs + launch.n_outputs,
      [&](const ViewSource& other) { return &other != &source && other.buffer == source.buffer; });
}

class LaunchPlan::Aliases {
 public:
  explicit Aliases(size_t n_buffers) : instead_(n_buffers) {
    std::iota(instead_.begin(), instead_.end(), 0);
  }

  // Returns the buffer into which `buffer` was merged, or itself. Path halving keeps long chains of
  // aliases cheap.
  uint32_t of(uint32_t buffer) const {
    if (buffer == kNone) return kNone;
    while (instead_[buffer] != buffer) {
      count_steps();
      instead_[buffer] = instead_[instead_[buffer]];
      buffer = instead_[buffer];
    }
    return buffer;
  }
  void replace(uint32_t buffer, uint32_t instead) { instead_[buffer] = instead; }

 private:
  mutable std::vector<uint32_t> instead_;
};

// Whether another launch that uses the buffer may run in parallel with this one.
bool LaunchPlan::is_used_in_parallel(uint32_t buffer, uint32_t launch,
                                     const Aliases& aliases) const {
  if (!chains_) return false;
  for (uint32_t i = 0; i < launches_.size(); ++i) {
    if (!chains_->parallel_to(launch)[i]) continue;
    const auto first = shown_.begin() + launches_[i].first_view;
    if (std::any_of(first, shown_.begin() + launches_[i].end_views(),
                    [&](const ViewSource& shown) { return aliases.of(shown.buffer) == buffer; })) {
      return true;
    }
  }
  return false;
}

// Whether a launch that may report a value error may run in parallel with this one.
bool LaunchPlan::may_report_in_parallel(uint32_t launch) const {
  for (uint32_t i = 0; chains_ && i < launches_.size(); ++i) {
    if (chains_->parallel_to(launch)[i] && may_report(*launches_[i].op)) return true;
  }
  return false;
}

// Lets kernels write an output into the memory of an input of the same launch that no later launch
// reads.
void LaunchPlan::reuse_in_place() {
  Aliases aliases(buffers_.size());
  const auto resolve = [&](uint32_t first_view, uint32_t end_view) {
    for (uint32_t k = first_view; k < end_view; ++k) {
      count_steps();
      shown_[k].buffer = aliases.of(shown_[k].buffer);
    }
  };
  for (uint32_t i = 0; i < launches_.size(); ++i) {
    const Launch& launch = launches_[i];
    resolve(launch.first_view, launch.end_views());
    for (uint32_t o = 0; o < launch.n_outputs; ++o) {
      const uint32_t to = launch.first_output() + o;
      const uint32_t output = shown_[to].buffer;
      const Buffer::Place place = buffers_[output].place;
      const bool is_made = place == Buffer::Place::kBlock || place == Buffer::Place::kOutput;
      if (!launch.kernel->may_alias(o) || !is_made || buffers_[output].first != i) continue;
      for (uint32_t from = launch.first_view; from < to - o; ++from) {
        const uint32_t input = shown_[from].buffer;
        if (!can_overwrite(launch, to, from) || buffers_[input].place != Buffer::Place::kBlock ||
            buffers_[input].last != i || buffers_[input].bytes != buffers_[output].bytes ||
            is_used_in_parallel(input, i, aliases)) {
          continue;
        }
        buffers_[output].first = buffers_[input].first;
        buffers_[output].is_filled = buffers_[output].is_filled || buffers_[input].is_filled;
        aliases.replace(input, output);
        resolve(launch.first_view, launch.end_views());
        break;
      }
    }
  }
  resolve(0, static_cast<uint32_t>(shown_.size()));
  for (Filled& each : filled_) each.buffer = aliases.of(each.buffer);
  find_lifetimes();
}

// Finds outputs that may be written into the memory of the plan's inputs, if a call permits it.
// Overwriting an input cannot be undone, so no later launch may fail.
void LaunchPlan::find_reuses() {
  const Aliases none(buffers_.size());  // After reuse_in_place(), each buffer represents itself.
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
    if (may_report_in_parallel(i)) continue;
    const Launch& launch = launches_[i];
    for (uint32_t o = 0; o < launch.n_outputs; ++o) {
      const uint32_t to = launch.first_output() + o;
      const Buffer& output = buffers_[shown_[to].buffer];
      if (!launch.kernel->may_alias(o) || output.place != Buffer::Place::kOutput ||
          output.first != i || output.is_filled) {
        continue;
      }
      for (uint32_t from = launch.first_view; from < to - o; ++from) {
        if (!can_overwrite(launch, to, from)) continue;
        const Buffer& input = buffers_[shown_[from].buffer];
        if (input.place != Buffer::Place::kInput || input.last != i || taken[input.index] ||
            is_used_in_parallel(shown_[from].buffer, i, none)) {
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

void LaunchPlan::find_lifetimes() {
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

// Whether two values may share memory: all uses of one precede all uses of the other.
class LaunchPlan::LifetimeOverlap {
 public:
  explicit LifetimeOverlap(const LaunchPlan& program) : program_(program) {
    if (!program.chains_) return;
    users_.resize(program.buffers_.size());
    parallel_.resize(program.buffers_.size());
    for (uint32_t i = 0; i < program.launches_.size(); ++i) {
      const Launch& launch = program.launches_[i];
      for (uint32_t k = launch.first_view; k < launch.end_views(); ++k) {
        const uint32_t buffer = program.shown_[k].buffer;
        if (buffer == kNone) continue;
        users_[buffer].set(i);
        parallel_[buffer] |= program.chains_->parallel_to(i);
      }
    }
  }

  bool can_share(uint32_t a, uint32_t b) const {
    const Buffer &x = program_.buffers_[a], &y = program_.buffers_[b];
    return (x.last < y.first || y.last < x.first) &&
           (users_.empty() || (users_[a] & parallel_[b]).none());
  }

 private:
  const LaunchPlan& program_;
  std::vector<Chains::Launches> users_, parallel_;  // By buffer.
};

// Places buffers from the largest to the smallest, each at the lowest offset that is free during
// its lifetime.
void LaunchPlan::allocate_largest_first(std::span<const uint32_t> buffers) {
  std::vector<uint32_t> order(buffers.begin(), buffers.end());
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return buffers_[a].bytes > buffers_[b].bytes; });
  const LifetimeOverlap neighbours(*this);
  std::vector<uint32_t> placed;  // Sorted by offset.
  for (const uint32_t i : order) {
    Buffer& buffer = buffers_[i];
    uint64_t at = 0;
    for (const uint32_t k : placed) {
      count_steps();
      if (neighbours.can_share(i, k)) continue;
      const Buffer& other = buffers_[k];
      if (at + round_up_to_alignment(buffer.bytes) <= other.offset) break;
      at = std::max(at, other.offset + round_up_to_alignment(other.bytes));
    }
    buffer.offset = at;
    block_bytes_ = std::max(block_bytes_, at + round_up_to_alignment(buffer.bytes));
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                   [&](uint32_t a, uint32_t b) {
                                     return buffers_[a].offset < buffers_[b].offset;
                                   }),
                  i);
  }
}

namespace {

// The free ranges of a block. The block grows at its end if no range is large enough.
class FreeRanges {
 public:
  // Allocates from the smallest range that is large enough.
  uint64_t take(uint64_t bytes) {
    count_steps();
    auto best = by_bytes_.lower_bound({bytes, 0});
    if (best == by_bytes_.end()) {
      // Extend the last range if it ends at the end of the block.
      uint64_t begin = end_;
      if (!by_begin_.empty()) {
        const auto [last, size] = *std::prev(by_begin_.end());
        if (last + size == end_) begin = last;
      }
      if (begin < end_) erase(begin, end_ - begin);
      end_ = begin + bytes;
      return begin;
    }
    const auto [size, begin] = *best;
    erase(begin, size);
    if (size > bytes) insert(begin + bytes, size - bytes);
    return begin;
  }

  void give_back(uint64_t begin, uint64_t bytes) {
    count_steps();
    auto next = by_begin_.lower_bound(begin);
    if (next != by_begin_.end() && next->first == begin + bytes) {
      const auto [other, size] = *next;
      erase(other, size);
      bytes += size;
    }
    next = by_begin_.lower_bound(begin);
    if (next != by_begin_.begin()) {
      const auto [other, size] = *std::prev(next);
      if (other + size == begin) {
        erase(other, size);
        begin = other;
        bytes += size;
      }
    }
    insert(begin, bytes);
  }

  uint64_t end() const { return end_; }

 private:
  void insert(uint64_t begin, uint64_t bytes) {
    by_begin_.emplace(begin, bytes);
    by_bytes_.emplace(bytes, begin);
  }
  void erase(uint64_t begin, uint64_t bytes) {
    by_begin_.erase(begin);
    by_bytes_.erase({bytes, begin});
  }

  std::map<uint64_t, uint64_t> by_begin_;
  std::set<std::pair<uint64_t, uint64_t>> by_bytes_;
  uint64_t end_ = 0;
};

}  // namespace

// Places buffers in the order of their first use, each in memory of values that are dead by then.
void LaunchPlan::allocate_in_launch_order(std::span<const uint32_t> buffers) {
  std::vector<uint32_t> by_first(buffers.begin(), buffers.end()), by_last = by_first;
  std::stable_sort(by_first.begin(), by_first.end(),
                   [&](uint32_t a, uint32_t b) { return buffers_[a].first < buffers_[b].first; });
  std::stable_sort(by_last.begin(), by_last.end(),
                   [&](uint32_t a, uint32_t b) { return buffers_[a].last < buffers_[b].last; });
  FreeRanges gaps;
  auto dead = by_last.begin();
  for (const uint32_t i : by_first) {
    for (; buffers_[*dead].last < buffers_[i].first; ++dead) {
      gaps.give_back(buffers_[*dead].offset, round_up_to_alignment(buffers_[*dead].bytes));
    }
    buffers_[i].offset = gaps.take(round_up_to_alignment(buffers_[i].bytes));
  }
  block_bytes_ = gaps.end();
}

// Plans the memory of the recorded launches.
void LaunchPlan::plan() {
  chains_ = Chains::find(*this);
  find_lifetimes();
  reuse_in_place();
  find_reuses();
  std::vector<uint32_t> buffers;
  for (uint32_t i = 0; i < buffers_.size(); ++i) {
    const Buffer& buffer = buffers_[i];
    if (buffer.place == Buffer::Place::kBlock && buffer.first != kNone) buffers.push_back(i);
  }
  constexpr size_t kMaxLargestFirst = 512;
  if (chains_ || buffers.size() <= kMaxLargestFirst) {
    allocate_largest_first(buffers);
  } else {
    allocate_in_launch_order(buffers);
  }
  for (const Output& each : outputs_) {
    if (each.buffer == kNone || buffers_[each.buffer].place != Buffer::Place::kInput) continue;
    require_alignment(buffers_[each.buffer], each.type.dtype);
  }
  for (uint32_t i = 0; i < shown_.size(); ++i) {
    if (shown_[i].buffer != kNone) {
      const Buffer& buffer = buffers_[shown_[i].buffer];
      if (buffer.place == Buffer::Place::kInput)
        require_alignment(buffer, dtype_from_c(views_[i].dtype));
      if (buffer.place == Buffer::Place::kScalar) {
        // The index of the scalar is the same in `scalars_` and in the `scalars` of each frame.
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

uint32_t LaunchPlan::slot_of(const Buffer& buffer) const {
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

void LaunchPlan::find_slot_views() {
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

// Raises the required alignment of an input. A view may read it as elements larger than its own
// dtype.
void LaunchPlan::require_alignment(const Buffer& buffer, DType dtype) {
  uint64_t& alignment = inputs_[buffer.index].alignment;
  alignment = std::max<uint64_t>(alignment, size_of(dtype));
}

}  // namespace tenon
