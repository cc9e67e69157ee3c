#include "core/io/onnx/own_ops.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/dispatch/dispatch.h"
#include "core/io/strict_json.h"
#include "core/ops/definition/formulas.h"
#include "core/trace/effects.h"
#include "core/trace/graph/order.h"

namespace tenon::onnx {
namespace {

// Converts a JSON number. JSON cannot represent infinities and NaN, so they are strings.
std::optional<AttrValue> parse_real(const Json& value) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (value.is_number()) return value.get<double>();
  if (value == "inf") return kInfinity;
  if (value == "-inf") return -kInfinity;
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

// Converts the name of a dtype. Returns nothing for an unknown name.
std::optional<AttrValue> parse_dtype(const Json& value) {
  if (!value.is_string()) return std::nullopt;
  const auto& name = value.text();
  const DType found = dtype_from_name(name);
  const bool is_known = found != DType::kNone || name == name_of(DType::kNone);
  return is_known ? std::optional<AttrValue>(found) : std::nullopt;
}

// Converts a list of whole numbers. Returns nothing if an element is not a whole number.
std::optional<AttrValue> parse_integers(const Json& value) {
  if (!value.is_array()) return std::nullopt;
  Ints numbers;
  for (const Json& each : value) {
    if (!each.is_number_integer()) return std::nullopt;  // It may be a formula of sizes.
    numbers.push_back(each.get<int64_t>());
  }
  return numbers;
}

// Converts a JSON value to an attribute. Returns nothing if it does not match the attribute's kind.
std::optional<AttrValue> parse_attr_value(const AttrField& field, const Json& value) {
  switch (field.kind) {
    case AttrKind::kInt:
    case AttrKind::kSize:
      return value.is_number_integer() ? std::optional<AttrValue>(value.get<int64_t>())
                                       : std::nullopt;
    case AttrKind::kBool:
      return value.is_boolean() ? std::optional<AttrValue>(int64_t{value.get<bool>()})
                                : std::nullopt;
    case AttrKind::kFloat:
      return parse_real(value);
    case AttrKind::kDType:
      return parse_dtype(value);
    case AttrKind::kInts:
    case AttrKind::kSizes:
      return parse_integers(value);
    case AttrKind::kText:
    case AttrKind::kEnum:
      return value.is_string() ? std::optional<AttrValue>(value.text()) : std::nullopt;
    default:
      return std::nullopt;
  }
}

// Parses a list of strictly ascending indices less than `most`. Returns nothing for other JSON.
std::optional<std::vector<size_t>> parse_ascending_indices(const Json& list, size_t most) {
  std::vector<size_t> found;
  if (!list.is_array()) return std::nullopt;
  for (const Json& each : list) {
    if (!each.is_number_unsigned() || each.get<uint64_t>() >= most) return std::nullopt;
    found.push_back(each.get<size_t>());
    if (found.size() > 1 && found[found.size() - 2] >= found.back()) return std::nullopt;
  }
  return found;
}

// Finds an op by name, including print and assert, which are not in the registry.
const OpDef* find_own(const std::string& name) {
  for (const OpDef* op : {&control::print(), &control::assert_all()}) {
    if (op->name == name) return op;
  }
  return find_op(name);
}
// Returns whether the op is print or assert, which have effects.
bool is_effect(const OpDef& op) {
  return &op == &control::print() || &op == &control::assert_all();
}

// Reads the doc string of a function. Returns nothing if it does not describe a known op whose
// inputs and outputs match those of the function.
std::optional<OwnOp> parse_own_op(const ModelFunction& function) {
  constexpr int kMaxDepth = 3;
  constexpr size_t kMaxPlaces = 256;
  const Json text = parse_strict_json(function.doc, kMaxDepth, "the doc string of the function");
  if (!text.is_object() || text.size() != 4) return std::nullopt;
  for (const char* key : {"op", "attributes", "inputs", "outputs"}) {
    if (!text.contains(key)) return std::nullopt;
  }
  const OpDef* op = text["op"].is_string() ? find_own(text["op"].text()) : nullptr;
  const auto inputs = parse_ascending_indices(text["inputs"], kMaxPlaces);
  const auto outputs = parse_ascending_indices(text["outputs"], kMaxPlaces);
  const bool passes_on = op && is_effect(*op) && outputs && outputs->empty();
  const size_t n_outputs = function.graph.outputs.size();
  const bool fits = op && inputs && outputs && inputs->size() == function.graph.inputs.size() &&
                    (passes_on ? n_outputs == 1 && !inputs->empty() && inputs->front() == 0
                               : outputs->size() == n_outputs);
  if (!fits || !text["attributes"].is_object()) return std::nullopt;
  NamedAttrs attrs(*op);
  for (const auto& [name, value] : text["attributes"].items()) {
    const AttrField* field = op->attrs->find(name);
    const auto given = field ? parse_attr_value(*field, value) : std::nullopt;
    if (!given) return std::nullopt;
    attrs.set(name, *given);
  }
  return OwnOp(*op, std::move(attrs), *inputs, *outputs);
}

}  // namespace

// Calls the op with the inputs of the function, and returns the outputs of the function.
Tensors OwnOp::call(TensorSpan given) const {
  require_code(given.size() <= inputs_.size(), Code::kDataLoss,
               "the function takes {} inputs, but got {}", inputs_.size(), given.size());
  Tensors inputs(inputs_.empty() ? 0 : inputs_.back() + 1, Tensor());
  for (size_t i = 0; i < given.size(); ++i) inputs[inputs_[i]] = given[i];
  if (is_effect(op_)) {
    apply_in_order(current_scope(), op_, attrs_.view(), inputs);
    return {inputs[0]};
  }
  const Tensors found = call_op(static_cast<OpId>(op_.id), attrs_.view(), inputs);
  Tensors outputs;
  for (const size_t place : outputs_) {
    require_code(place < found.size(), Code::kDataLoss, "{} has no output {}", op_.name, place);
    outputs.push_back(found[place]);
  }
  return outputs;
}

// Returns the functions of the model that represent Tenon's ops, with these ops.
OwnOps own_ops_of(const Model& model) {
  OwnOps all;
  for (const ModelFunction& function : model.functions) {
    if (function.domain != "tenon" || function.doc.empty()) continue;
    try {
      if (auto op = parse_own_op(function)) all.emplace(&function, std::move(*op));
    } catch (const Error& error) {
      if (error.is_transient()) throw;
      // The doc string is ordinary text, or a different version of Tenon wrote it.
    }
  }
  return all;
}

}  // namespace tenon::onnx
