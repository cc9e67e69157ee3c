// Computes gradients from the records of a tape.

#include <algorithm>
#include <optional>

#include "core/autograd/tape.h"
#include "core/base/error.h"
#include "core/base/size_table.h"
#include "core/base/work_steps.h"
#include "core/dispatch/composites.h"
#include "core/ops/definition/formulas.h"
#include "core/trace/control/lists.h"

namespace tenon {
namespace {

// Returns the device of a value. For an inline scalar, which has no device, returns the scope's
// device.
Device& device_of(Scope& scope, const Tensor& x) {
  return x->is_scalar_value() ? scope.device() : *x->storage->device;
}

// Returns the current value of a source. Callers only use its type and its device.
Tensor value_of(const Source& source) {
  const auto* variable = std::get_if<Ref<Variable>>(&source);
  return variable ? (*variable)->load_untraced() : std::get<Tensor>(source);
}

// Throws unless all sources are floating point.
void check_sources(std::span<const Source> sources) {
  for (size_t i = 0; i < sources.size(); ++i) {
    const TensorType type = value_of(sources[i])->type;
    require(is_floating(type.dtype), "source {} must be floating point, but is {}", i, type);
  }
}

}  // namespace

// The arguments of a derivative. They are copies, because the tape's vectors may be reallocated
// while the derivative runs.
class Tape::Args final : public VjpArgs {
 public:
  Args(const Tape& tape, const Record& record, const std::vector<Tensor>& cotangents,
       const std::vector<bool>& reached) {
    uint32_t type_at = record.types_at;
    size_t saved_at = record.saved_at;
    for (uint32_t i = 0; i < record.n_inputs; ++i) {
      nodes_.push_back(tape.input_nodes_[record.nodes_at + i]);
      needs_.push_back(nodes_.back() != 0 && reached[nodes_.back()]);
      types_.push_back(tape.read_type(type_at));
      const bool kept = record.kept_inputs >> std::min<uint32_t>(i, 63) & 1;
      inputs_.push_back(kept ? tape.saved_[saved_at++] : Tensor());
    }
    for (uint32_t i = 0; i < record.n_outputs; ++i) {
      types_.push_back(tape.read_type(type_at));
      const bool kept = record.kept_outputs >> std::min<uint32_t>(i, 63) & 1;
      outputs_.push_back(kept ? tape.saved_[saved_at++] : Tensor());
      cotangents_.push_back(cotangents[record.first_output + i]);
    }
  }

  const Tensor& input(size_t i) const override { return kept(inputs_[i]); }
  const Tensor& output(size_t i) const override { return kept(outputs_[i]); }
  const TensorType& input_type(size_t i) const override { return types_[i]; }
  const TensorType& output_type(size_t i) const override { return types_[nodes_.size() + i]; }
  const Tensor& cotangent(size_t i) const override {
    if (!cotangents_[i]) cotangents_[i] = zeros_or_empty_list(output_type(i));
    return cotangents_[i];
  }
  bool has_cotangent(size_t i) const override { return static_cast<bool>(cotangents_[i]); }
  bool needs(size_t input) const override { return needs_[input]; }
  size_t n_inputs() const override { return nodes_.size(); }
  size_t n_outputs() const override { return outputs_.size(); }

  Node node(size_t i) const { return nodes_[i]; }
  Device& device() const {
    for (const Tensor& dy : cotangents_) {
      if (dy && !dy->is_scalar_value()) return *dy->storage->device;
    }
    return current_scope().device();
  }
  const Tensors& inputs() const { return inputs_; }
  std::span<const TensorType> types() const { return {types_.data(), types_.size()}; }

