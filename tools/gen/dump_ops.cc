// Prints the registry of ops as JSON. All generated functions and pages are made from it. `./dev
// gen` runs this program.

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/ops/definition/registry.h"
#include "tools/gen/expansion_recorder.h"

namespace tenon {
namespace {

using Json = nlohmann::ordered_json;

// Collects the values of attributes as JSON, keyed by name.
class AttrValues final : public AttrVisitor {
 public:
  void on_int(std::string_view name, int64_t value) override { set(name, value); }
  void on_float(std::string_view name, double value) override { set(name, number(value)); }
  void on_bool(std::string_view name, bool value) override { set(name, value); }
  void on_dtype(std::string_view name, DType value) override { set(name, name_of(value)); }
  void on_enum(std::string_view name, int32_t value, const EnumInfo& info) override {
    set(name, info.values[static_cast<size_t>(value)]);
  }
  void on_ints(std::string_view name, std::span<const int64_t> value) override { set(name, value); }
  void on_string(std::string_view name, std::string_view value) override { set(name, value); }

  // Infinities and NaN become strings, because JSON cannot represent them.
  static Json number(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
  }

  Json values = Json::object();

 private:
  void set(std::string_view name, const Json& value) { values[std::string(name)] = value; }
};

// Lists the attributes of an op with their types and defaults.
class AttrLister final : public AttrVisitor {
 public:
  explicit AttrLister(Json& enums) : enums_(enums) {}

  void on_int(std::string_view name, int64_t value) override { add(name, "int", value); }
  void on_float(std::string_view name, double value) override { add(name, "float", value); }
  void on_bool(std::string_view name, bool value) override { add(name, "bool", value); }
  void on_dtype(std::string_view name, DType value) override { add(name, "dtype", name_of(value)); }
  void on_enum(std::string_view name, int32_t value, const EnumInfo& info) override {
    add(name, "enum", info.values[static_cast<size_t>(value)]);
    attrs_.back()["enum"] = info.name;
    enums_[info.name] = info.values;
  }
  void on_ints(std::string_view name, std::span<const int64_t> value) override {
    add(name, "ints", value);
  }
  void on_string(std::string_view name, std::string_view value) override {
    add(name, "string", value);
  }

  Json take() { return std::move(attrs_); }

 private:
  void add(std::string_view name, const char* type, const Json& value) {
    attrs_.push_back({{"name", name}, {"type", type}, {"default", value}});
  }

  Json attrs_ = Json::array();
  Json& enums_;
};

// Returns the attributes of an op. Adds the enumerations among their types to `enums`.
Json attrs_of(const OpDef& op, Json& enums) {
  if (op.attrs->c_size == 0) return Json::array();
  AttrLister lister(enums);
  const OwnedAttrs defaults(*op.attrs);
  op.attrs->visit(defaults.view().data, lister);
  Json attrs = lister.take();
  for (Json& attr : attrs) {
    for (const auto& [name, doc] : op.doc.attrs) {
      if (attr["name"] == name) attr["doc"] = doc;
    }
  }
  return attrs;
}

const char* name_of(InputKind kind) {
  switch (kind) {
    case InputKind::kRequired:
      return "required";
    case InputKind::kOptional:
      return "optional";
    case InputKind::kVariadic:
      return "variadic";
  }
  return "";
}

const char* name_of(Numeric numeric) {
  switch (numeric) {
    case Numeric::kExact:
      return "exact";
    case Numeric::kRounded:
      return "rounded";
    case Numeric::kDivision:
      return "division";
    case Numeric::kTranscendental:
      return "transcendental";
    case Numeric::kAccumulation:
      return "accumulation";
    case Numeric::kComposite:
      return "composite";
  }
  return "";
}

const char* name_of(Promotes promotes) {
  switch (promotes) {
    case Promotes::kNothing:
      return "nothing";
    case Promotes::kAll:
      return "all";
    case Promotes::kAllButFirst:
      return "all_but_first";
    case Promotes::kToOutput:
      return "to_output";
  }
  return "";
}

// Returns a tensor of a test case as JSON; null if it is absent.
Json tensor_of(const CaseTensor& t) {
  if (t.fill == CaseTensor::Fill::kAbsent) return nullptr;
  Json json = {{"dtype", name_of(t.type.dtype)}};
  if (t.scalar) {
    json["scalar"] = AttrValues::number(t.values[0]);
    return json;
  }
  json["shape"] = std::span<const int64_t>(t.type.shape.data(), t.type.rank());
  if (t.fill == CaseTensor::Fill::kUniform) {
    json["uniform"] = {t.low, t.high};
    return json;
  }
  json["values"] = Json::array();
  for (const double value : t.values) json["values"].push_back(AttrValues::number(value));
  return json;
}

// Returns a test case as JSON.
Json case_of(const AnyCase& c) {
  Json json = {{"name", c.name}};
  if (!c.attrs.view().empty()) {
    AttrValues attrs;
    c.attrs.view().type->visit(c.attrs.view().data, attrs);
    json["attrs"] = attrs.values;
  }
  json["inputs"] = Json::array();
  for (const CaseTensor& t : c.inputs) json["inputs"].push_back(tensor_of(t));
  if (!c.error.empty()) json["error"] = c.error;
  for (const CaseTensor& t : c.expect) json["expect"].push_back(tensor_of(t));
  if (c.rtol >= 0) json["rtol"] = c.rtol;
  if (c.atol >= 0) json["atol"] = c.atol;
  if (!c.check_gradient) json["check_gradient"] = false;
  return json;
}

// Returns the data that the conformance kit needs, in addition to the documentation.
Json conformance_data_of(const OpDef& op) {
  Json cases = Json::array();
  if (op.cases) {
    for (const AnyCase& c : op.cases(op)) cases.push_back(case_of(c));
  }
  return {{"sparse_output", op.doc.sparse_output},
          {"index_rule", op.index_rule},
          {"differentiable", op.differentiable},
          {"cases", cases}};
}

// Determines which dtypes an op accepts and returns, by calling its type inference. Starts from
// each test case that succeeds. All inputs of one dtype are changed to every other dtype in turn.
// If the case has two dtypes, every pair of dtypes is tried.
class DTypesOf {
 public:
  explicit DTypesOf(const OpDef& op) : op_(op) {
    if (!op.cases) return;
    for (const AnyCase& c : op.cases(op)) {
      if (c.error.empty()) ask_about(c);
    }
  }

