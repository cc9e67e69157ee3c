// Records launch plans.

#include <algorithm>
#include <unordered_map>

#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/dispatch/profiler.h"
#include "core/dispatch/recorder.h"
#include "core/ops/definition/formulas.h"
#include "core/trace/passes/pass.h"
#include "core/trace/plans/launch_plan.h"

namespace tenon {
namespace {

// Represents the memory of one input. Inputs that share memory in the recorded call have different
// InputStorages, because the inputs of a later call need not share memory.
struct InputStorage final : NonMemoryStorage<InputStorage> {
  explicit InputStorage(Ref<Storage> given) : base(std::move(given)) {
    device = base->device;
    buffer = base->buffer;
    data = base->data;
    size = base->size;
    capacity = base->capacity;
    imported = true;  // Marks the memory as not writable.
    written = base->written;
  }

  Ref<Storage> base;
};

}  // namespace

class LaunchPlan::Recorder final : public LaunchRecorder {
 public:
  explicit Recorder(LaunchPlan& program) : program_(program) {}

  // Adds an input to the plan. Returns the tensor that `code` receives in its place.
  Tensor input(const Tensor& x) {
    const auto index = static_cast<uint32_t>(program_.inputs_.size());
    Input& input = program_.inputs_.emplace_back();
    input.type = x->type;
    input.strides = x->strides;
    input.device = x->storage ? x->storage->device : nullptr;
    Tensor own = alias_of(*x);
    if (!x->storage) {
      own->plan_input = index + 1;
      return own;
    }
    own->storage = Ref<Storage>::adopt(new InputStorage(x->storage));
    Buffer& buffer = add(*own->storage, Buffer::Place::kInput);
    buffer.index = index;
    // Offsets are relative to the start of the input.
    input.start = starts_.back() = static_cast<uint64_t>(x->offset) * size_of(x->type.dtype);
    held_.push_back(own->storage);
    return own;
  }

  void launched(const Launched& launched) override {
    const tenon_launch& launch = launched.launch;
    Launch& made = program_.launches_.emplace_back();
    made.kernel = Ref<const PreparedKernel>::share(&launched.kernel);
    made.op = &launched.op;
    const bool may_fuse = launched.kernel.loop_line() || launched.kernel.anchor_line();
    attrs_.emplace_back(may_fuse ? launched.attrs : AnyAttrs());
    made.profile = input_words(launched.inputs);
    made.location = current_scope().location();
    made.first_view = static_cast<uint32_t>(program_.views_.size());
    made.n_inputs = launch.n_inputs;
    made.n_outputs = launch.n_outputs;
    made.workspace_bytes = launched.workspace ? launch.workspace_size : 0;
    made.duration_ns = launched.duration_ns;
    for (const Tensor& y : launched.outputs) interrupt_if_other_device(*y->storage);
    for (uint32_t i = 0; i < launch.n_inputs; ++i) {
      const TensorImpl* x = launched.inputs[i];
      add_view(launch.inputs[i]);
      ViewSource& shown = program_.shown_.back();
      if (!x) continue;
      if (x->is_scalar_value()) {
        shown.scalar = static_cast<uint32_t>(program_.scalars_.size());
        shown.dtype = dtype_from_c(launch.inputs[i].dtype);
        if (x->plan_input) shown.scalar_input = x->plan_input - 1;
        program_.scalars_.push_back(*static_cast<const ElementBits*>(launch.inputs[i].data));
      } else {
        show(shown, known(*x->storage), launch.inputs[i].byte_offset);
      }
    }
    for (uint32_t i = 0; i < launch.n_outputs; ++i) {
      Storage& storage = *launched.outputs[i]->storage;
      const bool is_in_place =
          std::any_of(launched.inputs.begin(), launched.inputs.end(),
                      [&](const TensorImpl* x) { return x && x->storage.get() == &storage; });
      if (!is_in_place) {
        add(storage, Buffer::Place::kBlock);
        program_.buffers_.back().bytes = storage.size;
      }
      add_view(launch.outputs[i]);
      show(program_.shown_.back(), known(storage), launch.outputs[i].byte_offset);
    }
    if (made.workspace_bytes) {
      Buffer& buffer = program_.buffers_.emplace_back();
      starts_.push_back(0);
      buffer.bytes = made.workspace_bytes;
      add_view(launch.workspace);
      program_.shown_.back().buffer = static_cast<uint32_t>(program_.buffers_.size() - 1);
    }
  }

  void written(const TensorImpl& x, const TensorImpl* scalar) override {
    interrupt_if_other_device(*x.storage);
    Device& device = program_.device_;
    Buffer& buffer = add(*x.storage, Buffer::Place::kConstant);
    if (!scalar || !scalar->plan_input) {
      buffer.constant = x.storage;
      return;
    }
    const uint32_t input = scalar->plan_input - 1;
    if (device.synchronous() && device.host_visible()) {
      buffer.place = Buffer::Place::kScalar;
      buffer.index = input;
      buffer.dtype = x.type.dtype;
      buffer.constant = x.storage;
    } else {
      // The kernels were prepared for an operand in device memory, so each call writes the scalar
      // there.
      buffer.place = Buffer::Place::kBlock;
      buffer.bytes = x.storage->size;
      buffer.is_filled = true;
      const auto number = static_cast<uint32_t>(program_.buffers_.size() - 1);
      program_.filled_.push_back({number, input, x.type.dtype});
    }
  }

  void interrupted() override { is_replayable_ = false; }

