#include "core/trace/function.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/immortal.h"
#include "core/base/search.h"
#include "core/dispatch/callback_depth.h"
#include "core/dispatch/dispatch.h"
#include "core/dispatch/profiler.h"
#include "core/dispatch/variable.h"
#include "core/ops/definition/formulas.h"
#include "core/trace/control/control_ops.h"
#include "core/trace/graph/text_form.h"
#include "core/trace/signatures.h"
#include "core/trace/trace_body.h"

namespace tenon {
namespace {

// Returns the type of x as an input declaration, with all sizes.
InputSpec spec_of(const TensorImpl& x) {
  InputSpec spec;
  spec.dtype = x.type.dtype;
  spec.weak = x.type.weak;
  spec.lists = x.type.lists;
  for (const Size size : x.shape()) spec.sizes.push_back(size);
  return spec;
}

// Whether the declared input type `spec` accepts x as an input.
bool accepts_input(const InputSpec& spec, const TensorImpl& x) {
  if (spec.dtype != x.type.dtype || spec.weak != x.type.weak || spec.lists != x.type.lists ||
      spec.sizes.size() != x.rank()) {
    return false;
  }
  for (size_t axis = 0; axis < x.rank(); ++axis) {
    const int64_t size = spec.sizes[axis];
    if (size != InputSpec::kUnknown && size != x.shape()[axis]) return false;
  }
  return true;
}

}  // namespace

Function::Function(Context& context, std::string name, Body body, FunctionOptions options)
    : Object(Kind::kFunction),
      context_(Ref<Context>::share(&context)),
      id_(context.next_serial()),
      name_(std::move(name)),
      body_(std::move(body)),
      options_(std::move(options)) {}

const std::vector<tenon_static>& Function::defaults() const {
  static const Immortal<std::vector<tenon_static>> none{std::in_place};
  return options_.defaults ? options_.defaults->all() : none.get();
}

// ---- calls

Tensors Function::call(Scope& scope, TensorSpan inputs, const Statics& statics, Wanted wanted) {
  if (!signatures_.empty())
    return function_for(inputs, statics).call(scope, inputs, statics, wanted);
  check_inputs(inputs);
  if (scope.traced_cells() || context_->runs_functions_eagerly() || runs_eagerly()) {
    return run_body(scope, inputs, statics, wanted);
  }
  Bound bound;
  try {
    bound = bind(scope, inputs, statics);
  } catch (const Error& error) {
    if (!options_.may_run_eagerly || error.is_transient()) throw;
    // If the body itself fails, it throws its error again here, with numbers instead of symbols in
    // the message.
    Tensors outputs = run_body(scope, inputs, statics, wanted);
    fall_back_to_eager(scope, error);
    return outputs;
  }
  check_outputs(bound.trace->n_outputs(), wanted);
  return bound.trace->call(scope, inputs, bound.sizes);
}

void Function::check_outputs(size_t n, Wanted wanted) const {
  require(n >= wanted.least && n <= wanted.most,
          "function {} has {} outputs, but {} were requested", name_, n, wanted.most);
}

Tensors Function::run_body(Scope& scope, TensorSpan inputs, const Statics& statics, Wanted wanted) {
  const CallbackDepth nesting(name_);
  ProfileSpan span(scope, SpanKind::kFunction, name_, inputs);
  Tensors given;
  for (const Tensor& x : inputs) given.push_back(tracked_alias(scope, x));
  const bool keeps_all = !scope.traced_cells() || options_.memory_budget == kSaveAll;
  const auto code = [&](TensorSpan) { return body_(scope, given, statics); };
  Tensors outputs = keeps_all ? code({}) : trace_recompute(scope, code, options_.memory_budget);
  check_outputs(outputs.size(), wanted);
  span.end();
  return outputs;
}

bool Function::runs_eagerly() const {
  if (!options_.may_run_eagerly) return false;
  std::lock_guard guard(mutex_);
  return !tracing_error_.empty();
}

void Function::fall_back_to_eager(Scope& scope, const Error& why) {
  std::lock_guard guard(mutex_);
  if (!tracing_error_.empty()) return;
  tracing_error_ = why.what();
  scope.context().log(TENON_LOG_WARNING,
                      format("function {} cannot be traced and therefore runs op by op: {}",
                             {name_, tracing_error_}));
}

void Function::check_inputs(TensorSpan inputs) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    require(inputs[i]->donation != Donation::kConsumed, "function {}: input {} was already donated",
            name_, i);
  }
  if (!options_.has_signature) return;
  const std::vector<InputSpec>& signature = options_.signature;
  require(inputs.size() == signature.size(), "function {} takes {} inputs, but got {}", name_,
          signature.size(), inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (accepts_input(signature[i], *inputs[i])) continue;
    fail(Code::kInvalidArgument, "function {}: {} must be {}, but is {}",
         {name_, name_of_input(signature, i), text_of(signature[i]), text_of(spec_of(*inputs[i]))});
  }
  std::map<std::string, Size> named;
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t axis = 0; axis < signature[i].dim_names.size(); ++axis) {
      const std::string& name = signature[i].dim_names[axis];
      if (name.empty()) continue;
      const Size size = inputs[i]->shape()[axis];
      const Size first = named.try_emplace(name, size).first->second;
      require(first == size, "function {}: {} is {}, but {} in {}", name_, name, first, size,
              name_of_input(signature, i));
    }
  }
}

