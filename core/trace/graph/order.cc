#include "core/trace/graph/order.h"

#include "core/base/error.h"
#include "core/base/immortal.h"
#include "core/dispatch/dispatch.h"
#include "core/ops/definition/formulas.h"
#include "core/ops/definition/op_ids.h"
#include "core/trace/effects.h"
#include "core/trace/tracer.h"

namespace tenon {
namespace {

struct TokenStorage final : NonMemoryStorage<TokenStorage> {
  TokenStorage(Device& lies_on, HostObject held) : content(std::move(held)) {
    device = &lies_on;
    list = true;
  }

  HostObject content;
};

// Creates a token, or a record that holds `content`.
Tensor make_token_tensor(const TensorType& type, Device& device, HostObject content) {
  Tensor x = Tensor::adopt(new TensorImpl);
  x->type = type;
  x->dense = false;  // Excludes tokens from the fast path for repeated calls.
  x->storage = Ref<Storage>::adopt(new TokenStorage(device, std::move(content)));
  return x;
}

// Returns the type of tokens or of records, which differ in dtype.
TensorType special_type(DType dtype) {
  TensorType type(dtype, Dims{});
  type.lists = TensorType::kToken;
  return type;
}

void require_token(const TensorType& type) {
  require(type == token_type(), "the first input must be a token, but is {}", type);
}

// ---- an op with a token as first input and last output

// Returns the op of which `op` is the variant with a token.
const OpDef& wrapped_op(const OpDef& op) { return *static_cast<const OpDef*>(op.payload.get()); }

using Types = SmallVector<const TensorType*, 6>;
// Returns the types of the inputs after the token.
Types types_after_token(TypeSpan in) {
  Types types;
  for (size_t i = 1; i < in.size(); ++i) types.push_back(&in[i]);
  return types;
}

TensorTypes infer_ordered(const OpDef& op, const void* attrs, TypeSpan in) {
  require_token(in[0]);
  const Types types = types_after_token(in);
  TensorTypes out = wrapped_op(op).infer(wrapped_op(op), attrs, {types.data(), types.size()});
  out.push_back(token_type());
  return out;
}

Tensors run_ordered(Scope& scope, const Call& call) {
  const Types types = types_after_token(call.types);
  const OpDef& op = wrapped_op(call.op);
  Tensors outputs =
      eager(scope, {op, call.attrs, call.inputs.subspan(1), {types.data(), types.size()}});
  outputs.push_back(Tensor::share(call.inputs[0]));
  return outputs;
}

class ArgsAfterToken final : public VjpArgs {
 public:
  explicit ArgsAfterToken(const VjpArgs& all) : all_(all) {}

  const Tensor& input(size_t i) const override { return all_.input(i + 1); }
  const Tensor& output(size_t i) const override { return all_.output(i); }
  const TensorType& input_type(size_t i) const override { return all_.input_type(i + 1); }
  const TensorType& output_type(size_t i) const override { return all_.output_type(i); }
  const Tensor& cotangent(size_t i) const override { return all_.cotangent(i); }
  bool has_cotangent(size_t i) const override { return all_.has_cotangent(i); }
  bool needs(size_t input) const override { return all_.needs(input + 1); }
  size_t n_inputs() const override { return all_.n_inputs() - 1; }
  size_t n_outputs() const override { return all_.n_outputs() - 1; }

