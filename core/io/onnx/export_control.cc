// Exports loops, branches, tensor lists, and ops whose results are sizes.

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/io/onnx/graph_exporter.h"
#include "core/ops/definition/formulas.h"
#include "core/trace/control/lists.h"
#include "core/trace/graph/order.h"

namespace tenon::onnx {
namespace {

// Returns the value of an attribute of type T.
template <class T>
const T& attr_of(const tenon::Node& node, std::string_view name) {
  const AttrField* field = node.op->attrs->find(name);
  require_code(field != nullptr, Code::kInternal, "{} has no attribute {}", node.op->name, name);
  return field->get<T>(node.attrs.view().data);
}

// Returns a graph for an attribute of a node. ONNX requires that its outputs are computed inside it
// and have distinct names, so other values pass through Identity nodes.
WireWriter inner_graph(std::string_view name, NodeWriter& w, std::vector<WireWriter> inputs,
                       Texts outputs, std::span<const TensorType> types) {
  GraphParts parts{.name = std::string(name), .inputs = std::move(inputs)};
  for (size_t i = 0; i < outputs.size(); ++i) {
    const bool again = std::find(outputs.begin(), outputs.begin() + static_cast<ptrdiff_t>(i),
                                 outputs[i]) != outputs.begin() + static_cast<ptrdiff_t>(i);
    if (again || !w.has_computed(outputs[i])) outputs[i] = w.node("Identity", {outputs[i]});
    const std::vector<DeclaredSize> shape = declared_shape(w.body().sizes, types[i]);
    parts.outputs.push_back(value_info(outputs[i], types[i].dtype, shape));
  }
  parts.nodes = w.nodes();
  return graph(parts);
}

// ---- analysis of counters

// Whether x is the integer constant `number`, or a tensor filled with it.
bool is_number(const Value& x, int64_t number) {
  const tenon::Node& node = *x.node;
  if (node.kind == NodeKind::kCall && node.op->name == "fill")
    return is_number(node.inputs[0], number);
  return node.kind == NodeKind::kConstant && !is_floating(node.constant->type.dtype) &&
         node.constant->int_value == number;
}

// Whether x is a result of the op.
bool is_call(const Value& x, std::string_view op) {
  return x.node->kind == NodeKind::kCall && x.node->op->name == op;
}

// Whether carried value i of a loop starts at 0 and grows by 1 in each iteration.
bool counts_trips(const tenon::Node& loop, const tenon::Graph& body, size_t i) {
  const Value next = body.outputs()[1 + i], now = body.inputs()[i]->output();
  if (!is_number(loop.inputs[1 + i], 0) || !is_call(next, "add")) return false;
  const Values& in = next.node->inputs;
  return (in[0] == now && is_number(in[1], 1)) || (in[1] == now && is_number(in[0], 1));
}
// Whether carried value i shrinks by 1 in each iteration.
bool counts_down(const tenon::Graph& body, size_t i) {
  const Value next = body.outputs()[1 + i], now = body.inputs()[i]->output();
  return is_call(next, "sub") && next.node->inputs[0] == now && is_number(next.node->inputs[1], 1);
}

// Returns the number of iterations of a loop whose condition depends only on a counter. The counter
// goes from 0 up to a loop-invariant number, or from a number down to 0. Otherwise returns an empty
// Value.
Value trip_count_of(const tenon::Node& loop, const tenon::Graph& body) {
  const Value go = body.outputs()[0], first = loop.inputs[0];
  for (size_t i = 0; i + 1 < body.outputs().size(); ++i) {
    const Value next = body.outputs()[1 + i];
    if (is_call(go, "less") && is_call(first, "less") && counts_trips(loop, body, i)) {
      for (size_t k = body.outputs().size() - 1; k < body.inputs().size(); ++k) {
        const Value bound = body.inputs()[k]->output(), outside = loop.inputs[1 + k];
        const Values &in = go.node->inputs, &before = first.node->inputs;
        if (in[0] == next && in[1] == bound && is_number(before[0], 0) && before[1] == outside) {
          return outside;
        }
      }
    }
    if (is_call(go, "greater") && is_call(first, "greater") && counts_down(body, i)) {
      const Values &in = go.node->inputs, &before = first.node->inputs;
      const Value start = loop.inputs[1 + i];
      if (in[0] == next && is_number(in[1], 0) && before[0] == start && is_number(before[1], 0)) {
        return start;
      }
    }
  }
  return Value();
}

// Returns how often the graph uses x, as an operand or as an output.
size_t count_reads(const tenon::Graph& graph, const Value& x) {
  size_t n = 0;
  for (const tenon::Node& node : graph.nodes()) {
    for (const Value& input : node.inputs) n += input == x;
  }
  for (const Value& output : graph.outputs()) n += output == x;
  return n;
}

// Describes a list, in carried value i of a loop, that the loop fills completely: the list is empty
// before the loop, each iteration stores `x` at its own index, and the body does not read the list.
// With `from_end`, the entries are stored from the last one to the first.
struct Collected {
  Value x;
  bool from_end;
};
std::optional<Collected> find_scan_output_of_list(const tenon::Node& loop, const tenon::Graph& body,
                                                  size_t i, const Value& trips) {
  const Value list = body.inputs()[i]->output(), next = body.outputs()[1 + i];
  if (list.type().lists != 1 || next.node->kind != NodeKind::kCall) return std::nullopt;
  const tenon::Node &set = *next.node, &start = *loop.inputs[1 + i].node;
  const bool is_set = set.op->name == "list_set" && set.inputs.size() > 2 && set.inputs[2];
  const bool starts_empty = start.kind == NodeKind::kCall && start.op->name == "list_create";
  if (!is_set || !starts_empty || set.inputs[0] != list || count_reads(body, list) != 1 ||
      count_reads(body, next) != 1) {
    return std::nullopt;
  }
  for (size_t c = 0; c + 1 < body.outputs().size(); ++c) {
    if (set.inputs[1] != body.inputs()[c]->output()) continue;
    if (counts_trips(loop, body, c)) return Collected{set.inputs[2], false};
    const Value start = loop.inputs[1 + c];
    const bool at_end = trips && is_call(start, "sub") && start.node->inputs[0] == trips &&
                        is_number(start.node->inputs[1], 1);
    if (at_end && counts_down(body, c)) return Collected{set.inputs[2], true};
  }
  return std::nullopt;
}

// Pads a list with zeros so that it has at least `length` entries.
std::string extend_list_to(NodeWriter& w, const std::string& list, const TensorType& type,
                           const std::string& length) {
  const Attributes first = {attribute("start", int64_t{0}), attribute("end", int64_t{1})};
  const std::string here = w.node("Shape", {list}, first);
  std::string missing = w.node("Max", {w.node("Sub", {length, here}), w.integers({0})});
  const Attributes along_first = {attribute("axis", int64_t{0})};
  if (type.rank() > 0) missing = w.node("Concat", {missing, w.sizes(type.shape)}, along_first);
  return w.node("Concat", {list, w.zeros(type.dtype, missing)}, along_first);
}

}  // namespace

// Exports a call with regions, lists, effects or sizes.
void GraphExporter::write_control(GraphState& at, const tenon::Node& node) {
  const std::string& op = node.op->name;
  NodeWriter& w = at.w;
  if (op == "while_loop") return write_loop(at, node);
  if (op.starts_with("list_")) return write_list(at, node);
  if (op == "shape") {
    const Sizes& sizes = attr_of<Sizes>(node, "sizes");
    const std::string value = w.sizes(sizes.span());
    if (sizes.size() == 1) size_values_.emplace(value, sizes[0]);
    return set_output_names(at, node, {value});
  }
  if (op == "extent") {
    const std::string n = w.reshape(name_of(at, node.inputs[0], DType::kI64), {1});
    w.set_size(node.types[0].shape[0], n);
    return set_output_names(at, node, {n});  // Consumers of the extent read it from `n`.
  }
  if (op == "assign")
    return set_output_names(at, node, {name_of(at, node.inputs[0], node.types[0].dtype)});
  if (!node.inputs.empty() && node.inputs[0] && node.inputs[0].type().is_token()) {
    if (op != "call" && op != "recompute") return write_effect(at, node);
  }
  const bool is_inline = op == "call" || op == "recompute";
  if (op != "branch" && !is_inline) return report_inexpressible(at, node, "ONNX has no equivalent");
  Texts operands;
  for (const Value& x : node.operands()) operands.push_back(name_of(at, x, x.type().dtype));
  if (is_inline) {
    return set_output_names(at, node,
                            write_region(w, *region_attrs(node.attrs.view()).regions[0], operands));
  }
  const std::string which = operands[0];
  operands.erase(operands.begin());
  set_output_names(at, node, write_choice(w, node, which, operands, 0));
}

// Exports a print or an assertion as a function that returns its first operand. Later nodes use the
// result of the function instead of the operand, which keeps the order of effects.
void GraphExporter::write_effect(GraphState& at, const tenon::Node& node) {
  const std::string& op = node.op->name;
  if (op == "commit") return set_output_names(at, node, {kTokenName});
  if (op == "reload") {
    return set_output_names(at, node,
                            {name_of(at, node.inputs[1], node.types[0].dtype), kTokenName});
  }
  if (op.starts_with("host_"))
    return report_inexpressible(at, node, "a host callback cannot be saved in a file");
  if (node.inputs.size() < 2)
    return report_inexpressible(
        at, node, "the effect has no operand from which its order could follow in ONNX");
  const TensorTypes types = types_of_inputs(node);
  Texts in;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (types[i].lists) return report_inexpressible(at, node, "ONNX has no lists of this kind");
    in.push_back(name_of(at, node.inputs[i], types[i].dtype));
  }
  TensorTypes own;
  for (size_t i = 1; i < types.size(); ++i) own.push_back(types[i]);
  OpCall call(node, at.w, std::move(in), std::move(own), {true});
  call_function(call, [](NodeWriter&, const Texts& inputs) { return Texts{inputs[0]}; });
  const Value first = node.inputs[1];
  const bool is_named = first.node->kind != NodeKind::kConstant && !first.type().weak;
  if (is_named) at.values[first.slot()] = call.out[0];
  if (node.types[0].is_token()) return set_output_names(at, node, {kTokenName});
  set_output_names(at, node, {call.out[0], kTokenName});
}

