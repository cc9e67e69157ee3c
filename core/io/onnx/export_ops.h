// Expresses ops in ONNX. An op with an ONNX equivalent becomes its node; a few ops become several
// nodes. All others are expressed by their decomposition.

#pragma once

#include "core/io/onnx/export_writer.h"
#include "core/trace/graph/graph.h"

namespace tenon::onnx {

// A call that is being exported.
class OpCall {
 public:
  OpCall(const tenon::Node& node, NodeWriter& writer, Texts inputs, TensorTypes types,
         std::vector<bool> wanted)
      : w(writer),
        in(std::move(inputs)),
        types(std::move(types)),
        node_(node),
        wanted_(std::move(wanted)) {}

  NodeWriter& w;
  Texts in;           // Names of the inputs; empty if absent.
  TensorTypes types;  // Input types; scalars have their adopted dtype.
  Texts out;          // Names of the outputs, set by the exporter.

  const tenon::Node& node() const { return node_; }
  bool has(size_t i) const { return i < in.size() && !in[i].empty(); }
  bool wants(size_t output) const { return wanted_[output]; }
  const std::vector<bool>& wanted() const { return wanted_; }
  const TensorType& out_type(size_t i = 0) const { return node_.types[i]; }
  DType dtype() const { return types[0].dtype; }
  size_t rank(size_t i = 0) const { return types[i].rank(); }

  // ---- attributes
  int64_t integer(std::string_view name) const { return attr<int64_t>(name); }
  double real(std::string_view name) const { return attr<double>(name); }
  bool flag(std::string_view name) const { return attr<bool>(name); }
  const Ints& ints(std::string_view name) const { return attr<Ints>(name); }
  // These may contain formulas.
  Sizes sizes(std::string_view name) const;
  Size size(std::string_view name) const;
  std::string_view text(std::string_view name) const { return attr<std::string>(name); }
  std::string_view choice(std::string_view name) const;  // The value's name in an enumeration.
  // Returns an axis as a non-negative index.
  int64_t axis(std::string_view name, size_t rank) const;

  // Exports all attributes by name. Returns false if one of them cannot be expressed.
  bool attributes(Attributes& all) const;

 private:
  const AttrField& find(std::string_view name) const;
  template <class T>
  const T& attr(std::string_view name) const {
    return find(name).get<T>(node_.attrs.view().data);
  }

  const tenon::Node& node_;
  std::vector<bool> wanted_;
};

struct OpExport {
  // Writes ONNX nodes for the call. Returns false if ONNX cannot express it.
  using Exporter = bool (*)(OpCall& call);
  Exporter as_nodes = nullptr;  // Writes the nodes into the graph that contains the call.
  // Writes the nodes into a function of the model, from which Tenon recognises the op when reading.
  Exporter as_function = nullptr;
};
// Integers with fewer bits than ONNX's arithmetic (or onnxruntime's) supports. They are computed in
// wider integers, where sums and products agree except for the truncated bits.
inline bool is_narrow(DType dtype) {
  return is_integer(dtype) && dtype != DType::kI32 && dtype != DType::kI64;
}
// Exports the call with its inputs cast to i64, and casts the result back.
bool export_widened(OpCall& call, OpExport::Exporter exporter);
// Exports a select: x where the condition holds, else y. Supports bools, too.
std::string choose(NodeWriter& w, DType dtype, const std::string& condition, const std::string& x,
                   const std::string& y);

// Returns NULL if only the decomposition expresses the op.
const OpExport* find_export(const OpDef& op);

// export_ops_shape.cc, export_ops_math.cc, export_ops_nn.cc, export_ops_index.cc
using ExportTable = std::map<std::string_view, OpExport>;
void add_shape_forms(ExportTable& table);
void add_math_forms(ExportTable& table);
void add_nn_forms(ExportTable& table);
void add_index_forms(ExportTable& table);

}  // namespace tenon::onnx
