#include "core/trace/tracer.h"

#include "core/base/error.h"
#include "core/base/search.h"
#include "core/dispatch/dispatch.h"
#include "core/dispatch/variable.h"
#include "core/trace/control_ops.h"
#include "core/trace/region.h"

namespace tenon {
namespace {

// What stands in for the memory of a tensor of a trace.
struct TracedStorage final : OtherStorage<TracedStorage> {
  TracedStorage(Device& lies_on, uint64_t trace, Value value) : trace(trace), value(value) {
    device = &lies_on;
    traced = true;
  }

  uint64_t trace;
  Value value;
  TracedInfo info;
};

// Ops whose outputs are as large as the data say take the size as an attribute; -1 leaves it to
// them.
bool asks_data_for_a_size(AnyAttrs attrs) {
  if (attrs.empty()) return false;
  return any_of(attrs.type->all(), [&](const AttrField& field) {
    const std::string_view name = field.name;
    return field.kind == AttrKind::kInt && (name == "size" || name == "length") &&
           field.get<int64_t>(attrs.data) == -1;
  });
}

int64_t number_of(Size size) { return size.known() ? size.word() : -1; }

}  // namespace

std::string TracedInfo::text(DType dtype) const {
  std::string out = name + " : " + std::string(name_of(dtype)) + "[";
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis > 0) out += ",";
    out += shape[axis] < 0 ? "?" : std::to_string(shape[axis]);
  }
  return out + "]";
}

const TracedInfo& traced_info(const TensorImpl& x) {
  return static_cast<const TracedStorage&>(*x.storage).info;
}

Tensor read_state(Scope& scope, Cell& cell) {
  return cell.kind() == Kind::kVariable ? static_cast<Variable&>(cell).read(scope)
                                        : cell.load(scope);
}

Tracer::Tracer(Scope& scope, Graph& graph)
    : Interpreter(Kind::kTracer, apply_on, [](const Interpreter&) {}),
      graph_(graph),
      outer_trace_(static_cast<const Tracer*>(scope.traced_cells())),
      traced_(scope, *this, *this),
      use_(graph.sizes()),
      serial_(scope.context().next_serial()) {}

Tensor Tracer::input(const TensorType& type, InputRole role, std::string name, Device& device) {
  return tensor_of(graph_.add_input(type, role, std::move(name), device), device);
}

Tensor Tracer::tensor_of(Value value, Device& device) {
  Tensor x = Tensor::adopt(new TensorImpl);
  x->type = value.type();
  x->strides = dense_strides(x->type.shape);
  x->dense = false;  // No call of its like has run before.
  auto* storage = new TracedStorage(device, serial_, value);
  x->storage = Ref<Storage>::adopt(storage);
  TracedInfo& info = storage->info;
  info.name = value.name();
  Size n = 1;
  for (size_t axis = 0; axis < x->rank(); ++axis) {
    info.shape.push_back(number_of(x->shape()[axis]));
    info.strides.push_back(number_of(x->strides[axis]));
    n *= x->shape()[axis];
  }
  info.count = number_of(n);
  return x;
}

Value Tracer::value_of(TensorImpl& x) {
  if (x.is_scalar_value()) return graph_.add_constant(x);
  if (x.storage->traced) {
    const auto& traced = static_cast<const TracedStorage&>(*x.storage);
    if (traced.trace == serial_) return traced.value;
    require_code(
        is_inside(traced.trace), Code::kFailedPrecondition,
        "{} belongs to another trace: give it to the function as an argument, or return it from "
        "the one that made it",
        traced.info.text(x.type.dtype));
  }
  const auto [at, is_new] = captured_.try_emplace(x.give_identity());
  if (is_new) {
    at->second = graph_.add_input(x.type, InputRole::kCapture, "", *x.storage->device);
    captures_.push_back(Tensor::share(&x));
  }
  return at->second;
}

Value Tracer::place_of(const TensorImpl& x) const {
  if (!x.storage || !x.storage->traced) return Value();
  const auto& traced = static_cast<const TracedStorage&>(*x.storage);
  return traced.trace == serial_ ? traced.value : Value();
}

bool Tracer::is_inside(uint64_t trace) const {
  const Tracer* outer = outer_trace_;
  while (outer && outer->serial_ != trace) outer = outer->outer_trace_;
  return outer != nullptr;
}

void Tracer::finish(std::span<const Tensor> outputs) {
  std::vector<Value> values;
  for (const Ref<Cell>& cell : states_) values.push_back(value_of(*now_.at(cell.get())));
  for (const Tensor& y : outputs) values.push_back(value_of(*y));
  graph_.set_outputs(std::move(values));
}

// ---- cells

Tensor& Tracer::now(const Cell& cell) {
  const auto [at, is_new] = now_.try_emplace(&cell);
  if (is_new) {
    auto& state = const_cast<Cell&>(cell);
    std::string name;
    if (cell.kind() == Kind::kVariable) name = static_cast<const Variable&>(cell).name();
    at->second = input(cell.type(), InputRole::kState, std::move(name), cell.device());
    states_.push_back(Ref<Cell>::share(&state));
  }
  return at->second;
}

Tensor Tracer::load(const Cell& cell) { return renewed(*now(cell)); }

void Tracer::store(Cell& cell, const Tensor& value) {
  Tensor& held = now(cell);
  held = cell.kind() == Kind::kVariable ? assigned(current_scope(), value, held) : value;
  stored_.push_back({&cell, value_of(*held)});
}

void Tracer::add(Cell& cell) {
  const Tensor initial = cell.held();
  made_.push_back(
      {Ref<Cell>::share(&cell), initial->storage->traced ? value_of(*initial) : Value()});
  now_[&cell] = initial;
}

// ---- calls

// Loops of the host language are written out, trip by trip.
void Tracer::count_call(Scope& scope, const OpDef& op) {
  constexpr size_t kMany = 3000;
  if (is_silent_ || ++calls_[scope.location() + ' ' + op.name] != kMany + 1) return;
  const std::string where = scope.location().empty() ? "" : " at " + scope.location();
  scope.context().log(
      TENON_LOG_WARNING,
      format("{}{} was traced {} times: a loop of the host language becomes as many "
             "calls as it has trips. Use while_loop or scan",
             {op.name, where, kMany}));
}

Tensors Tracer::apply_on(Interpreter& self, Scope& scope, const Call& call) {
  Tracer& tracer = static_cast<Tracer&>(self);
  require_code(
      !asks_data_for_a_size(call.attrs), Code::kUnimplemented,
      "how large its output is depends on data, which code under trace does not have: give "
      "the size as an attribute");
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    require(!call.types[i].lists || call.op.run, "input {} is a list of tensors", i);
  }
  AnyAttrs attrs = call.attrs;
  RegionAttrs regions;
  if (call.op.linearize) {
    regions = adopted(scope, tracer.graph_, region_attrs(attrs));
    attrs = any_attrs(regions);
  }
  TensorTypes types = call.op.infer(call.op, attrs.data, call.types);
  Device& device = common_device(scope, call.inputs);
  Values inputs;
  for (TensorImpl* x : call.inputs) inputs.push_back(x ? tracer.value_of(*x) : Value());
  Node& node = tracer.graph_.add_call(call.op, attrs, std::move(inputs), std::move(types), device);
  node.location = scope.location();
  tracer.count_call(scope, call.op);
  Tensors outputs;
  for (uint32_t i = 0; i < node.types.size(); ++i) {
    outputs.push_back(tracer.tensor_of(node.output(i), device));
  }
  return outputs;
}

}  // namespace tenon
