#include "core/ops/define.h"

namespace tenon {

OpDef::OpDef() = default;
OpDef::OpDef(const OpDef&) = default;
OpDef::OpDef(OpDef&&) noexcept = default;
OpDef& OpDef::operator=(const OpDef&) = default;
OpDef& OpDef::operator=(OpDef&&) noexcept = default;
OpDef::~OpDef() = default;

namespace ops::detail {

void set_saves(OpDef& op, Saves saves, uint64_t inputs, uint64_t outputs) {
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

void set_inputs(OpDef& op, const std::vector<InputDef>& inputs) {
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

}  // namespace ops::detail
}  // namespace tenon
