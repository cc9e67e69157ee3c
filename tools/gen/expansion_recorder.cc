#include "tools/gen/expansion_recorder.h"

#include "core/dispatch/context.h"
#include "core/dispatch/dispatch.h"
#include "core/ops/definition/formulas.h"
#include "core/ops/definition/op_ids.h"

namespace tenon {
namespace {

using Json = nlohmann::ordered_json;

// Whether the op is recorded: a transcendental op with a decomposition and without attributes.
bool is_expanded(const OpDef& op) {
  return op.numeric == Numeric::kTranscendental && op.decompose && op.attrs->c_size == 0;
}

// Storage without memory. It holds the index of the row (a recorded instruction) that computes the
// tensor.
struct RecordedStorage final : NonMemoryStorage<RecordedStorage> {
  explicit RecordedStorage(size_t recorded_row) : row(recorded_row) { traced = true; }

  size_t row;
};

// Records each call as a row, a JSON object that describes one instruction, instead of computing
// it. Tensors have no device while recording.
class Recorder final : public Interpreter {
 public:
  explicit Recorder(Scope& scope)
      : Interpreter(Kind::kTracer, apply_on, [](const Interpreter&) {}), scope_(scope) {
    scope_.push(*this);
  }
  ~Recorder() { scope_.remove(*this); }

  // Records the decomposition of one op. In the returned object, "rows" lists the instructions: one
  // for each input, then the constants and calls. "result" is the index of the row that computes
  // the output.
  Json record(const OpDef& op, DType dtype) {
    rows_ = Json::array();
    Tensors inputs;
    for (size_t i = 0; i < op.max_inputs; ++i) {
      inputs.push_back(add(dtype, {{"op", "input"}, {"type", name_of(dtype)}}));
    }
    const Tensors outputs = op.decompose(op, nullptr, inputs);
    return {{"op", op.name},
            {"dtype", name_of(dtype)},
            {"rows", std::move(rows_)},
            {"result", row_of(*outputs[0], dtype)}};
  }

 private:
  static Tensors apply_on(Interpreter& self, Scope&, const Call& call) {
    return {static_cast<Recorder&>(self).apply_recorded(call)};
  }

  Tensor apply_recorded(const Call& call) {
    const TensorTypes types = call.op.infer(call.op, call.attrs.data, call.types);
    if (is_expanded(call.op)) return expanded(call);
    if (&call.op == &op_def(OpId::k_maximum)) return larger(call);
    const DType dtype = types[0].dtype;
    if (changes_nothing(call, dtype)) return at(dtype, row_of(*call.inputs[0], dtype));
    Json operands = Json::array();
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      operands.push_back(row_of(*call.inputs[i], call.types[i].dtype));
    }
    return add(dtype,
               {{"op", call.op.name}, {"type", name_of(dtype)}, {"operands", std::move(operands)}});
  }

  // Whether a call does not change its operand: a fill that only sets a constant's dtype, or a cast
  // of float32 to float32.
  static bool changes_nothing(const Call& call, DType dtype) {
    const bool is_fill = &call.op == &op_def(OpId::k_fill);
    const bool is_cast = &call.op == &op_def(OpId::k_cast);
    return is_fill || (is_cast && call.types[0].dtype == dtype);
  }

  static Tensor expanded(const Call& call) {
    Tensors inputs;
    for (TensorImpl* x : call.inputs) inputs.push_back(Tensor::share(x));
    return call.op.decompose(call.op, call.attrs.data, inputs)[0];
  }

  // Expresses maximum(a, b) by opcodes of expansions. Returns b if b is NaN.
  static Tensor larger(const Call& call) {
    const Tensor a = Tensor::share(call.inputs[0]), b = Tensor::share(call.inputs[1]);
    return where(logical_or(greater(a, b), not_equal(a, a)), a, b);
  }

  // Returns the row of an operand. Adds a row if the operand is a constant.
  size_t row_of(const TensorImpl& x, DType dtype) {
    if (!x.is_scalar_value()) return static_cast<const RecordedStorage&>(*x.storage).row;
    ElementBits bits = {};
    write_scalar(x, dtype, &bits);
    rows_.push_back({{"op", "constant"}, {"type", name_of(dtype)}, {"bits", bits.words[0]}});
    return rows_.size() - 1;
  }

  Tensor add(DType dtype, Json row) {
    rows_.push_back(std::move(row));
    return at(dtype, rows_.size() - 1);
  }

  static Tensor at(DType dtype, size_t row) {
    Tensor x = Tensor::adopt(new TensorImpl);
    x->type = TensorType(dtype, Dims{});
    x->storage = Ref<Storage>::adopt(new RecordedStorage(row));
    return x;
  }

  Scope& scope_;
  Json rows_;
};

}  // namespace

// Returns a record for each expanded op, in float32 and in float64.
nlohmann::ordered_json record_expansions() {
  const auto context = Ref<Context>::adopt(new Context(ContextOptions()));
  Scope& scope = context->default_scope();
  const Scope::Enter enter(scope);
  Recorder recorder(scope);
  Json all = Json::array();
  for (const OpDef& op : all_ops()) {
    if (!is_expanded(op)) continue;
    for (const DType dtype : {DType::kF32, DType::kF64}) all.push_back(recorder.record(op, dtype));
  }
  return all;
}

}  // namespace tenon