Function::SignatureKey Function::signature_key_of(Scope& scope, TensorSpan inputs) {
  SignatureKey signature_key;
  signature_key.push_back(reinterpret_cast<uintptr_t>(&scope.device()));
  for (const Tensor& x : inputs) {
    signature_key.push_back(static_cast<uint64_t>(x->type.dtype) | uint64_t{x->type.weak} << 8 |
                            x->rank() << 16 | uint64_t{x->type.lists} << 32);
    signature_key.push_back(x->storage ? reinterpret_cast<uintptr_t>(x->storage->device) : 0);
  }
  return signature_key;
}

Function::Entry* Function::find_entry(const SignatureKey& signature_key, TensorSpan inputs,
                                      const Statics& statics, Sizes& sizes) {
  for (Entry& entry : entries_) {
    if (!(entry.signature_key == signature_key) || entry.statics != statics.key) continue;
    if (std::optional<Sizes> found = entry.trace->sizes_for(inputs)) {
      sizes = std::move(*found);
      return &entry;
    }
  }
  return nullptr;
}

Function::Bound Function::bind(Scope& scope, TensorSpan inputs, const Statics& statics) {
  if (!signatures_.empty()) return function_for(inputs, statics).bind(scope, inputs, statics);
  require_code(
      !scope.traced_cells(), Code::kFailedPrecondition,
      "function {} is inlined into another function's trace, so it has no trace of its own", name_);
  check_inputs(inputs);
  std::lock_guard guard(mutex_);
  ++calls_;
  const SignatureKey signature_key = signature_key_of(scope, inputs);
  Bound bound;
  if (Entry* entry = find_entry(signature_key, inputs, statics, bound.sizes)) {
    entry->used = calls_;
    bound.trace = entry->trace;
    return bound;
  }
  Entry entry{signature_key,
              statics.key,
              statics.text,
              {},
              {},
              reason_to_trace(signature_key, inputs, statics),
              calls_};
  for (const Tensor& x : inputs) entry.inputs.push_back(spec_of(*x));
  bound.trace = trace_for_call(scope, signature_key, inputs, statics);
  const std::optional<Sizes> sizes = bound.trace->sizes_for(inputs);
  require_code(sizes.has_value(), Code::kInternal,
               "function {}: the new trace does not accept the call for which it was made", name_);
  bound.sizes = *sizes;
  entry.trace = bound.trace;
  warn_if_traced_often(scope, entry.why);
  add_entry(std::move(entry));
  return bound;
}

// ---- tracing

std::vector<InputSpec> Function::specs_for(const SignatureKey& signature_key, TensorSpan inputs,
                                           const Statics& statics) const {
  if (options_.has_signature) return options_.signature;
  std::vector<InputSpec> specs;
  for (const Tensor& x : inputs) specs.push_back(spec_of(*x));
  std::vector<const Entry*> alike;
  for (const Entry& entry : entries_) {
    if (entry.signature_key == signature_key && entry.statics == statics.key)
      alike.push_back(&entry);
  }
  if (!options_.relax || alike.size() < 2) return specs;
  for (size_t i = 0; i < specs.size(); ++i) {
    for (size_t axis = 0; axis < specs[i].sizes.size(); ++axis) {
      int64_t& size = specs[i].sizes[axis];
      const bool differs =
          any_of(alike, [&](const Entry* entry) { return entry->inputs[i].sizes[axis] != size; });
      if (differs && size >= 2) size = InputSpec::kUnknown;
    }
  }
  return specs;
}

