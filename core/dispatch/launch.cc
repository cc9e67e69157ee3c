#include "core/dispatch/launch.h"

#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/dispatch/profiler.h"
#include "core/dispatch/recorder.h"
#include "core/ops/definition/formulas.h"

namespace tenon {
namespace {

using Clock = std::chrono::steady_clock;

// Returns the attribute `shape`, which is not part of the cache key, because kernels read output
// sizes from their views. Returns NULL for ops without it and for custom ops.
const AttrField* shape_attr(const OpDef& op, AnyAttrs attrs) {
  constexpr uint32_t kCustom = uint32_t{1} << 31;
  if (attrs.empty() || op.id >= kCustom) return nullptr;
  for (const AttrField& field : attrs.type->all()) {
    if (field.kind != AttrKind::kSizes || std::string_view(field.name) != "shape") continue;
    return field.get<Sizes>(attrs.data).empty() ? nullptr : &field;
  }
  return nullptr;
}

}  // namespace

Launcher::Launcher(Scope& scope, Device& device, const Call& call, const TensorTypes& types)
    : scope_(scope), device_(device), call_(call), types_(types) {
  const size_t n = call.inputs.size();
  for (size_t i = 0; i < n; ++i) determine_layout(i);
  // From here on, layouts_ is not resized, so that pointers to its elements stay valid.
  for (size_t i = 0; i < n; ++i) {
    if (layouts_[i].own) infos_[i].sizes = layouts_[i].shape.sizes.data();
  }
  if (call.op.arrange) arrange_outputs();

  KernelKey key;
  key.op = call.op.id;
  key.flags = scope.context().request_flags();
  key.attrs = call.attrs;
  const bool shaped = device.kernels().is_shaped(call.op.id, call.op.name);
  OwnedAttrs without_shape;
  if (const AttrField* shape = shaped ? nullptr : shape_attr(call.op, call.attrs)) [[unlikely]] {
    without_shape = OwnedAttrs(call.attrs);
    shape->get<Sizes>(without_shape.data()).clear();
    key.attrs = without_shape.view();
  }
  for (const OperandInfo& info : infos_) {
    key.words.push_back(kernel_word(info.dtype, info.rank, info.strides));
    if (!shaped) continue;
    for (size_t axis = 0; axis < info.rank; ++axis) key.words.push_back(info.sizes[axis]);
  }
  kernel_ = scope.find_kernel(device, call.op, key, infos_, arranged_.empty() ? types : arranged_);
}

// Determines the layout of input i in the kernel's view.
void Launcher::determine_layout(size_t i) {
  const TensorImpl* x = call_.inputs[i];
  tensors_.push_back(x);
  Layout& layout = layouts_.emplace_back();
  if (!x) {
    infos_.push_back({DType::kNone, 0, nullptr, TENON_STRIDES_ABSENT});
    return;
  }
  const DType dtype = x->type.weak && call_.op.promotes == Promotes::kToOutput
                          ? types_[0].dtype
                          : call_.types[i].dtype;
  const Dims& shape = x->shape();
  const bool repeats = call_.op.elementwise && !(shape == types_[0].shape);
  if (!repeats && !call_.op.arrange) [[likely]] {
    const tenon_stride_class strides = x->is_scalar_value()            ? TENON_STRIDES_UNIFORM
                                       : x->dense                      ? TENON_STRIDES_DENSE
                                       : is_uniform(shape, x->strides) ? TENON_STRIDES_UNIFORM
                                                                       : TENON_STRIDES_STRIDED;
    infos_.push_back({dtype, static_cast<uint32_t>(shape.rank()), shape.data(), strides});
    return;
  }
  layout.own = true;
  auto& [sizes, strides] = layout.shape;
  if (call_.op.arrange) {
    sizes = shape;
    strides = x->strides;
    call_.op.arrange(i, call_.types, types_, layout.shape);
  } else {
    sizes = types_[0].shape;
    strides.set_rank(sizes.rank());
    const size_t added = sizes.rank() - shape.rank();
    for (size_t axis = 0; axis < sizes.rank(); ++axis) {
      const bool repeated = axis < added || shape[axis - added] == 1;
      strides[axis] = repeated ? Size(0) : x->strides[axis - added];
    }
  }
  const tenon_stride_class strides_class = x->is_scalar_value() || is_uniform(sizes, strides)
                                               ? TENON_STRIDES_UNIFORM
                                           : is_dense(sizes, strides) ? TENON_STRIDES_DENSE
                                                                      : TENON_STRIDES_STRIDED;
  infos_.push_back({dtype, static_cast<uint32_t>(sizes.rank()), nullptr, strides_class});
}

// Determines the layouts of the outputs that OpDef::arrange changes.
void Launcher::arrange_outputs() {
  for (size_t i = 0; i < types_.size(); ++i) {
    StridedShape& shape = arranged_outputs_.emplace_back();
    shape.sizes = types_[i].shape;
    shape.strides = dense_strides(shape.sizes);
    call_.op.arrange(call_.inputs.size() + i, call_.types, types_, shape);
    arranged_.emplace_back(types_[i].dtype, shape.sizes);
  }
}

// Copies strided operands to dense tensors of the broadcast shape, for kernels that do not support
// strides.
void Launcher::make_dense() {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (infos_[i].strides != TENON_STRIDES_STRIDED) continue;
    held_kernel_ = Ref<const PreparedKernel>::share(
        kernel_);  // Retains the kernel, because preparing the copies may evict it from the cache.
    const TensorImpl& x = *tensors_[i];
    Layout& layout = layouts_[i];
    const TensorType type(x.type.dtype, layout.own ? layout.shape.sizes : x.shape());
    const Dims& strides = layout.own ? layout.shape.strides : x.strides;
    Tensor copy = dense(scope_, make_view(x, type, strides, x.offset));
    layout.shape = {copy->shape(), copy->strides};
    layout.own = true;
    tensors_[i] = copy.get();
    infos_[i].sizes = layout.shape.sizes.data();
    infos_[i].strides = TENON_STRIDES_DENSE;
    held_.push_back(std::move(copy));
  }
}

