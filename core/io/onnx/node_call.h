// One node about to run: the interface through which an adapter reads inputs and attributes.
//
// A node with an attribute that its adapter does not read is rejected. Otherwise the result could
// differ from what the model specifies.

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "core/io/onnx/known.h"
#include "core/io/onnx/model.h"
#include "core/io/onnx/named_call.h"
#include "core/ops/definition/formulas.h"

namespace tenon::onnx {

using ModelValues = std::vector<ModelValue>;

// The environment of a node: the values that the graphs in its attributes can read.
struct Environment {
  // Runs a graph of the node's attributes.
  std::function<Tensors(const Graph& graph, std::span<const ModelValue> inputs)> run;
  // Finds a value by name; NULL if there is none.
  std::function<const ModelValue*(const std::string& name)> find;
  // Returns the value of an initialiser.
  std::function<ModelValue(const TensorData& data)> initial;
};

// The attributes that a call passes to a function of the model.
using GivenAttributes = std::map<std::string_view, const Attribute*>;

class NodeCall {
 public:
  // `given`: attributes of the enclosing function; NULL for none.
  NodeCall(const Node& node, int64_t version, std::span<const ModelValue> inputs,
           const GivenAttributes* given, const Environment& around);

  const Node& node() const { return node_; }
  int64_t version() const { return version_; }  // Of the imported operator set.

  // ---- inputs ----
  size_t n_inputs() const { return inputs_.size(); }
  bool has(size_t i) const { return i < inputs_.size() && inputs_[i]; }
  const Tensor& in(size_t i) const;  // Throws if it is absent.
  Tensor optional(size_t i) const { return has(i) ? in(i) : Tensor(); }
  TensorSpan inputs() const;
  const Dims& shape(size_t i) const;
  size_t rank(size_t i) const { return shape(i).rank(); }
  // Returns NULL if its elements are not known without reading them.
  const Known* known(size_t i) const {
    return i < inputs_.size() ? inputs_[i].known.get() : nullptr;
  }

  // The elements of an input, known or read to the host: as integers, as sizes (which may be
  // formulas of the current trace), or as numbers of any dtype. Throws FAILED_PRECONDITION if they
  // are values of a trace.
  Ints ints(size_t i) const;
  Sizes sizes(size_t i) const;
  std::vector<double> numbers(size_t i) const;
  // For an input with one element.
  int64_t one_int(size_t i) const;
  Size one_size(size_t i) const;
  double one_number(size_t i) const;

  // ---- outputs ----
  size_t n_outputs() const { return node_.outputs.size(); }
  bool wants(size_t i) const { return i < n_outputs() && !node_.outputs[i].empty(); }

  Tensors run(const Graph& graph, std::span<const ModelValue> inputs) const {
    return around_.run(graph, inputs);
  }
  Tensors run(const Graph& graph, TensorSpan inputs) const {
    return around_.run(graph, ModelValues(inputs.begin(), inputs.end()));
  }
  // The value that a graph of the node's attributes reads under a name; NULL if there is none.
  const ModelValue* outer(const std::string& name) const { return around_.find(name); }
  ModelValue initial(const TensorData& data) const { return around_.initial(data); }

  // ---- attributes ----
  // Finds an attribute of the node, or of the function call that it refers to; NULL if it is not
  // given.
  const Attribute* find(std::string_view name) const;
  bool has_attr(std::string_view name) const { return find(name) != nullptr; }
  int64_t attr(std::string_view name, int64_t otherwise) const;
  bool flag(std::string_view name, bool otherwise) const;
  double attr_float(std::string_view name, double otherwise) const;
  std::string attr_text(std::string_view name, std::string_view otherwise) const;
  Ints attr_ints(std::string_view name) const;  // Empty if not given.
  std::vector<float> attr_floats(std::string_view name) const;
  std::vector<std::string> attr_texts(std::string_view name) const;
  const TensorData* attr_tensor(std::string_view name) const;  // NULL if not given.
  const Graph* attr_graph(std::string_view name) const;
  // From the number of an element type.
  DType attr_dtype(std::string_view name, DType otherwise) const;
  // Marks an attribute as read that does not affect the result here.
  void ignore(std::string_view name) const { find(name); }
  // Requires an attribute to have the only supported value.
  void require_attr(std::string_view name, int64_t value) const;

  // Values that are an attribute in older operator sets, and an input since version `since`.
  // Returns nothing if neither is given.
  std::optional<Ints> ints_since(int64_t since, std::string_view name, size_t input) const;
  std::optional<Sizes> sizes_since(int64_t since, std::string_view name, size_t input) const;

  // Throws if an attribute was not read.
  void require_all_known() const;

 private:
  const Attribute* find(std::string_view name, AttributeKind kind, std::string_view words) const;
  void require_integers(size_t i) const;
  void require_readable(size_t i) const;

  const Node& node_;
  int64_t version_;
  std::span<const ModelValue> inputs_;
  const GivenAttributes* given_;
  const Environment& around_;
  mutable Tensors tensors_;          // Tensors of the inputs, created on first use.
  mutable std::vector<bool> asked_;  // Whether each attribute was read.
};

// Creates a tensor from host values on the scope's device.
Tensor host_ints(const Ints& values, const Dims& shape);
inline Tensor host_ints(const Ints& values) {
  return host_ints(values, {static_cast<int64_t>(values.size())});
}

}  // namespace tenon::onnx
