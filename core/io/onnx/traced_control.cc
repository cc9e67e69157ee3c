#include "core/io/onnx/traced_control.h"

#include "core/trace/control/control.h"
#include "core/trace/control/lists.h"
#include "core/trace/effects.h"

namespace tenon::onnx::adapters {
namespace {

// Reshapes x to a scalar. Throws unless x has exactly one element.
Tensor as_scalar(const Tensor& x, const char* what) {
  require(count(x->shape()) == 1, "{} must have one element, but is {}", what, x->type);
  return x->rank() == 0 ? x : reshape(x, {});
}

// Traces a replacement for a branch that cannot be traced: an assertion that fails with `why`, and
// zeros of the given types as outputs.
Tensors trace_failing_branch(const TensorTypes& types, const std::string& why) {
  std::string message;  // In a format string, braces are doubled.
  for (const char c : why) message += std::string(c == '{' || c == '}' ? 2 : 1, c);
  assert_all(current_scope(), fill(make_scalar_bool(false), Dims{}, DType::kBool), message);
  Tensors outputs;
  for (const TensorType& type : types) outputs.push_back(zeros(type));
  return outputs;
}

TensorTypes types_of(const Tensors& values) {
  TensorTypes types;
  for (const Tensor& x : values) types.push_back(x->type);
  return types;
}

}  // namespace

Tensors traced_if(const NodeCall& n, const Graph& then_branch, const Graph& else_branch) {
  Scope& scope = current_scope();
  const auto run = [&](const Graph& graph) { return n.run(graph, TensorSpan()); };
  const auto why = [&](const char* branch, const Error& error) {
    if (error.is_transient()) throw error;
    return "the " + std::string(branch) +
           " of the model does not fit these inputs: " + error.what();
  };
  TensorTypes types;
  bool has_failed = false;
  const Block then = [&](TensorSpan) {
    try {
      const Tensors outputs = run(then_branch);
      types = types_of(outputs);
      return outputs;
    } catch (const Error& error) {
      const std::string text = why("then_branch", error);
      // The failed branch has unknown output types, so the other branch determines them. If that
      // cannot be traced either, the If fails.
      trace_block(scope, {}, "a branch", [&](TensorSpan) {
        const Tensors outputs = run(else_branch);
        types = types_of(outputs);
        return outputs;
      });
      has_failed = true;
      return trace_failing_branch(types, text);
    }
  };
  const Block otherwise = [&](TensorSpan) {
    try {
      return run(else_branch);
    } catch (const Error& error) {
      const std::string text = why("else_branch", error);
      if (has_failed) throw;
      return trace_failing_branch(types, text);
    }
  };
  return cond(scope, as_scalar(n.in(0), "the condition"), then, otherwise);
}

// ---- loops

namespace {

// Analyses the body of a Loop before it is traced.
class LoopBody {
 public:
  LoopBody(const NodeCall& n, const Graph& graph) : n_(n), graph_(graph) {
    for (const Node& node : graph.nodes) {
      for (const std::string& output : node.outputs) makers_[output] = &node;
    }
  }

  size_t n_carried() const { return graph_.inputs.size() - 2; }

  // Whether the body's condition is loop-invariant, or the constant true.
  bool is_always_true() const {
    const std::string& value = source(graph_.outputs[0].name);
    return value == graph_.inputs[1].name || number(value) == Size(1);
  }

  // Returns the number of iterations, if the body's condition compares a counter with a
  // loop-invariant number: `counter + 1 < number`.
  std::optional<Size> trips() const {
    const Node* test = maker(graph_.outputs[0].name);
    if (!test || test->inputs.size() != 2) return std::nullopt;
    const bool is_less = test->op == "Less", is_greater = test->op == "Greater";
    if (!is_less && !is_greater) return std::nullopt;
    const std::optional<Size> limit = number(test->inputs[is_less ? 1 : 0]);
    const std::optional<Size> start = start_of(test->inputs[is_less ? 0 : 1]);
    if (!limit || !start) return std::nullopt;
    return greatest(*limit - *start, 0);
  }