  // Returns the dtypes that the op accepts for input `i`.
  Json of_input(size_t i) const {
    Json names = Json::array();
    for (const DType dtype : kDTypes) {
      const auto takes = [&](const Answer& a) {
        return i < a.inputs.size() && a.inputs[i] == dtype;
      };
      if (std::any_of(answers_.begin(), answers_.end(), takes)) names.push_back(name_of(dtype));
    }
    return names;
  }

  // Describes the dtype of output `i`: a constant dtype, or the name of an input that always has
  // the same dtype. Empty if neither applies.
  std::string of_output(size_t i) const {
    if (answers_.empty()) return "";
    const auto always = [&](const auto& holds) {
      return std::all_of(answers_.begin(), answers_.end(), holds);
    };
    const auto gives = [&](const Answer& a) {
      return i < a.outputs.size() ? a.outputs[i] : DType::kNone;
    };
    const DType first = gives(answers_[0]);
    if (first != DType::kNone && !has_dtype_attribute() &&
        always([&](const Answer& a) { return gives(a) == first; })) {
      return std::string(name_of(first));
    }
    std::string best;
    for (size_t k = 0; k < op_.doc.inputs.size(); ++k) {
      const auto agrees = [&](const Answer& a) {
        return k < a.inputs.size() && a.inputs[k] == gives(a) && gives(a) != DType::kNone;
      };
      if (!always(agrees)) continue;
      // If several inputs have the dtype, selects the one whose name is the end of the output's
      // name: `state` for `new_state`.
      const std::string name = op_.doc.inputs[k].name;
      if (best.empty() || std::string_view(op_.doc.outputs[i].name).ends_with(name)) best = name;
    }
    return best;
  }

 private:
  struct Answer {
    std::vector<DType> inputs, outputs;
  };
  static constexpr DType kDTypes[] = {
      DType::kBool, DType::kI8,  DType::kI16, DType::kI32,  DType::kI64, DType::kU8, DType::kU16,
      DType::kU32,  DType::kU64, DType::kF16, DType::kBF16, DType::kF32, DType::kF64};

