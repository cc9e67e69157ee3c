#include "core/trace/inspect.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/dispatch/explain.h"
#include "core/dispatch/operands.h"
#include "core/trace/graph/region.h"
#include "core/trace/graph/text_form.h"
#include "core/trace/plans/subgraph.h"

namespace tenon {
namespace {

// Counts the bytes that live values hold: the current number and the maximum so far.
struct HostObject {
  uint64_t now = 0, most = 0;
};

// A storage without memory. Adds its size to `counted` until all values that share it are released.
class UncountedStorage final : public NonMemoryStorage<UncountedStorage> {
 public:
  UncountedStorage(Device& of, uint64_t bytes, HostObject* counted) : counted_(counted) {
    device = &of;
    size = bytes;
    if (!counted_) return;
    counted_->now += bytes;
    counted_->most = std::max(counted_->most, counted_->now);
  }
  ~UncountedStorage() {
    if (counted_) counted_->now -= size;
  }

 private:
  HostObject* counted_;  // NULL: not counted.
};

// Returns the memory size of a value; 0 for an inline scalar.
uint64_t stored_bytes_of(const TensorType& type) { return type.weak ? 0 : bytes_of(type); }

// Returns a placeholder tensor of this type. The value of an inline scalar is arbitrary.
Tensor make_placeholder(const TensorType& type, Device& device, HostObject* counted) {
  Tensor x = Tensor::adopt(new TensorImpl);
  x->type = type;
  if (type.weak) return x;
  x->strides = dense_strides(type.shape);
  x->storage = Ref<Storage>::adopt(new UncountedStorage(device, stored_bytes_of(type), counted));
  return x;
}

const char* name_of_execution(Execution::How how) {
  switch (how) {
    case Execution::How::kView:
      return "view";
    case Execution::How::kKernel:
      return "kernel";
    case Execution::How::kDecomposed:
      return "parts";
    default:
      return "elsewhere";
  }
}

class Inspector {
 public:
  explicit Inspector(Scope& scope) : scope_(scope) {}

  // Visits the calls of a graph with these inputs.
  void visit(const Graph& graph, std::span<const Size> sizes, const std::vector<Tensor>& inputs,
             int level);

  HostObject held;
  Json calls = Json::array();

 private:
  void call(const Graph& graph, const Node& node, std::span<const Size> sizes,
            std::vector<Tensor>& values, int level);
  void visit_regions(AnyAttrs attrs, int level);
  void make_view_outputs(const Call& call, const TensorTypes& types, std::vector<Tensor>& values,
                         const Node& node);

