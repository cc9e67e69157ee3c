// branch: the op, its derivative, and how it is traced.

#include <algorithm>

#include "core/base/error.h"
#include "core/base/search.h"
#include "core/dispatch/cell.h"
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

TensorTypes infer(const Attrs& attrs, TypeSpan) {
  const Graph& graph = attrs.regions[0]->graph();
  TensorTypes types;
  for (const Value& y : graph.outputs()) {
    types.push_back(evaluated(graph, y.type(), attrs.sizes));
  }
  return types;
}

size_t chosen(const Tensor& which, size_t n) {
  if (which->type.dtype == DType::kBool) return read_bool(which) ? 0 : 1;
  const int64_t value = read_integer(which);
  return value >= 0 && static_cast<uint64_t>(value) < n ? static_cast<size_t>(value) : n - 1;
}

Tensors run(Scope& scope, const Call& call) {
  const Attrs& attrs = attrs_of(call);
  Tensors operands;
  for (TensorImpl* x : call.inputs.subspan(1)) operands.push_back(Tensor::share(x));
  const size_t i = chosen(Tensor::share(call.inputs[0]), attrs.regions.size());
  Tensors results = attrs.regions[i]->apply(scope, attrs.sizes, operands);
  for (Tensor& y : results) y = renewed(*y);
  return results;
}

// The derivative of a branch: a branch that gives what the way back needs too, and one by the same
// choice that goes back. What a branch saves comes in a list of its own, which others leave empty.
class BranchDerivative {
 public:
  BranchDerivative(Scope& scope, const Call& call, const std::vector<bool>& by)
      : sizes_(attrs_of(call).sizes), by_(by.begin() + 1, by.end()) {
    which_ = Tensor::share(call.inputs[0]);
    for (TensorImpl* x : call.inputs.subspan(1)) operands_.push_back(Tensor::share(x));
    std::vector<bool> from;
    for (const auto& region : attrs_of(call).regions) {
      const std::vector<bool> own = depending(region->graph(), by_);
      from.resize(own.size(), false);
      for (size_t i = 0; i < own.size(); ++i) from[i] = from[i] || own[i];
    }
    for (const auto& region : attrs_of(call).regions) {
      Branch branch;
      branch.derivative = std::make_unique<Derivative>(scope, region->graph(), sizes_, by_, from);
      branch.derivative->require_served(sizes_);
      const auto inputs = branch.derivative->inputs();
      for (const Value& x : branch.derivative->saved()) {
        const auto at = std::find(inputs.begin(), inputs.end(), x);
        const auto i = static_cast<size_t>(at - inputs.begin());
        branch.operands.push_back(at == inputs.end() ? Tensor() : operands_[i]);
        if (at == inputs.end()) {
          saved_types_.push_back(evaluated(*branch.derivative->graph(), x.type(), sizes_));
        }
      }
      branches_.push_back(std::move(branch));
    }
    from_ = std::move(from);
  }

  Tensors forward(Scope& scope) {
    std::vector<Block> blocks;
    for (const Branch& branch : branches_) {
      blocks.push_back([&](TensorSpan) {
        Tensors given = branch.derivative->forward(scope, sizes_, operands_);
        Tensors all, saved;
        for (size_t i = 0; i < given.size(); ++i) {
          if (i < from_.size()) {
            all.push_back(std::move(given[i]));
          } else if (!branch.operands[i - from_.size()]) {
            saved.push_back(std::move(given[i]));
          }
        }
        size_t next = 0, next_own = 0;
        for (const Branch& each : branches_) {
          for (const Tensor& operand : each.operands) {
            if (operand) continue;
            Tensor list = list_create(saved_types_[next++]);
            if (&each == &branch) list = list_set(list, integer(0), saved[next_own++]);
            all.push_back(std::move(list));
          }
        }
        return all;
      });
    }
    Tensors found = choose(scope, blocks), outputs;
    for (size_t i = 0; i < found.size(); ++i) {
      if (i < from_.size()) {
        outputs.push_back(renewed(*found[i]));
      } else {
        lists_.push_back(std::move(found[i]));
      }
    }
    return outputs;
  }

  Tensors backward(Scope& scope, const VjpArgs& args) const {
    Tensors cotangents;
    for (size_t i = 0; i < from_.size(); ++i) {
      if (from_[i]) cotangents.push_back(args.cotangent(i));
    }
    std::vector<Block> blocks;
    size_t first_list = 0;
    for (const Branch& branch : branches_) {
      branch.derivative->require_way_back();
      blocks.push_back([&, first_list](TensorSpan) {
        Tensors saved;
        size_t next = first_list;
        for (const Tensor& operand : branch.operands) {
          saved.push_back(operand ? operand : list_get(lists_[next++], integer(0)));
        }
        Tensors found =
            branch.derivative->backward(scope, sizes_, saved, *branch.derivative, cotangents);
        size_t i = 0;
        for (size_t k = 0; k < by_.size(); ++k) {
          if (!by_[k]) continue;
          if (!found[i]) found[i] = zeros_or_list(operands_[k]->type);
          ++i;
        }
        return found;
      });
      for (const Tensor& operand : branch.operands) first_list += operand ? 0 : 1;
    }
    Tensors found = choose(scope, blocks), result = {Tensor()};
    size_t next = 0;
    for (const bool marked : by_) result.push_back(marked ? std::move(found[next++]) : Tensor());
    return result;
  }