// Allocates the outputs, or reuses the memory of donated inputs.
Tensors Launcher::outputs() {
  Tensors outputs;
  for (const TensorType& type : types_) {
    Tensor on_input;
    if (kernel_->may_alias(outputs.size())) {
      for (TensorImpl* x : call_.inputs) {
        // The tensor was donated and nothing else references its storage.
        if (x && x->donation == Donation::kDonated && x->dense && x->offset == 0 &&
            x->type == type && x->owners() == 1 && x->storage->owners() == 1 &&
            !x->storage->imported) [[unlikely]] {
          on_input = make_view(*x, type, x->strides, 0);
          device_.allocator().renew_content(*x->storage);
          break;
        }
      }
    }
    outputs.push_back(on_input ? std::move(on_input) : allocate(device_, type));
  }
  return outputs;
}

Tensors Launcher::run() {
  if (!kernel_->supports_strided_inputs()) make_dense();
  Tensors results = outputs();

  const size_t n = tensors_.size();
  SmallVector<tenon_view, 8> views;
  SmallVector<ElementBits, 4> scalars(n, ElementBits{});
  for (size_t i = 0; i < n; ++i) {
    const TensorImpl* x = tensors_[i];
    const OperandInfo& info = infos_[i];
    tenon_view& view = views.emplace_back();
    if (!x) {
      view.strides_class = TENON_STRIDES_ABSENT;
      continue;
    }
    view.sizes = info.sizes;
    view.strides = strides_of(i);
    view.dtype = to_c(info.dtype);
    view.rank = static_cast<uint16_t>(info.rank);
    view.strides_class = info.strides;
    if (x->is_scalar_value()) {
      write_scalar(*x, info.dtype, &scalars[i]);
      view.data = &scalars[i];
      continue;
    }
    view.buffer = x->storage->buffer;
    view.byte_offset = static_cast<uint64_t>(x->offset) * size_of(info.dtype);
    if (x->storage->data) view.data = x->data();
    // The memory of a donated input may have the content number of an output already.
    if (x->donation == Donation::kNone) view.content = x->storage->content;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const TensorImpl& y = *results[i];
    const bool arranged = !arranged_outputs_.empty();
    const Dims& sizes = arranged ? arranged_outputs_[i].sizes : y.shape();
    const Dims& strides = arranged ? arranged_outputs_[i].strides : y.strides;
    views.push_back({.buffer = y.storage->buffer,
                     .byte_offset = 0,
                     .data = y.storage->data,
                     .sizes = sizes.data(),
                     .strides = strides.data(),
                     .dtype = to_c(y.type.dtype),
                     .rank = static_cast<uint16_t>(sizes.rank()),
                     .strides_class = TENON_STRIDES_DENSE,
                     .content = 0});
  }
  tenon_launch arguments = {
      .struct_size = sizeof(tenon_launch),
      .site = call_.op.id,
      .n_inputs = static_cast<uint32_t>(n),
      .n_outputs = static_cast<uint32_t>(results.size()),
      .inputs = views.data(),
      .outputs = views.data() + n,
      .workspace = {},
      .workspace_size = 0,
      .record_buffer = nullptr,
      .record_offset = 0,
      .record = &scope_.error_record(),
      .work = nullptr,
      .ticket = 0,
  };
  launch(arguments, results);
  return results;
}

