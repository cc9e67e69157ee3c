// Runs launch plans.

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/dispatch/launch.h"
#include "core/trace/plans/plan_chains.h"

namespace tenon {

// Whether the inputs have the types, strides, devices and alignment of the recorded inputs.
bool LaunchPlan::serves(TensorSpan inputs) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorImpl& x = *inputs[i];
    const Input& like = inputs_[i];
    if (!identical(x.type.shape, like.type.shape) || x.type.dtype != like.type.dtype ||
        x.type.weak != like.type.weak || !identical(x.strides, like.strides) ||
        (x.storage ? x.storage->device : nullptr) != like.device) {
      return false;
    }
    const uint64_t start = static_cast<uint64_t>(x.offset) * size_of(x.type.dtype);
    if (start % like.alignment != like.start % like.alignment) return false;
  }
  return inputs.size() == inputs_.size();
}

// ---- the memory of a call

Ref<Storage> LaunchPlan::new_block() const {
  return block_bytes_ == 0 ? nullptr : device_.allocator().allocate(block_bytes_);
}

// Returns the memory of each output, which is new or that of a reusable input. If an input is
// reused, lowers `commits` to the first launch that writes into the memory of an input.
LaunchPlan::Storages LaunchPlan::find_outputs(TensorSpan inputs, std::span<const uint8_t> spare,
                                              size_t& commits) const {
  Storages made;
  auto reuse = reuses_.begin();
  for (uint32_t i = 0; i < output_bytes_.size(); ++i) {
    if (reuse != reuses_.end() && reuse->output == i) {
      const Reuse& each = *reuse++;
      const TensorImpl& x = *inputs[each.input];
      if (each.input < spare.size() && spare[each.input] != 0 &&
          x.storage->owners() == spare[each.input] && !x.storage->imported && x.offset == 0 &&
          x.storage->size >= output_bytes_[i]) {
        commits = std::min<size_t>(commits, each.launch);
        device_.allocator().renew_content(*x.storage);
        made.push_back(x.storage);
        continue;
      }
    }
    made.push_back(device_.allocator().allocate(output_bytes_[i]));
  }
  return made;
}

namespace {

// Sets the address of a view to `offset` bytes after the start of the slot.
void set_view_address(tenon_view& view, const tenon_slot& slot, uint64_t offset) {
  view.buffer = slot.buffer;
  view.byte_offset = slot.byte_offset + offset;
  view.data = slot.data ? static_cast<std::byte*>(slot.data) + offset : nullptr;
}

}  // namespace

std::unique_ptr<LaunchPlan::Frame> LaunchPlan::new_frame() const {
  auto frame = std::make_unique<Frame>();
  frame->views = views_;
  frame->scalars = scalars_;
  frame->fills.resize(filled_.size());
  frame->slots.resize(n_slots());
  frame->shown.resize(n_slots());
  frame->contents.resize(n_slots());
  frame->tickets.resize(buffers_.size());
  for (uint32_t i = 0; i < shown_.size(); ++i) {
    const ViewSource& shown = shown_[i];
    if (shown.scalar != kNone) {
      frame->views[i].data = &frame->scalars[shown.scalar];
    } else if (shown.buffer != kNone && buffers_[shown.buffer].constant) {
      const Storage& storage = *buffers_[shown.buffer].constant;
      set_view_address(frame->views[i], {storage.buffer, 0, storage.data, 0}, shown.offset);
      frame->views[i].content = storage.content;
    }
  }
  for (const Launch& launch : launches_) {
    tenon_launch& made = frame->launches.emplace_back();
    made = {};
    made.struct_size = sizeof made;
    made.site =
        device_.synchronous()
            ? launch.op->id
            : device_.queue().site_of(launch.op->name, launch.op->index_rule, launch.location);
    made.n_inputs = launch.n_inputs;
    made.n_outputs = launch.n_outputs;
    made.inputs = frame->views.data() + launch.first_view;
    made.outputs = made.inputs + launch.n_inputs;
    made.workspace_size = launch.workspace_bytes;
  }
  return frame;
}

// Returns a frame whose slots refer to the inputs and the block.
std::unique_ptr<LaunchPlan::Frame> LaunchPlan::begin(TensorSpan inputs,
                                                     const Ref<Storage>& block) const {
  std::unique_ptr<Frame> frame(free_frame_.exchange(nullptr, std::memory_order_acquire));
  if (!frame) frame = new_frame();
  put_inputs(*frame, inputs, block);
  return frame;
}

