// How ops are said in ONNX. Ops that mean the same as one of ONNX's become its node; a few become a
// handful of nodes. All others are said by what they decompose into.

#pragma once

#include "core/io/onnx/export_writer.h"
#include "core/trace/graph.h"

namespace tenon::onnx {

// A call that is being written.
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
  Texts in;           // The inputs' names; empty for those that are absent.
  TensorTypes types;  // Theirs; scalars have the dtype that the op gives them.
  Texts out;          // To be filled.

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
  // Numbers or formulas.
  Sizes sizes(std::string_view name) const;
  Size size(std::string_view name) const;
  std::string_view text(std::string_view name) const { return attr<std::string>(name); }
  std::string_view choice(std::string_view name) const;  // Of an enumeration.
  // An axis, counted from the front of input 0.
  int64_t axis(std::string_view name, size_t rank) const;

  // All attributes under their names; false if one cannot be said so.
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

struct OpForm {
  using Say = bool (*)(OpCall& call);  // False: not this call.
  Say say = nullptr;
  // With many nodes, which become a function, so that Tenon knows its op again.
  Say say_as_function = nullptr;
};
// Integers of fewer bits than most of ONNX's arithmetic is defined for, or that onnxruntime has it
// for, as those in which sums and products are the same but for what is cut off.
inline bool is_narrow(DType dtype) {
  return is_integer(dtype) && dtype != DType::kI32 && dtype != DType::kI64;
}
// Says the call of an input that is cast to i64, and casts what that gives back.
bool say_in_wide(OpCall& call, OpForm::Say say);
// x where the condition holds, else y: of bools too.
std::string choose(NodeWriter& w, DType dtype, const std::string& condition, const std::string& x,
                   const std::string& y);

// NULL: nothing but the decomposition says it.
const OpForm* find_form(const OpDef& op);

// export_ops_shape.cc, export_ops_math.cc, export_ops_nn.cc, export_ops_index.cc
using FormTable = std::map<std::string_view, OpForm>;
void add_shape_forms(FormTable& table);
void add_math_forms(FormTable& table);
void add_nn_forms(FormTable& table);
void add_index_forms(FormTable& table);

}  // namespace tenon::onnx
