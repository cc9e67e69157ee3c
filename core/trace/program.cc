// Planning the memory of a program, and running it. program_recorder.cc writes one down.

#include "core/trace/program.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/base/error.h"
#include "core/dispatch/launch.h"

namespace tenon {
namespace {

constexpr uint64_t kAlign = 64;
uint64_t aligned(uint64_t bytes) {
  return (std::max<uint64_t>(bytes, 1) + kAlign - 1) / kAlign * kAlign;
}

}  // namespace

// ---- memory

// Lets a kernel write where an input lies that nobody needs any more.
void Program::share_in_place() {
  std::vector<uint32_t> instead(buffers_.size());
  std::iota(instead.begin(), instead.end(), 0u);
  for (uint32_t i = 0; i < launches_.size(); ++i) {
    const Launch& launch = launches_[i];
    if (!launch.kernel->may_alias() || launch.n_outputs == 0) continue;
    const uint32_t to = launch.first_view + launch.n_inputs;
    const uint32_t output = instead[shown_[to].buffer];
    if (buffers_[output].place != Buffer::Place::kBlock || buffers_[output].first != i) continue;
    for (uint32_t k = launch.first_view; k < to; ++k) {
      if (shown_[k].buffer == kNone) continue;
      const uint32_t input = instead[shown_[k].buffer];
      const tenon_view &from_view = views_[k], &to_view = views_[to];
      const bool is_same =
          from_view.dtype == to_view.dtype && from_view.rank == to_view.rank &&
          from_view.strides_class == TENON_STRIDES_DENSE && shown_[k].offset == 0 &&
          std::equal(from_view.sizes, from_view.sizes + from_view.rank, to_view.sizes);
      const Buffer& buffer = buffers_[input];
      if (!is_same || buffer.place != Buffer::Place::kBlock || buffer.last != i ||
          input == output || buffer.bytes != buffers_[output].bytes) {
        continue;
      }
      const bool is_twice = std::any_of(
          shown_.begin() + launch.first_view, shown_.begin() + to, [&](const Shown& other) {
            return &other != &shown_[k] && other.buffer == shown_[k].buffer;
          });
      if (is_twice) continue;
      buffers_[input].last = buffers_[output].last;
      for (uint32_t& each : instead) {
        if (each == output) each = input;
      }
      break;
    }
  }
  for (Shown& shown : shown_) {
    if (shown.buffer != kNone) shown.buffer = instead[shown.buffer];
  }
  find_lives();
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

Program::Storages Program::allocate_outputs() const {
  Storages made;
  for (const uint64_t bytes : output_bytes_) made.push_back(device_.allocator().allocate(bytes));
  return made;
}

void Program::put_outputs(Frame& frame, const Storages& made) const {
  for (const uint32_t i : output_views_) {
    const Storage& storage = *made[buffers_[shown_[i].buffer].index];
    put(frame, i, storage.buffer, storage.data, shown_[i].offset);
  }
}

void Program::launch(Scope& scope, Frame& frame) const {
  tenon_stream_p* stream = scope.stream(device_);
  tenon_error_record* record = &scope.error_record();
  const auto launch = device_.calls().launch;
  for (size_t i = 0; i < launches_.size(); ++i) {
    const Launch& each = launches_[i];
    tenon_launch& arguments = frame.launches[i];
    arguments.record = record;
    if (each.workspace_bytes) [[unlikely]] {
      arguments.workspace = frame.views[each.first_view + each.n_inputs + each.n_outputs];
    }
    tenon_error* error = launch(each.kernel->handle(), stream, &arguments);
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
    scope.check_cancelled();
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

Tensors Program::run(Scope& scope, TensorSpan inputs) const {
  Ref<Storage> block;
  std::unique_ptr<Frame> frame = begin(inputs, block);
  const Storages made = allocate_outputs();
  put_outputs(*frame, made);
  launch(scope, *frame);
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

Tensors Program::repeat(Scope& scope, TensorSpan inputs, uint32_t go,
                        std::span<const Feedback> feedback) const {
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
  const Storages both[] = {allocate_outputs(), allocate_outputs()};
  const Storages* made = &both[0];
  while (true) {
    put_outputs(*frame, *made);
    launch(scope, *frame);
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
