#include "core/io/onnx/describe.h"

#include <set>

#include "core/base/json.h"
#include "core/io/onnx/run.h"

namespace tenon::onnx {
namespace {

Json describe(const std::vector<ValueInfo>& values) {
  Json list = Json::array();
  for (const ValueInfo& value : values) {
    list.push_back({{"name", value.name}, {"type", to_string(value)}});
  }
  return list;
}

}  // namespace

std::string describe(const Model& model) {
  Json unknown = Json::array();
  for (const UnknownOp& op : unknown_ops(model)) {
    unknown.push_back({{"op", op.op}, {"nodes", op.nodes}});
  }
  return Json{{"version", model.version_of("")},
              {"inputs", describe(model.graph.inputs)},
              {"outputs", describe(model.graph.outputs)},
              {"ops", op_names(model)},
              {"unknown", unknown}}
      .dump();
}

}  // namespace tenon::onnx