// Writes the nodes of a region, with `operands` as its inputs. Returns the names of its outputs.
Texts GraphExporter::write_region(NodeWriter& w, const Region& region, const Texts& operands) {
  const tenon::Graph& graph = region.graph();
  Values values(graph.n_slots());
  for (size_t i = 0; i < operands.size(); ++i) values[graph.inputs()[i]->first_slot] = operands[i];
  return write(w, graph, std::move(values), graph.outputs());
}

// Exports regions i, i + 1, ... as nested If nodes. The last region is the default.
Texts GraphExporter::write_choice(NodeWriter& w, const tenon::Node& node, const std::string& which,
                                  const Texts& operands, size_t i) {
  const Regions& regions = region_attrs(node.attrs.view()).regions;
  if (i + 1 == regions.size()) return write_region(w, *regions[i], operands);
  const bool is_bool = node.inputs[0].type().dtype == DType::kBool;
  const std::string condition =
      is_bool ? which : w.node("Equal", {which, w.integer(static_cast<int64_t>(i))});
  std::vector<TensorType> types;
  for (const TensorType& type : node.types) {
    if (!type.is_token()) types.push_back(type);
  }
  const auto without_tokens = [&](Texts all) {
    std::erase(all, kTokenName);
    return all;
  };
  std::vector<WireWriter> then_nodes, else_nodes;
  NodeWriter then(w.body(), then_nodes), otherwise(w.body(), else_nodes);
  Texts of_then = without_tokens(write_region(then, *regions[i], operands));
  const WireWriter then_graph = inner_graph("then", then, {}, std::move(of_then), types);
  Texts of_else = without_tokens(write_choice(otherwise, node, which, operands, i + 1));
  const WireWriter else_graph = inner_graph("else", otherwise, {}, std::move(of_else), types);
  Texts found = w.nodes_of(
      "If", {condition}, types.size(),
      {graph_attribute("then_branch", then_graph), graph_attribute("else_branch", else_graph)});
  for (size_t y = 0; y < node.types.size(); ++y) {
    if (!node.types[y].is_token()) continue;
    found.insert(found.begin() + static_cast<ptrdiff_t>(y), kTokenName);
  }
  return found;
}