void LaunchPlan::put_inputs(Frame& frame, TensorSpan inputs, const Ref<Storage>& block) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorImpl& x = *inputs[i];
    const uint64_t offset = static_cast<uint64_t>(x.offset) * size_of(x.type.dtype);
    frame.put(i, {x.storage.get(), offset, x.storage ? x.storage->content.load() : 0});
  }
  frame.put(frame.slots.size() - 1, {block.get(), 0});
  for (const uint32_t i : scalar_views_) {
    write_scalar(*inputs[shown_[i].scalar_input], shown_[i].dtype,
                 &frame.scalars[shown_[i].scalar]);
  }
  for (size_t i = 0; i < filled_.size(); ++i) {
    write_scalar(*inputs[filled_[i].input], filled_[i].dtype, &frame.fills[i]);
  }
}

// Keeps the frame for a later call.
void LaunchPlan::end(std::unique_ptr<Frame> frame) const {
  delete free_frame_.exchange(frame.release(), std::memory_order_acq_rel);
}

// Sets the slots of the outputs.
void LaunchPlan::put_outputs(Frame& frame, const Storages& made) const {
  for (size_t i = 0; i < made.size(); ++i) frame.put(inputs_.size() + i, {made[i].get(), 0});
}

// Points the views of the frame at its slots, if the slots have changed.
void LaunchPlan::point_views(Frame& frame) const {
  if (frame.is_shown) return;
  frame.is_shown = true;
  uint32_t view = 0;
  for (size_t i = 0; i < frame.slots.size(); ++i) {
    const uint32_t end = slot_ends_[i];
    if (view == end) continue;
    const Storage& storage = *frame.slots[i].storage;
    const uint64_t offset = frame.slots[i].offset;
    std::byte* const data = storage.data ? storage.data + offset : nullptr;
    const uint64_t content = frame.slots[i].content;
    tenon_slot& shown = frame.shown[i];
    if (shown.buffer == storage.buffer && shown.byte_offset == offset && shown.data == data &&
        frame.contents[i] == content) {
      view = end;
      continue;
    }
    shown = {storage.buffer, offset, data, 0};
    frame.contents[i] = content;
    for (; view != end; ++view) {
      const uint32_t k = slot_views_[view];
      const ViewSource& what = shown_[k];
      set_view_address(frame.views[k], shown, buffers_[what.buffer].offset + what.offset);
      frame.views[k].content = content;
    }
  }
}

// Writes the scalar inputs that kernels read from device memory.
void LaunchPlan::fill(Scope& scope, const Frame& frame) const {
  for (size_t i = 0; i < filled_.size(); ++i) {
    const Buffer& buffer = buffers_[filled_[i].buffer];
    const Slot& slot = frame.slots[slot_of(buffer)];
    const uint64_t offset = slot.offset + buffer.offset;
    const auto bytes =
        std::as_bytes(std::span(&frame.fills[i], 1)).first(size_of(filled_[i].dtype));
    if (device_.synchronous()) {
      device_.write(scope.stream(device_), slot.storage->buffer, offset, bytes);
    } else {
      scope.pending(device_).write(slot.storage->buffer, offset, bytes);
    }
  }
}

// ---- launching

// Returns the description of a launch for a profiler.
LaunchSpan LaunchPlan::span_of(const Launch& launch) const {
  const bool is_fused = !launch.fused.empty();
  return {is_fused ? SpanKind::kFused : SpanKind::kOp, is_fused ? launch.fused : launch.op->name,
          launch.location, launch.profile};
}

// Runs or enqueues all launches. From launch `commits` on, the call cannot be cancelled.
void LaunchPlan::launch(Scope& scope, Frame& frame, size_t commits) const {
  if (!device_.synchronous()) return launch_later(scope, frame, commits);
  if (!filled_.empty()) [[unlikely]]
    fill(scope, frame);
  point_views(frame);
  launch_now(scope, frame, commits);
}

void LaunchPlan::launch_later(Scope& scope, Frame& frame, size_t commits) const {
  find_memory(frame);
  const WorkQueue::MemoryUse use = scope.pending(device_).use(frame.reads, frame.writes);
  if (!filled_.empty()) [[unlikely]]
    fill(scope, frame);
  if (replay(scope, frame)) return;
  point_views(frame);
  enqueue(scope, frame, commits);
}