 private:
  struct Branch {
    std::unique_ptr<Derivative> derivative;
    std::vector<Tensor> operands;  // Of each value that it saves: the operand that it is.
  };

  Tensors choose(Scope& scope, const std::vector<Block>& blocks) const {
    if (which_->type.dtype == DType::kBool) return cond(scope, which_, blocks[0], blocks[1]);
    return switch_case(scope, which_, blocks);
  }

  Sizes sizes_;
  std::vector<bool> by_, from_;
  Tensor which_;
  Tensors operands_;
  std::vector<Branch> branches_;
  std::vector<TensorType> saved_types_;  // Of what comes in lists, branch by branch.
  Tensors lists_;
};

Linearized linearize(Scope& scope, const Call& call, const std::vector<bool>& by) {
  const auto derivative = std::make_shared<BranchDerivative>(scope, call, by);
  Linearized made;
  made.outputs = derivative->forward(scope);
  made.vjp = std::make_shared<const CustomVjp>(
      [derivative](const VjpArgs& args) { return derivative->backward(current_scope(), args); });
  return made;
}

template <class T>
size_t place_of(std::vector<T>& all, const T& x) {
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const T& other) { return other.get() == x.get(); });
  const auto place = static_cast<size_t>(at - all.begin());
  if (at == all.end()) all.push_back(x);
  return place;
}

void check_alike(const std::vector<TracedBlock>& blocks) {
  const auto first = blocks[0].graph->outputs();
  for (const TracedBlock& block : blocks) {
    const auto own = block.graph->outputs();
    require(own.size() == first.size(), "one branch gives {} values, another {}", first.size(),
            own.size());
    for (size_t i = 0; i < own.size(); ++i) {
      const TensorType &a = first[i].type(), &b = own[i].type();
      const bool alike = a.dtype == b.dtype && a.lists == b.lists && a.rank() == b.rank() &&
                         (a.shape == b.shape).hold();
      require(alike, "as value {} one branch gives {}, another {}", i, a, b);
    }
  }
}

}  // namespace

const OpDef& control::branch() {
  static const OpDef op = [] {
    OpDef made = ops::define<Attrs>({
        .name = "branch",
        .inputs = {{"which", ""}, {"operands", "", InputKind::kVariadic}},
        .infer = infer,
    });
    made.min_inputs = 1;  // There may be no operands.
    made.run = run;
    made.linearize = linearize;
    return made;
  }();
  return op;
}

Tensors trace_branch(Scope& scope, const Tensor& which, std::span<const Block> given) {
  std::vector<TracedBlock> blocks;
  for (const Block& block : given) {
    blocks.push_back(trace_block(scope, {}, "a branch", [&](TensorSpan in) {
      Tensors all = block(in);
      for (Tensor& x : all) x = as_tensor(x);
      return all;
    }));
  }
  check_alike(blocks);

  // Every branch takes what some branch takes, and leaves the states that some branch stores.
  std::vector<Tensor> captures;
  std::vector<Ref<Cell>> states;
  std::vector<std::vector<Node*>> inputs(blocks.size());
  for (const TracedBlock& block : blocks) {
    for (const Tensor& x : block.captures) place_of(captures, x);
    for (const Ref<Cell>& state : block.states) place_of(states, state);
  }
  Tensors operands(captures);
  for (const Ref<Cell>& state : states) operands.push_back(read_state(scope, *state));
  std::vector<bool> is_stored(states.size(), false);
  std::vector<std::vector<Value>> after(blocks.size());
  for (size_t b = 0; b < blocks.size(); ++b) {
    TracedBlock& block = blocks[b];
    inputs[b].resize(operands.size());
    after[b].resize(states.size());
    for (size_t i = 0; i < block.captures.size(); ++i) {
      inputs[b][place_of(captures, block.captures[i])] = block.capture_inputs[i];
    }
    for (size_t i = 0; i < block.states.size(); ++i) {
      const size_t at = place_of(states, block.states[i]);
      inputs[b][captures.size() + at] = block.state_inputs[i];
      after[b][at] = block.states_after[i];
      if (block.states_after[i] != block.state_inputs[i]->output()) is_stored[at] = true;
    }
    for (size_t i = 0; i < operands.size(); ++i) {
      if (inputs[b][i]) continue;
      const TensorImpl& x = *operands[i];
      inputs[b][i] =
          block.graph->add_input(x.type, InputRole::kCapture, "", *x.storage->device).node;
    }
  }
  Attrs attrs;
  for (size_t b = 0; b < blocks.size(); ++b) {
    Graph& graph = *blocks[b].graph;
    std::vector<Value> outputs(graph.outputs().begin(), graph.outputs().end());
    for (size_t i = 0; i < states.size(); ++i) {
      if (!is_stored[i]) continue;
      outputs.push_back(after[b][i] ? after[b][i] : inputs[b][captures.size() + i]->output());
    }
    graph.set_inputs(inputs[b]);
    graph.set_outputs(std::move(outputs));
    attrs.regions.push_back(std::make_shared<const Region>(blocks[b].graph));
  }
  attrs.sizes = current_symbols(scope);
  SmallVector<TensorImpl*, 6> borrowed;
  borrowed.push_back(which.get());
  for (const Tensor& x : operands) borrowed.push_back(x.get());
  std::vector<Ref<Cell>> stored;
  for (size_t i = 0; i < states.size(); ++i) {
    if (is_stored[i]) stored.push_back(states[i]);
  }
  return store(scope, stored, apply(scope, control::branch(), any_attrs(attrs), borrowed));
}

}  // namespace tenon