 private:
  const VjpArgs& all_;
};

Tensors vjp_ordered(const OpDef& op, const void* attrs, const VjpArgs& args) {
  Tensors result = {Tensor()};
  for (Tensor& dx : wrapped_op(op).vjp(wrapped_op(op), attrs, ArgsAfterToken(args))) {
    result.push_back(std::move(dx));
  }
  return result;
}

// ---- cells

// Returns the cell to which the attribute `cell` of the call refers.
Cell& cell_of(const Call& call) {
  const HostObject& cell = static_cast<const CellAttrs*>(call.attrs.data)->cell;
  require_code(cell != nullptr, Code::kFailedPrecondition,
               "the variable is unknown, because the graph was parsed from text");
  return *const_cast<Cell*>(static_cast<const Cell*>(cell.get()));
}

TensorTypes infer_commit(const CellAttrs&, TypeSpan in) {
  require_token(in[0]);
  return {in[0]};
}
Tensors run_commit(Scope&, const Call& call) {
  cell_of(call).store_untraced(Tensor::share(call.inputs[1]));
  return {Tensor::share(call.inputs[0])};
}

TensorTypes infer_reload(const CellAttrs&, TypeSpan in) {
  require_token(in[0]);
  return {in[1], in[0]};
}
Tensors run_reload(Scope&, const Call& call) {
  return {cell_of(call).load_untraced(), Tensor::share(call.inputs[0])};
}
// All reads of a variable contribute to one gradient, even if its value has changed between them.
Tensors vjp_reload(const CellAttrs&, const VjpArgs& v) { return {Tensor(), v.cotangent(0)}; }

}  // namespace

TensorType token_type() { return special_type(DType::kBool); }
Tensor make_token(Device& device) { return make_token_tensor(token_type(), device, nullptr); }

TensorType record_type() { return special_type(DType::kU8); }
Tensor make_record(Device& device, HostObject content) {
  return make_token_tensor(record_type(), device, std::move(content));
}
const HostObject& content_of_record(const TensorImpl& x) {
  const bool is_there = x.storage && !x.storage->traced && x.type == record_type();
  require_code(is_there, Code::kFailedPrecondition,
               "the record of a host call is available only when the trace runs");
  return static_cast<const TokenStorage&>(*x.storage).content;
}

Order::Order(Scope& scope)
    : Cell(
          Kind::kOrder, [](const Cell& self) { delete static_cast<const Order*>(&self); }, scope,
          make_token(scope.device())) {}

// Creates the variant of `op` that takes and returns an order token.
OpDef make_ordered_op(const OpDef& op) {
  OpDef made = op;
  made.in_order = nullptr;
  made.payload = std::shared_ptr<void>(const_cast<OpDef*>(&op), [](void*) {});
  ++made.min_inputs;
  ++made.max_inputs;
  made.optional_inputs <<= 1;
  made.saved_inputs <<= 1;
  made.promotes = Promotes::kNothing;
  made.elementwise = made.is_view = false;
  made.index_rule = "";
  made.infer = infer_ordered;
  made.run = run_ordered;
  if (op.vjp) made.vjp = vjp_ordered;
  made.decompose = nullptr;
  made.view = nullptr;
  made.arrange = nullptr;
  return made;
}

// Returns the variant of `op` that takes and returns an order token; NULL if the op has no effects.
const OpDef* in_order(const OpDef& op) {
  if (op.in_order) return op.in_order;
  if (&op != &op_def(OpId::k_check_numerics)) return nullptr;
  static const Immortal<OpDef> check_numerics = make_ordered_op(op_def(OpId::k_check_numerics));
  return &check_numerics.get();
}

Effect effect_of(const OpDef& op) {
  if (&op == &control::print() || &op == &control::commit() || &op == &control::reload()) {
    return Effect::kShows;
  }
  return &op == &control::host_call() ? Effect::kMayChangeCells : Effect::kMayStop;
}

Tensors apply_in_order(Scope& scope, const OpDef& op, AnyAttrs attrs, TensorSpan inputs) {
  if (scope.traced_cells()) {
    return static_cast<Tracer&>(*scope.traced_cells()).apply_in_order(scope, op, attrs, inputs);
  }
  const Tensor token = make_token(scope.device());
  SmallVector<TensorImpl*, 6> all = {token.get()};
  for (const Tensor& x : inputs) all.push_back(x.get());
  Tensors outputs = apply(scope, op, attrs, all);
  outputs.pop_back();
  return outputs;
}

CellAttrs cell_attrs(Cell& cell) {
  cell.retain();
  return {HostObject(&cell, [](const void* held) { static_cast<const Cell*>(held)->release(); })};
}

const OpDef& control::commit() {
  static const Immortal<OpDef> op = [] {
    OpDef made = ops::define<CellAttrs>(
        {.name = "commit", .inputs = {{"order", ""}, {"x", ""}}, .infer = infer_commit});
    made.run = run_commit;
    return made;
  }();
  return op;
}

const OpDef& control::reload() {
  static const Immortal<OpDef> op = [] {
    OpDef made = ops::define<CellAttrs>({.name = "reload",
                                         .inputs = {{"order", ""}, {"x", ""}},
                                         .infer = infer_reload,
                                         .vjp = vjp_reload});
    made.run = run_reload;
    return made;
  }();
  return op;
}

const OpDef* find_effect_op(std::string_view name) {
  for (const OpDef* op :
       {&control::commit(), &control::reload(), &control::print(), &control::assert_all(),
        &control::host_call(), &control::host_gradient()}) {
    if (op->name == name) return op;
  }
  return nullptr;
}

}  // namespace tenon