  // Returns all tensors that the derivative may read: inputs, outputs and cotangents. with()
  // returns a copy in which they are replaced by `tensors`.
  Tensors tensors() const {
    Tensors all(inputs_);
    for (const Tensor& y : outputs_) all.push_back(y);
    for (const Tensor& dy : cotangents_) all.push_back(dy);
    return all;
  }
  Args with(TensorSpan tensors) const {
    Args other(*this);
    size_t next = 0;
    for (Tensors* each : {&other.inputs_, &other.outputs_, &other.cotangents_}) {
      for (Tensor& x : *each) x = tensors[next++];
    }
    return other;
  }
  // Encodes the inputs that need a gradient as a bit mask with a leading 1. Returns nullopt for ops
  // with more than 60 inputs.
  std::optional<uint64_t> derivative_id() const {
    if (needs_.size() > 60) return std::nullopt;
    uint64_t number = 1;
    for (const bool needed : needs_) number = number << 1 | needed;
    return number;
  }

 private:
  static const Tensor& kept(const Tensor& x) {
    require_code(static_cast<bool>(x), Code::kInternal,
                 "the derivative reads a value that the op does not save");
    return x;
  }

  SmallVector<Node, 4> nodes_;
  SmallVector<bool, 4> needs_;
  TensorTypes types_;  // Types of the inputs, then the outputs.
  Tensors inputs_;
  Tensors outputs_;
  mutable Tensors cotangents_;
};

// Returns the nodes of a source. A variable has a node for each read.
std::vector<Tape::Node> Tape::nodes_of(const Source& source) const {
  if (const auto* variable = std::get_if<Ref<Variable>>(&source)) {
    const auto at = variable_index_.find(variable->get());
    return at == variable_index_.end() ? std::vector<Node>() : watched_variables_[at->second].reads;
  }
  const Node node = node_of(*std::get<Tensor>(source));
  return node ? std::vector<Node>{node} : std::vector<Node>();
}

// Marks the nodes that depend on at least one source. Other nodes need no cotangent.
std::vector<bool> Tape::mark_dependents(const std::vector<std::vector<Node>>& sources) const {
  std::vector<bool> reached(node_record_.size() + 1, false);
  for (const auto& nodes : sources) {
    for (const Node node : nodes) reached[node] = true;
  }
  for (const Record& record : records_) {
    count_steps();
    bool any = false;
    for (uint32_t i = 0; i < record.n_inputs && !any; ++i) {
      any = reached[input_nodes_[record.nodes_at + i]];
    }
    if (!any) continue;
    for (uint32_t i = 0; i < record.n_outputs; ++i) reached[record.first_output + i] = true;
  }
  return reached;
}

// Computes the gradients of a record's inputs. For composite ops, the launches are cached as a
// launch plan.
Tensors Tape::derivative(const Record& record, const Args& args,
                         const std::vector<Tensor>& before) {
  if (record.custom) return (*record.custom)(args);
  const OpDef& op = *record.op;
  const void* const attrs = record.attrs.view().data;
  const SizeTable::Cause cause(op.name, true);
  if (op.vjp && !op.decompose) return op.vjp(op, attrs, args);
  if (!op.vjp && !record.recompute) {
    fail(Code::kUnimplemented, "no gradient{}{}",
         {op.no_gradient.empty() ? "" : ": ", op.no_gradient});
  }
  const size_t n = args.n_inputs();
  Tensors given = args.tensors();
  for (size_t i = 0; i < n; ++i) {
    given.push_back(record.accumulates && args.needs(i) ? before[args.node(i)] : Tensor());
  }
  const auto code = [&](TensorSpan all) {
    const Args own = args.with(all);
    Tensors found =
        op.vjp ? op.vjp(op, attrs, own) : differentiate_decomposition(record, own, all.last(n));
    for (size_t i = 0; i < found.size(); ++i) {
      if (!args.needs(i)) found[i].reset();
    }
    return found;
  };
  const std::optional<uint64_t> part = args.derivative_id();
  if (!part) return code(given);
  return scope_->composite_plans().run(*scope_, {op, record.attrs.view(), *part, args.types()},
                                       given, code);
}

// Recomputes the decomposition under a new tape and differentiates it. Outer tapes record both,
// which allows higher-order gradients.
Tensors Tape::differentiate_decomposition(const Record& record, const Args& args,
                                          TensorSpan before) {
  const OpDef& op = *record.op;
  Tensors inputs, sums;
  for (size_t i = 0; i < args.n_inputs(); ++i) {
    Tensor x = args.inputs()[i];
    if (x && x->type.weak) x = fill(x, Dims{}, args.input_type(i).dtype);
    // The same tensor may be passed twice, or the decomposition may also capture it. Aliases keep
    // the inputs distinct.
    inputs.push_back(x ? tracked_alias(*scope_, x) : x);
  }
  auto inner = Ref<Tape>::adopt(new Tape(scope_, {.persistent = false, .watch_trainable = false}));
  std::vector<Source> sources;
  for (size_t i = 0; i < args.n_inputs(); ++i) {
    if (!args.needs(i)) continue;
    inner->watch(inputs[i]);
    sources.emplace_back(inputs[i]);
    sums.push_back(before[i]);
  }
  const Tensors outputs = op.decompose(op, record.attrs.view().data, inputs);
  Tensors targets, cotangents;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!args.has_cotangent(i)) continue;
    targets.push_back(outputs[i]);
    cotangents.push_back(args.cotangent(i));
  }
  Tensors found = inner->run_gradients([&] {
    return inner->compute_gradients(targets, cotangents, sources, {.unreached_as_null = true},
                                    false, sums);
  });
  Tensors result;
  size_t next = 0;
  for (size_t i = 0; i < args.n_inputs(); ++i) {
    result.push_back(args.needs(i) ? std::move(found[next++]) : Tensor());
  }
  return result;
}