 private:
  // Returns the value that a chain of Identity nodes copies.
  const std::string& source(const std::string& name) const {
    const std::string* at = &name;
    for (const Node* node = made_by(*at); node && node->op == "Identity"; node = made_by(*at)) {
      at = &node->inputs[0];
    }
    return *at;
  }
  const Node* made_by(const std::string& name) const {
    const auto at = makers_.find(name);
    const bool is_one = at != makers_.end() && at->second->domain.empty();
    return is_one && !at->second->inputs.empty() ? at->second : nullptr;
  }
  const Node* maker(const std::string& name) const { return made_by(source(name)); }

  // Returns the value of this name if it is loop-invariant and one known integer; else nothing.
  std::optional<Size> number(const std::string& name) const {
    const std::string& value = source(name);
    if (makers_.contains(value)) return std::nullopt;
    for (const ValueInfo& input : graph_.inputs) {
      if (input.name == value) return std::nullopt;
    }
    ModelValue found;
    for (const TensorData& data : graph_.initializers) {
      if (data.name == value) found = n_.initial(data);
    }
    if (const ModelValue* outer = found ? nullptr : n_.outer(value)) found = *outer;
    const bool is_one = found.known && found.known->size() == 1 && found.known->divisors.empty();
    return is_one ? std::optional(found.known->values[0]) : std::nullopt;
  }

  // Returns the initial value of a counter, given the name of its next value. A counter is the
  // iteration number, or a carried value that grows by 1 in each iteration.
  std::optional<Size> start_of(const std::string& next) const {
    const std::string& value = source(next);
    const Node* sum = made_by(value);
    if (!sum || sum->op != "Add" || sum->inputs.size() != 2) return std::nullopt;
    for (const size_t i : {0, 1}) {
      const std::string& counter = source(sum->inputs[i]);
      if (number(sum->inputs[1 - i]) != Size(1)) continue;
      if (counter == graph_.inputs[0].name) return Size(0);
      for (size_t k = 0; k < n_carried(); ++k) {
        const bool is_carried =
            graph_.inputs[2 + k].name == counter && source(graph_.outputs[1 + k].name) == value;
        const Known* first = is_carried ? n_.known(2 + k) : nullptr;
        if (first && first->size() == 1 && first->divisors.empty()) return first->values[0];
      }
    }
    return std::nullopt;
  }

