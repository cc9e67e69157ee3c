// Control flow: If, Loop and Scan. In eager mode, the host reads conditions and trip counts, and
// runs the inner graphs accordingly. Under trace, the nodes become branches and loops of the trace
// (traced_control.h).

#include <limits>

#include "core/dispatch/dispatch.h"
#include "core/io/onnx/adapters.h"
#include "core/io/onnx/traced_control.h"

namespace tenon::onnx::adapters {
namespace {

// Whether a function is being traced.
bool is_traced() { return current_scope().traced_cells() != nullptr; }

// Reads a bool tensor with one element on the host.
bool read_condition(const Tensor& x) {
  bool value = false;
  require(x->type.dtype == DType::kBool && count(x->shape()) == 1,
          "a condition must be a bool with one element, but is {}", x->type);
  to_host(current_scope(), x, &value, sizeof value);
  return value;
}

// Stacks the outputs of all iterations along a new axis. Throws if there are none.
Tensor stack_rounds(const Tensors& rounds, int64_t axis) {
  require_code(!rounds.empty(), Code::kUnimplemented,
               "the body never runs, so the shape of its scan outputs is unknown");
  Tensors parts;
  for (const Tensor& x : rounds) parts.push_back(expand_dims(x, {axis}));
  return concat(parts, axis);
}

// Returns the graph in attribute `name`. Throws if there is none.
const Graph& body_of(const NodeCall& n, std::string_view name) {
  const Graph* body = n.attr_graph(name);
  require(body != nullptr, "attribute {} is missing", name);
  return *body;
}

// The carried values of a loop, and the scan outputs of each iteration so far. Outputs of the body
// before index `first` are ignored; the carried values follow, then the scan outputs.
struct Iterations {
  Iterations(const Graph& body, Tensors initial, size_t first)
      : carried(std::move(initial)), first(first) {
    const size_t n = first + carried.size();
    require(body.outputs.size() >= n, "a body has {} outputs, but needs at least {}",
            body.outputs.size(), n);
    collected.resize(body.outputs.size() - n);
  }

  void take(const Tensors& outputs) {
    for (size_t i = 0; i < carried.size(); ++i) carried[i] = outputs[first + i];
    for (size_t i = 0; i < collected.size(); ++i) {
      collected[i].push_back(outputs[first + carried.size() + i]);
    }
  }

