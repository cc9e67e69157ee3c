// Exports calls of ops to ONNX: as the equivalent ONNX node, as several nodes, as a function of the
// model, or as the op's decomposition.

#pragma once

#include "core/io/onnx/export_writer.h"
#include "core/trace/graph/graph.h"

namespace tenon::onnx {

// A call to export, and the names of its inputs and outputs in the ONNX graph.
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
  Texts in;           // Names of the inputs; empty for an absent input.
  TensorTypes types;  // Types of the inputs; weak scalars have their adopted dtype.
  Texts out;          // Names of the outputs; the exporter sets them.

  const tenon::Node& node() const { return node_; }
  // Whether input i is present.
  bool has(size_t i) const { return i < in.size() && !in[i].empty(); }
  // Whether anything uses this output.
  bool wants(size_t output) const { return wanted_[output]; }
  // Returns for each output whether anything uses it.
  const std::vector<bool>& wanted() const { return wanted_; }
  const TensorType& out_type(size_t i = 0) const { return node_.types[i]; }
  // Returns the dtype of the first input.
  DType dtype() const { return types[0].dtype; }
  size_t rank(size_t i = 0) const { return types[i].rank(); }

  // ---- attributes: each function returns the value of the attribute `name`
  int64_t integer(std::string_view name) const { return attr<int64_t>(name); }
  double real(std::string_view name) const { return attr<double>(name); }
  bool flag(std::string_view name) const { return attr<bool>(name); }
  const Ints& ints(std::string_view name) const { return attr<Ints>(name); }
  // The sizes may be formulas of symbols.
  Sizes sizes(std::string_view name) const;
  Size size(std::string_view name) const;
  std::string_view text(std::string_view name) const { return attr<std::string>(name); }
  std::string_view choice(std::string_view name) const;  // Name of the enumeration's value.
  // Returns an axis as a non-negative index.
  int64_t axis(std::string_view name, size_t rank) const;

  // Converts all attributes to ONNX attributes of the same names. Returns false if ONNX cannot
  // express one of them.
  bool attributes(Attributes& all) const;

 private:
  // Returns the description of an attribute.
  const AttrField& find(std::string_view name) const;
  template <class T>
  const T& attr(std::string_view name) const {
    return find(name).get<T>(node_.attrs.view().data);
  }

  const tenon::Node& node_;
  std::vector<bool> wanted_;
};

struct OpExport {
  // Exports the call as ONNX nodes and sets `call.out`. Returns false if ONNX cannot express the
  // call.
  using Exporter = bool (*)(OpCall& call);
  Exporter as_nodes = nullptr;  // Writes the nodes into the call's graph.
  // Writes the nodes into a function of the model. When Tenon reads the model, it calls the op that
  // the function's doc string names, instead of these nodes.
  Exporter as_function = nullptr;
};
// Whether ONNX or onnxruntime lacks arithmetic for this integer dtype. Such calls are computed in
// i64: the low bits of sums and products are the same, and the cast back drops the high bits.
inline bool is_narrow(DType dtype) {
  return is_integer(dtype) && dtype != DType::kI32 && dtype != DType::kI64;
}
// Exports the call by `exporter`, with its inputs cast to i64 and its result cast back. Returns
// false if ONNX cannot express the call.
bool export_widened(OpCall& call, OpExport::Exporter exporter);
// Exports a select: x where the condition is true, else y. For bool operands, which the Where of
// onnxruntime does not support, uses And and Or.
std::string write_select(NodeWriter& w, DType dtype, const std::string& condition,
                         const std::string& x, const std::string& y);

// Returns the exporters of an op; NULL if the op is exported only by its decomposition.
const OpExport* find_export(const OpDef& op);

// The exporters of all ops, keyed by op. Each of the functions below adds the exporters that
// export_ops_<family>.cc defines.
using ExportTable = std::map<std::string_view, OpExport>;
void add_shape_exporters(ExportTable& table);
void add_math_exporters(ExportTable& table);
void add_nn_exporters(ExportTable& table);
void add_index_exporters(ExportTable& table);

}  // namespace tenon::onnx
