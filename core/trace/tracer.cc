#include "core/trace/tracer.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/search.h"
#include "core/base/work_steps.h"
#include "core/dispatch/composites.h"
#include "core/dispatch/dispatch.h"
#include "core/dispatch/variable.h"
#include "core/trace/control/control_ops.h"
#include "core/trace/graph/region.h"

namespace tenon {
namespace {

// The storage of a traced tensor, without memory.
struct TracedStorage final : NonMemoryStorage<TracedStorage> {
  TracedStorage(Device& lies_on, uint64_t trace, Value value,
                const std::shared_ptr<SizeTable>& table)
      : trace(trace), value(value), name(value.name()), table(table) {
    device = &lies_on;
    traced = true;
  }

  uint64_t trace;
  Value value;
  // Name of the value in the graph. Stored here because the graph may be destroyed earlier.
  std::string name;
  std::shared_ptr<SizeTable> table;             // Table of the symbolic sizes.
  mutable Ints shape, strides;                  // The sizes and strides that the host has read.
  std::shared_ptr<const std::string> function;  // The name of the traced function, or NULL.
};

// Returns the storage of a traced tensor; NULL for other tensors.
const TracedStorage* traced_storage(const TensorImpl& x) {
  return x.storage && x.storage->traced ? static_cast<const TracedStorage*>(x.storage.get())
                                        : nullptr;
}

// Returns a size as a number. Adds a guard that fixes a symbolic size.
int64_t read_on_host(const TracedStorage& traced, Size size, size_t axis) {
  if (size.known()) return size.word();
  require_code(
      SizeTable::is_current(*traced.table), Code::kFailedPrecondition,
      "axis {} of {} has an unknown size, which can be read only while its trace is active", axis,
      traced.name);
  return traced.table->read_on_host(size, traced.name, axis);
}

// Returns " of function f", or an empty string if the traced code has no name.
std::string function_suffix(const TensorImpl& x) {
  const auto& name = traced_storage(x)->function;
  return name && !name->empty() ? " of function " + *name : "";
}

// Whether the output size of a call depends on data. Such ops have an attribute for the size; -1
// means that the size is not specified.
bool has_unspecified_size(AnyAttrs attrs) {
  if (attrs.empty()) return false;
  return any_of(attrs.type->all(), [&](const AttrField& field) {
    const std::string_view name = field.name;
    return field.kind == AttrKind::kSize && (name == "size" || name == "length") &&
           identical(field.get<Size>(attrs.data), -1);
  });
}

}  // namespace

std::string traced_text(const TensorImpl& x) {
  std::string out = traced_storage(x)->name + (x.type.lists ? " : list of " : " : ") +
                    std::string(name_of(x.type.dtype)) + "[";
  for (size_t axis = 0; axis < x.rank(); ++axis) {
    if (axis > 0) out += ",";
    const Size size = x.shape()[axis];
    out += size.known() ? std::to_string(size.word()) : "?";
  }
  return out + "]";
}

int64_t read_size_of(const TensorImpl& x, size_t axis) {
  const TracedStorage* traced = traced_storage(x);
  return traced ? read_on_host(*traced, x.shape()[axis], axis) : x.shape()[axis].word();
}

const int64_t* read_shape(const TensorImpl& x) {
  const TracedStorage* traced = traced_storage(x);
  if (!traced || known(x.shape())) return x.shape().data();
  // traced->shape is set only once: an earlier caller may still use the array.
  Ints all;
  for (size_t axis = 0; axis < x.rank(); ++axis) all.push_back(read_size_of(x, axis));
  if (traced->shape.empty()) traced->shape = std::move(all);
  return traced->shape.data();
}

// Like read_shape(), but if a size cannot be read, records the failure instead of throwing.
const int64_t* shape_or_recorded_failure(const TensorImpl& x) {
  const TracedStorage* traced = traced_storage(x);
  if (!traced || known(x.shape())) return x.shape().data();
  if (!traced->shape.empty()) return traced->shape.data();
  for (size_t axis = 0; axis < x.rank(); ++axis) {
    const Size size = x.shape()[axis];
    const bool is_readable = size.known() || SizeTable::is_current(*traced->table);
    traced->shape.push_back(
        is_readable ? traced->table->read_or_record_failure(size, traced->name, axis) : 0);
  }
  return traced->shape.data();
}

// Like shape_or_recorded_failure(), for strides.
const int64_t* strides_or_recorded_failure(const TensorImpl& x) {
  const TracedStorage* traced = traced_storage(x);
  if (!traced || known(x.strides)) return x.strides.data();
  const std::span<const int64_t> shape(shape_or_recorded_failure(x), x.rank());
  if (traced->strides.empty()) {
    const Dims strides = dense_strides(Dims(shape));
    for (const Size stride : strides) traced->strides.push_back(stride);
  }
  return traced->strides.data();
}

void fail_traced(const TensorImpl& x) {
  fail(Code::kFailedPrecondition,
       "{} belongs to a trace{} and has no value: compute with it inside the function, choose "
       "by it with where or cond, show it with print, pass it to host code with host_call, "
       "or return it from the function",
       {traced_text(x), function_suffix(x)});
}

// Returns the current value of a cell that is a state of a graph, for a call of this graph.
Tensor read_state(Scope& scope, Cell& cell) {
  return cell.kind() == Kind::kVariable ? static_cast<Variable&>(cell).read(scope)
                                        : cell.load(scope);
}

Tracer::Tracer(Scope& scope, Graph& graph, std::string_view function)
    : Interpreter(Kind::kTracer, apply_on, [](const Interpreter&) {}),
      graph_(graph),
      outer_trace_(static_cast<Tracer*>(scope.traced_cells())),
      traced_(scope, *this, *this),
      use_(graph.sizes()),
      serial_(scope.context().next_serial()) {
  if (!function.empty()) {
    function_ = std::make_shared<const std::string>(function);
  } else if (outer_trace_) {
    function_ = outer_trace_->function_;
  }
}

// Adds an input to the graph and returns it as a traced tensor.
Tensor Tracer::input(const TensorType& type, InputRole role, std::string name, Device& device) {
  return tensor_of(graph_.add_input(type, role, std::move(name), device), device);
}

Tensor Tracer::tensor_of(Value value, Device& device) {
  Tensor x = Tensor::adopt(new TensorImpl);
  x->type = value.type();
  x->strides = dense_strides(x->type.shape);
  x->dense = false;  // Excludes traced tensors from the fast path for repeated calls.
  auto* storage = new TracedStorage(device, serial_, value, graph_.shared_sizes());
  x->storage = Ref<Storage>::adopt(storage);
  storage->function = function_;
  return x;
}

Value Tracer::value_of(TensorImpl& x) {
  if (x.is_scalar_value()) return graph_.add_constant(x);
  if (x.storage->traced) {
    const auto& traced = static_cast<const TracedStorage&>(*x.storage);
    if (traced.trace == serial_) return traced.value;
    require_same_trace(x);
  }
  const auto [at, is_new] = captured_.try_emplace(x.assign_identity());
  if (is_new) {
    at->second = graph_.add_input(x.type, InputRole::kCapture, "", *x.storage->device);
    captures_.push_back(Tensor::share(&x));
  }
  return at->second;
}

Value Tracer::find_value(const TensorImpl& x) const {
  if (!x.storage || !x.storage->traced) return Value();
  const auto& traced = static_cast<const TracedStorage&>(*x.storage);
  return traced.trace == serial_ ? traced.value : Value();
}

void Tracer::require_same_trace(const TensorImpl& x) const {
  if (!x.storage || !x.storage->traced) return;
  const auto& traced = static_cast<const TracedStorage&>(*x.storage);
  if (traced.trace == serial_ || is_nested_in(traced.trace)) return;
  fail(Code::kFailedPrecondition,
       "{} belongs to another trace{}: pass it to the function as an argument, or return it from "
       "the function that created it",
       {traced_text(x), function_suffix(x)});
}

// Returns an alias of x that belongs to this trace. If x is from outside the trace, captures x
// itself and not an alias: tapes outside the trace know the identity of x, but an alias has a new
// identity.
Tensor Tracer::alias_in_trace(const Tensor& x) {
  if (!x->storage || find_value(*x)) return alias_of(*x);
  const Tensor captured = x->donation == Donation::kNone ? x : alias_of(*x);
  return tensor_of(value_of(*captured), *x->storage->device);
}

bool Tracer::is_nested_in(uint64_t trace) const {
  const Tracer* outer = outer_trace_;
  while (outer && outer->serial_ != trace) outer = outer->outer_trace_;
  return outer != nullptr;
}

void Tracer::finish(std::span<const Tensor> outputs) {
  for (size_t i = 0; i < states_.size(); ++i) {
    count_steps();
    HostObject& held = current_value_of(*states_[i]);
    if (is_stale(*states_[i], held)) reload_state(*states_[i], held);
  }
  // A region may run again. Its next run then reads the stored values from the cells.
  if (commits_ && outer_trace_) commit();
  std::vector<Value> values;
  for (const Ref<Cell>& cell : states_) values.push_back(value_of(*current_value_of(*cell).value));
  for (const Tensor& y : outputs) values.push_back(value_of(*y));
  graph_.set_outputs(std::move(values));
}

// ---- cells

Tracer::HostObject& Tracer::current_value_of(const Cell& cell) {
  const auto [at, is_new] = current_values_.try_emplace(&cell);
  if (is_new) {
    auto& state = const_cast<Cell&>(cell);
    std::string name;
    if (cell.kind() == Kind::kVariable) name = static_cast<const Variable&>(cell).name();
    if (cell.kind() == Kind::kOrder) name = "order";
    at->second.state = states_.size();
    at->second.value = input(cell.type(), InputRole::kState, std::move(name), cell.device());
    states_.push_back(Ref<Cell>::share(&state));
  }
  return at->second;
}

Tensor Tracer::load(const Cell& cell) {
  if (cell.kind() == Kind::kOrder) return alias_of(*current_value_of(order()).value);
  HostObject& held = current_value_of(cell);
  if (is_stale(cell, held)) reload_state(const_cast<Cell&>(cell), held);
  return alias_of(*held.value);
}

void Tracer::store(Cell& cell, const Tensor& value) {
  if (cell.kind() == Kind::kOrder) {
    current_value_of(order()).value = value;
    return;
  }
  HostObject& held = current_value_of(cell);
  held.value = cell.kind() == Kind::kVariable
                   ? value_after_assignment(current_scope(), value, held.value)
                   : value;
  held.reloads = n_reloads_;
  const bool was_committed = std::exchange(held.is_committed, false);
  if (was_committed && held.state != kNoState) uncommitted_.push_back(held.state);
  stored_.push_back({&cell, value_of(*held.value)});
}

// Registers a cell that the traced code creates.
void Tracer::add(Cell& cell) {
  if (cell.kind() == Kind::kOrder) return;
  const Tensor initial = cell.load_untraced();
  made_.push_back(
      {Ref<Cell>::share(&cell), initial->storage->traced ? value_of(*initial) : Value()});
  current_values_[&cell].value = initial;
}

// ---- effects

// Returns the state with the order token of this trace and of all enclosing ones.
Cell& Tracer::order() {
  Tracer* outermost = this;
  while (outermost->outer_trace_) outermost = outermost->outer_trace_;
  if (!outermost->order_) outermost->order_ = Ref<Order>::adopt(new Order(current_scope()));
  return *outermost->order_;
}

Tensors Tracer::apply_in_order(Scope& scope, const OpDef& op, AnyAttrs attrs, TensorSpan inputs) {
  const Effect effect = effect_of(op);
  if (effect != Effect::kShows) commit();
  Tensor& order = current_value_of(this->order()).value;
  SmallVector<TensorImpl*, 6> all = {order.get()};
  for (const Tensor& x : inputs) all.push_back(x.get());
  Tensors outputs = tenon::apply(scope, op, attrs, all);
  order = outputs.back();
  outputs.pop_back();
  if (effect == Effect::kMayChangeCells) reload();
  return outputs;
}

// Adds calls that write all pending stores to the cells at this point.
void Tracer::commit() {
  commits_ = true;
  std::vector<size_t> states = std::exchange(uncommitted_, {});
  std::sort(states.begin(), states.end());
  for (const size_t i : states) {
    count_steps();
    Cell& cell = *states_[i];
    HostObject& held = current_value_of(cell);
    held.is_committed = true;
    apply_in_order(current_scope(), control::commit(), any_attrs(cell_attrs(cell)),
                   {&held.value, 1});
  }
}

// Marks that cells may have changed at this point.
void Tracer::reload() {
  reloads_ = true;
  ++n_reloads_;
}

// Adds a call that reads the cell again, and sets `held` to the value.
void Tracer::reload_state(Cell& cell, HostObject& held) {
  held.reloads = n_reloads_;
  held.value = apply_in_order(current_scope(), control::reload(), any_attrs(cell_attrs(cell)),
                              {&held.value, 1})[0];
}

// ---- calls

// Counts the calls of an op at a source line, and warns about a loop of the host language, which is
// unrolled into the trace.
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
  // Sizes of a tensor from an unrelated trace are meaningless here, so no code may read its type.
  for (const TensorImpl* x : call.inputs) {
    if (x) tracer.require_same_trace(*x);
  }
  if (const OpDef* ordered = in_order(call.op)) {
    Tensors inputs;
    for (TensorImpl* x : call.inputs) inputs.push_back(Tensor::share(x));
    return tracer.apply_in_order(scope, *ordered, call.attrs, inputs);
  }
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    require(!call.types[i].lists || call.op.run, "input {} is a list of tensors", i);
  }
  const SizeTable::Cause cause(call.op.name);
  if (has_unspecified_size(call.attrs)) {
    // The decomposition determines the output size; inference checks the op's own rules.
    call.op.infer(call.op, call.attrs.data, call.types);
    require_code(call.op.decompose, Code::kUnimplemented,
                 "the output size depends on data, which is unknown while tracing: specify the "
                 "size as an attribute");
    return composites(scope).call(call);
  }
  AnyAttrs attrs = call.attrs;
  RegionAttrs regions;
  if (has_regions(call.op)) {
    regions = retrace_regions(scope, tracer.graph_, region_attrs(attrs));
    attrs = any_attrs(regions);
  }
  TensorTypes types = call.op.infer(call.op, attrs.data, call.types);
  Device& device = common_device(scope, call.inputs);
  Values inputs;
  for (TensorImpl* x : call.inputs) inputs.push_back(x ? tracer.value_of(*x) : Value());
  Node& node = tracer.graph_.add_call(call.op, attrs, std::move(inputs), std::move(types), device);
  node.location = scope.location();
  if (const auto symbol = symbol_defined_by(tracer.graph_, node)) {
    tracer.graph_.sizes().mark_data_dependent(node.types[0].shape[0]);
    tracer.graph_.set_size_origin(*symbol, node.output());
  }
  tracer.count_call(scope, call.op);
  Tensors outputs;
  for (uint32_t i = 0; i < node.types.size(); ++i) {
    outputs.push_back(tracer.tensor_of(node.output(i), device));
  }
  return outputs;
}

}  // namespace tenon
