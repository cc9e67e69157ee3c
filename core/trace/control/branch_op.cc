// branch: the op, its derivative, and how it is traced.

#include "core/base/error.h"
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

// Returns the index of the branch, of n, that the value of `which` selects.
size_t selected_branch(const Tensor& which, size_t n) {
  if (which->type.dtype == DType::kBool) return read_bool(which) ? 0 : 1;
  const int64_t value = read_integer(which);
  return value >= 0 && static_cast<uint64_t>(value) < n ? static_cast<size_t>(value) : n - 1;
}

Tensors run(Scope& scope, const Call& call) {
  const Attrs& attrs = attrs_of(call);
  Tensors operands;
  for (TensorImpl* x : call.inputs.subspan(1)) operands.push_back(Tensor::share(x));
  const size_t i = selected_branch(Tensor::share(call.inputs[0]), attrs.regions.size());
  Tensors results = attrs.regions[i]->apply(scope, attrs.sizes, operands);
  for (Tensor& y : results) y = alias_of(*y);
  return results;
}

// The derivative of the op branch: a forward call of branch that also returns the residuals, and a
// backward call on the same condition. All regions of a call must return the same types. Therefore
// each region of the forward call returns lists for the residuals of all regions, and leaves the
// lists of the other regions empty.
class BranchDerivative {
 public:
  BranchDerivative(Scope& scope, const Call& call, const std::vector<bool>& by)
      : sizes_(attrs_of(call).sizes), by_(by.begin() + 1, by.end()) {
    which_ = Tensor::share(call.inputs[0]);
    for (TensorImpl* x : call.inputs.subspan(1)) operands_.push_back(Tensor::share(x));
    std::vector<bool> from;
    for (const auto& region : attrs_of(call).regions) {
      const std::vector<bool> own = outputs_depending_on(region->graph(), by_);
      from.resize(own.size(), false);
      for (size_t i = 0; i < own.size(); ++i) from[i] = from[i] || own[i];
    }
    for (const auto& region : attrs_of(call).regions) {
      Branch branch;
      branch.derivative = std::make_unique<Derivative>(scope, region->graph(), sizes_, by_, from);
      branch.derivative->require_guards(sizes_);
      for (const Value& x : branch.derivative->saved()) {
        const std::optional<size_t> i = branch.derivative->input_index_of(x);
        branch.operands.push_back(i ? operands_[*i] : Tensor());
        if (!i)
          saved_types_.push_back(substitute_sizes(*branch.derivative->graph(), x.type(), sizes_));
      }
      branches_.push_back(std::move(branch));
    }
    from_ = std::move(from);
  }

  Tensors forward(Scope& scope, const Call&) {
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
        outputs.push_back(with_new_identity(scope, found[i]));
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
      branch.derivative->require_backward();
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
          if (!found[i]) found[i] = zeros_or_empty_list(operands_[k]->type);
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
    std::vector<Tensor> operands;  // For each residual, the operand that it equals, if any.
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
  // Types of the residuals that are stored in lists, for all branches in order.
  std::vector<TensorType> saved_types_;
  Tensors lists_;
};

// Fails unless all branches return values of the same types.
void check_same_types(const std::vector<TracedBlock>& blocks) {
  const auto first = blocks[0].graph->outputs();
  for (const TracedBlock& block : blocks) {
    const auto own = block.graph->outputs();
    require(own.size() == first.size(),
            "all branches must return the same number of values, but two return {} and {}",
            first.size(), own.size());
    for (size_t i = 0; i < own.size(); ++i) {
      const TensorType &a = first[i].type(), &b = own[i].type();
      require(have_equal_types(a, b),
              "all branches must return the same types, but value {} of two branches is {} and {}",
              i, a, b);
    }
  }
}

}  // namespace

const OpDef& control::branch() {
  static const Immortal<OpDef> op =
      region_op({.name = "branch",
                 .inputs = {{"which", ""}, {"operands", "", InputKind::kVariadic}},
                 .infer = region_types},
                run, linearize_with_class<BranchDerivative>);
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
  check_same_types(blocks);
  return apply_blocks(scope, control::branch(), blocks, {which}, {});
}

}  // namespace tenon
