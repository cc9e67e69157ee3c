// Replays the launches of a plan as one submission, on asynchronous devices that support recordings
// (tenon_record_request in tenon/plugin.h).
//
// A plan is recorded in its second run. By then each kernel was launched once and has completed its
// one-time work. Slots and values hold all data that differs between calls, so one recording serves
// all calls.

#include <algorithm>

#include "core/base/error.h"
#include "core/device/plugin_library.h"
#include "core/trace/plans/plan_chains.h"

namespace tenon {
namespace {

constexpr size_t kMinLaunches =
    2;  // Minimum number of launches; replaying a single one saves nothing.

// Whether the memory starts at a multiple of kSlotAlignment. All memory that the device allocates
// does. Imported memory without a host address counts as unaligned.
bool begins_aligned(const Storage& storage) {
  return !storage.imported ||
         (storage.data && reinterpret_cast<uintptr_t>(storage.data) % kSlotAlignment == 0);
}

}  // namespace

class LaunchPlan::Recording {
 public:
  // `handle` is NULL if the device cannot record the launches; they are then enqueued one by one.
  Recording(Device& device, tenon_recording_p* handle, const std::vector<Slot>& slots,
            bool may_report)
      : may_report(may_report), device_(device), handle_(handle) {
    for (const Slot& slot : slots) starts_.push_back(slot.offset % kSlotAlignment);
  }
  ~Recording() {
    if (handle_) device_.retire(device_.calls().release_recording, handle_);
  }
  Recording(const Recording&) = delete;

  tenon_recording_p* handle() const { return handle_; }
  // Whether a replay can use the memory in these slots: it must have the recorded alignment.
  bool serves(const std::vector<Slot>& slots) const {
    return handle_ && std::equal(starts_.begin(), starts_.end(), slots.begin(),
                                 [](uint64_t start, const Slot& slot) {
                                   return start == slot.offset % kSlotAlignment &&
                                          (!slot.storage || begins_aligned(*slot.storage));
                                 });
  }

  const bool may_report;  // Whether a launch may write to the error record.
  mutable StreamUse use;  // Guarded by the lock of the device's queue.

 private:
  Device& device_;
  tenon_recording_p* handle_;
  std::vector<uint64_t> starts_;  // Offsets of the slots modulo kSlotAlignment.
};

LaunchPlan::LaunchPlan(Device& device) : device_(device) {}

LaunchPlan::~LaunchPlan() { delete free_frame_.load(); }

std::unique_ptr<const LaunchPlan::Recording> LaunchPlan::make_recording(Scope& scope,
                                                                        Frame& frame) const {
  point_views(frame);
  std::vector<tenon_recorded_operand> operands;
  for (const ViewSource& shown : shown_) {
    tenon_recorded_operand& made = operands.emplace_back();
    made = {TENON_OPERAND_FIXED, 0, 0};
    if (shown.scalar != kNone) {
      made = {TENON_OPERAND_BY_VALUE, shown.scalar, 0};
    } else if (shown.buffer != kNone) {
      const Buffer& buffer = buffers_[shown.buffer];
      const uint32_t slot = slot_of(buffer);
      if (slot != kNone) made = {TENON_OPERAND_IN_SLOT, slot, buffer.offset + shown.offset};
    }
  }
  bool may_report = false;
  std::vector<tenon_recorded_launch> launches;
  for (size_t i = 0; i < launches_.size(); ++i) {
    const Launch& each = launches_[i];
    tenon_launch& arguments = frame.launches[i];
    if (each.workspace_bytes) arguments.workspace = frame.views[each.end_outputs()];
    scope.pending(device_).set_record(arguments);
    arguments.work = nullptr;
    arguments.ticket = 0;
    may_report = may_report || tenon::may_report(*each.op);
    launches.push_back({each.kernel->handle(), &arguments, operands.data() + each.first_view,
                        each.end_views() - each.first_view});
  }
  const tenon_record_request request = {.struct_size = sizeof request,
                                        .reserved = 0,
                                        .n_launches = launches.size(),
                                        .n_slots = frame.slots.size(),
                                        .n_values = scalars_.size(),
                                        .launches = launches.data()};
  tenon_recording_p* handle = nullptr;
  tenon_string why = {nullptr, 0};
  try {
    device_.check(device_.calls().record(device_.handle(), &request, &handle, &why));
  } catch (const Error& error) {
    if (error.is_transient()) throw;
    // The launches can still be enqueued one by one.
    log_to_context(device_.context(), TENON_LOG_WARNING,
                   format("{} cannot record a launch plan: {}", {device_.name(), error.what()}));
  }
  return std::make_unique<const Recording>(device_, handle, frame.slots, may_report);
}

// Returns the recording, which the second call makes; NULL if it cannot replay the frame's slots.
const LaunchPlan::Recording* LaunchPlan::find_recording(Scope& scope, Frame& frame) const {
  std::lock_guard guard(recording_mutex_);
  if (!recording_ && n_enqueued_++ > 0) recording_ = make_recording(scope, frame);
  return recording_ && recording_->serves(frame.slots) ? recording_.get() : nullptr;
}

// Replays the device's recording. Returns false if the launches must be enqueued one by one.
bool LaunchPlan::replay(Scope& scope, Frame& frame) const {
  // A profiler needs to observe each launch.
  if (launches_.size() < kMinLaunches || scope.is_profiled()) return false;
  const Recording* recording = find_recording(scope, frame);
  if (!recording) return false;
  scope.check_cancelled();
  find_tickets(frame);
  const std::vector<Slot>& slots = frame.slots;
  frame.given.resize(slots.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    const bool is_shown = slot_ends_[i] > (i > 0 ? slot_ends_[i - 1] : 0);
    if (!is_shown) continue;
    Storage* const storage = slots[i].storage;
    const uint64_t offset = slots[i].offset;
    frame.given[i] = {storage->buffer, offset, storage->data ? storage->data + offset : nullptr, 0};
  }
  static_assert(sizeof(ElementBits) == sizeof(tenon_element));
  tenon_replay replay = {.struct_size = sizeof replay,
                         .reserved = 0,
                         .n_slots = frame.given.size(),
                         .n_values = frame.scalars.size(),
                         .slots = frame.given.data(),
                         .values = reinterpret_cast<const tenon_element*>(frame.scalars.data()),
                         .record_buffer = nullptr,
                         .record_offset = 0,
                         .record = nullptr,
                         .work = nullptr,
                         .ticket = 0};
  const uint64_t ticket = scope.pending(device_).replay(
      recording->handle(), recording->use, replay,
      {.tickets = frame.tickets, .may_report = recording->may_report});
  for (size_t i = inputs_.size(); i + 1 < slots.size(); ++i) slots[i].storage->written = ticket;
  return true;
}

}  // namespace tenon