// Launches now, or enqueues the launch on an asynchronous device.
void Launcher::launch(tenon_launch& launch, const Tensors& results) {
  Ref<Storage> workspace;
  if (kernel_->needs_workspace()) {
    launch.workspace_size = device_.calls().workspace(kernel_->handle(), &launch);
    if (launch.workspace_size) {
      workspace = device_.allocator().allocate(launch.workspace_size);
      launch.workspace.buffer = workspace->buffer;
      launch.workspace.data = workspace->data;
      launch.workspace.dtype = TENON_UINT8;
    }
  }
  LaunchRecorder* const recorder = scope_.recorder();
  Clock::time_point began;
  if (recorder) [[unlikely]]
    began = Clock::now();
  if (!device_.synchronous()) [[unlikely]] {
    enqueue(launch, results, workspace.get());
  } else {
    std::optional<RecordOnDevice> record;
    if (!device_.host_visible() && may_report(call_.op)) [[unlikely]]
      record.emplace(scope_, device_, launch);
    if (scope_.is_profiled()) [[unlikely]] {
      device_.check(launch_profiled(scope_, device_, *kernel_, launch));
    } else {
      device_.check(device_.calls().launch(kernel_->handle(), scope_.stream(device_), &launch));
    }
    if (record) [[unlikely]]
      record->copy_to_host();
    check_record(scope_, device_, call_.op);
  }
  if (recorder) [[unlikely]] {
    recorder->launched({*kernel_, call_.op, call_.attrs, launch, tensors_.span(), results.span(),
                        workspace ? workspace.get() : nullptr,
                        std::chrono::nanoseconds(Clock::now() - began).count()});
  }
}

void Launcher::enqueue(tenon_launch& launch, const Tensors& results, const Storage* workspace) {
  PendingWork& pending = scope_.pending(device_);
  SmallVector<uint64_t, 4> tickets;
  SmallVector<const Storage*, 4> reads, writes;
  for (const TensorImpl* x : tensors_) {
    if (!x || !x->storage) continue;
    tickets.push_back(x->storage->written);
    reads.push_back(x->storage.get());
  }
  for (const Tensor& y : results) writes.push_back(y->storage.get());
  writes.push_back(workspace);
  const WorkQueue::MemoryUse use = pending.use(reads, writes);
  launch.site = pending.site_of(call_.op, scope_.location());
  const uint64_t ticket =
      pending.launch(*kernel_, launch, {.tickets = tickets, .may_report = may_report(call_.op)},
                     watch_profiled(scope_, device_, launch));
  for (const Tensor& y : results) y->storage->written = ticket;
}

// Reports the scope's error record if the kernel wrote a value error into it.
void check_record(Scope& scope, Device& device, const OpDef& op) {
  if (scope.error_record().state != 0) [[unlikely]]
    report_record(scope, device, op, scope.location());
}

// Reports the value error in the error record, and clears the record.
void report_record(Scope& scope, Device& device, const OpDef& op, std::string_view location) {
  const tenon_error_record found = std::exchange(scope.error_record(), {});
  Error error = value_error(device, found, op.index_rule);
  error.set_op(op.name);
  error.set_location(location);
  scope.report_value_error(std::move(error));
}

RecordOnDevice::RecordOnDevice(Scope& scope, Device& device, tenon_launch& launch)
    : scope_(scope),
      device_(device),
      device_record_(device.allocator().allocate(sizeof(tenon_error_record))) {
  device.copy(scope.stream(device), {nullptr, &scope.error_record(), 0, 0},
              {device_record_->buffer, nullptr, 0, 0}, sizeof(tenon_error_record));
  launch.record_buffer = device_record_->buffer;
  launch.record_offset = 0;
}

void RecordOnDevice::copy_to_host() {
  device_.copy(scope_.stream(device_), {device_record_->buffer, nullptr, 0, 0},
               {nullptr, &scope_.error_record(), 0, 0}, sizeof(tenon_error_record));
}

}  // namespace tenon
