// One node about to run: what an adapter asks of its inputs and attributes.
//
// Whatever attribute an adapter does not ask for is unknown here, and the node is refused: a model
// must never mean more than what is computed.

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "core/io/onnx/known.h"
#include "core/io/onnx/model.h"
#include "core/io/onnx/named_call.h"
#include "core/ops/formulas.h"

namespace tenon::onnx {

using ModelValues = std::vector<ModelValue>;

// What is around a node: the values that graphs which its attributes hold see.
struct Around {
  // Runs such a graph.
  std::function<Tensors(const Graph& graph, std::span<const ModelValue> inputs)> run;
  // A value by its name; NULL if there is none.
  std::function<const ModelValue*(const std::string& name)> find;
  // What an initialiser is.
  std::function<ModelValue(const TensorData& data)> initial;
};

// What the attributes of a function of a model are in a call of it.
using GivenAttributes = std::map<std::string_view, const Attribute*>;

class NodeCall {
 public:
  // `given`: of the function that the node belongs to; NULL for none.
  NodeCall(const Node& node, int64_t version, std::span<const ModelValue> inputs,
           const GivenAttributes* given, const Around& around);

  const Node& node() const { return node_; }
  int64_t version() const { return version_; }  // Of the operator set that the model imports.

  // ---- inputs ----
  size_t n_inputs() const { return inputs_.size(); }
  bool has(size_t i) const { return i < inputs_.size() && inputs_[i]; }
  const Tensor& in(size_t i) const;  // Throws where it is absent.
  Tensor optional(size_t i) const { return has(i) ? in(i) : Tensor(); }
  TensorSpan inputs() const;
  const Dims& shape(size_t i) const;
  size_t rank(size_t i) const { return shape(i).rank(); }
  // NULL where nothing is known of its elements without reading them.
  const Known* known(size_t i) const {
    return i < inputs_.size() ? inputs_[i].known.get() : nullptr;
  }

  // The elements of an input, known or read to the host: those of integers; the same, which may be
  // formulas of the trace under way; of numbers of any dtype. Throws FAILED_PRECONDITION where they
  // are values of a trace.
  Ints ints(size_t i) const;
  Sizes sizes(size_t i) const;
  std::vector<double> numbers(size_t i) const;
  // Of an input of one element.
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
  // What such a graph sees under a name; NULL if nothing.
  const ModelValue* outer(const std::string& name) const { return around_.find(name); }
  ModelValue initial(const TensorData& data) const { return around_.initial(data); }

  // ---- attributes ----
  // What the node says, or the call of the function that it belongs to; NULL where it is not given.
  const Attribute* find(std::string_view name) const;
  bool has_attr(std::string_view name) const { return find(name) != nullptr; }
  int64_t attr(std::string_view name, int64_t otherwise) const;
  bool flag(std::string_view name, bool otherwise) const;
  double attr_float(std::string_view name, double otherwise) const;
  std::string attr_text(std::string_view name, std::string_view otherwise) const;
  Ints attr_ints(std::string_view name) const;  // Empty where it is not given.
  std::vector<float> attr_floats(std::string_view name) const;
  std::vector<std::string> attr_texts(std::string_view name) const;
  const TensorData* attr_tensor(std::string_view name) const;  // NULL where it is not given.
  const Graph* attr_graph(std::string_view name) const;
  DType attr_dtype(std::string_view name, DType otherwise) const;  // An element type's number.
  // For what has no part in what is computed here.
  void ignore(std::string_view name) const { find(name); }
  // For an attribute that has but one meaning here.
  void require_attr(std::string_view name, int64_t value) const;

  // Values that an attribute holds in older operator sets, and an input since version `since`; none
  // where neither is given.
  std::optional<Ints> ints_since(int64_t since, std::string_view name, size_t input) const;
  std::optional<Sizes> sizes_since(int64_t since, std::string_view name, size_t input) const;

  // Throws where an attribute was not asked for.
  void require_all_known() const;

 private:
  const Attribute* find(std::string_view name, AttributeKind kind, std::string_view words) const;
  void require_integers(size_t i) const;
  void require_readable(size_t i) const;

  const Node& node_;
  int64_t version_;
  std::span<const ModelValue> inputs_;
  const GivenAttributes* given_;
  const Around& around_;
  mutable Tensors tensors_;          // Of the inputs, once somebody asked for them.
  mutable std::vector<bool> asked_;  // For each attribute.
};

// A tensor made on the host, on the scope's device.
Tensor host_ints(const Ints& values, const Dims& shape);
inline Tensor host_ints(const Ints& values) {
  return host_ints(values, {static_cast<int64_t>(values.size())});
}

}  // namespace tenon::onnx
