// Control flow. Eager, conditions and counts are read on the host, and graphs inside of a node run
// as often as they say. In code under trace they become branches and loops of that.

#include <limits>

#include "core/dispatch/dispatch.h"
#include "core/io/onnx/adapters.h"
#include "core/trace/control.h"
#include "core/trace/effects.h"
#include "core/trace/lists.h"

namespace tenon::onnx::adapters {
namespace {

bool truth(const Tensor& x) {
  bool value = false;
  require(x->type.dtype == DType::kBool && count(x->shape()) == 1,
          "a condition must be one bool, but is {}", x->type);
  to_host(current_scope(), x, &value, sizeof value);
  return value;
}

// What a body gave in each round, collected along a new axis.
Tensor stacked(const Tensors& rounds, int64_t axis) {
  require_code(!rounds.empty(), Code::kUnimplemented,
               "what a body that never runs would have collected has no shape");
  Tensors parts;
  for (const Tensor& x : rounds) parts.push_back(expand_dims(x, {axis}));
  return concat(parts, axis);
}

const Graph& body_of(const NodeCall& n, std::string_view name) {
  const Graph* body = n.attr_graph(name);
  require(body != nullptr, "attribute {} is missing", name);
  return *body;
}

// The values that go from round to round, and those of each round that are collected. A body gives
// the carried ones from place `first` on, and then the collected ones.
struct Rounds {
  Rounds(const Graph& body, Tensors initial, size_t first)
      : carried(std::move(initial)), first(first) {
    const size_t n = first + carried.size();
    require(body.outputs.size() >= n, "a body gives {} outputs, and must give {} at least",
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

// A list that an attribute gives for `size` values, zeros where it is not given.
Ints one_for_each(const NodeCall& n, std::string_view name, size_t size) {
  const Ints given = n.attr_ints(name);
  require(given.empty() || given.size() == size, "attribute {} has {} values for {}", name,
          given.size(), size);
  return given.empty() ? Ints(size, 0) : given;
}

// Slice `at` of an axis, without it.
Tensor slice_at(const Tensor& x, int64_t axis, int64_t at) {
  return squeeze(slice(x, {.starts = {at}, .ends = {at + 1}, .axes = {axis}}), {axis});
}

// One after the other, the slices of each scanned input along its axis.
Rounds scan_over(const NodeCall& n, const Graph& body, const Tensors& initial,
                 const Tensors& scanned, const Ints& axes, const Ints& directions) {
  Rounds rounds(body, initial, 0);
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

Tensors inputs_of(const NodeCall& n, size_t begin, size_t end) {
  Tensors inputs;
  for (size_t i = begin; i < end; ++i) inputs.push_back(n.in(i));
  return inputs;
}

// The inputs of a Scan, of which those at the end are scanned.
struct ScanInputs {
  Tensors carried, scanned;
};

ScanInputs scan_inputs(const NodeCall& n, size_t first) {
  const int64_t n_scanned = n.attr("num_scan_inputs", 0);
  const auto n_inputs = static_cast<int64_t>(n.n_inputs());
  require(n_scanned > 0 && n_scanned <= n_inputs - static_cast<int64_t>(first),
          "attribute num_scan_inputs is {} of {} inputs", n_scanned, n_inputs);
  const auto begin = static_cast<size_t>(n_inputs - n_scanned);
  return {inputs_of(n, first, begin), inputs_of(n, begin, n.n_inputs())};
}

// Version 8 scanned each element of a batch by itself, along the axis behind that of the batch.
Tensors scan_batch(const NodeCall& n) {
  const Graph& body = body_of(n, "body");
  require_code(!n.has(0), Code::kUnimplemented, "sequence_lens are not known here");
  const ScanInputs inputs = scan_inputs(n, 1);
  const Ints axes(inputs.scanned.size(), 0);
  const Ints directions = one_for_each(n, "directions", inputs.scanned.size());
  const auto of_element = [](const Tensors& all, int64_t b) {
    Tensors part;
    for (const Tensor& x : all) part.push_back(slice_at(x, 0, b));
    return part;
  };
  require(inputs.scanned[0]->rank() > 0, "a scanned input has no axis");
  const int64_t batch = inputs.scanned[0]->shape()[0];
  std::vector<Tensors> results(body.outputs.size());
  for (int64_t b = 0; b < batch; ++b) {
    const Rounds rounds = scan_over(n, body, of_element(inputs.carried, b),
                                    of_element(inputs.scanned, b), axes, directions);
    for (size_t i = 0; i < results.size(); ++i) {
      const size_t n_carried = rounds.carried.size();
      results[i].push_back(i < n_carried ? rounds.carried[i]
                                         : stacked(rounds.collected[i - n_carried], 0));
    }
  }
  Tensors outputs;
  for (const Tensors& elements : results) outputs.push_back(stacked(elements, 0));
  return outputs;
}

bool is_traced() { return current_scope().traced_cells() != nullptr; }

// A bool or an integer of one element, as one of rank 0.
Tensor as_scalar(const Tensor& x, const char* what) {
  require(count(x->shape()) == 1, "{} must have one element, but is {}", what, x->type);
  return x->rank() == 0 ? x : reshape(x, {});
}

// Whether a value of a graph is what comes in as `input`, or true whatever comes.
bool stays_true(const Graph& graph, std::string_view value, std::string_view input) {
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    if (node.outputs.empty() || node.outputs[0] != value) continue;
    if (node.op == "Identity" && node.inputs.size() == 1) {
      value = node.inputs[0];
      continue;
    }
    const TensorData* data = nullptr;
    for (const Attribute& attribute : node.attributes) {
      if (attribute.name == "value") data = attribute.tensor.get();
    }
    if (node.op != "Constant" || !data) return false;
    const std::optional<Known> known = known_elements(*data);
    return known && known->size() == 1 && known->values[0] == 1;
  }
  for (const TensorData& data : graph.initializers) {
    if (data.name != value) continue;
    const std::optional<Known> known = known_elements(data);
    return known && known->size() == 1 && known->values[0] == 1;
  }
  return value == input;
}

// What a branch gives that cannot be: it fails when it is run, and gives zeros of these types.
Tensors failing(const TensorTypes& types, const std::string& why) {
  std::string message;  // A format, in which braces are doubled.
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

// An If under trace, whose condition is a value of the call. Exporters leave branches in that fit
// none of the sizes that the other is for: one that cannot be traced fails where it is chosen.
Tensors traced_if(const NodeCall& n, const Graph& then_branch, const Graph& else_branch) {
  Scope& scope = current_scope();
  const auto run = [&](const Graph& graph) { return n.run(graph, TensorSpan()); };
  const auto why = [&](const char* branch, const Error& error) {
    const bool is_told = error.code() == Code::kCancelled || error.code() == Code::kOutOfMemory;
    if (is_told) throw error;
    return "the " + std::string(branch) + " of the model does not fit such inputs: " + error.what();
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
      // The types are those of the other branch, which has to fit, then.
      trace_block(scope, {}, "a branch", [&](TensorSpan) {
        const Tensors outputs = run(else_branch);
        types = types_of(outputs);
        return outputs;
      });
      has_failed = true;
      return failing(types, text);
    }
  };
  const Block otherwise = [&](TensorSpan) {
    try {
      return run(else_branch);
    } catch (const Error& error) {
      const std::string text = why("else_branch", error);
      if (has_failed) throw;
      return failing(types, text);
    }
  };
  return cond(scope, as_scalar(n.in(0), "the condition"), then, otherwise);
}

// A Loop under trace. Carried are the number of trips so far, and what the body carries.
Tensors traced_loop(const NodeCall& n, const Graph& body) {
  Scope& scope = current_scope();
  require(body.inputs.size() >= 2 && !body.outputs.empty(), "a body takes {} inputs and gives {}",
          body.inputs.size(), body.outputs.size());
  const Tensors initial = inputs_of(n, 2, n.n_inputs());
  const size_t n_carried = initial.size();
  require(body.outputs.size() > n_carried, "a body gives {} outputs, and must give {} at least",
          body.outputs.size(), 1 + n_carried);
  const bool gathers = body.outputs.size() > 1 + n_carried;
  const bool begins_true = !n.has(1) || (n.known(1) && n.known(1)->values[0] == 1);
  const bool runs_all = begins_true && stays_true(body, body.outputs[0].name, body.inputs[1].name);
  require_code(!gathers || (runs_all && n.known(0)), Code::kFailedPrecondition,
               "how often the body runs, and so how large is what it collects, depends on values, "
               "which a trace does not have");

  const Tensor zero = fill(integer(0), Dims{}, DType::kI64);
  Tensor limit;
  if (n.has(0)) limit = cast(as_scalar(n.in(0), "the number of trips"), DType::kI64);
  const auto goes_on = [&](const Tensor& condition, const Tensor& trips) {
    Tensor go = runs_all || !condition ? Tensor() : as_scalar(condition, "the condition");
    if (!limit) return go ? go : fill(make_scalar_bool(true), Dims{}, DType::kBool);
    const Tensor is_less = less(trips, limit);
    return go ? logical_and(go, is_less) : is_less;
  };
  const Known is_true = {DType::kBool, Dims{}, {1}, {}};
  Loop loop = {.name = "Loop"};
  loop.go = goes_on(n.optional(1), zero);
  loop.carried = {zero};
  for (const Tensor& x : initial) loop.carried.push_back(x);
  loop.gathers = gathers;
  loop.body = [&](TensorSpan in) {
    ModelValues inputs = {in[0], ModelValue(Tensor(), is_true)};
    for (const Tensor& x : in.subspan(1)) inputs.emplace_back(x);
    const Tensors given = n.run(body, inputs);
    const Tensor trips = in[0] + integer(1);
    Tensors all = {goes_on(given[0], trips), trips};
    for (size_t i = 1; i < given.size(); ++i) all.push_back(given[i]);
    return all;
  };
  const Tensors found = tenon::loop(scope, loop);
  Tensors results;
  for (size_t i = 1; i < found.size(); ++i) {
    if (i <= n_carried) {
      results.push_back(found[i]);
    } else {
      results.push_back(list_stack(found[i], greatest(n.one_size(0), 0)));
    }
  }
  return results;
}

// x with an axis moved to another place.
Tensor moved(const Tensor& x, int64_t from, int64_t to) {
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

// A Scan under trace, over first axes: others are moved there, and backward ones turned around.
Tensors traced_scan(const NodeCall& n, const Graph& body, const ScanInputs& inputs) {
  const size_t n_scanned = inputs.scanned.size(), n_carried = inputs.carried.size();
  require(body.outputs.size() >= n_carried, "a body gives {} outputs, and must give {} at least",
          body.outputs.size(), n_carried);
  const Ints axes = one_for_each(n, "scan_input_axes", n_scanned);
  const Ints directions = one_for_each(n, "scan_input_directions", n_scanned);
  Tensors scanned;
  for (size_t k = 0; k < n_scanned; ++k) {
    const Tensor& x = inputs.scanned[k];
    const Tensor first = moved(x, require_axis(axes[k], x->rank(), "scan_input_axes"), 0);
    scanned.push_back(directions[k] == 1 ? flip(first, {0}) : first);
  }
  const Block step = [&](TensorSpan operands) { return n.run(body, operands); };
  Tensors results = tenon::scan(current_scope(), step, inputs.carried, scanned);
  const size_t n_collected = body.outputs.size() - n_carried;
  const Ints to = one_for_each(n, "scan_output_axes", n_collected);
  const Ints back = one_for_each(n, "scan_output_directions", n_collected);
  for (size_t k = 0; k < n_collected; ++k) {
    Tensor& y = results[n_carried + k];
    if (back[k] == 1) y = flip(y, {0});
    y = moved(y, 0, require_axis(to[k], y->rank(), "scan_output_axes"));
  }
  return results;
}

}  // namespace

Tensors if_else(const NodeCall& n) {
  const Graph &then_branch = body_of(n, "then_branch"), &else_branch = body_of(n, "else_branch");
  if (!is_traced()) return n.run(truth(n.in(0)) ? then_branch : else_branch, TensorSpan());
  return traced_if(n, then_branch, else_branch);
}

// As long as the condition holds, which the body gives anew, and at most so many rounds.
Tensors loop(const NodeCall& n) {
  const Graph& body = body_of(n, "body");
  if (is_traced()) return traced_loop(n, body);
  const int64_t most = n.has(0) ? n.one_int(0) : std::numeric_limits<int64_t>::max();
  bool goes_on = !n.has(1) || truth(n.in(1));
  Rounds rounds(body, inputs_of(n, 2, n.n_inputs()), 1);
  for (int64_t i = 0; goes_on && i < most; ++i) {
    Tensors inputs = {host_ints({i}, {}), ones(TensorType(DType::kBool, {}))};
    for (const Tensor& x : rounds.carried) inputs.push_back(x);
    const Tensors outputs = n.run(body, inputs);
    rounds.take(outputs);
    goes_on = truth(outputs[0]);
  }
  Tensors results = rounds.carried;
  for (const Tensors& collected : rounds.collected) results.push_back(stacked(collected, 0));
  return results;
}

Tensors scan(const NodeCall& n) {
  if (n.version() < 9) return scan_batch(n);
  const Graph& body = body_of(n, "body");
  const ScanInputs inputs = scan_inputs(n, 0);
  if (is_traced()) return traced_scan(n, body, inputs);
  const size_t n_scanned = inputs.scanned.size();
  const Rounds rounds = scan_over(n, body, inputs.carried, inputs.scanned,
                                  one_for_each(n, "scan_input_axes", n_scanned),
                                  one_for_each(n, "scan_input_directions", n_scanned));
  const size_t n_collected = rounds.collected.size();
  const Ints axes = one_for_each(n, "scan_output_axes", n_collected);
  const Ints directions = one_for_each(n, "scan_output_directions", n_collected);
  Tensors results = rounds.carried;
  for (size_t k = 0; k < n_collected; ++k) {
    const Tensor y = stacked(rounds.collected[k], axes[k]);
    results.push_back(directions[k] == 1 ? flip(y, {axes[k]}) : y);
  }
  return results;
}

}  // namespace tenon::onnx::adapters
