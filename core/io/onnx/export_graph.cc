#include "core/io/onnx/export_graph.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/search.h"
#include "core/dispatch/dispatch.h"
#include "core/io/onnx/graph_exporter.h"
#include "core/trace/graph/text_form.h"
#include "core/trace/plans/subgraph.h"
#include "core/trace/tracer.h"

namespace tenon::onnx {
namespace {

// Copies the trace's graph and gives it a new size table. The export adds assumptions about sizes,
// which must not restrict the trace itself.
std::shared_ptr<tenon::Graph> copy_of(Scope& scope, const tenon::Graph& primal) {
  auto graph = std::make_shared<tenon::Graph>();
  std::vector<std::optional<int64_t>> examples;
  {
    SizeTable& table = primal.sizes();
    const SizeTable::Use use(table);
    for (size_t i = 0; i < table.n_symbols(); ++i) {
      examples.push_back(example_of(table.symbol(table.symbol_name(i))));
    }
  }
  Tracer tracer(scope, *graph);
  tracer.disable_warnings();
  const Sizes symbols = graph->sizes().import_symbols(primal.sizes(), examples);
  Tensors inputs;
  for (const tenon::Node* node : primal.inputs()) {
    inputs.push_back(tracer.input(substitute_sizes(primal, node->types[0], symbols), node->role,
                                  node->names[0], *node->device));
  }
  const Subgraph all(primal, first_outputs_of(primal.inputs()), primal.outputs());
  tracer.finish(all.apply(scope, symbols, inputs));
  return graph;
}

// Formats the guards of a graph, such as "where n > 1, n < m".
std::string guards_text(const tenon::Graph& graph) {
  std::string text;
  for (const SizeTest& guard : graph.sizes().guards()) {
    text += (text.empty() ? "where " : ", ") + graph.sizes().text(guard);
  }
  return text;
}

}  // namespace

ExportedModel export_model(Scope& scope, const std::string& name, Trace& trace,
                           const StoredNames& stored, Inexpressible& unsayable) {
  const tenon::Graph& primal = trace.graph();
  const auto graph = copy_of(scope, primal);
  ExportedModel model{.name = name};
  model.graph.name = name;
  model.graph.doc = guards_text(primal);
  Body body(graph->shared_sizes(), false);
  NodeWriter w(body, model.graph.nodes);
  Functions functions;
  GraphExporter code(scope, functions, unsayable, name);

  const auto declare = [&](const std::string& value, const TensorType& type) {
    if (type.lists) unsayable.add(fmt::format("{}: {} is a list of tensors", name, value));
    if (onnx_type_number(type.dtype) == 0) {
      unsayable.add(fmt::format("{}: {} is {}, which ONNX does not support", name, value,
                                tenon::name_of(type.dtype)));
    }
    model.operator_set = std::max(model.operator_set, operator_set_of(type.dtype));
    return value_info(value, type.dtype, declared_shape(body.sizes, type));
  };

  // Arguments become inputs first, so that they get their declared names.
  GraphExporter::Values values(graph->n_slots());
  size_t argument = 0;
  for (const tenon::Node* node : graph->inputs()) {
    if (node->role != InputRole::kArgument) continue;
    const std::string input = body.names.fresh(trace.argument_name(argument++));
    model.inputs.push_back(input);
    model.graph.inputs.push_back(declare(input, node->types[0]));
    body.learn(input, node->types[0]);
    values[node->first_slot] = input;
  }
  size_t capture = 0, state = 0;
  for (const tenon::Node* node : graph->inputs()) {
    const TensorType& type = node->types[0];
    std::string& value = values[node->first_slot];
    if (node->role == InputRole::kCapture) {
      value = stored.captures.at(trace.captures()[capture++]->assign_identity());
      model.captures.push_back(value);
      if (body.names.take(value)) model.external.push_back({value, type});
    } else if (node->role == InputRole::kState) {
      const size_t i = state++;
      const Cell* cell = trace.states()[i].get();
      if (type.is_token()) {
        value = kTokenName;
        model.states.push_back({"", "", cell});
        continue;
      }
      value = stored.cells.at(cell);
      body.names.take(value);
      const bool assigned = primal.outputs()[i].node->kind != NodeKind::kInput ||
                            primal.outputs()[i].node->role != InputRole::kState ||
                            graph->outputs()[i].node != node;
      if (assigned) {
        model.graph.inputs.push_back(declare(value, type));
        model.states.push_back({value, "", cell});
      } else {
        model.external.push_back({value, type});
        model.states.push_back({"", "", cell});
      }
    }
  }

  // The graph's outputs are the new values of the states, then the outputs of the function. The
  // ONNX model lists the function's outputs first.
  const size_t n_states = trace.states().size(), n_outputs = graph->outputs().size() - n_states;
  std::vector<Value> wanted(graph->outputs().begin() + static_cast<ptrdiff_t>(n_states),
                            graph->outputs().end());
  // If an output is an input and both have the same name in the trace, the output keeps that name.
  std::vector<bool> is_passed_on(n_outputs, false);
  for (size_t i = 0; i < n_outputs; ++i) {
    const std::string given = trace.output_name(i);
    const bool is_input = wanted[i].node->kind == NodeKind::kInput;
    is_passed_on[i] = is_input && !given.empty() && values[wanted[i].slot()] == given &&
                      !contains(model.outputs, given);
    const std::string usual = n_outputs == 1 ? "output" : "output_" + std::to_string(i);
    model.outputs.push_back(is_passed_on[i] ? given
                                            : body.names.fresh(given.empty() ? usual : given));
  }
  Texts outputs = model.outputs;
  std::vector<Value> tokens;  // Order tokens; exported like outputs, to keep all effects.
  for (size_t i = 0; i < n_states; ++i) {
    if (graph->outputs()[i].type().is_token()) tokens.push_back(graph->outputs()[i]);
    if (model.states[i].input.empty()) continue;
    model.states[i].output = body.names.fresh(model.states[i].input + "_next");
    outputs.push_back(model.states[i].output);
    wanted.push_back(graph->outputs()[i]);
  }
  wanted.insert(wanted.end(), tokens.begin(), tokens.end());
  const Texts found = code.write(w, *graph, std::move(values), wanted);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const bool is_there = i < n_outputs && is_passed_on[i];
    if (!is_there) w.node_for("Identity", {found[i]}, {outputs[i]});
    model.graph.outputs.push_back(declare(outputs[i], wanted[i].type()));
  }
  model.graph.nodes.insert(model.graph.nodes.begin(), body.first.begin(), body.first.end());
  model.graph.initializers = std::move(body.initializers);
  model.functions = std::move(functions.all);
  model.operator_set = std::max(model.operator_set, code.needed_operator_set());
  return model;
}

std::string model_bytes(const ExportedModel& model, std::string_view weights_file,
                        const LocationOf& place) {
  GraphParts parts = model.graph;
  for (const ExportedModel::External& each : model.external) {
    const auto [offset, length] = place(each.name);
    const std::span<const int64_t> shape(each.type.shape.data(), each.type.rank());
    parts.initializers.push_back(
        tensor_in_file(each.name, each.type.dtype, shape, weights_file, offset, length));
  }
  WireWriter out;
  out.number(1, static_cast<uint64_t>(kIrVersion)).text(2, "tenon");
  out.message(7, graph(parts));
  out.message(8, operator_set("", model.operator_set));
  if (!model.functions.empty()) out.message(8, operator_set(kTenonDomain, kTenonOperatorSet));
  for (const WireWriter& function : model.functions) out.message(25, function);
  return out.bytes();
}

}  // namespace tenon::onnx
