// Planning the memory of a program, and running it. program_recorder.cc writes one down.

#include "core/trace/program.h"

#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/dispatch/launch.h"
#include "core/dispatch/profiler.h"

namespace tenon {
namespace {

constexpr uint64_t kAlign = 64;
uint64_t aligned(uint64_t bytes) {
  return (std::max<uint64_t>(bytes, 1) + kAlign - 1) / kAlign * kAlign;
}

}  // namespace

// ---- memory

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

// Lets kernels write where an input lies that nobody needs any more.
void Program::share_in_place() {
  const auto replace = [&](uint32_t old, uint32_t instead) {
    for (Shown& shown : shown_) {
      if (shown.buffer == old) shown.buffer = instead;
    }
  };
  for (uint32_t i = 0; i < launches_.size(); ++i) {
    const Launch& launch = launches_[i];
    for (uint32_t o = 0; o < launch.n_outputs; ++o) {
      const uint32_t to = launch.first_view + launch.n_inputs + o;
      const uint32_t output = shown_[to].buffer;
      const Buffer::Place place = buffers_[output].place;
      const bool is_made = place == Buffer::Place::kBlock || place == Buffer::Place::kOutput;
      if (!launch.kernel->may_alias(o) || !is_made || buffers_[output].first != i) continue;
      for (uint32_t from = launch.first_view; from < to - o; ++from) {
        const uint32_t input = shown_[from].buffer;
        if (!can_write_on(launch, to, from) || buffers_[input].place != Buffer::Place::kBlock ||
            buffers_[input].last != i || buffers_[input].bytes != buffers_[output].bytes) {
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
  constexpr uint32_t kCustom = uint32_t{1} << 31;
  uint32_t safe = 0;
  for (uint32_t i = 0; i < launches_.size(); ++i) {
    const OpDef& op = *launches_[i].op;
    if (*op.index_rule || op.id >= kCustom) safe = i + 1;
  }
  std::vector<bool> taken(inputs_.size(), false);
  for (const Output& each : outputs_) {
    if (each.buffer == kNone) continue;
    const Buffer& buffer = buffers_[each.buffer];
    if (buffer.place == Buffer::Place::kInput) taken[buffer.index] = true;
  }
  for (uint32_t i = safe; i < launches_.size(); ++i) {
    const Launch& launch = launches_[i];
    for (uint32_t o = 0; o < launch.n_outputs; ++o) {
      const uint32_t to = launch.first_view + launch.n_inputs + o;
      const Buffer& output = buffers_[shown_[to].buffer];
      if (!launch.kernel->may_alias(o) || output.place != Buffer::Place::kOutput ||
          output.first != i) {
        continue;
      }
      for (uint32_t from = launch.first_view; from < to - o; ++from) {
        if (!can_write_on(launch, to, from)) continue;
        const Buffer& input = buffers_[shown_[from].buffer];
        if (input.place != Buffer::Place::kInput || input.last != i || taken[input.index]) continue;
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
    const uint32_t end = i + 1 < launches_.size() ? launches_[i + 1].first_view
                                                  : static_cast<uint32_t>(shown_.size());
    for (uint32_t k = launches_[i].first_view; k < end; ++k) {
      if (shown_[k].buffer == kNone) continue;
      Buffer& buffer = buffers_[shown_[k].buffer];
      buffer.first = std::min(buffer.first, i);
      buffer.last = i;
    }
  }
}

// The largest first, each at the first place that is free while it is needed.
void Program::plan() {
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
  std::vector<const Buffer*> placed;  // By their places.
  for (const uint32_t i : order) {
    Buffer& buffer = buffers_[i];
    uint64_t at = 0;
    for (const Buffer* other : placed) {
      if (other->last < buffer.first || buffer.last < other->first) continue;
      if (at + aligned(buffer.bytes) <= other->offset) break;
      at = std::max(at, other->offset + aligned(other->bytes));
    }
    buffer.offset = at;
    block_bytes_ = std::max(block_bytes_, at + aligned(buffer.bytes));
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), &buffer,
                         [](const Buffer* a, const Buffer* b) { return a->offset < b->offset; }),
        &buffer);
  }
  for (const Output& each : outputs_) {
    if (each.buffer == kNone || buffers_[each.buffer].place != Buffer::Place::kInput) continue;
    show_as(buffers_[each.buffer], each.type.dtype);
  }
  for (uint32_t i = 0; i < shown_.size(); ++i) {
    const Shown& shown = shown_[i];
    if (shown.scalar_input != kNone) scalar_views_.push_back(i);
    if (shown.buffer == kNone) continue;
    Buffer& buffer = buffers_[shown.buffer];
    switch (buffer.place) {
      case Buffer::Place::kInput:
        input_views_.push_back(i);
        show_as(buffer, dtype_from_c(views_[i].dtype));
        break;
      case Buffer::Place::kOutput:
        output_views_.push_back(i);
        break;
      case Buffer::Place::kBlock:
        block_views_.push_back(i);
        break;
      case Buffer::Place::kScalar:
        // Its bits are the frame's.
        shown_[i].scalar = static_cast<uint32_t>(scalars_.size());
        shown_[i].scalar_input = buffer.index;
        shown_[i].dtype = buffer.dtype;
        scalars_.emplace_back();
        scalar_views_.push_back(i);
        break;
      case Buffer::Place::kConstant:
        break;
    }
  }
}

// An input may be shown as elements that are larger than its own.
void Program::show_as(const Buffer& buffer, DType dtype) {
  uint64_t& alignment = inputs_[buffer.index].alignment;
  alignment = std::max<uint64_t>(alignment, size_of(dtype));
}

// ---- running

bool Program::serves(TensorSpan inputs) const {
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

void Program::put(Frame& frame, uint32_t view, tenon_buffer_p* buffer, std::byte* data,
                  uint64_t offset) const {
  frame.views[view].buffer = buffer;
  frame.views[view].byte_offset = offset;
  frame.views[view].data = data + offset;
}

std::unique_ptr<Program::Frame> Program::new_frame() const {
  auto frame = std::make_unique<Frame>();
  frame->views = views_;
  frame->scalars = scalars_;
  for (uint32_t i = 0; i < shown_.size(); ++i) {
    const Shown& shown = shown_[i];
    if (shown.scalar != kNone) {
      frame->views[i].data = &frame->scalars[shown.scalar];
    } else if (shown.buffer != kNone && buffers_[shown.buffer].constant) {
      const Storage& storage = *buffers_[shown.buffer].constant;
      put(*frame, i, storage.buffer, storage.data, shown.offset);
    }
  }
  for (const Launch& launch : launches_) {
    tenon_launch& made = frame->launches.emplace_back();
    made = {};
    made.struct_size = sizeof made;
    made.site = launch.op->id;
    made.n_inputs = launch.n_inputs;
    made.n_outputs = launch.n_outputs;
    made.inputs = frame->views.data() + launch.first_view;
    made.outputs = made.inputs + launch.n_inputs;
    made.workspace_size = launch.workspace_bytes;
  }
  return frame;
}

std::unique_ptr<Program::Frame> Program::begin(TensorSpan inputs, Ref<Storage>& block) const {
  std::unique_ptr<Frame> frame(spare_.exchange(nullptr, std::memory_order_acquire));
  if (!frame) frame = new_frame();
  for (const uint32_t i : input_views_) {
    const TensorImpl& x = *inputs[buffers_[shown_[i].buffer].index];
    const uint64_t start = static_cast<uint64_t>(x.offset) * size_of(x.type.dtype);
    put(*frame, i, x.storage->buffer, x.storage->data, start + shown_[i].offset);
  }
  for (const uint32_t i : scalar_views_) {
    write_scalar(*inputs[shown_[i].scalar_input], shown_[i].dtype,
                 &frame->scalars[shown_[i].scalar]);
  }
  if (block_bytes_ == 0) return frame;
  block = device_.allocator().allocate(block_bytes_);
  if (frame->block != block->data) {
    frame->block = block->data;
    for (const uint32_t i : block_views_) {
      const Buffer& buffer = buffers_[shown_[i].buffer];
      put(*frame, i, block->buffer, block->data, buffer.offset + shown_[i].offset);
    }
  }
  return frame;
}

void Program::end(std::unique_ptr<Frame> frame) const {
  delete spare_.exchange(frame.release(), std::memory_order_acq_rel);
}

Program::Storages Program::find_outputs(TensorSpan inputs, std::span<const uint8_t> spare,
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
        made.push_back(x.storage);
        continue;
      }
    }
    made.push_back(device_.allocator().allocate(output_bytes_[i]));
  }
  return made;
}

void Program::put_outputs(Frame& frame, const Storages& made) const {
  for (const uint32_t i : output_views_) {
    const Storage& storage = *made[buffers_[shown_[i].buffer].index];
    put(frame, i, storage.buffer, storage.data, shown_[i].offset);
  }
}

tenon_error* Program::profiled(Scope& scope, const Launch& launch,
                               const tenon_launch& arguments) const {
  const bool is_fused = !launch.fused.empty();
  return launch_profiled(
      scope, device_, *launch.kernel, arguments,
      {is_fused ? SpanKind::kFused : SpanKind::kOp, is_fused ? launch.fused : launch.op->name,
       launch.location, launch.profile});
}

void Program::launch(Scope& scope, Frame& frame, size_t commits) const {
  tenon_stream_p* stream = scope.stream(device_);
  tenon_error_record* record = &scope.error_record();
  const auto launch = device_.calls().launch;
  const bool is_profiled = scope.is_profiled();
  for (size_t i = 0; i < launches_.size(); ++i) {
    const Launch& each = launches_[i];
    tenon_launch& arguments = frame.launches[i];
    arguments.record = record;
    if (each.workspace_bytes) [[unlikely]] {
      arguments.workspace = frame.views[each.first_view + each.n_inputs + each.n_outputs];
    }
    tenon_error* error = is_profiled ? profiled(scope, each, arguments)
                                     : launch(each.kernel->handle(), stream, &arguments);
    if (error || record->state != 0) [[unlikely]] {
      try {
        device_.check(error);
        check_record(scope, device_, *each.op);
      } catch (Error& thrown) {
        thrown.set_op(each.op->name);
        thrown.set_location(each.location);
        throw;
      }
    }
    if (i < commits) scope.check_cancelled();
  }
}

Tensor Program::output(const Output& output, TensorSpan inputs, const Storages& made) const {
  if (output.buffer == kNone) {
    Tensor y = renewed(output.input != kNone ? *inputs[output.input] : *output.scalar);
    y->program_input = 0;
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

Tensors Program::run(Scope& scope, TensorSpan inputs, std::span<const uint8_t> spare) const {
  Ref<Storage> block;
  size_t commits = launches_.size();
  std::unique_ptr<Frame> frame = begin(inputs, block);
  const Storages made = find_outputs(inputs, spare, commits);
  put_outputs(*frame, made);
  launch(scope, *frame, commits);
  end(std::move(frame));
  Tensors outputs;
  for (const Output& each : outputs_) outputs.push_back(output(each, inputs, made));
  return outputs;
}

// ---- again and again

bool Program::can_repeat(uint32_t go, std::span<const Feedback> feedback) const {
  const auto is_new = [&](const Output& output) {
    return output.buffer != kNone && buffers_[output.buffer].place == Buffer::Place::kOutput &&
           output.offset == 0;
  };
  return is_new(outputs_[go]) && std::all_of(feedback.begin(), feedback.end(), [&](Feedback each) {
           const Output& output = outputs_[each.output];
           if (!is_new(output)) return false;
           if (each.input == kNone) return true;
           const Input& input = inputs_[each.input];
           return output.type == input.type && identical(output.strides, input.strides);
         });
}

void TripLimit::fail() const {
  tenon::fail(Code::kInvalidArgument,
              "the loop goes on after {} trips, which is the most that it may take", {most_});
}

Tensors Program::repeat(Scope& scope, TensorSpan inputs, uint32_t go,
                        std::span<const Feedback> feedback, TripLimit& limit) const {
  Ref<Storage> block;
  std::unique_ptr<Frame> frame = begin(inputs, block);
  // Where each output goes that is fed back.
  std::vector<std::pair<uint32_t, uint32_t>> fed;  // A view, and the output's number.
  for (const uint32_t i : input_views_) {
    for (const Feedback each : feedback) {
      if (each.input != buffers_[shown_[i].buffer].index) continue;
      fed.emplace_back(i, buffers_[outputs_[each.output].buffer].index);
    }
  }
  const uint32_t go_on = buffers_[outputs_[go].buffer].index;
  // What one trip made, the next one reads while it writes the other.
  size_t never = launches_.size();
  const Storages both[] = {find_outputs(inputs, {}, never), find_outputs(inputs, {}, never)};
  const Storages* made = &both[0];
  while (true) {
    limit.take();
    put_outputs(*frame, *made);
    launch(scope, *frame, never);
    if (*(*made)[go_on]->data == std::byte{0}) break;
    for (const auto& [view, from] : fed) {
      const Storage& storage = *(*made)[from];
      put(*frame, view, storage.buffer, storage.data, shown_[view].offset);
    }
    made = made == &both[0] ? &both[1] : &both[0];
  }
  end(std::move(frame));
  Tensors results;
  for (const Feedback each : feedback) {
    results.push_back(output(outputs_[each.output], inputs, *made));
  }
  return results;
}

}  // namespace tenon