void GraphExporter::write_loop(GraphState& at, const tenon::Node& node) {
  const tenon::Graph& body = region_attrs(node.attrs.view()).regions[0]->graph();
  NodeWriter& w = at.w;
  const size_t n = body.outputs().size() - 1;
  std::vector<WireWriter> nodes, parameters;
  NodeWriter inside(w.body(), nodes);
  const auto parameter = [&](std::string_view name, const TensorType& type) {
    const std::string own = w.body().names.fresh(name);
    parameters.push_back(value_info(own, type.dtype, declared_shape(w.body().sizes, type)));
    return own;
  };
  parameter("trip", TensorType(DType::kI64, {}));
  const std::string go = parameter("go", TensorType(DType::kBool, {}));

  // If the number of iterations is the value of a size, it becomes the trip count of the Loop.
  // Otherwise the condition ends the loop.
  const Value trips = trip_count_of(node, body);
  const std::string bound = trips ? name_of(at, trips, DType::kI64) : "";
  const bool is_bound = trips && size_values_.contains(bound);
  Texts operands = {is_bound ? bound : "",
                    is_bound ? "" : name_of(at, node.inputs[0], DType::kBool)};
  Values values(body.n_slots());
  std::vector<Value> outputs, scanned;
  if (!is_bound) outputs.push_back(body.outputs()[0]);
  std::vector<size_t> carried, gathered, tokens;
  std::vector<bool> from_end;
  for (size_t i = 0; i < body.inputs().size(); ++i) {
    const Value input = body.inputs()[i]->output();
    if (input.type().is_token()) {
      values[input.slot()] = kTokenName;
      if (i < n) tokens.push_back(i);
      continue;
    }
    const Value counted = is_bound ? trips : Value();
    if (const auto found =
            i < n ? find_scan_output_of_list(node, body, i, counted) : std::nullopt) {
      gathered.push_back(i);
      scanned.push_back(found->x);
      from_end.push_back(found->from_end);
      continue;
    }
    const std::string given = name_of(at, node.inputs[1 + i], input.type().dtype);
    values[input.slot()] = i < n ? parameter("carried", input.type()) : given;
    if (i >= n) continue;
    carried.push_back(i);
    operands.push_back(given);
    outputs.push_back(body.outputs()[1 + i]);
  }
  outputs.insert(outputs.end(), scanned.begin(), scanned.end());
  std::vector<TensorType> types;
  if (is_bound) types.push_back(TensorType(DType::kBool, {}));
  for (const Value& y : outputs) types.push_back(y.type());
  for (const size_t i : tokens) outputs.push_back(body.outputs()[1 + i]);
  Texts given = write(inside, body, std::move(values), outputs);
  given.resize(given.size() - tokens.size());
  if (is_bound) given.insert(given.begin(), go);
  const WireWriter graph =
      inner_graph("body", inside, std::move(parameters), std::move(given), types);
  const Texts found =
      w.nodes_of("Loop", operands, types.size() - 1, {graph_attribute("body", graph)});
  Texts results(n, kTokenName);
  for (size_t i = 0; i < carried.size(); ++i) {
    const bool is_count = is_bound && counts_trips(node, body, carried[i]);
    results[carried[i]] = is_count ? bound : found[i];
  }
  for (size_t i = 0; i < gathered.size(); ++i) {
    std::string& list = results[gathered[i]];
    list = found[carried.size() + i];
    if (from_end[i]) {
      const std::string last = w.integers({-1});
      const std::string before_all = w.integers({std::numeric_limits<int64_t>::min()});
      list = w.node("Slice", {list, last, before_all, w.integers({0}), last});
    }
    full_lists_.insert(list);
    if (is_bound) lengths_.emplace(list, size_values_.at(bound));
  }
  set_output_names(at, node, results);
}