// Collects the memory that a call reads and writes.
void LaunchPlan::find_memory(Frame& frame) const {
  frame.reads.clear();
  frame.writes.clear();
  for (const Buffer& buffer : buffers_) {
    if (buffer.constant) frame.reads.push_back(buffer.constant.get());
  }
  // The slots of the inputs come first. Those of the outputs and of the block follow.
  for (size_t i = 0; i < frame.slots.size(); ++i) {
    (i < inputs_.size() ? frame.reads : frame.writes).push_back(frame.slots[i].storage);
  }
}

void LaunchPlan::launch_now(Scope& scope, Frame& frame, size_t commits) const {
  if (chains_ && chains_->run(*this, scope, frame, commits)) return;
  launch_serially(scope, frame, commits);
}

// Throws `error`, with the op and the source line of the launch. If `error` is NULL, throws the
// value error that the launch wrote to the error record.
void LaunchPlan::fail(Scope& scope, const Launch& launch, tenon_error* error) const {
  try {
    device_.check(error);
  } catch (Error& thrown) {
    scope.error_record() = {};
    thrown.set_op(launch.op->name);
    thrown.set_location(launch.location);
    throw;
  }
  report_record(scope, device_, *launch.op, launch.location);
}

void LaunchPlan::launch_serially(Scope& scope, Frame& frame, size_t commits) const {
  tenon_stream_p* stream = scope.stream(device_);
  tenon_error_record* record = &scope.error_record();
  const auto launch = device_.calls().launch;
  const bool is_profiled = scope.is_profiled();
  const bool is_visible = device_.host_visible();
  for (size_t i = 0; i < launches_.size(); ++i) {
    const Launch& each = launches_[i];
    tenon_launch& arguments = frame.launches[i];
    arguments.record = record;
    if (each.workspace_bytes) [[unlikely]] {
      arguments.workspace = frame.views[each.end_outputs()];
    }
    std::optional<RecordOnDevice> there;
    if (!is_visible && may_report(*each.op)) [[unlikely]]
      there.emplace(scope, device_, arguments);
    tenon_error* error;
    if (is_profiled) [[unlikely]] {
      ProfileSpan span(scope, span_of(each), arguments);
      error = launch_profiled(scope, device_, *each.kernel, arguments);
      if (!error) span.end();
    } else {
      error = launch(each.kernel->handle(), stream, &arguments);
    }
    if (there && !error) [[unlikely]]
      there->copy_to_host();
    if (error || record->state != 0) [[unlikely]]
      fail(scope, each, error);
    if (i < commits) scope.check_cancelled();
  }
}

// Collects the tickets of earlier writes to the memory that a call reads.
void LaunchPlan::find_tickets(Frame& frame) const {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const Buffer& buffer = buffers_[i];
    const Storage* storage = buffer.place == Buffer::Place::kInput
                                 ? frame.slots[buffer.index].storage
                                 : buffer.constant.get();
    frame.tickets[i] = storage ? storage->written : 0;
  }
}

// Each launch has its own ticket, so that a failed launch poisons only the values that depend on
// it. A failure does not stop later launches, because overwritten inputs cannot be restored.
void LaunchPlan::enqueue(Scope& scope, Frame& frame, size_t commits) const {
  PendingWork& pending = scope.pending(device_);
  find_tickets(frame);
  pending.throw_first_failure(frame.tickets);
  SmallVector<uint64_t, 8> reads;
  for (size_t i = 0; i < launches_.size(); ++i) {
    const Launch& each = launches_[i];
    tenon_launch& arguments = frame.launches[i];
    if (each.workspace_bytes) arguments.workspace = frame.views[each.end_outputs()];
    reads.clear();
    for (uint32_t k = each.first_view; k < each.first_output(); ++k) {
      if (shown_[k].buffer != kNone) reads.push_back(frame.tickets[shown_[k].buffer]);
    }
    uint64_t ticket;
    try {
      ProfileSpan span(scope, span_of(each), arguments);
      ticket = pending.launch(*each.kernel, arguments,
                              {.tickets = reads,
                               .may_report = may_report(*each.op),
                               .if_failed = WorkQueue::OnFailedInput::kPropagate},
                              watch_profiled(scope, device_, arguments));
      span.end();
    } catch (Error& thrown) {
      thrown.set_op(each.op->name);
      thrown.set_location(each.location);
      throw;
    }
    for (uint32_t k = each.first_output(); k < each.end_outputs(); ++k) {
      const Buffer& buffer = buffers_[shown_[k].buffer];
      frame.tickets[shown_[k].buffer] = ticket;
      if (buffer.place != Buffer::Place::kOutput) continue;
      frame.slots[slot_of(buffer)].storage->written = ticket;
    }
    if (i < commits) scope.check_cancelled();
  }
}

