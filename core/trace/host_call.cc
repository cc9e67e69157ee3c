// host_call: calls host code, with gradients.
//
// Each tape that watches a call replaces it, in linearize(), by a call whose attribute `levels` is
// larger by one. The host code then runs in a scope of its own, under `levels` new tapes, one for
// each watching tape. The call returns the new tapes in a record. The backward pass of a watching
// tape computes gradients with the corresponding new tape. Outer tapes record this backward pass,
// which provides higher-order gradients.

#include "core/autograd/tape.h"
#include "core/base/error.h"
#include "core/base/immortal.h"
#include "core/dispatch/dispatch.h"
#include "core/ops/definition/formulas.h"
#include "core/trace/control/control.h"
#include "core/trace/effects.h"
#include "core/trace/graph/order.h"

namespace tenon {
namespace {

struct HostAttrs {
  int64_t levels = 0;  // Number of tapes that the host code runs under.
  Ints dtypes, ranks;  // One entry for each output.
  Sizes sizes;         // Shapes of the outputs, concatenated.
  HostObject code;
  TENON_ATTRS(levels, dtypes, ranks, sizes, code)
};

const HostAttrs& attrs_of(const Call& call) {
  return *static_cast<const HostAttrs*>(call.attrs.data);
}

// Returns the declared types of the outputs.
TensorTypes output_types(const HostAttrs& attrs) {
  TensorTypes types;
  size_t next = 0;
  for (size_t i = 0; i < attrs.dtypes.size(); ++i) {
    TensorType type(static_cast<DType>(attrs.dtypes[i]), Dims{});
    for (int64_t axis = 0; axis < attrs.ranks[i]; ++axis) type.shape.push_back(attrs.sizes[next++]);
    types.push_back(type);
  }
  return types;
}

TensorTypes infer(const HostAttrs& attrs, TypeSpan in) {
  require(in[0] == token_type(), "the first input must be a token, but is {}", in[0]);
  for (size_t i = 1; i < in.size(); ++i) {
    require(!in[i].lists, "input {} must be a tensor, but is {}", i - 1, in[i]);
  }
  TensorTypes types = output_types(attrs);
  if (attrs.levels > 0) types.push_back(record_type());
  types.push_back(in[0]);
  return types;
}

// The residual of a host call. `tapes` have recorded the host code in `scope`, the innermost tape
// last. They can differentiate `targets`, the outputs of the code, with respect to `sources`, its
// floating-point inputs. The residual of a host_gradient call has the computed gradients as
// targets, and the cotangents as further sources.
struct HostRecord {
  Ref<Scope> scope;
  std::vector<Ref<Tape>> tapes;
  Tensors sources, targets;
};

// Returns the content of a record tensor.
const HostRecord& record_of(const TensorImpl& x) {
  return *static_cast<const HostRecord*>(content_of_record(x).get());
}

// Runs the host code. Checks that its outputs have the declared types and are on the device.
Tensors call_host(Scope& scope, const HostAttrs& attrs, TensorSpan inputs) {
  const auto* code = static_cast<const HostCode*>(attrs.code.get());
  require_code(code != nullptr, Code::kFailedPrecondition,
               "the callback is unknown, because the graph was parsed from text");
  const TensorTypes types = output_types(attrs);
  SmallVector<TensorImpl*, 6> borrowed;
  for (const Tensor& x : inputs) borrowed.push_back(x.get());
  Device& device = common_device(scope, borrowed);
  const Scope::OnDevice on(scope, device);
  Tensors given = code->run(scope, inputs);
  require(given.size() == types.size(), "the callback returned {} tensors, but {} were declared",
          given.size(), types.size());
  for (size_t i = 0; i < given.size(); ++i) {
    Tensor& y = given[i];
    y = as_tensor(y, types[i].dtype);
    require(y->type == types[i], "the callback returned {} as output {}, but {} was declared",
            y->type, i, types[i]);
    require(y->storage->device == &device, "the callback returned output {} on {} instead of {}", i,
            y->storage->device->name(), device.name());
  }
  return given;
}

Tensors run(Scope& scope, const Call& call) {
  const HostAttrs& attrs = attrs_of(call);
  call.op.infer(call.op, call.attrs.data, call.types);
  note_host_read();
  Tensors inputs, results;
  for (TensorImpl* x : call.inputs.subspan(1)) {
    require_value(*x);
    inputs.push_back(alias_of(*x));
  }
  const Tensor token = Tensor::share(call.inputs[0]);
  if (attrs.levels == 0) {
    const Scope::Apart apart(scope);
    // Gives the outputs new identities, because the host code may return its inputs.
    for (const Tensor& y : call_host(scope, attrs, inputs)) results.push_back(alias_of(*y));
    results.push_back(token);
    return results;
  }
  auto record = std::make_shared<HostRecord>();
  record->scope = Ref<Scope>::adopt(new Scope(scope.context(), &scope.device()));
  Scope& own = *record->scope;
  own.set_location(scope.location());
  const Scope::Enter enter(own);
  for (int64_t i = 0; i < attrs.levels; ++i) {
    record->tapes.push_back(
        Ref<Tape>::adopt(new Tape(record->scope, {.persistent = true, .watch_trainable = false})));
  }
  for (const Tensor& x : inputs) {
    if (!is_floating(x->type.dtype)) continue;
    for (const Ref<Tape>& tape : record->tapes) tape->watch(x);
    record->sources.push_back(x);
  }
  record->targets = call_host(own, attrs, inputs);
  own.wait();  // Reports value errors here, because no other code waits for this scope.
  for (const Ref<Tape>& tape : record->tapes) tape->pause();
  for (const Tensor& y : record->targets) results.push_back(alias_of(*y));
  results.push_back(make_record(own.device(), std::move(record)));
  results.push_back(token);
  return results;
}

// ---- the gradient

struct GradientAttrs {
  int64_t n_sources = 0;  // Number of inputs that are sources; the cotangents follow them.
  Ints wanted;            // Indices of the sources whose gradients are returned.
  Ints targets;           // Indices of the targets that have cotangents.
  int64_t level = 1;      // 1: the innermost tape.
  int64_t records = 0;    // Number of outer tapes that record the computation of the gradient.
  TENON_ATTRS(n_sources, wanted, targets, level, records)
};

// Returns the types of the wanted gradients.
TensorTypes infer_gradient(const GradientAttrs& attrs, TypeSpan in) {
  require(in[0] == record_type(), "the first input must be a record, but is {}", in[0]);
  require(static_cast<int64_t>(in.size()) > attrs.n_sources,
          "the attribute n_sources is {}, but the call has fewer inputs", attrs.n_sources);
  TensorTypes types;
  for (const int64_t i : attrs.wanted) {
    require(i >= 0 && i < attrs.n_sources, "source {} does not exist", i);
    types.push_back(in[1 + static_cast<size_t>(i)]);
  }
  if (attrs.records > 0) types.push_back(record_type());
  return types;
}

Tensors run_gradient(Scope&, const Call& call) {
  const auto& attrs = *static_cast<const GradientAttrs*>(call.attrs.data);
  note_host_read();
  const HostRecord& record = record_of(*call.inputs[0]);
  const auto level = static_cast<size_t>(attrs.level);
  require_code(level >= 1 && level <= record.tapes.size(), Code::kInternal,
               "the record has no tape of level {}", attrs.level);
  const Scope::Enter enter(*record.scope);
  const size_t place = record.tapes.size() - level;
  Tensors targets, cotangents;
  std::vector<Source> sources;
  for (const int64_t i : attrs.targets) targets.push_back(record.targets[static_cast<size_t>(i)]);
  for (TensorImpl* dy : call.inputs.subspan(1 + static_cast<size_t>(attrs.n_sources))) {
    cotangents.push_back(alias_of(*dy));
  }
  for (const int64_t i : attrs.wanted) sources.emplace_back(record.sources[static_cast<size_t>(i)]);
  for (size_t i = 0; attrs.records > 0 && i < place; ++i) {
    record.tapes[i]->resume();
    for (const Tensor& dy : cotangents) record.tapes[i]->watch(dy);
  }
  Tensors found;
  try {
    found = record.tapes[place]->gradient(targets, cotangents, sources);
  } catch (...) {
    for (const Ref<Tape>& tape : record.tapes) tape->pause();
    throw;
  }
  for (const Ref<Tape>& tape : record.tapes) tape->pause();
  Tensors results;
  for (const Tensor& dx : found) results.push_back(alias_of(*dx));
  if (attrs.records == 0) return results;
  auto next = std::make_shared<HostRecord>(record);
  for (const Tensor& dy : cotangents) next->sources.push_back(dy);
  next->targets = std::move(found);
  results.push_back(make_record(record.scope->device(), std::move(next)));
  return results;
}

// Returns the derivative of a call that returned `record` after its outputs. It computes gradients
// with respect to the floating-point `inputs`, but not the first input, a token or a record.
std::shared_ptr<const CustomVjp> backward_of(const Tensor& record, Inputs inputs, int64_t level) {
  Tensors sources = {record};
  std::vector<size_t> places;  // Indices of the sources among the inputs.
  for (size_t i = 1; i < inputs.size(); ++i) {
    if (!is_floating(inputs[i]->type.dtype)) continue;
    places.push_back(i);
    sources.push_back(Tensor::share(inputs[i]));
  }
  return std::make_shared<const CustomVjp>([sources, places, level](const VjpArgs& args) {
    GradientAttrs attrs = {.n_sources = static_cast<int64_t>(places.size()), .level = level};
    for (size_t k = 0; k < places.size(); ++k) {
      if (args.needs(places[k])) attrs.wanted.push_back(static_cast<int64_t>(k));
    }
    SmallVector<TensorImpl*, 6> all;
    for (const Tensor& x : sources) all.push_back(x.get());
    for (size_t i = 0; i < args.n_outputs(); ++i) {
      if (!is_floating(args.output_type(i).dtype) || !args.has_cotangent(i)) continue;
      attrs.targets.push_back(static_cast<int64_t>(i));
      all.push_back(args.cotangent(i).get());
    }
    Tensors result;
    result.resize(args.n_inputs());
    if (attrs.wanted.empty() || attrs.targets.empty()) return result;
    Tensors found = apply(current_scope(), control::host_gradient(), any_attrs(attrs), all);
    for (size_t k = 0; k < attrs.wanted.size(); ++k) {
      result[places[static_cast<size_t>(attrs.wanted[k])]] = std::move(found[k]);
    }
    return result;
  });
}

// Returns `outputs` without the record, which is at index `place`. If `keeps` is true, returns all
// outputs, because the original call returns a record, too.
Tensors without_record(Tensors outputs, size_t place, bool keeps) {
  if (keeps) return outputs;
  Tensors rest;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (i != place) rest.push_back(std::move(outputs[i]));
  }
  return rest;
}

Linearized linearize(Scope& scope, const Call& call, const std::vector<bool>&) {
  HostAttrs attrs = attrs_of(call);
  const bool keeps = attrs.levels++ > 0;
  const size_t place = attrs.dtypes.size();
  Tensors outputs = apply(scope, call.op, any_attrs(attrs), call.inputs);
  const Tensor record = outputs[place];
  return {without_record(std::move(outputs), place, keeps),
          backward_of(record, call.inputs, attrs.levels)};
}

Linearized linearize_gradient(Scope& scope, const Call& call, const std::vector<bool>&) {
  GradientAttrs attrs = *static_cast<const GradientAttrs*>(call.attrs.data);
  const bool keeps = attrs.records++ > 0;
  const size_t place = attrs.wanted.size();
  Tensors outputs = apply(scope, call.op, any_attrs(attrs), call.inputs);
  const Tensor record = outputs[place];
  return {without_record(std::move(outputs), place, keeps),
          backward_of(record, call.inputs, attrs.level + attrs.records)};
}

}  // namespace