  Scope& scope_;
};

void Inspector::visit(const Graph& graph, std::span<const Size> sizes,
                      const std::vector<Tensor>& inputs, int level) {
  std::vector<const Node*> last(graph.n_slots(), nullptr);
  for (const Node& node : graph.nodes()) {
    for (size_t i = 0; i < node.types.size(); ++i) last[node.first_slot + i] = &node;
    for (const Value& x : node.inputs) {
      if (x) last[x.slot()] = &node;
    }
  }
  for (const Value& y : graph.outputs()) last[y.slot()] = nullptr;
  std::vector<Tensor> values(graph.n_slots());
  size_t next = 0;
  for (const Node* node : graph.inputs()) values[node->first_slot] = inputs[next++];
  for (const Node& node : graph.nodes()) {
    if (node.kind == NodeKind::kConstant) values[node.first_slot] = node.constant;
    if (node.kind == NodeKind::kCall) call(graph, node, sizes, values, level);
    const auto release = [&](uint32_t slot) {
      if (last[slot] == &node) values[slot].reset();
    };
    for (const Value& x : node.inputs) {
      if (x) release(x.slot());
    }
    for (uint32_t i = 0; i < node.types.size(); ++i) release(node.first_slot + i);
  }
}

// Reports where and how a call would run. Sets its outputs in `values` to placeholders.
void Inspector::call(const Graph& graph, const Node& node, std::span<const Size> sizes,
                     std::vector<Tensor>& values, int level) {
  std::vector<Tensor> operands;
  SmallVector<TensorImpl*, 6> borrowed;
  for (const Value& x : node.operands()) {
    operands.push_back(x ? values[x.slot()] : Tensor());
    borrowed.push_back(operands.back().get());
  }
  TensorTypes types;
  for (const TensorType& type : node.types) types.push_back(substitute_sizes(graph, type, sizes));
  OwnedAttrs own;
  const bool is_open = has_formulas(node.attrs.view());
  if (is_open) own = substitute_sizes(graph.sizes(), node.attrs.view(), sizes);
  const AnyAttrs attrs = is_open ? own.view() : node.attrs.view();

  const auto add = [&](const char* how, const std::string& why) {
    Json outputs = Json::array();
    for (const TensorType& type : types) outputs.push_back(to_string(type));
    calls.push_back({{"op", node.op->name},
                     {"outputs", std::move(outputs)},
                     {"device", node.device->name()},
                     {"runs", how},
                     {"why", why},
                     {"level", level}});
  };
  const auto make = [&] {
    for (uint32_t i = 0; i < types.size(); ++i) {
      values[node.first_slot + i] = make_placeholder(types[i], *node.device, &held);
    }
  };
  if (node.op->run) {
    const bool holds_code =
        std::any_of(node.op->attrs->all().begin(), node.op->attrs->all().end(),
                    [](const AttrField& field) { return field.kind == AttrKind::kRegions; });
    add(holds_code ? "blocks" : "host", "");
    if (holds_code) visit_regions(attrs, level + 1);
    return make();
  }
  const Scope::OnDevice on(scope_, *node.device);
  const Operands promoted(*node.op, borrowed);
  const Call whole = {*node.op, attrs, promoted.inputs(), promoted.types()};
  const Execution execution = execution_of(scope_, whole, types);
  add(name_of_execution(execution.how), execution.reason);
  if (execution.how == Execution::How::kView && !operands[0]->is_scalar_value()) {
    return make_view_outputs(whole, types, values, node);
  }
  make();
}

// Creates the outputs of a call of a view op. An output shares the memory of the input if strides
// can express it.
void Inspector::make_view_outputs(const Call& call, const TensorTypes& types,
                                  std::vector<Tensor>& values, const Node& node) {
  const TensorImpl& base = *call.inputs[0];
  for (uint32_t i = 0; i < types.size(); ++i) {
    StridedLayout layout;
    const bool shares = call.op.view(call.op, call.attrs.data, i, types[i], base.type,
                                     {base.strides, base.offset}, layout);
    values[node.first_slot + i] = shares ? make_view(base, types[i], layout.strides, layout.offset)
                                         : make_placeholder(types[i], *node.device, &held);
  }
}

// Visits the calls of the regions. Inputs of a region are placeholders and are not counted, because
// the enclosing graph holds them. The mapping from operands to these inputs depends on the op.
void Inspector::visit_regions(AnyAttrs attrs, int level) {
  const RegionAttrs& all = region_attrs(attrs);
  for (const auto& region : all.regions) {
    const Graph& graph = region->graph();
    std::vector<Tensor> inputs;
    for (const Node* node : graph.inputs()) {
      const TensorType type = substitute_sizes(graph, node->types[0], all.sizes);
      inputs.push_back(make_placeholder(type, *node->device, nullptr));
    }
    visit(graph, all.sizes, inputs, level);
  }
}

// Lists names and types of the values, and adds their sizes to `bytes`.
Json values_json(const Graph& graph, std::span<const Value> values, std::span<const Size> sizes,
                 uint64_t& bytes) {
  Json all = Json::array();
  for (const Value& x : values) {
    const TensorType type = substitute_sizes(graph, x.type(), sizes);
    all.push_back({{"name", x.name()}, {"type", to_string(type)}});
    bytes += stored_bytes_of(type);
  }
  return all;
}

}  // namespace

std::string inspect(Scope& scope, const Trace& trace, std::span<const TensorType> arguments) {
  const Graph& graph = trace.graph();
  std::vector<Tensor> given;
  for (const TensorType& type : arguments) {
    given.push_back(make_placeholder(type, scope.device(), nullptr));
  }
  std::optional<Sizes> sizes = trace.sizes_for(given);
  if (sizes) sizes = graph.sizes().with_upper_bounds(*sizes);
  if (!sizes) {
    std::string types;
    for (const TensorType& type : arguments) {
      types += (types.empty() ? "" : ", ") + to_string(type);
    }
    fail(Code::kInvalidArgument, "the trace accepts {}, but not ({})",
         {signature_text(graph), types});
  }
  std::vector<Tensor> inputs;
  std::vector<Value> own;
  uint64_t bytes[3] = {0, 0, 0};  // Bytes of the inputs, by InputRole.
  size_t argument = 0;
  for (Node* node : graph.inputs()) {
    const TensorType type = substitute_sizes(graph, node->types[0], *sizes);
    bytes[static_cast<size_t>(node->role)] += stored_bytes_of(type);
    if (node->role == InputRole::kArgument) {
      own.push_back(node->output());
      inputs.push_back(given[argument++]);
    } else {
      inputs.push_back(make_placeholder(type, *node->device, nullptr));
    }
  }
  Inspector inspector(scope);
  inspector.visit(graph, *sizes, inputs, 0);
  uint64_t ignored = 0, given_back = 0;
  const std::vector<Value> gives(
      graph.outputs().begin() + static_cast<ptrdiff_t>(trace.states().size()),
      graph.outputs().end());
  Json all;
  all["inputs"] = values_json(graph, own, *sizes, ignored);
  all["outputs"] = values_json(graph, gives, *sizes, given_back);
  all["calls"] = std::move(inspector.calls);
  all["memory"] = {{"variables", bytes[static_cast<size_t>(InputRole::kState)]},
                   {"captures", bytes[static_cast<size_t>(InputRole::kCapture)]},
                   {"inputs", bytes[static_cast<size_t>(InputRole::kArgument)]},
                   {"outputs", given_back},
                   {"peak", inspector.held.most}};
  return all.dump();
}

}  // namespace tenon