Tensors Tape::compute_gradients(std::span<const Tensor> targets, std::span<const Tensor> cotangents,
                                std::span<const Source> sources, GradientOptions options, bool keep,
                                TensorSpan before) {
  std::vector<std::vector<Node>> source_nodes;
  for (const Source& source : sources) source_nodes.push_back(nodes_of(source));
  const std::vector<bool> reached = mark_dependents(source_nodes);
  std::vector<Tensor> gradients(node_record_.size() + 1);

  const auto add_to = [&](Node node, const Tensor& g) {
    Tensor& sum = gradients[node];
    sum = sum ? add_values(sum, g) : g;
  };
  for (size_t i = 0; i < before.size(); ++i) {
    if (before[i]) gradients[source_nodes[i][0]] = before[i];
  }
  size_t last = 0;
  for (size_t i = 0; i < targets.size(); ++i) {
    const Node node = node_of(*targets[i]);
    if (node == 0 || !reached[node]) continue;
    const bool given = i < cotangents.size() && cotangents[i];
    const Scope::OnDevice on(*scope_, device_of(*scope_, targets[i]));
    add_to(node, given ? cotangents[i] : ones(targets[i]->type));
    last = std::max<size_t>(last, node_record_[node - 1] + 1);
  }

  for (size_t r = last; r-- > 0;) {
    count_steps();
    if (records_[r].n_inputs == 0) continue;
    const Record record = records_[r];  // A copy, because a persistent tape may grow below.
    bool any = false;
    for (uint32_t i = 0; i < record.n_outputs; ++i) {
      any = any || gradients[record.first_output + i];
    }
    if (any && reached[record.first_output]) {
      scope_->check_cancelled();
      const Args args(*this, record, gradients, reached);
      const Scope::OnDevice on(*scope_, args.device());
      Tensors input_gradients;
      try {
        input_gradients = derivative(record, args, gradients);
      } catch (Error& error) {
        if (record.op) error.set_op(record.op->name);
        throw;
      }
      for (size_t i = 0; i < input_gradients.size(); ++i) {
        if (!input_gradients[i] || !args.needs(i)) continue;
        if (record.accumulates) {
          gradients[args.node(i)] = input_gradients[i];
        } else {
          add_to(args.node(i), input_gradients[i]);
        }
      }
    }
    if (keep) continue;
    // Releases the residuals of this record before the next derivative allocates.
    const size_t saved_end = r + 1 < records_.size() ? records_[r + 1].saved_at : saved_.size();
    for (size_t i = record.saved_at; i < saved_end; ++i) saved_[i].reset();
  }

  Tensors results;
  for (size_t i = 0; i < sources.size(); ++i) {
    Tensor total;
    for (const Node node : source_nodes[i]) {
      if (!gradients[node]) continue;
      total = total ? add(total, gradients[node]) : gradients[node];
    }
    const Tensor value = value_of(sources[i]);
    const Scope::OnDevice on(*scope_, device_of(*scope_, value));
    TensorType type = value->type;
    type.weak = false;
    if (!total && !options.unreached_as_null) total = zeros_or_empty_list(type);
    if (total && total->type.dtype != type.dtype) total = cast(total, type.dtype);
    results.push_back(std::move(total));
  }
  return results;
}