const OpDef& control::host_call() {
  static const Immortal<OpDef> op = [] {
    OpDef made =
        ops::define<HostAttrs>({.name = "host_call",
                                .inputs = {{"order", ""}, {"inputs", "", InputKind::kVariadic}},
                                .infer = infer});
    made.min_inputs = 1;
    made.run = run;
    made.linearize = linearize;
    return made;
  }();
  return op;
}

const OpDef& control::host_gradient() {
  static const Immortal<OpDef> op = [] {
    OpDef made = ops::define<GradientAttrs>(
        {.name = "host_gradient",
         .inputs = {{"record", ""}, {"values", "", InputKind::kVariadic}},
         .infer = infer_gradient});
    made.run = run_gradient;
    made.linearize = linearize_gradient;
    return made;
  }();
  return op;
}

Tensors host_call(Scope& scope, const std::shared_ptr<const HostCode>& code, TensorSpan inputs,
                  TensorSpan like) {
  HostAttrs attrs = {.code = code};
  for (const Tensor& x : like) {
    require(!x->type.lists, "{} is not the type of a tensor", x->type);
    attrs.dtypes.push_back(static_cast<int64_t>(x->type.dtype));
    attrs.ranks.push_back(static_cast<int64_t>(x->rank()));
    for (const Size size : x->shape()) attrs.sizes.push_back(size);
  }
  Tensors given;
  for (const Tensor& x : inputs) given.push_back(as_tensor(x));
  return apply_in_order(scope, control::host_call(), any_attrs(attrs), given);
}

}  // namespace tenon
