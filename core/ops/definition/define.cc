#include "core/ops/definition/define.h"

template class std::vector<tenon::AttrDoc>;
template class std::vector<tenon::InputDef>;
template class std::vector<tenon::OutputDef>;

namespace tenon {

OpDef::OpDef() = default;
OpDef::OpDef(const OpDef&) = default;
OpDef::OpDef(OpDef&&) noexcept = default;
OpDef& OpDef::operator=(const OpDef&) = default;
OpDef& OpDef::operator=(OpDef&&) noexcept = default;
OpDef::~OpDef() = default;

namespace ops::detail {

// Sets the bit masks of saved inputs and outputs. `inputs` and `outputs` are the masks for kSome.
static void set_saves(OpDef& op, Saves saves, uint64_t inputs, uint64_t outputs) {
  constexpr uint64_t kAllBits = ~uint64_t{0};
  op.saves = saves;
  switch (saves) {
    case Saves::kNothing:
      return;
    case Saves::kInputs:
      op.saved_inputs = kAllBits;
      return;
    case Saves::kOutputs:
      op.saved_outputs = kAllBits;
      return;
    case Saves::kInputsAndOutputs:
      op.saved_inputs = op.saved_outputs = kAllBits;
      return;
    case Saves::kFirstInput:
      op.saved_inputs = 1;
      return;
    case Saves::kSecondInput:
      op.saved_inputs = 2;
      return;
    case Saves::kSome:
      op.saved_inputs = inputs;
      op.saved_outputs = outputs;
      return;
  }
}

// Sets the number of required and of possible inputs, and which are optional or variadic.
static void set_inputs(OpDef& op, const std::vector<InputDef>& inputs) {
  for (const InputDef& input : inputs) {
    if (input.kind == InputKind::kOptional) {
      op.optional_inputs |= 1u << op.max_inputs;
    } else {
      op.min_inputs = op.max_inputs + 1;
    }
    ++op.max_inputs;
    op.variadic = input.kind == InputKind::kVariadic;
  }
}

// Copies the fields of `d` to `op`.
void set(OpDef& op, const Untyped& d) {
  op.name = d.name;
  op.promotes = d.promotes;
  op.storage = d.storage;
  op.elementwise = d.elementwise;
  op.numeric = d.numeric;
  op.no_gradient = d.no_gradient;
  op.differentiable = op.no_gradient.empty();
  op.index_rule = d.index_rule;
  op.onnx = d.onnx;
  op.arrange = d.arrange;
  set_saves(op, d.saves, d.saved_inputs, d.saved_outputs);
  set_inputs(op, d.inputs);
}

#if defined(TENON_WITH_DOCS)
// Copies the documentation in `d` to `op`.
void set(OpDef& op, const UntypedDoc& d) {
  op.doc.summary = d.summary;
  op.doc.formula = d.formula;
  op.doc.details = d.details;
  op.doc.inputs = d.inputs;
  op.doc.outputs = d.outputs;
  op.doc.attrs = d.attrs;
  op.doc.sparse_output = d.sparse_output;
  op.doc.since = d.since;
}
#endif

}  // namespace ops::detail
}  // namespace tenon