// Exports a call of a list op. The list becomes a tensor whose first axis counts the entries.
void GraphExporter::write_list(GraphState& at, const tenon::Node& node) {
  const std::string& op = node.op->name;
  NodeWriter& w = at.w;
  Texts in;
  for (const Value& x : node.operands())
    in.push_back(name_of(at, x, x ? x.type().dtype : DType::kNone));
  for (const TensorType& type : types_of_inputs(node)) {
    if (type.lists > 1) return report_inexpressible(at, node, "ONNX has no lists of lists");
  }
  if (node.types[0].lists > 1) return report_inexpressible(at, node, "ONNX has no lists of lists");
  const TensorType& type = node.types[0];
  const Attributes along_first = {attribute("axis", int64_t{0})};
  const auto behind = [&](const std::string& index) {
    return w.node("Add", {w.reshape(index, {1}), w.integers({1})});
  };
  if (op == "list_create") {
    Dims shape = type.shape;
    shape.insert(0, attr_of<Size>(node, "capacity"));
    set_output_names(at, node, {w.zeros(type.dtype, w.sizes(shape))});
  } else if (op == "list_set") {
    const std::string x =
        in.size() > 2 && !in[2].empty()
            ? w.node("Unsqueeze", {in[2], w.integers({0})})
            : w.node("Unsqueeze", {w.zeros(type.dtype, w.sizes(type.shape)), w.integers({0})});
    const std::string list = extend_list_to(w, in[0], element_of(type), behind(in[1]));
    set_output_names(at, node, {w.node("ScatterND", {list, w.reshape(in[1], {1, 1}), x})});
  } else if (op == "list_get") {
    // A full list has an entry at every valid index, so it need not be extended.
    const bool is_full = full_lists_.contains(in[0]);
    const std::string list = is_full ? in[0] : extend_list_to(w, in[0], type, behind(in[1]));
    set_output_names(at, node, {w.node("Gather", {list, in[1]}, along_first)});
  } else if (op == "list_add") {
    const Attributes first = {attribute("start", int64_t{0}), attribute("end", int64_t{1})};
    const std::string a = w.node("Shape", {in[0]}, first), b = w.node("Shape", {in[1]}, first);
    const TensorType element = element_of(type);
    set_output_names(at, node,
                     {w.node("Add", {extend_list_to(w, in[0], element, b),
                                     extend_list_to(w, in[1], element, a)})});
  } else if (op == "list_stack") {
    TensorType element = type;
    element.shape.erase(0);
    const Size asked = w.body().sizes.resolved(attr_of<Size>(node, "length"));
    const auto known = lengths_.find(in[0]);
    if (known != lengths_.end() && identical(w.body().sizes.resolved(known->second), asked)) {
      return set_output_names(at, node, {in[0]});
    }
    const std::string length = w.size(asked);
    const std::string list = extend_list_to(w, in[0], element, length);
    set_output_names(at, node, {w.node("Slice", {list, w.integers({0}), length, w.integers({0})})});
  } else if (op == "list_unstack") {
    full_lists_.insert(in[0]);
    set_output_names(at, node, {in[0]});
  } else {
    report_inexpressible(at, node, "ONNX has no equivalent");
  }
}

}  // namespace tenon::onnx
