#include "core/trace/trace_body.h"

#include <map>

#include "core/base/error.h"
#include "core/base/search.h"
#include "core/dispatch/dispatch.h"

namespace tenon {

std::string name_of_input(std::span<const InputSpec> specs, size_t i) {
  return i < specs.size() && !specs[i].name.empty() ? specs[i].name : "x" + std::to_string(i);
}

TracedBody trace_function_body(Scope& scope, std::string_view name,
                               const std::vector<InputSpec>& specs, TensorSpan examples,
                               const Function::Body& body, const Statics& statics,
                               bool is_relaxed) {
  TracedBody out;
  Graph& graph = *out.graph;
  Tracer tracer(scope, graph, name);
  if (!is_relaxed) graph.sizes().forbid_host_reads();
  Tensors inputs;
  for (size_t i = 0; i < specs.size(); ++i) {
    const InputSpec& spec = specs[i];
    const std::string input = name_of_input(specs, i);
    TensorType type(spec.dtype, Dims{});
    type.weak = spec.weak;
    type.lists = spec.lists;
    for (size_t axis = 0; axis < spec.sizes.size(); ++axis) {
      if (spec.sizes[axis] != InputSpec::kUnknown) {
        type.shape.push_back(spec.sizes[axis]);
        continue;
      }
      const bool named = axis < spec.dim_names.size() && !spec.dim_names[axis].empty();
      std::optional<int64_t> example;
      if (!examples.empty()) example = examples[i]->shape()[axis];
      const Size size = graph.sizes().symbol(
          named ? spec.dim_names[axis] : input + "_" + std::to_string(axis), example);
      // The size is unknown because it differed between calls, not by a signature. The trace then
      // accepts only sizes of at least 2: sizes 0 and 1 get traces of their own, because 1 may
      // broadcast.
      if (is_relaxed) (size >= 2).hold();
      type.shape.push_back(size);
    }
    Device* device = &scope.device();
    if (!examples.empty() && examples[i]->storage) device = examples[i]->storage->device;
    inputs.push_back(tracer.input(type, InputRole::kArgument, input, *device));
  }
  const Tensors outputs = [&] {
    try {
      return body(scope, inputs, statics);
    } catch (const Error&) {
      graph.sizes().raise_failed_read();  // The failed read caused this error.
      throw;
    }
  }();
  graph.sizes().raise_failed_read();
  tracer.finish(outputs);
  out.captures = tracer.captures();
  out.states = tracer.states();
  out.stored = tracer.stored();
  for (const Tracer::Made& made : tracer.made()) {
    if (made.is_permanent()) out.made.push_back(made);
  }
  return out;
}

void initialise_variables(Scope& scope, const TracedBody& written, TensorSpan examples) {
  std::vector<Value> given, wanted;
  Tensors inputs;
  size_t argument = 0, capture = 0, state = 0;
  for (Node* node : written.graph->inputs()) {
    if (node->role == InputRole::kArgument) {
      if (examples.empty()) continue;
      inputs.push_back(without_donation(scope, examples[argument++]));
    } else if (node->role == InputRole::kCapture) {
      inputs.push_back(written.captures[capture++]);
    } else {
      inputs.push_back(written.states[state++]->load_untraced());
    }
    given.push_back(node->output());
  }
  for (const Tracer::Made& made : written.made) {
    if (made.initial) wanted.push_back(made.initial);
  }
  if (wanted.empty()) return;
  try {
    // Random draws for these initial values advance their generators now. Assignments of variables
    // take effect only when the call runs its trace.
    const Subgraph draws(*written.graph, given, wanted);
    std::map<const Cell*, Value> drawn;
    for (const Tracer::Stored& stored : written.stored) {
      const bool is_draw = stored.cell->kind() == Kind::kGenerator;
      if (is_draw && contains(draws.nodes(), stored.value.node)) drawn[stored.cell] = stored.value;
    }
    for (const auto& [cell, value] : drawn) wanted.push_back(value);
    const Scope::Unrecorded unrecorded(scope);
    const Sizes sizes = sizes_for(*written.graph, examples).value_or(Sizes());
    const Tensors values = Subgraph(*written.graph, given, wanted).apply(scope, sizes, inputs);
    size_t next = 0;
    for (const Tracer::Made& made : written.made) {
      if (made.initial) made.cell->store_untraced(values[next++]);
    }
    for (const auto& [cell, value] : drawn) const_cast<Cell*>(cell)->store_untraced(values[next++]);
  } catch (const Error& error) {
    fail_because(error, error.code(), "the initial value of a variable cannot be computed: {}",
                 {error.what()});
  }
}

}  // namespace tenon