// Traces with unknown sizes. If that fails and the user did not require them, falls back to exact
// sizes.
Ref<Trace> Function::trace_for_call(Scope& scope, const SignatureKey& signature_key,
                                    TensorSpan inputs, const Statics& statics) {
  const std::vector<InputSpec> specs = specs_for(signature_key, inputs, statics);
  std::vector<InputSpec> exact;
  for (size_t i = 0; i < inputs.size(); ++i) {
    exact.push_back(spec_of(*inputs[i]));
    if (options_.has_signature) exact[i].name = options_.signature[i].name;
  }
  const bool must_be_open = options_.has_signature && !options_.may_run_eagerly;
  if (must_be_open || specs == exact) return trace_for_types(scope, specs, inputs, statics);
  if (options_.has_signature && !options_.relax)
    return trace_for_types(scope, exact, inputs, statics);
  try {
    return trace_for_types(scope, specs, inputs, statics);
  } catch (const Error& error) {
    if (error.is_transient()) throw;
    Ref<Trace> made = trace_for_types(scope, exact, inputs, statics);
    options_.relax = false;
    return made;
  }
}

namespace {

Trace::Arguments copy_statics(const Statics& statics,
                              std::shared_ptr<const OwnedStatics> defaults) {
  if (!statics.all || statics.all->empty()) return {{}, std::move(defaults)};
  return {std::make_shared<const OwnedStatics>(statics.all->data(), statics.all->size()),
          std::move(defaults)};
}

}  // namespace

Ref<Trace> Function::trace_for_types(Scope& scope, const std::vector<InputSpec>& specs,
                                     TensorSpan examples, const Statics& statics) {
  const CallbackDepth nesting(name_);
  ProfileSpan span(scope, SpanKind::kTracing, name_, examples);
  const bool is_relaxed = !options_.has_signature && !examples.empty();
  TracedBody written =
      trace_function_body(scope, name_, specs, examples, body_, statics, is_relaxed);
  if (!written.made.empty()) {
    // A body that creates variables on its first run is traced again once they exist.
    initialise_variables(scope, written, examples);
    TracedBody again =
        trace_function_body(scope, name_, specs, examples, body_, statics, is_relaxed);
    require_code(again.made.empty(), Code::kFailedPrecondition,
                 "function {} creates {} in every call: create it before the function, or only in "
                 "the first call",
                 name_, again.names_of_created_cells());
    written = std::move(again);
  }
  span.end();
  Ref<Trace> trace = Ref<Trace>::adopt(new Trace(
      *context_, name_, std::move(written.graph), std::move(written.captures),
      std::move(written.states), copy_statics(statics, options_.defaults), options_.memory_budget));
  set_names_of(*trace, specs);
  return trace;
}

void Function::set_names_of(Trace& trace, const std::vector<InputSpec>& specs) const {
  std::vector<std::string> inputs;
  for (size_t i = 0; i < specs.size(); ++i) {
    const bool is_named = !specs[i].name.empty() || i >= options_.input_names.size();
    inputs.push_back(is_named ? specs[i].name : options_.input_names[i]);
  }
  trace.set_names(std::move(inputs), options_.output_names);
}

Ref<Trace> Function::trace(Scope& scope, const std::vector<InputSpec>& inputs,
                           const Statics& statics) {
  if (!signatures_.empty())
    return function_for(input_types_of(inputs), statics).trace(scope, inputs, statics);
  require_code(
      !scope.traced_cells(), Code::kFailedPrecondition,
      "function {} is inlined into another function's trace, so it has no trace of its own", name_);
  std::lock_guard guard(mutex_);
  for (const Entry& entry : entries_) {
    if (entry.inputs == inputs && entry.statics == statics.key) return entry.trace;
  }
  Entry entry{{}, statics.key, statics.text, inputs, {}, "a trace was requested", calls_};
  entry.signature_key.push_back(reinterpret_cast<uintptr_t>(&scope.device()));
  for (const InputSpec& spec : inputs) {
    entry.signature_key.push_back(static_cast<uint64_t>(spec.dtype) | uint64_t{spec.weak} << 8 |
                                  spec.sizes.size() << 16);
    entry.signature_key.push_back(spec.weak ? 0 : reinterpret_cast<uintptr_t>(&scope.device()));
  }
  entry.trace = trace_for_types(scope, inputs, {}, statics);
  Ref<Trace> trace = entry.trace;
  add_entry(std::move(entry));
  return trace;
}

void Function::add_entry(Entry entry) {
  if (entries_.size() >= std::max<size_t>(options_.max_traces, 1)) {
    entries_.erase(
        std::min_element(entries_.begin(), entries_.end(),
                         [](const Entry& a, const Entry& b) { return a.used < b.used; }));
  }
  entries_.push_back(std::move(entry));
}

// ---- gradients