  void ask_about(const AnyCase& c) {
    std::vector<DType> given, groups;
    for (const CaseTensor& t : c.inputs) {
      given.push_back(t.type.dtype);
      const bool is_new = std::find(groups.begin(), groups.end(), t.type.dtype) == groups.end();
      if (is_new && t.type.dtype != DType::kNone) groups.push_back(t.type.dtype);
    }
    if (!infers(c, given)) return;
    for (const DType group : groups) {
      for (const DType dtype : kDTypes) {
        const std::vector<DType> asked = replaced(given, given, group, dtype);
        infers(c, asked);
        for (const DType second : kDTypes) {
          if (groups.size() == 2 && group == groups[0]) {
            infers(c, replaced(asked, given, groups[1], second));
          }
        }
      }
    }
  }

  // Returns `dtypes`, with `dtype` instead of `group` in all positions where the case has `group`.
  static std::vector<DType> replaced(std::vector<DType> dtypes, const std::vector<DType>& given,
                                     DType group, DType dtype) {
    for (size_t i = 0; i < dtypes.size(); ++i) {
      if (given[i] == group) dtypes[i] = dtype;
    }
    return dtypes;
  }

  // Calls type inference and stores the dtypes if it succeeds. Skips cases in which promoted inputs
  // have different dtypes.
  bool infers(const AnyCase& c, const std::vector<DType>& dtypes) {
    if (!are_promoted(dtypes)) return false;
    std::vector<TensorType> types;
    for (size_t i = 0; i < dtypes.size(); ++i) {
      types.emplace_back(dtypes[i], c.inputs[i].type.shape);
    }
    std::vector<const TensorType*> pointers;
    for (const TensorType& type : types) pointers.push_back(&type);
    try {
      Answer answer = {.inputs = dtypes, .outputs = {}};
      const TypeSpan in(pointers.data(), pointers.size());
      for (const TensorType& type : op_.infer(op_, c.attrs.view().data, in)) {
        answer.outputs.push_back(type.dtype);
      }
      answers_.push_back(std::move(answer));
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  bool are_promoted(const std::vector<DType>& dtypes) const {
    const bool all = op_.promotes == Promotes::kAll;
    if (!all && op_.promotes != Promotes::kAllButFirst) return true;
    DType common = DType::kNone;
    for (size_t i = all ? 0 : 1; i < dtypes.size(); ++i) {
      if (dtypes[i] == DType::kNone) continue;
      if (common != DType::kNone && dtypes[i] != common) return false;
      common = dtypes[i];
    }
    return true;
  }

  bool has_dtype_attribute() const {
    Json enums;
    const Json attrs = attrs_of(op_, enums);
    return std::any_of(attrs.begin(), attrs.end(),
                       [](const Json& attr) { return attr["type"] == "dtype"; });
  }

  const OpDef& op_;
  std::vector<Answer> answers_;
};

// Returns the entry of an op in the registry. Adds the enumerations of its attributes to `enums`.
Json describe(const OpDef& op, Json& enums) {
  const DTypesOf dtypes(op);
  Json inputs = Json::array();
  for (const InputDef& input : op.doc.inputs) {
    inputs.push_back({{"name", input.name},
                      {"kind", name_of(input.kind)},
                      {"doc", input.doc},
                      {"dtypes", dtypes.of_input(inputs.size())}});
  }
  Json outputs = Json::array();
  for (const OutputDef& output : op.doc.outputs) {
    outputs.push_back({{"name", output.name},
                       {"variadic", output.variadic},
                       {"doc", output.doc},
                       {"dtype", dtypes.of_output(outputs.size())}});
  }
  return {
      {"id", op.id},
      {"name", op.name},
      {"summary", op.doc.summary},
      {"formula", op.doc.formula},
      {"details", op.doc.details},
      {"inputs", inputs},
      {"outputs", outputs},
      {"attrs", attrs_of(op, enums)},
      {"elementwise", op.elementwise},
      {"view", op.is_view},
      {"composite", op.decompose != nullptr},
      {"derivative", op.vjp != nullptr},
      {"no_gradient", op.no_gradient},
      {"promotes", name_of(op.promotes)},
      {"numeric", name_of(op.numeric)},
      {"onnx", op.onnx},
      {"since", std::to_string(op.doc.since.major) + "." + std::to_string(op.doc.since.minor)},
      {"kit", conformance_data_of(op)},
  };
}

}  // namespace
}  // namespace tenon

int main() {
  using tenon::Json;
  Json enums = Json::object();
  Json ops = Json::array();
  for (const tenon::OpDef& op : tenon::all_ops()) ops.push_back(tenon::describe(op, enums));
  const Json expansions = tenon::record_expansions();
  std::cout << Json({{"enums", enums}, {"ops", ops}, {"expansions", expansions}}).dump() << '\n';
}
