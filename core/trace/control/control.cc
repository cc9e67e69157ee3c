#include "core/trace/control/control.h"

#include "core/autograd/tape.h"
#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/dispatch/profiler.h"
#include "core/ops/definition/formulas.h"
#include "core/trace/control/control_ops.h"
#include "core/trace/control/lists.h"
#include "core/trace/graph/order.h"
#include "core/trace/tracer.h"

namespace tenon {
namespace {

// Fails unless x is a bool of rank 0; `what` names it in the message.
void check_predicate(const TensorImpl& x, const char* what) {
  require(x.type.dtype == DType::kBool && x.rank() == 0 && !x.type.lists,
          "{} must be bool[], but is {}", what, x.type);
}

// Whether the value of the scalar `x` is known now. Otherwise it is known only when the trace runs.
bool is_value_known(Scope& scope, const TensorImpl& x) {
  return !scope.traced_cells() || x.is_scalar_value();
}

// Converts outputs of the body to the types of the carried values.
Tensors convert_to_carried(const char* name, TensorSpan carried, TensorSpan given) {
  Tensors all;
  for (size_t i = 0; i < carried.size(); ++i) {
    const TensorType& type = carried[i]->type;
    Tensor x = as_tensor(given[i], type.dtype);
    require(have_equal_types(x->type, type), "{} carries {} as value {}, but its body returns {}",
            name, type, i, x->type);
    all.push_back(std::move(x));
  }
  return all;
}

// Runs the loop eagerly. Returns the final carried values, then the lists of gathered values.
Tensors run_loop(Scope& scope, const Loop& loop) {
  const size_t n = loop.carried.size();
  const Size capacity = list_capacity(loop);
  Tensor go = loop.go;
  Tensors carried = loop.carried, lists;
  bool has_run = false;
  TripLimit limit(loop.max_trips);
  while (read_bool(go)) {
    limit.count_trip();
    has_run = true;
    scope.check_cancelled();
    const Tensors given = loop.body(carried);
    go = given[0];
    check_predicate(*go, "the condition to continue");
    const TensorSpan all = given;
    for (size_t j = 0; 1 + n + j < all.size(); ++j) {
      const Tensor x = as_tensor(all[1 + n + j]);
      if (j == lists.size()) lists.push_back(list_create(x->type, capacity));
      lists[j] = list_set(lists[j], carried[0], x);
    }
    carried = convert_to_carried(loop.name, carried, all.subspan(1, n));
  }
  if (loop.gathers && !has_run) {
    // No trip has run, so the body is traced to find the types of the gathered values.
    Graph graph;
    std::vector<TensorType> types;
    {
      Tracer tracer(scope, graph);
      const Tensors given = loop.body(carried);
      for (size_t i = 1 + n; i < given.size(); ++i) types.push_back(as_tensor(given[i])->type);
    }
    for (const TensorType& type : types) lists.push_back(list_create(type, capacity));
  }
  for (Tensor& list : lists) carried.push_back(std::move(list));
  return carried;
}

}  // namespace

Size list_capacity(const Loop& loop) {
  return loop.policy == LoopPolicy::kBounded ? loop.max_trips : Size(0);
}

Tensor with_new_identity(Scope& scope, const Tensor& x) {
  if (scope.traced_cells()) return x;
  if (!x->type.lists) return identity(x);
  // A differentiable list gets its new identity from a call that outer tapes record.
  if (!scope.innermost() || !is_floating(x->type.dtype)) return alias_of(*x);
  const Scope::OnDevice on(scope, *x->storage->device);
  return list_add(x, list_create(element_of(x->type)));
}

bool have_equal_types(const TensorType& a, const TensorType& b) {
  return a.dtype == b.dtype && a.lists == b.lists && a.rank() == b.rank() &&
         (a.shape == b.shape).hold();
}

Tensor as_tensor(const Tensor& x, DType wanted) {
  if (!x->type.weak) return x;
  const bool fits = wanted != DType::kNone && (is_floating(wanted) == is_floating(x->type.dtype)) &&
                    (wanted == DType::kBool) == (x->type.dtype == DType::kBool);
  return fill(x, Dims{}, fits ? wanted : x->type.dtype);
}

Tensors as_tensors(TensorSpan values) {
  Tensors all;
  for (const Tensor& x : values) all.push_back(as_tensor(x));
  return all;
}

// Returns, for each output of the graph, whether it is differentiable and depends on an input that
// is marked in `by`.
std::vector<bool> outputs_depending_on(const Graph& graph, const std::vector<bool>& by) {
  std::vector<bool> depends(graph.n_slots(), false);
  for (size_t i = 0; i < by.size(); ++i) depends[graph.inputs()[i]->first_slot] = by[i];
  for (const Node& node : graph.nodes()) {
    bool any = false;
    for (const Value& x : node.inputs) any = any || (x && depends[x.slot()]);
    for (uint32_t i = 0; any && i < node.types.size(); ++i) {
      depends[node.first_slot + i] = is_floating(node.types[i].dtype);
    }
  }
  std::vector<bool> result;
  for (const Value& y : graph.outputs()) result.push_back(depends[y.slot()]);
  return result;
}

// Runs or traces the loop.
Tensors loop(Scope& scope, const Loop& given) {
  check_predicate(*given.go, "the condition to continue");
  if (!scope.traced_cells()) {
    ProfileSpan span(scope, SpanKind::kOp, given.name, given.carried);
    Tensors results = run_loop(scope, given);
    span.end();
    return results;
  }
  Loop loop = given;
  loop.go = as_tensor(given.go);
  loop.carried = as_tensors(given.carried);
  loop.body = [&](TensorSpan carried) {
    Tensors all = given.body(carried);
    check_predicate(*all[0], "the condition to continue");
    const size_t n = carried.size();
    const TensorSpan from(all.data() + 1, n);
    Tensors result = {as_tensor(all[0])};
    for (Tensor& x : convert_to_carried(given.name, carried, from)) result.push_back(std::move(x));
    for (size_t j = 1 + n; j < all.size(); ++j) result.push_back(as_tensor(all[j]));
    return result;
  };
  return trace_loop(scope, loop);
}

Tensors while_loop(Scope& scope, const Block& condition, const Block& body, TensorSpan initial,
                   const WhileOptions& options) {
  require(options.max_trips >= 0, "max_trips must not be negative, but is {}", options.max_trips);
  require(options.policy != LoopPolicy::kBounded || options.max_trips > 0,
          "a loop with the policy bounded requires max_trips");
  const auto holds = [&](TensorSpan carried) {
    const Tensors given = condition(carried);
    require(given.size() == 1, "the condition of while_loop returns {} values instead of one",
            given.size());
    check_predicate(*given[0], "the condition of while_loop");
    return given[0];
  };
  const Tensors carried = as_tensors(initial);
  return loop(scope, {.go = holds(carried),
                      .carried = carried,
                      .body =
                          [&](TensorSpan in) {
                            Tensors given = body(in);
                            require(given.size() == in.size(),
                                    "while_loop carries {} values, but its body returns {}",
                                    in.size(), given.size());
                            given = convert_to_carried("while_loop", in, given);
                            Tensors all = {holds(given)};
                            for (Tensor& x : given) all.push_back(std::move(x));
                            return all;
                          },
                      .policy = options.policy,
                      .max_trips = options.max_trips});
}

Tensors scan(Scope& scope, const Block& body, TensorSpan initial, TensorSpan xs,
             const ScanOptions& options) {
  require(!xs.empty(), "scan needs at least one tensor to iterate over");
  for (const Tensor& x : xs) {
    require(x->rank() > 0 && !x->type.lists, "scan iterates over the first axis, but {} has none",
            x->type);
    require(x->shape()[0] == xs[0]->shape()[0],
            "scan iterates over {} and {}, which differ in length", xs[0]->type, x->type);
  }
  const Size n = xs[0]->shape()[0];
  const Tensor length = reshape(shape_tensor(Dims{n}), Dims{});
  Tensors lists;
  for (const Tensor& x : xs) lists.push_back(list_unstack(x));
  // Carries the write index, the number of finished trips, and the user's values.
  Loop loop = {.name = "scan"};
  const Tensor zero = fill(integer(0), Dims{}, DType::kI64);
  loop.carried = {options.reverse ? length - integer(1) : zero, zero};
  for (Tensor& x : as_tensors(initial)) loop.carried.push_back(std::move(x));
  loop.go = less(zero, length);
  const size_t n_carried = initial.size();
  const auto step = [&](TensorSpan in) {
    Tensors operands;
    for (const Tensor& x : in.subspan(2)) operands.push_back(x);
    for (const Tensor& list : lists) operands.push_back(list_get(list, in[0]));
    Tensors given = body(operands);
    require(given.size() >= n_carried, "scan carries {} values, but its body returns {}", n_carried,
            given.size());
    return given;
  };
  loop.body = [&](TensorSpan in) {
    const Tensor done = in[1] + integer(1);
    Tensors all = {less(done, length), options.reverse ? in[0] - integer(1) : in[0] + integer(1),
                   done};
    for (Tensor& x : step(in)) all.push_back(std::move(x));
    return all;
  };
  loop.gathers = true;
  loop.policy = options.policy;
  if (options.policy == LoopPolicy::kBounded) loop.max_trips = n;
  Tensors found = tenon::loop(scope, loop), results;
  for (size_t i = 2; i < found.size(); ++i) {
    results.push_back(i < 2 + n_carried ? found[i] : list_stack(found[i], n));
  }
  return results;
}

const OpDef* find_control_op(std::string_view name) {
  for (const OpDef* op :
       {&control::while_loop(), &control::branch(), &control::call(), &control::recompute(),
        &control::shape(), &control::assign(), &control::extent()}) {
    if (op->name == name) return op;
  }
  if (const OpDef* op = find_effect_op(name)) return op;
  return find_list_op(name);
}

// ---- branches

Tensors switch_case(Scope& scope, const Tensor& index, std::span<const Block> branches) {
  require(!branches.empty(), "switch_case needs at least one branch");
  require(index->type.dtype == DType::kI64 && index->rank() == 0 && !index->type.lists,
          "the index of a branch must be i64[], but is {}", index->type);
  if (is_value_known(scope, *index)) {
    const int64_t i = read_integer(index);
    const bool is_there = i >= 0 && static_cast<uint64_t>(i) < branches.size();
    return as_tensors(is_there ? branches[static_cast<size_t>(i)]({}) : branches.back()({}));
  }
  return trace_branch(scope, as_tensor(index), branches);
}

Tensors cond(Scope& scope, const Tensor& predicate, const Block& then, const Block& otherwise) {
  check_predicate(*predicate, "the predicate of cond");
  if (is_value_known(scope, *predicate)) {
    return as_tensors(read_bool(predicate) ? then({}) : otherwise({}));
  }
  const Block branches[] = {then, otherwise};
  return trace_branch(scope, as_tensor(predicate), branches);
}

// ---- custom derivatives

Tensors with_gradient(Scope& scope, TensorSpan inputs, const Block& forward,
                      const std::shared_ptr<const CustomVjp>& vjp) {
  if (scope.traced_cells()) return trace_call(scope, inputs, forward, vjp);
  Tensors outputs;
  {
    const Scope::Unrecorded unrecorded(scope);
    outputs = forward(inputs);
    // Gives the outputs new identities, because tapes must distinguish them from the inputs, which
    // `forward` may return.
    for (Tensor& y : outputs) {
      y = y->is_scalar_value() ? with_dtype(scope, *y, y->type.dtype) : alias_of(*y);
    }
  }
  SmallVector<TensorImpl*, 6> borrowed;
  for (const Tensor& x : inputs) borrowed.push_back(x.get());
  each_tape(scope, [&](Tape& tape) { tape.record_custom(borrowed, outputs, vjp); });
  return outputs;
}

}  // namespace tenon