Ref<Function> Function::gradient() {
  const std::string name = "the gradient of " + name_;
  if (!signatures_.empty()) {
    std::vector<Signature> gradients;
    for (const Signature& each : signatures_) {
      gradients.push_back({each.function->gradient(), each.statics});
    }
    return Ref<Function>::adopt(
        new Function(*context_, name, std::move(gradients), options_.defaults));
  }
  const auto code = [primal = Ref<Function>::share(this)](Scope& scope, TensorSpan given,
                                                          const Statics& statics) {
    Tensors inputs;
    std::vector<Source> sources;
    const auto tape = Ref<Tape>::adopt(
        new Tape(Ref<Scope>::share(&scope), {.persistent = false, .watch_trainable = false}));
    for (const Tensor& x : given) {
      // The same tensor may be passed for two inputs. Calls of identity() distinguish them, and
      // outer tapes record these calls.
      inputs.push_back(x->type.weak ? x : x->type.lists ? tracked_alias(scope, x) : identity(x));
      if (x->type.weak || !is_floating(x->type.dtype)) continue;
      tape->watch(inputs.back());
      sources.emplace_back(inputs.back());
    }
    require(!sources.empty(),
            "function {} has no floating input with respect to which to differentiate",
            primal->name());
    Tensors targets;
    for (Tensor& y : primal->call(scope, inputs, statics)) {
      if (is_floating(y->type.dtype) && !y->type.weak) targets.push_back(std::move(y));
    }
    require(!targets.empty(), "function {} has no floating output to differentiate",
            primal->name());
    return tape->gradient(targets, {}, sources);
  };
  FunctionOptions options = options_;
  options.output_names.clear();
  return Ref<Function>::adopt(new Function(*context_, name, code, std::move(options)));
}

// ---- diagnostics

std::string Function::reason_to_trace(const SignatureKey& signature_key, TensorSpan inputs,
                                      const Statics& statics) const {
  if (entries_.empty()) return "there was no earlier call";
  for (size_t i = entries_.size(); i-- > 0;) {
    const Entry& entry = entries_[i];
    if (!(entry.signature_key == signature_key) || entry.statics != statics.key) continue;
    const std::string broken = entry.trace->broken_guard(inputs);
    if (!broken.empty()) return format("in trace {}, {}", {i + 1, broken});
  }
  const Entry& last = entries_.back();
  const auto name = [&](size_t i) { return name_of_input(options_.signature, i); };
  if (last.statics != statics.key) {
    return format("the static arguments are {}, not {}", {statics.text, last.statics_text});
  }
  if (last.inputs.size() != inputs.size()) {
    return format("the call has {} inputs, not {}", {inputs.size(), last.inputs.size()});
  }
  for (size_t i = 0; i < inputs.size() && !options_.has_signature; ++i) {
    const InputSpec now = spec_of(*inputs[i]), then = last.inputs[i];
    if (now == then) continue;
    return format("{} is {}, not {}", {name(i), text_of(now), text_of(then)});
  }
  return last.signature_key == signature_key ? "no trace accepts the sizes"
                                             : "an input is on another device";
}

void Function::warn_if_traced_often(Scope& scope, const std::string& why) {
  constexpr size_t kTraces = 5, kCalls = 10;
  misses_.push_back(calls_);
  if (misses_.size() > kTraces) misses_.erase(misses_.begin());
  const uint64_t n_calls = calls_ - misses_[0] + 1;
  if (warned_ || misses_.size() < kTraces || n_calls > kCalls) return;
  warned_ = true;
  scope.context().log(
      TENON_LOG_WARNING,
      format(
          "function {} was traced {} times in {} calls, which is slow; the last time because {}. "
          "Give it unknown sizes by a signature, and numbers that change as tensors or scalars",
          {name_, kTraces, n_calls, why}));
}

std::vector<Ref<Trace>> Function::traces() const {
  std::vector<Ref<Trace>> all;
  for (const Signature& each : signatures_) {
    for (Ref<Trace>& trace : each.function->traces()) all.push_back(std::move(trace));
  }
  std::lock_guard guard(mutex_);
  for (const Entry& entry : entries_) all.push_back(entry.trace);
  return all;
}

std::string Function::explain() const {
  std::string parts;
  for (const Signature& each : signatures_) parts += each.function->explain();
  if (!parts.empty()) return parts;
  std::lock_guard guard(mutex_);
  std::string text = format("function {}: {} traces, {} calls\n", {name_, entries_.size(), calls_});
  if (!tracing_error_.empty()) text += format("runs op by op, because {}\n", {tracing_error_});
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    text += format("{}. {}", {i + 1, signature_text(entry.trace->graph())});
    if (!entry.statics_text.empty()) text += " with " + entry.statics_text;
    text += format("\n   made because {}\n", {entry.why});
  }
  return text;
}

}  // namespace tenon
