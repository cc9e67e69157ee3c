// while_loop: the op, its derivative, and how it is traced.

#include "core/base/immortal.h"
#include "core/dispatch/dispatch.h"
#include "core/ops/definition/formulas.h"
#include "core/trace/control/control_ops.h"
#include "core/trace/control/lists.h"
#include "core/trace/derivative/derivative.h"
#include "core/trace/tracer.h"

namespace tenon {
namespace {

using Attrs = RegionAttrs;

const Attrs& attrs_of(const Call& call) { return region_attrs(call.attrs); }

// Returns the number of carried values of a loop.
size_t count_carried(const Attrs& attrs) { return attrs.regions[0]->graph().outputs().size() - 1; }

TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  TensorTypes types;
  for (size_t i = 0; i < count_carried(attrs); ++i) types.push_back(in[1 + i]);
  return types;
}

Tensors run(Scope& scope, const Call& call) {
  const Attrs& attrs = attrs_of(call);
  const size_t n = count_carried(attrs);
  Tensors operands;
  for (TensorImpl* x : call.inputs.subspan(1)) operands.push_back(Tensor::share(x));
  Tensor go = Tensor::share(call.inputs[0]);
  TripLimit limit(attrs.max_trips);
  while (read_bool(go)) {
    scope.check_cancelled();
    if (attrs.regions[0]->repeat(scope, attrs.sizes, operands, limit)) break;
    limit.count_trip();
    Tensors given = attrs.regions[0]->apply(scope, attrs.sizes, operands);
    go = std::move(given[0]);
    for (size_t i = 0; i < n; ++i) operands[i] = std::move(given[1 + i]);
  }
  Tensors results;
  for (size_t i = 0; i < n; ++i) results.push_back(alias_of(*operands[i]));
  return results;
}

// The derivative of a loop: a forward loop that gathers the residuals of each trip, and a backward
// loop over the trips from last to first. Loop constants are not gathered. Under the policy
// `recompute`, only the initial values of each trip are gathered, and the backward pass recomputes
// the rest.
class LoopDerivative {
 public:
  LoopDerivative(Scope& scope, const Call& call, const std::vector<bool>& by)
      : sizes_(attrs_of(call).sizes),
        n_(count_carried(attrs_of(call))),
        policy_(attrs_of(call).policy),
        max_trips_(attrs_of(call).max_trips),
        primal_(attrs_of(call).regions[0]) {
    const Graph& graph = primal_->graph();
    active_.assign(by.begin() + 1, by.end());
    std::vector<bool> from;
    for (bool more = true; more;) {
      from = outputs_depending_on(graph, active_);
      more = false;
      for (size_t i = 0; i < n_; ++i) {
        more = more || (from[1 + i] && !active_[i]);
        if (from[1 + i]) active_[i] = true;
      }
    }
    from[0] = false;
    for (size_t i = 0; i < n_; ++i) from[1 + i] = active_[i];
    body_ = std::make_unique<Derivative>(scope, graph, sizes_, active_, from);
    body_->require_guards(sizes_);
    std::vector<bool> begins(active_.size(), false);
    if (policy_ == LoopPolicy::kRecompute) begins = body_->inputs_of_residuals();
    for (size_t i = 0; i < active_.size(); ++i) {
      const Tensor x = Tensor::share(call.inputs[1 + i]);
      types_.push_back(x->type);
      if (policy_ != LoopPolicy::kRecompute) continue;
      kept_.push_back(i < n_ ? Tensor() : x);
      is_gathered_.push_back(i < n_ && begins[i]);
    }
    if (policy_ == LoopPolicy::kRecompute) {
      is_gathered_.resize(is_gathered_.size() + body_->effect_results().size(), true);
      return;
    }
    for (const Value& x : body_->saved()) {
      const std::optional<size_t> i = body_->input_index_of(x);
      const bool is_constant = i && *i >= n_;
      kept_.push_back(is_constant ? Tensor::share(call.inputs[1 + *i]) : Tensor());
      is_gathered_.push_back(!is_constant);
    }
  }

  Tensors forward(Scope& scope, const Call& call) {
    Loop forward = {.go = Tensor::share(call.inputs[0]),
                    .gathers = true,
                    .policy = policy_,
                    .max_trips = max_trips_};
    forward.carried = {as_tensor(integer(0))};
    Tensors constants;
    for (size_t i = 0; i < active_.size(); ++i) {
      (i < n_ ? forward.carried : constants).push_back(Tensor::share(call.inputs[1 + i]));
    }
    forward.body = [&](TensorSpan in) {
      Tensors operands(in.subspan(1));
      for (const Tensor& x : constants) operands.push_back(x);
      const bool recomputes = policy_ == LoopPolicy::kRecompute;
      Tensors given = !recomputes ? body_->forward(scope, sizes_, operands)
                      : body_->effect_results().empty()
                          ? primal_->apply(scope, sizes_, operands)
                          : body_->forward_saving_effects(scope, sizes_, operands);
      Tensors all = {given[0], in[0] + integer(1)};
      for (size_t i = 1; i <= n_; ++i) all.push_back(std::move(given[i]));
      // Under the policy `recompute`, the lists hold the operands of the trip, then the results of
      // its effects.
      const size_t n_operands = recomputes ? operands.size() : 0;
      for (size_t i = 0; i < is_gathered_.size(); ++i) {
        if (!is_gathered_[i]) continue;
        all.push_back(i < n_operands ? operands[i] : std::move(given[1 + n_ + i - n_operands]));
      }
      return all;
    };
    Tensors found = loop(scope, forward), outputs;
    trips_ = found[0];
    for (size_t i = 1; i < found.size(); ++i) {
      if (i <= n_) {
        outputs.push_back(with_new_identity(scope, found[i]));
      } else {
        lists_.push_back(std::move(found[i]));
      }
    }
    return outputs;
  }

