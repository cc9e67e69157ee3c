// The dispatcher. Every operation, from every language and inside every transformation, is one call
// of apply().
//
// The innermost interpreter of the scope executes the call:
//
//   Eager    runs a kernel now.                   Always at the bottom.
//   Tape     passes the call on and records it.   While a tape is recording.
//   Tracer   adds a node, computes nothing.       While a function is traced.
//
// An op needs no code here. core/ops/<op>.cc defines it; launch.cc finds and starts its kernel.

#include "core/dispatch/dispatch.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/dispatch/composites.h"
#include "core/dispatch/launch.h"
#include "core/dispatch/memory_order.h"
#include "core/dispatch/operands.h"
#include "core/dispatch/profiler.h"
#include "core/dispatch/storage_ops.h"
#include "core/ops/definition/formulas.h"
#include "core/ops/definition/op_ids.h"

namespace tenon {
namespace {

[[noreturn]] void fail_in(Scope& scope, const OpDef& op, Error& error) {
  error.set_op(op.name);
  error.set_location(scope.location());
  throw error;
}

// A successful call consumes its donated inputs.
void consume_donations(Inputs inputs) {
  for (TensorImpl* x : inputs) {
    if (x && x->donation == Donation::kDonated) [[unlikely]]
      consume(*x);
  }
}

// Returns views that share the storage of the input. If no strides can express the views, copies
// the input first.
Tensors views(Scope& scope, const Call& call, const TensorTypes& types) {
  Tensor base = Tensor::share(call.inputs[0]);
  if (base->is_scalar_value()) {
    // identity() of an inline scalar is an inline scalar: later ops determine its dtype.
    if (&call.op == &op_def(OpId::k_identity)) return {alias_of(*base)};
    base = with_dtype(scope, *base, call.types[0].dtype);
  }
  Tensors outputs;
  for (size_t i = 0; i < types.size(); ++i) {
    StridedLayout layout;
    const auto lay = [&] {
      return call.op.view(call.op, call.attrs.data, i, types[i], base->type,
                          {base->strides, base->offset}, layout);
    };
    if (!lay()) {
      base = dense_copy(scope, base);
      const bool ok = lay();
      require_code(ok, Code::kInternal, "a view of a dense tensor must be expressible by strides");
    }
    outputs.push_back(make_view(*base, types[i], layout.strides, layout.offset));
  }
  return outputs;
}

// Returns the CPU device, which runs an op that `device` lacks if the context's policy permits it.
Device& fallback_device(Context& context, const Device& device, const std::string& reason) {
  try {
    return context.device("cpu");
  } catch (const Error& error) {
    if (error.is_transient()) throw;
    fail_because(error, Code::kUnimplemented, "{} {}, and the CPU cannot run it instead: {}",
                 {device.name(), reason, error.what()});
  }
}

// Runs the call on the CPU and copies its outputs to `device`. Fails if the policy forbids that.
// `reason`: why the device cannot run the call.
Tensors fall_back(Scope& scope, const Call& call, Device& device, const std::string& reason) {
  Context& context = scope.context();
  const FallbackPolicy policy = context.options().fallback_policy;
  const bool on_cpu = device.properties().kind == TENON_DEVICE_CPU;
  require_code(!on_cpu && policy != FallbackPolicy::kStrict, Code::kUnimplemented, "{} {}",
               device.name(), reason);
  Device& cpu = fallback_device(context, device, reason);
  if (policy == FallbackPolicy::kWarn &&
      context.is_first_time(format("{} {}", {device.name(), call.op.name}))) {
    context.log(
        TENON_LOG_WARNING,
        format("{}: {} {}. The op runs on {} instead, and its inputs and outputs are copied",
               {call.op.name, device.name(), reason, cpu.name()}));
  }
  Tensors copies;
  SmallVector<TensorImpl*, 6> inputs;
  for (TensorImpl* x : call.inputs) {
    Tensor copy = Tensor::share(x);
    if (x && !x->is_scalar_value()) copy = to_device(scope, copy, cpu);
    inputs.push_back(copy.get());
    copies.push_back(std::move(copy));
  }
  Tensors outputs;
  {
    // Makes calls without tensor inputs run on the CPU, too.
    const Scope::OnDevice on(scope, cpu);
    outputs = eager(scope, {call.op, call.attrs, inputs, call.types});
  }
  for (Tensor& y : outputs) y = to_device(scope, y, device);
  return outputs;
}

Tensors eager_full_path(Scope& scope, const Call& call);

// Applies the op in the innermost interpreter. Inlined into apply_profiled() and apply().
[[gnu::always_inline]] inline Tensors apply_now(Scope& scope, const OpDef& op, AnyAttrs attrs,
                                                Inputs inputs) {
  Interpreter* top = scope.innermost();
  Tensors outputs;
  if (!top && scope.repeated().run(scope, op, inputs, outputs)) return outputs;
  const Operands operands(op, inputs);
  const Call call = {op, attrs, operands.inputs(), operands.types()};
  outputs = top ? top->apply(scope, call) : eager_full_path(scope, call);
  consume_donations(inputs);
  return outputs;
}

[[gnu::noinline]] Tensors apply_profiled(Scope& scope, const OpDef& op, AnyAttrs attrs,
                                         Inputs inputs) {
  ProfileSpan span(scope, op.name, inputs);
  Tensors outputs = apply_now(scope, op, attrs, inputs);
  span.end();
  return outputs;
}

}  // namespace

// Promotes the inputs of an op, then passes the call to the innermost interpreter of the scope.
Tensors apply(Scope& scope, const OpDef& op, AnyAttrs attrs, Inputs inputs) {
  try {
    scope.check_cancelled();
    if (scope.is_profiled()) [[unlikely]]
      return apply_profiled(scope, op, attrs, inputs);
    return apply_now(scope, op, attrs, inputs);
  } catch (Error& error) {
    fail_in(scope, op, error);
  }
}

// Executes a call now, bypassing all interpreters.
Tensors eager(Scope& scope, const Call& call) {
  Tensors outputs;
  if (!scope.repeated().run(scope, call.op, call.inputs, outputs)) {
    outputs = eager_full_path(scope, call);
  }
  return outputs;
}

namespace {

// Executes a call that RepeatedCalls does not recognise.
Tensors eager_full_path(Scope& scope, const Call& call) {
  if (call.op.run) return call.op.run(scope, call);
  for (const TensorImpl* x : call.inputs) {
    if (x) require_value(*x);
  }
  // Throws all type, shape and attribute errors, before any memory is allocated or written.
  const TensorTypes types = call.op.infer(call.op, call.attrs.data, call.types);
  if (call.op.is_view) return views(scope, call, types);
  if (Tensors outputs; run_in_memory_order(scope, call, types, outputs)) [[unlikely]]
    return outputs;

  if (call.op.promotes == Promotes::kToOutput) [[unlikely]] {
    TensorImpl* x = call.inputs[0];
    if (!x->type.weak && x->type.dtype != types[0].dtype) {
      const Tensor same = cast(Tensor::share(x), types[0].dtype);
      TensorImpl* input = same.get();
      const TensorType* type = &same->type;
      return eager(scope, {call.op, call.attrs, {&input, 1}, {&type, 1}});
    }
  }
  Device& device = common_device(scope, call.inputs);
  Launcher launcher(scope, device, call, types);
  if (launcher.kernel().exists()) [[likely]] {
    if (!scope.recorder()) scope.repeated().learn(call, device, types, launcher.kernel());
    return launcher.run();
  }
  if (uses_storage_dtype(call, types)) return run_on_storage(scope, call, types);
  if (call.op.decompose) return composites(scope).call(call);
  return fall_back(scope, call, device, launcher.kernel().reason);
}

}  // namespace

// Whether the device has a kernel for the call.
bool has_kernel(Scope& scope, const Call& call) {
  if (call.op.is_view) return true;
  const TensorTypes types = call.op.infer(call.op, call.attrs.data, call.types);
  return Launcher(scope, common_device(scope, call.inputs), call, types).kernel().exists();
}

namespace {

// Whether all inputs on `device` are order tokens.
bool is_only_tokens(Inputs inputs, const Device* device) {
  return std::all_of(inputs.begin(), inputs.end(), [&](const TensorImpl* x) {
    return !x || x->is_scalar_value() || x->storage->device != device || x->type.is_token();
  });
}

}  // namespace

// Returns the device of the tensors in `inputs`, or the scope's device if there are none.
Device& common_device(Scope& scope, Inputs inputs) {
  Device* device = nullptr;
  for (const TensorImpl* x : inputs) {
    if (!x || x->is_scalar_value()) continue;
    Device* own = x->storage->device;
    if (!device) {
      device = own;
      if (&own->context() != &scope.context()) [[unlikely]] {
        fail(Code::kInvalidArgument, "an input belongs to another context than the scope");
      }
    } else if (device != own) [[unlikely]] {
      // Tokens only order calls and have no data on any device.
      if (x->type.is_token()) continue;
      if (is_only_tokens(inputs, device)) {
        device = own;
        continue;
      }
      fail(Code::kInvalidArgument,
           "the inputs are on {} and on {}: copy one of them to the other's device",
           {device->name(), own->name()});
    }
  }
  return device ? *device : scope.device();
}

Tensors call_op(OpId id, AnyAttrs attrs, TensorSpan inputs) {
  SmallVector<TensorImpl*, 6> borrowed;
  for (const Tensor& x : inputs) borrowed.push_back(x.get());
  return apply(current_scope(), op_def(id), attrs, borrowed);
}

}  // namespace tenon