  const NodeCall& n_;
  const Graph& graph_;
  std::unordered_map<std::string_view, const Node*> makers_;
};

// Returns the number of iterations of a Loop whose condition is initially true. Returns nothing if
// sizes do not determine it. If `runs_all`, the condition stays true, so that only the trip count
// limits the loop.
std::optional<Size> trip_count(const NodeCall& n, const LoopBody& body, bool runs_all) {
  if (n.has(0) && !n.known(0)) return std::nullopt;
  const std::optional<Size> tested = runs_all ? std::nullopt : body.trips();
  if (!n.has(0)) return tested;
  const Size most = greatest(n.one_size(0), 0);
  if (runs_all) return most;
  return tested ? std::optional(least(*tested, most)) : std::nullopt;
}

}  // namespace

Tensors traced_loop(const NodeCall& n, const Graph& body) {
  Scope& scope = current_scope();
  Tensors initial;
  for (size_t i = 2; i < n.n_inputs(); ++i) initial.push_back(n.in(i));
  const size_t n_carried = initial.size();
  require(body.inputs.size() == 2 + n_carried && body.outputs.size() > n_carried,
          "a body has {} inputs and {} outputs, but {} values are carried", body.inputs.size(),
          body.outputs.size(), n_carried);
  const bool gathers = body.outputs.size() > 1 + n_carried;
  const bool begins_true = !n.has(1) || (n.known(1) && n.known(1)->values[0] == 1);
  const LoopBody seen(n, body);
  const bool runs_all = begins_true && seen.is_always_true();
  const std::optional<Size> trips =
      gathers && begins_true ? trip_count(n, seen, runs_all) : std::nullopt;
  require_code(!gathers || trips, Code::kFailedPrecondition,
               "the number of iterations, which is also the length of the scan outputs, depends on "
               "values, which are unknown while tracing");

  const Tensor zero = fill(integer(0), Dims{}, DType::kI64);
  Tensor limit;
  if (n.has(0)) limit = cast(as_scalar(n.in(0), "the number of trips"), DType::kI64);
  const auto goes_on = [&](const Tensor& condition, const Tensor& done) {
    Tensor go = runs_all || !condition ? Tensor() : as_scalar(condition, "the condition");
    if (!limit) return go ? go : fill(make_scalar_bool(true), Dims{}, DType::kBool);
    const Tensor is_less = less(done, limit);
    return go ? logical_and(go, is_less) : is_less;
  };
  const Known is_true = {DType::kBool, Dims{}, {1}, {}};
  // The traced loop carries the number of completed iterations, followed by the body's carried
  // values.
  Loop loop = {.name = "Loop"};
  loop.go = goes_on(n.optional(1), zero);
  loop.carried = {zero};
  for (const Tensor& x : initial) loop.carried.push_back(x);
  loop.gathers = gathers;
  loop.body = [&](TensorSpan in) {
    ModelValues inputs = {in[0], ModelValue(Tensor(), is_true)};
    for (const Tensor& x : in.subspan(1)) inputs.emplace_back(x);
    const Tensors given = n.run(body, inputs);
    const Tensor done = in[0] + integer(1);
    Tensors all = {goes_on(given[0], done), done};
    for (size_t i = 1; i < given.size(); ++i) all.push_back(given[i]);
    return all;
  };
  const Tensors found = tenon::loop(scope, loop);
  Tensors results;
  for (size_t i = 1; i < found.size(); ++i) {
    results.push_back(i <= n_carried ? found[i] : list_stack(found[i], *trips));
  }
  return results;
}

namespace {

// Moves the axis `from` of x to position `to`.
Tensor move_axis(const Tensor& x, int64_t from, int64_t to) {
  if (from == to) return x;
  Ints perm;
  for (int64_t i = 0; i < static_cast<int64_t>(x->rank()); ++i) {
    if (i != from) perm.push_back(i);
  }
  Ints all(perm.size() + 1, from);
  for (size_t i = 0, next = 0; i < all.size(); ++i) {
    if (static_cast<int64_t>(i) != to) all[i] = perm[next++];
  }
  return transpose(x, all);
}

}  // namespace

Tensors traced_scan(const NodeCall& n, const Graph& body, const ScanInputs& inputs) {
  const size_t n_scanned = inputs.scanned.size(), n_carried = inputs.carried.size();
  require(body.outputs.size() >= n_carried, "a body has {} outputs, but needs at least {}",
          body.outputs.size(), n_carried);
  const Ints axes = per_value_list(n, "scan_input_axes", n_scanned);
  const Ints directions = per_value_list(n, "scan_input_directions", n_scanned);
  Tensors scanned;
  for (size_t k = 0; k < n_scanned; ++k) {
    const Tensor& x = inputs.scanned[k];
    const Tensor first = move_axis(x, require_axis(axes[k], x->rank(), "scan_input_axes"), 0);
    scanned.push_back(directions[k] == 1 ? flip(first, {0}) : first);
  }
  const Block step = [&](TensorSpan operands) { return n.run(body, operands); };
  Tensors results = tenon::scan(current_scope(), step, inputs.carried, scanned);
  const size_t n_collected = body.outputs.size() - n_carried;
  const Ints to = per_value_list(n, "scan_output_axes", n_collected);
  const Ints back = per_value_list(n, "scan_output_directions", n_collected);
  for (size_t k = 0; k < n_collected; ++k) {
    Tensor& y = results[n_carried + k];
    if (back[k] == 1) y = flip(y, {0});
    y = move_axis(y, 0, require_axis(to[k], y->rank(), "scan_output_axes"));
  }
  return results;
}

}  // namespace tenon::onnx::adapters