  // Returns the gradients with respect to the operands of the body: carried values, then constants.
  Tensors backward(Scope& scope, const VjpArgs& args) const {
    body_->require_backward();
    Loop backward = {.go = greater(trips_, integer(0)), .policy = policy_, .max_trips = max_trips_};
    backward.carried = {trips_};
    for (size_t i = 0; i < active_.size(); ++i) {
      if (!active_[i]) continue;
      const bool is_there = i < n_ && args.has_cotangent(i);
      backward.carried.push_back(is_there ? args.cotangent(i) : zeros_or_empty_list(types_[i]));
    }
    backward.body = [&](TensorSpan in) {
      const Tensor trip = in[0] - integer(1);
      Tensors cotangents;
      size_t next = 1;
      for (size_t i = 0; i < n_; ++i) {
        if (active_[i]) cotangents.push_back(in[next++]);
      }
      Tensors found = body_->backward(scope, sizes_, saved(scope, trip), *body_, cotangents);
      Tensors all = {greater(trip, integer(0)), trip};
      next = 0;
      for (size_t i = 0; i < active_.size(); ++i) {
        if (!active_[i]) continue;
        const Tensor& before = in[1 + next];
        Tensor dx = std::move(found[next++]);
        if (i >= n_) {
          dx = dx ? add_values(before, dx) : before;
        } else if (!dx) {
          dx = zeros_or_empty_list(types_[i]);
        }
        all.push_back(std::move(dx));
      }
      return all;
    };
    Tensors found = loop(scope, backward), result = {Tensor()};
    size_t next = 1;
    for (const bool active : active_) {
      result.push_back(active ? std::move(found[next++]) : Tensor());
    }
    return result;
  }

 private:
  // Returns the residuals of trip `trip`, recomputed if the policy requires it.
  Tensors saved(Scope& scope, const Tensor& trip) const {
    Tensors all;
    size_t next = 0;
    for (size_t i = 0; i < kept_.size(); ++i) {
      all.push_back(is_gathered_[i] ? list_get(lists_[next++], trip)
                    : kept_[i]      ? kept_[i]
                                    : zeros_or_empty_list(types_[i]));  // Nothing reads it.
    }
    if (policy_ != LoopPolicy::kRecompute) return all;
    Tensors effect_results;
    while (next < lists_.size()) effect_results.push_back(list_get(lists_[next++], trip));
    return body_->recompute_residuals(scope, sizes_, all, effect_results);
  }

  Sizes sizes_;
  size_t n_;
  LoopPolicy policy_;
  Size max_trips_;
  std::shared_ptr<const Region> primal_;
  std::vector<bool> active_;  // Whether each operand of the body has a gradient.
  std::vector<TensorType> types_;
  std::unique_ptr<Derivative> body_;
  // The values that the backward pass needs: the residuals or, under the policy `recompute`, the
  // operands of the body. is_gathered_[i]: whether a list holds value i of each trip. kept_[i]:
  // value i, if it is the same in all trips. Under `recompute`, is_gathered_ has further entries,
  // one for each result of an effect.
  std::vector<bool> is_gathered_;
  std::vector<Tensor> kept_;
  Tensors lists_;  // One list for each gathered value.
  Tensor trips_;
};

}  // namespace

const OpDef& control::while_loop() {
  static const Immortal<OpDef> op =
      region_op({.name = "while_loop",
                 .inputs = {{"go", ""}, {"operands", "", InputKind::kVariadic}},
                 .infer = infer},
                run, linearize_with_class<LoopDerivative>);
  return op;
}

Tensors trace_loop(Scope& scope, const Loop& loop) {
  // The lists of gathered values are operands of the loop, too. They are empty at first.
  const size_t n = loop.carried.size();
  TracedBlock block = trace_block(scope, loop.carried, "a loop", [&](TensorSpan in) {
    Tensors given = loop.body(in);
    auto& tracer = static_cast<Tracer&>(*scope.traced_cells());
    for (size_t i = 1 + n; i < given.size(); ++i) {
      const Tensor& x = given[i];
      const Tensor list =
          tracer.input(list_of(x->type), InputRole::kArgument, "", *x->storage->device);
      given[i] = list_set(list, in[0], x);
    }
    return given;
  });
  Tensors operands = {loop.go};
  for (const Tensor& x : loop.carried) operands.push_back(x);
  for (size_t i = n; i < block.arguments.size(); ++i) {
    operands.push_back(list_create(element_of(block.arguments[i]->types[0]), list_capacity(loop)));
  }
  const RegionAttrs attrs = {.policy = loop.policy, .max_trips = loop.max_trips};
  return apply_blocks(scope, control::while_loop(), {&block, 1}, std::move(operands), attrs);
}

}  // namespace tenon