  // Records the memory of the outputs. Returns the tensors that the caller of the plan receives.
  Tensors outputs(Tensors given) {
    for (Tensor& y : given) {
      Output& output = program_.outputs_.emplace_back();
      output.type = y->type;
      output.strides = y->strides;
      output.dense = y->dense;
      if (!y->storage) {
        output.scalar = y;
        if (y->plan_input) output.input = y->plan_input - 1;
        y = alias_of(*y);
        y->plan_input = 0;
        continue;
      }
      const auto at = known_.find(y->storage.get());
      if (at == known_.end()) {
        interrupted();
        continue;
      }
      output.buffer = at->second;
      Buffer& buffer = program_.buffers_[output.buffer];
      output.offset =
          y->offset - static_cast<int64_t>(starts_[output.buffer] / size_of(y->type.dtype));
      if (buffer.place == Buffer::Place::kBlock) {
        buffer.place = Buffer::Place::kOutput;
        buffer.index = program_.n_output_buffers_++;
        program_.output_bytes_.push_back(y->storage->size);
      } else if (buffer.place == Buffer::Place::kInput) {
        auto& input = static_cast<InputStorage&>(*y->storage);
        y = make_view_of(*y, input.base);
      } else if (buffer.place == Buffer::Place::kScalar) {
        interrupted();  // A replay would return the recorded scalar.
      }
    }
    return given;
  }

  bool is_whole() const { return is_replayable_; }
  // Attributes of each launch; empty for a launch that cannot be fused.
  std::span<const OwnedAttrs> attrs() const { return attrs_; }

 private:
  void interrupt_if_other_device(const Storage& storage) {
    if (storage.device != &program_.device_) interrupted();
  }

  static Tensor make_view_of(const TensorImpl& x, const Ref<Storage>& base) {
    Tensor y = alias_of(x);
    y->storage = base;
    return y;
  }

  Buffer& add(Storage& storage, Buffer::Place place) {
    known_[&storage] = static_cast<uint32_t>(program_.buffers_.size());
    starts_.push_back(0);
    Buffer& buffer = program_.buffers_.emplace_back();
    buffer.place = place;
    return buffer;
  }

  // Returns the buffer of a storage. A storage that is neither an input nor created by `code` is a
  // constant.
  uint32_t known(Storage& storage) {
    const auto at = known_.find(&storage);
    if (at != known_.end()) return at->second;
    Buffer& buffer = add(storage, Buffer::Place::kConstant);
    buffer.constant = Ref<Storage>::share(&storage);
    return static_cast<uint32_t>(program_.buffers_.size() - 1);
  }

  void show(ViewSource& shown, uint32_t buffer, uint64_t byte_offset) {
    shown.buffer = buffer;
    shown.offset = byte_offset - starts_[buffer];
  }

  void add_view(tenon_view view) {
    const size_t rank = view.rank;
    auto words = std::make_unique<int64_t[]>(2 * rank + 1);
    if (view.sizes) std::copy_n(view.sizes, rank, words.get());
    if (view.strides) std::copy_n(view.strides, rank, words.get() + rank);
    if (view.sizes) view.sizes = words.get();
    if (view.strides) view.strides = words.get() + rank;
    view.buffer = nullptr;
    view.data = nullptr;
    view.byte_offset = 0;
    program_.words_.push_back(std::move(words));
    program_.views_.push_back(view);
    program_.shown_.emplace_back();
  }

  LaunchPlan& program_;
  std::unordered_map<const Storage*, uint32_t> known_;  // The most recent buffer of each storage.
  std::vector<uint64_t> starts_;                        // By buffer: its start offset.
  std::vector<Ref<Storage>> held_;
  std::vector<OwnedAttrs> attrs_;
  bool is_replayable_ = true;
};

// Whether all launches are elementwise or reductions.
bool LaunchPlan::is_light() const {
  return std::all_of(launches_.begin(), launches_.end(), [](const Launch& launch) {
    return launch.op->elementwise || launch.op->attrs == &attrs_type<ReduceAttrs>();
  });
}

// Marks the plan's constants as owned by the context, so that they no longer retain it. Returns
// false, without any effect, if a constant has further owners or is an output.
bool LaunchPlan::make_context_owned() const {
  for (const Output& output : outputs_) {
    if (output.buffer != kNone && buffers_[output.buffer].constant) return false;
  }
  for (const Buffer& buffer : buffers_) {
    const Storage* constant = buffer.constant.get();
    if (constant && (constant->owners() > 1 || constant->imported)) return false;
  }
  for (const Buffer& buffer : buffers_) {
    if (buffer.constant) buffer.constant->device->allocator().make_context_owned(*buffer.constant);
  }
  return true;
}

LaunchPlan::Recorded LaunchPlan::record(Scope& scope, Device& device, TensorSpan inputs,
                                        const Code& code) {
  Recorded result;
  std::unique_ptr<LaunchPlan> program(new LaunchPlan(device));
  Recorder recorder(*program);
  Tensors own;
  for (const Tensor& x : inputs) own.push_back(recorder.input(x));
  {
    const Scope::Recorded recorded(scope, recorder);
    result.outputs = recorder.outputs(code(own));
  }
  if (!recorder.is_whole()) return result;
  if (!is_disabled(scope, "fuse")) program->fuse(scope.context().request_flags(), recorder.attrs());
  program->plan();
  result.program = std::move(program);
  return result;
}

}  // namespace tenon
