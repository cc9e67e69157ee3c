// while_loop: the op, its derivative, and how it is traced.

#include "core/dispatch/dispatch.h"
#include "core/ops/formulas.h"
#include "core/trace/control_ops.h"
#include "core/trace/derivative.h"
#include "core/trace/lists.h"
#include "core/trace/tracer.h"

namespace tenon {
namespace {

using Attrs = RegionAttrs;

const Attrs& attrs_of(const Call& call) { return region_attrs(call.attrs); }

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
  while (read_bool(go)) {
    scope.check_cancelled();
    if (attrs.regions[0]->repeat(scope, attrs.sizes, operands)) break;
    Tensors given = attrs.regions[0]->apply(scope, attrs.sizes, operands);
    go = std::move(given[0]);
    for (size_t i = 0; i < n; ++i) operands[i] = std::move(given[1 + i]);
  }
  Tensors results;
  for (size_t i = 0; i < n; ++i) results.push_back(renewed(*operands[i]));
  return results;
}

// The derivative of a loop: a loop that gathers what the way back needs of each trip, and one that
// goes through that from the last to the first. What does not change from trip to trip is not
// gathered.
class LoopDerivative {
 public:
  LoopDerivative(Scope& scope, const Call& call, const std::vector<bool>& by)
      : sizes_(attrs_of(call).sizes), n_(count_carried(attrs_of(call))) {
    const Graph& graph = attrs_of(call).regions[0]->graph();
    active_.assign(by.begin() + 1, by.end());
    std::vector<bool> from;
    for (bool more = true; more;) {
      from = depending(graph, active_);
      more = false;
      for (size_t i = 0; i < n_; ++i) {
        more = more || (from[1 + i] && !active_[i]);
        if (from[1 + i]) active_[i] = true;
      }
    }
    from[0] = false;
    for (size_t i = 0; i < n_; ++i) from[1 + i] = active_[i];
    body_ = std::make_unique<Derivative>(scope, graph, sizes_, active_, from);
    body_->require_served(sizes_);
    for (const Value& x : body_->saved()) {
      const std::optional<size_t> i = body_->input_that_is(x);
      const bool is_constant = i && *i >= n_;
      constants_.push_back(is_constant ? Tensor::share(call.inputs[1 + *i]) : Tensor());
    }
    for (size_t i = 0; i < active_.size(); ++i) types_.push_back(call.inputs[1 + i]->type);
  }

  Tensors forward(Scope& scope, const Call& call) {
    Loop forward = {.go = Tensor::share(call.inputs[0]), .gathers = true};
    forward.carried = {as_tensor(integer(0))};
    Tensors constants;
    for (size_t i = 0; i < active_.size(); ++i) {
      (i < n_ ? forward.carried : constants).push_back(Tensor::share(call.inputs[1 + i]));
    }
    forward.body = [&](TensorSpan in) {
      Tensors operands(in.subspan(1));
      for (const Tensor& x : constants) operands.push_back(x);
      Tensors given = body_->forward(scope, sizes_, operands);
      Tensors all = {given[0], in[0] + integer(1)};
      for (size_t i = 1; i < given.size(); ++i) {
        const bool is_saved = i > n_;
        if (!is_saved || !constants_[i - n_ - 1]) all.push_back(std::move(given[i]));
      }
      return all;
    };
    Tensors found = loop(scope, forward), outputs;
    trips_ = found[0];
    for (size_t i = 1; i < found.size(); ++i) {
      if (i <= n_) {
        outputs.push_back(told_apart(scope, found[i]));
      } else {
        lists_.push_back(std::move(found[i]));
      }
    }
    return outputs;
  }

  // By the operands of the body: what is carried, then the constants.
  Tensors backward(Scope& scope, const VjpArgs& args) const {
    body_->require_way_back();
    Loop backward = {.go = greater(trips_, integer(0))};
    backward.carried = {trips_};
    for (size_t i = 0; i < active_.size(); ++i) {
      if (!active_[i]) continue;
      const bool is_there = i < n_ && args.has_cotangent(i);
      backward.carried.push_back(is_there ? args.cotangent(i) : zeros_or_list(types_[i]));
    }
    backward.body = [&](TensorSpan in) {
      const Tensor trip = in[0] - integer(1);
      Tensors cotangents;
      size_t next = 1;
      for (size_t i = 0; i < n_; ++i) {
        if (active_[i]) cotangents.push_back(in[next++]);
      }
      Tensors found = body_->backward(scope, sizes_, saved(trip), *body_, cotangents);
      Tensors all = {greater(trip, integer(0)), trip};
      next = 0;
      for (size_t i = 0; i < active_.size(); ++i) {
        if (!active_[i]) continue;
        const Tensor& before = in[1 + next];
        Tensor dx = std::move(found[next++]);
        if (i >= n_) {
          dx = dx ? accumulated(before, dx) : before;
        } else if (!dx) {
          dx = zeros_or_list(types_[i]);
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
  Tensors saved(const Tensor& trip) const {
    Tensors all;
    size_t next = 0;
    for (const Tensor& constant : constants_) {
      all.push_back(constant ? constant : list_get(lists_[next++], trip));
    }
    return all;
  }

  Sizes sizes_;
  size_t n_;
  std::vector<bool> active_;  // Operands of the body that have gradients.
  std::vector<TensorType> types_;
  std::unique_ptr<Derivative> body_;
  std::vector<Tensor> constants_;  // Of each value saved: the constant that it is.
  Tensors lists_;                  // Of each other.
  Tensor trips_;
};

}  // namespace

const OpDef& control::while_loop() {
  static const OpDef op = region_op({.name = "while_loop",
                                     .inputs = {{"go", ""}, {"operands", "", InputKind::kVariadic}},
                                     .infer = infer},
                                    run, linearize_by<LoopDerivative>);
  return op;
}

Tensors trace_loop(Scope& scope, const Loop& loop) {
  // Lists are operands too, which start empty.
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
    operands.push_back(list_create(element_of(block.arguments[i]->types[0])));
  }
  return apply_blocks(scope, control::while_loop(), {&block, 1}, std::move(operands));
}

}  // namespace tenon