// Creates the tensor of an output in the memory `made`.
Tensor LaunchPlan::output(const Output& output, TensorSpan inputs, const Storages& made) const {
  if (output.buffer == kNone) {
    Tensor y = alias_of(output.input != kNone ? *inputs[output.input] : *output.scalar);
    y->plan_input = 0;
    return y;
  }
  const Buffer& buffer = buffers_[output.buffer];
  Tensor y = Tensor::adopt(new TensorImpl);
  y->type = output.type;
  y->strides = output.strides;
  y->offset = output.offset;
  y->dense = output.dense;
  if (buffer.place == Buffer::Place::kInput) {
    const TensorImpl& x = *inputs[buffer.index];
    y->storage = x.storage;
    y->offset += x.offset * static_cast<int64_t>(size_of(x.type.dtype)) /
                 static_cast<int64_t>(size_of(y->type.dtype));
  } else {
    y->storage = buffer.place == Buffer::Place::kOutput ? made[buffer.index] : buffer.constant;
  }
  return y;
}

Tensors LaunchPlan::run(Scope& scope, TensorSpan inputs, std::span<const uint8_t> spare) const {
  size_t commits = launches_.size();
  const Ref<Storage> block = new_block();
  // Stores the content numbers of the inputs before find_outputs() renews those of reused memory.
  std::unique_ptr<Frame> frame = begin(inputs, block);
  const Storages made = find_outputs(inputs, spare, commits);
  put_outputs(*frame, made);
  launch(scope, *frame, commits);
  end(std::move(frame));
  Tensors outputs;
  for (const Output& each : outputs_) outputs.push_back(output(each, inputs, made));
  return outputs;
}

// ---- loops

// Whether repeat() can run with output `go` as its condition and these fed-back outputs.
bool LaunchPlan::can_repeat(uint32_t go, std::span<const Carry> feedback) const {
  const auto is_new = [&](const Output& output) {
    return output.buffer != kNone && buffers_[output.buffer].place == Buffer::Place::kOutput &&
           output.offset == 0;
  };
  return is_new(outputs_[go]) && std::all_of(feedback.begin(), feedback.end(), [&](Carry each) {
           const Output& output = outputs_[each.output];
           if (!is_new(output)) return false;
           if (each.input == kNone) return true;
           const Input& input = inputs_[each.input];
           return output.type == input.type && identical(output.strides, input.strides);
         });
}

void TripLimit::fail() const {
  tenon::fail(Code::kInvalidArgument, "the loop exceeds its maximum of {} trips", {most_});
}

// Returns the value of `go`. Copies it from the device if the host cannot access the memory
// directly.
bool LaunchPlan::read_condition(Scope& scope, const Output& go, const Storages& made) const {
  const Storage& storage = *made[buffers_[go.buffer].index];
  if (device_.synchronous() && storage.data) return *storage.data != std::byte{0};
  const Scope::Unrecorded unrecorded(scope);
  uint8_t value = 0;
  to_host(scope, output(go, {}, made), &value, sizeof value);
  return value != 0;
}

Tensors LaunchPlan::repeat(Scope& scope, TensorSpan inputs, uint32_t go,
                           std::span<const Carry> feedback, TripLimit& limit) const {
  const Ref<Storage> block = new_block();
  std::unique_ptr<Frame> first = begin(inputs, block);
  if (!first->other) first->other = new_frame();
  put_inputs(*first->other, inputs, block);
  // Double buffering: each trip reads what the previous one wrote, and writes the other set of
  // buffers. After the second trip, the views of both frames do not change any more.
  Frame* const frames[] = {first.get(), first->other.get()};
  size_t never = launches_.size();
  const Storages both[] = {find_outputs(inputs, {}, never), find_outputs(inputs, {}, never)};
  for (const size_t i : {0, 1}) put_outputs(*frames[i], both[i]);
  size_t now = 0;
  for (int trip = 0;; trip = std::min(trip + 1, 2), now = 1 - now) {
    limit.count_trip();
    launch(scope, *frames[now], never);
    if (!read_condition(scope, outputs_[go], both[now])) break;
    if (trip == 2) continue;
    for (const Carry each : feedback) {
      const Buffer& from = buffers_[outputs_[each.output].buffer];
      if (each.input != kNone) frames[1 - now]->put(each.input, {both[now][from.index].get(), 0});
    }
  }
  end(std::move(first));
  Tensors results;
  for (const Carry each : feedback) {
    results.push_back(output(outputs_[each.output], inputs, both[now]));
  }
  return results;
}

}  // namespace tenon