  Tensors carried;
  std::vector<Tensors> collected;
  size_t first;
};

}  // namespace

// Returns the attribute `name`, a list with one integer per value; zeros if it is missing.
Ints per_value_list(const NodeCall& n, std::string_view name, size_t size) {
  const Ints given = n.attr_ints(name);
  require(given.empty() || given.size() == size, "attribute {} must have {} values, but has {}",
          name, size, given.size());
  return given.empty() ? Ints(size, 0) : given;
}

namespace {

// Returns the slice of x at index `at` of an axis, and removes that axis.
Tensor slice_at(const Tensor& x, int64_t axis, int64_t at) {
  return squeeze(slice(x, {.starts = {at}, .ends = {at + 1}, .axes = {axis}}), {axis});
}

// Runs a Scan node: calls `body` for each index of the scanned inputs along their axes.
Iterations scan_over(const NodeCall& n, const Graph& body, const Tensors& initial,
                     const Tensors& scanned, const Ints& axes, const Ints& directions) {
  Iterations rounds(body, initial, 0);
  const auto axis_of = [&](size_t k) {
    return require_axis(axes[k], scanned[k]->rank(), "scan_input_axes");
  };
  const int64_t length = scanned[0]->shape()[static_cast<size_t>(axis_of(0))];
  for (int64_t i = 0; i < length; ++i) {
    Tensors inputs = rounds.carried;
    for (size_t k = 0; k < scanned.size(); ++k) {
      const int64_t at = directions[k] == 1 ? length - 1 - i : i;
      inputs.push_back(slice_at(scanned[k], axis_of(k), at));
    }
    rounds.take(n.run(body, inputs));
  }
  return rounds;
}

// Returns the inputs with indices from `begin` up to `end`.
Tensors inputs_of(const NodeCall& n, size_t begin, size_t end) {
  Tensors inputs;
  for (size_t i = begin; i < end; ++i) inputs.push_back(n.in(i));
  return inputs;
}

// Splits the inputs from `first` on into carried values and scanned inputs.
ScanInputs scan_inputs(const NodeCall& n, size_t first) {
  const int64_t n_scanned = n.attr("num_scan_inputs", 0);
  const auto n_inputs = static_cast<int64_t>(n.n_inputs());
  require(n_scanned > 0 && n_scanned <= n_inputs - static_cast<int64_t>(first),
          "attribute num_scan_inputs must be positive and at most {}, but is {}",
          n_inputs - static_cast<int64_t>(first), n_scanned);
  const auto begin = static_cast<size_t>(n_inputs - n_scanned);
  return {inputs_of(n, first, begin), inputs_of(n, begin, n.n_inputs())};
}

// Implements the Scan of operator set 8, which scanned each element of a batch separately. Axis 0
// was the batch, and the scanned axis followed it.
Tensors scan_batch(const NodeCall& n) {
  const Graph& body = body_of(n, "body");
  require_code(!n.has(0), Code::kUnimplemented, "the input sequence_lens is not supported");
  const ScanInputs inputs = scan_inputs(n, 1);
  const Ints axes(inputs.scanned.size(), 0);
  const Ints directions = per_value_list(n, "directions", inputs.scanned.size());
  const auto of_element = [](const Tensors& all, int64_t b) {
    Tensors part;
    for (const Tensor& x : all) part.push_back(slice_at(x, 0, b));
    return part;
  };
  require(inputs.scanned[0]->rank() > 0, "a scanned input must have at least one axis");
  const int64_t batch = inputs.scanned[0]->shape()[0];
  std::vector<Tensors> results(body.outputs.size());
  for (int64_t b = 0; b < batch; ++b) {
    const Iterations rounds = scan_over(n, body, of_element(inputs.carried, b),
                                        of_element(inputs.scanned, b), axes, directions);
    for (size_t i = 0; i < results.size(); ++i) {
      const size_t n_carried = rounds.carried.size();
      results[i].push_back(i < n_carried ? rounds.carried[i]
                                         : stack_rounds(rounds.collected[i - n_carried], 0));
    }
  }
  Tensors outputs;
  for (const Tensors& elements : results) outputs.push_back(stack_rounds(elements, 0));
  return outputs;
}

}  // namespace

Tensors if_else(const NodeCall& n) {
  const Graph &then_branch = body_of(n, "then_branch"), &else_branch = body_of(n, "else_branch");
  if (!is_traced()) return n.run(read_condition(n.in(0)) ? then_branch : else_branch, TensorSpan());
  return traced_if(n, then_branch, else_branch);
}

// Runs the body of a Loop node while the condition is true, up to the maximum number of iterations.
// The body returns the next condition.
Tensors loop(const NodeCall& n) {
  const Graph& body = body_of(n, "body");
  if (is_traced()) return traced_loop(n, body);
  const int64_t most = n.has(0) ? n.one_int(0) : std::numeric_limits<int64_t>::max();
  bool goes_on = !n.has(1) || read_condition(n.in(1));
  Iterations rounds(body, inputs_of(n, 2, n.n_inputs()), 1);
  for (int64_t i = 0; goes_on && i < most; ++i) {
    Tensors inputs = {host_ints({i}, {}), ones(TensorType(DType::kBool, {}))};
    for (const Tensor& x : rounds.carried) inputs.push_back(x);
    const Tensors outputs = n.run(body, inputs);
    rounds.take(outputs);
    goes_on = read_condition(outputs[0]);
  }
  Tensors results = rounds.carried;
  for (const Tensors& collected : rounds.collected) results.push_back(stack_rounds(collected, 0));
  return results;
}

Tensors scan(const NodeCall& n) {
  if (n.version() < 9) return scan_batch(n);
  const Graph& body = body_of(n, "body");
  const ScanInputs inputs = scan_inputs(n, 0);
  if (is_traced()) return traced_scan(n, body, inputs);
  const size_t n_scanned = inputs.scanned.size();
  const Iterations rounds = scan_over(n, body, inputs.carried, inputs.scanned,
                                      per_value_list(n, "scan_input_axes", n_scanned),
                                      per_value_list(n, "scan_input_directions", n_scanned));
  const size_t n_collected = rounds.collected.size();
  const Ints axes = per_value_list(n, "scan_output_axes", n_collected);
  const Ints directions = per_value_list(n, "scan_output_directions", n_collected);
  Tensors results = rounds.carried;
  for (size_t k = 0; k < n_collected; ++k) {
    const Tensor y = stack_rounds(rounds.collected[k], axes[k]);
    results.push_back(directions[k] == 1 ? flip(y, {axes[k]}) : y);
  }
  return results;
}

}  // namespace tenon::onnx::adapters