// Runs a function that computes gradients. Consumes the tape afterwards unless it is persistent.
template <class Compute>
Tensors Tape::run_gradients(const Compute& compute) {
  ++n_gradients_running_;
  if (!options_.persistent) stop();  // Keeps the backward pass from being recorded on this tape.
  const auto end = [&] {
    --n_gradients_running_;
    if (!options_.persistent) mark_consumed();
  };
  try {
    Tensors results = compute();
    end();
    return results;
  } catch (...) {
    end();
    throw;
  }
}

Tensors Tape::gradient(std::span<const Tensor> targets, std::span<const Tensor> cotangents,
                       std::span<const Source> sources, GradientOptions options) {
  check_usable();
  for (size_t i = 0; i < targets.size(); ++i) {
    const TensorType& type = targets[i]->type;
    require(is_floating(type.dtype), "target {} must be floating point, but is {}", i, type);
    if (i >= cotangents.size() || !cotangents[i]) {
      require(!type.lists,
              "target {} is a {}: pass a cotangent for it, or stack the list into a tensor first",
              i, type);
      continue;
    }
    require(cotangents[i]->type == type, "cotangent {} must be {} like its target, but is {}", i,
            type, cotangents[i]->type);
  }
  check_sources(sources);
  return run_gradients([&] {
    return compute_gradients(targets, cotangents, sources, options, options_.persistent);
  });
}

Tensor Tape::gradient(const Tensor& target, const Tensor& source) {
  const Source sources[] = {source};
  return std::move(gradient({&target, 1}, {}, sources)[0]);
}

Tensors Tape::jacobian(const Tensor& target, std::span<const Source> sources,
                       GradientOptions options) {
  check_usable();
  require(is_floating(target->type.dtype), "the target must be floating point, but is {}",
          target->type);
  require(!target->type.lists, "the target must be a tensor, but is {}", target->type);
  check_sources(sources);
  for (const Source& source : sources) {
    const TensorType type = value_of(source)->type;
    require(!type.lists, "a source must be a tensor, but is {}", type);
  }
  return run_gradients([&] { return compute_jacobian(target, sources, options); });
}

Tensors Tape::compute_jacobian(const Tensor& target, std::span<const Source> sources,
                               GradientOptions options) {
  const Scope::OnDevice on(*scope_, device_of(*scope_, target));
  const int64_t n = count(target->shape());
  // Row k of an identity matrix, in the target's shape, yields row k of the result.
  std::vector<Tensors> rows;
  for (int64_t k = 0; k < n; ++k) {
    const Tensor index = fill(integer(k), Dims{}, DType::kI64);
    const Tensor seed = reshape(one_hot(index, n, target->type.dtype), target->shape());
    rows.push_back(compute_gradients({&target, 1}, {&seed, 1}, sources, options, true));
  }
  Tensors results;
  for (size_t i = 0; i < sources.size(); ++i) {
    TensorType type = value_of(sources[i])->type;
    type.weak = false;
    Dims shape = target->shape();
    for (const int64_t size : type.shape) shape.push_back(size);
    // No target depends on the source, and the caller requested NULL for such sources.
    if (n > 0 && !rows[0][i]) {
      results.emplace_back();
      continue;
    }
    type.shape = shape;
    if (n == 0) {
      results.push_back(zeros(type));
      continue;
    }
    Tensors parts;
    for (const Tensors& row : rows) parts.push_back(expand_dims(row[i], {0}));
    results.push_back(reshape(concat(parts, 0), shape));
  }
  return results;
}

}  // namespace tenon
