// A call of a node. Adapters read the node's inputs and attributes through it.
//
// A node is rejected if it has an attribute that its adapter has not read. If the attribute were
// ignored, the result could differ from what the model specifies.

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "core/dispatch/generator.h"
#include "core/io/onnx/known.h"
#include "core/io/onnx/model.h"
#include "core/io/onnx/named_call.h"
#include "core/ops/definition/formulas.h"

namespace tenon::onnx {

using ModelValues = std::vector<ModelValue>;

// Callbacks for graphs that are attributes of a node. They run such a graph, and find the values
// that the graph may read.
struct Environment {
  // Runs a graph that is an attribute of the node.
  std::function<Tensors(const Graph& graph, std::span<const ModelValue> inputs)> run;
  // Finds a value of the enclosing graphs by name; NULL if there is none.
  std::function<const ModelValue*(const std::string& name)> find;
  // Returns the value of an initialiser.
  std::function<ModelValue(const TensorData& data)> initial;
  // Provides random numbers; NULL if the model draws none.
  Generator* generator = nullptr;
};

// The attributes that a node passes to the model function that it calls, keyed by name.
using GivenAttributes = std::map<std::string_view, const Attribute*>;

class NodeCall {
 public:
  // `given` holds the attributes of the function call that this node is part of; NULL outside
  // functions.
  NodeCall(const Node& node, int64_t version, std::span<const ModelValue> inputs,
           const GivenAttributes* given, const Environment& around);

  const Node& node() const { return node_; }
  // Returns the version of the operator set.
  int64_t version() const { return version_; }

  // ---- inputs ----
  size_t n_inputs() const { return inputs_.size(); }
  // Whether the node has input i.
  bool has(size_t i) const { return i < inputs_.size() && inputs_[i]; }
  // Returns input i. Throws if it is absent.
  const Tensor& in(size_t i) const;
  // Returns input i, or an empty tensor if it is absent.
  Tensor optional(size_t i) const { return has(i) ? in(i) : Tensor(); }
  // Returns all inputs; those that are absent are empty tensors.
  TensorSpan inputs() const;
  const Dims& shape(size_t i) const;
  size_t rank(size_t i) const { return shape(i).rank(); }
  // Returns the elements of input i if they are known while tracing, else NULL.
  const Known* known(size_t i) const {
    return i < inputs_.size() ? inputs_[i].known.get() : nullptr;
  }

  // Returns the elements of an integer input, which are known or copied to the host. Throws
  // FAILED_PRECONDITION if the elements depend on values of a trace.
  Ints ints(size_t i) const;
  // As ints(), but the elements may be formulas of sizes in the current trace.
  Sizes sizes(size_t i) const;
  // Returns the elements of input i as doubles. As ints(), but accepts any dtype.
  std::vector<double> numbers(size_t i) const;
  // Returns the only element of input i. Throws unless the input has exactly one element.
  int64_t one_int(size_t i) const;
  // As one_int(), but the element may be a formula of sizes in the current trace.
  Size one_size(size_t i) const;
  // As one_int(), but accepts an input of any dtype.
  double one_number(size_t i) const;

  // ---- outputs ----
  size_t n_outputs() const { return node_.outputs.size(); }
  // Whether output i has a name, so that other nodes may read it.
  bool has_output(size_t i) const { return i < n_outputs() && !node_.outputs[i].empty(); }

  // Run a graph that is an attribute of the node.
  Tensors run(const Graph& graph, std::span<const ModelValue> inputs) const {
    return around_.run(graph, inputs);
  }
  Tensors run(const Graph& graph, TensorSpan inputs) const {
    return around_.run(graph, ModelValues(inputs.begin(), inputs.end()));
  }
  // Returns a value that a graph in the node's attributes may read; NULL if there is none of that
  // name.
  const ModelValue* outer(const std::string& name) const { return around_.find(name); }
  // Returns the value of an initialiser of a graph that is an attribute of the node.
  ModelValue initial(const TensorData& data) const { return around_.initial(data); }

  // ---- attributes ----
  // Finds an attribute of the node. If it refers to an attribute of the enclosing function, returns
  // the value that the function call passes. Returns NULL if it is not given.
  const Attribute* find(std::string_view name) const;
  bool has_attr(std::string_view name) const { return find(name) != nullptr; }
  // Returns the value of an integer attribute, or `otherwise` if it is not given. Throws if the
  // attribute is of a different kind; so do the functions below.
  int64_t attr(std::string_view name, int64_t otherwise) const;
  // Returns whether an integer attribute is nonzero, or `otherwise` if it is not given.
  bool flag(std::string_view name, bool otherwise) const;
  double attr_float(std::string_view name, double otherwise) const;
  std::string attr_text(std::string_view name, std::string_view otherwise) const;
  // Return the list that an attribute holds, or an empty list if the attribute is not given.
  Ints attr_ints(std::string_view name) const;
  std::vector<float> attr_floats(std::string_view name) const;
  std::vector<std::string> attr_texts(std::string_view name) const;
  // Return the tensor or graph that an attribute holds, or NULL if the attribute is not given.
  const TensorData* attr_tensor(std::string_view name) const;
  const Graph* attr_graph(std::string_view name) const;
  // Returns the dtype whose ONNX number the attribute holds, or `otherwise` if it is not given.
  DType attr_dtype(std::string_view name, DType otherwise) const;
  // Marks an attribute as read, because it does not affect the result of this adapter.
  void ignore(std::string_view name) const { find(name); }
  // Throws unless the attribute is absent or equals `value`, the only value that is supported.
  void require_attr(std::string_view name, int64_t value) const;

  // Returns integers that are an attribute in older operator sets, and an input since version
  // `since`. Returns nothing if they are not given.
  std::optional<Ints> ints_since(int64_t since, std::string_view name, size_t input) const;
  // As ints_since(), but the elements of the input may be formulas of sizes.
  std::optional<Sizes> sizes_since(int64_t since, std::string_view name, size_t input) const;

  // Returns the generator of the model.
  Generator& generator() const;

  // Throws if the node has an attribute that was not read.
  void require_all_attrs_read() const;

 private:
  // As find(name), but throws if the attribute is of a different kind. `words` names `kind` in the
  // error message.
  const Attribute* find(std::string_view name, AttributeKind kind, std::string_view words) const;
  // Throws unless input i is an integer or bool tensor.
  void require_integers(size_t i) const;
  // Throws if the elements of input i are unknown while tracing.
  void require_readable(size_t i) const;

  const Node& node_;
  int64_t version_;
  std::span<const ModelValue> inputs_;
  const GivenAttributes* given_;
  const Environment& around_;
  mutable Tensors tensors_;          // The inputs; each is created on first use.
  mutable std::vector<bool> asked_;  // Whether each attribute was read.
};

// Creates an int64 tensor of the host values on the scope's device.
Tensor host_ints(const Ints& values, const Dims& shape);
// As host_ints(values, shape), but the tensor has one axis.
inline Tensor host_ints(const Ints& values) {
  return host_ints(values, {static_cast<int64_t>(values.size())});
}

}  // namespace tenon::onnx
