#include "conformance/kit/op_registry.h"

#include <algorithm>
#include <stdexcept>

#include "conformance/kit/json.h"

namespace tenon_kit {

extern const char* const kCaseFiles[];  // One JSON text for each op, terminated by NULL.

namespace {

OpFacts read_op(const Json& json) {
  OpFacts op;
  op.id = json["id"];
  op.name = json["name"];
  op.elementwise = json["elementwise"];
  op.view = json["view"];
  op.composite = json["composite"];
  op.differentiable = json["differentiable"];
  op.sparse_output = json["sparse_output"];
  op.numeric = json["numeric"];
  op.index_rule = json["index_rule"];
  for (const Json& input : json["inputs"]) {
    op.inputs.push_back({input["name"], input["kind"] == "optional", input["kind"] == "variadic"});
  }
  for (const Json& output : json["outputs"]) {
    if (output["variadic"]) {
      op.variadic_outputs = true;
    } else {
      ++op.n_outputs;
    }
  }
  for (const Json& attr : json["attrs"]) {
    AttrFacts facts{attr["name"], attr["type"], attr_from_json(attr["default"]), {}};
    if (attr.contains("values")) facts.values = attr["values"].get<std::vector<std::string>>();
    op.attrs.push_back(std::move(facts));
  }
  op.cases = json["cases"].dump();
  return op;
}

std::vector<OpFacts> read_all() {
  std::vector<OpFacts> ops;
  for (const char* const* file = kCaseFiles; *file; ++file) {
    ops.push_back(read_op(Json::parse(*file)));
  }
  std::sort(ops.begin(), ops.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return ops;
}

}  // namespace

bool OpFacts::is_random() const {
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const InputFacts& input) { return input.name == "state"; });
}

const AttrFacts* OpFacts::attr(std::string_view wanted) const {
  for (const AttrFacts& a : attrs) {
    if (a.name == wanted) return &a;
  }
  return nullptr;
}

const std::vector<OpFacts>& all_ops() {
  static const std::vector<OpFacts> ops = read_all();
  return ops;
}

const OpFacts* find_op(std::string_view name) {
  for (const OpFacts& op : all_ops()) {
    if (op.name == name) return &op;
  }
  return nullptr;
}

const OpFacts* find_op(uint32_t id) {
  for (const OpFacts& op : all_ops()) {
    if (op.id == id) return &op;
  }
  return nullptr;
}

const OpFacts& op_named(std::string_view name) {
  if (const OpFacts* op = find_op(name)) return *op;
  throw std::invalid_argument("unknown op \"" + std::string(name) + "\"");
}

}  // namespace tenon_kit
