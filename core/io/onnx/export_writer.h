// Writes the nodes of an ONNX graph, and names its values. Constants and symbolic sizes become
// nodes, too.

#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/base/size_table.h"
#include "core/io/onnx/graph_writer.h"
#include "core/tensor/tensor.h"

namespace tenon::onnx {

// Collects everything in a program that ONNX cannot express, so that one error can report it.
class Inexpressible {
 public:
  // Adds the description of something that ONNX cannot express, unless it was added before.
  void add(std::string what);
  // Whether anything was added.
  bool any() const { return !all_.empty(); }
  // Throws UNIMPLEMENTED with the list of everything that was added.
  [[noreturn]] void fail(std::string_view path) const;
  size_t size() const { return all_.size(); }

 private:
  std::vector<std::string> all_;  // In the order of addition, without duplicates.
  std::set<std::string> known_;
};

// Thrown if a size is needed that cannot be computed from the available values.
struct UnavailableSize {
  std::string text;
};

// A name scope of ONNX: the main graph of a model with its inner graphs, or one function.
struct Body {
  Body(std::shared_ptr<SizeTable> table, bool is_function)
      : table(std::move(table)), sizes(*this->table), is_function(is_function) {}

  // A value with an axis whose size is a symbol; the symbol's value is read from that axis.
  struct Source {
    std::string value;
    int64_t axis;
  };
  // Registers the symbols in an input's shape, so that sizes can be computed from the input.
  void learn(const std::string& input, const TensorType& type);

  std::shared_ptr<SizeTable> table;
  SizeTable& sizes;
  bool is_function;
  Names names;
  std::vector<WireWriter> first;         // Constants and sizes; written before all other nodes.
  std::vector<WireWriter> initializers;  // Always empty for a function.
  std::map<size_t, Source> sources;      // Keyed by symbol.
  std::map<int64_t, std::string> known_sizes;
  std::map<std::string, std::string> constants;  // Names of constants, keyed by their bytes.
};

class NodeWriter {
 public:
  NodeWriter(Body& body, std::vector<WireWriter>& nodes) : body_(body), nodes_(nodes) {}

  Body& body() const { return body_; }
  std::vector<WireWriter>& nodes() const { return nodes_; }
  // Whether a node of this writer computes the value. Otherwise, the value comes from an enclosing
  // graph or is an input.
  bool has_computed(const std::string& value) const { return made_.contains(value); }

  // Adds a node and returns the name of its output.
  std::string node(std::string_view op, const Texts& inputs, const Attributes& attributes = {});
  // Adds a node with `n_outputs` outputs and returns their names.
  Texts nodes_of(std::string_view op, const Texts& inputs, size_t n_outputs,
                 const Attributes& attributes = {}, std::string_view domain = "");
  // Adds a node for outputs that already have names.
  void node_for(std::string_view op, const Texts& inputs, const Texts& outputs,
                const Attributes& attributes = {});

  // ---- constants
  // Adds a constant, unless there is an equal one, and returns its name.
  std::string constant(DType dtype, std::span<const int64_t> shape, std::string_view elements);
  // Adds a constant of rank 0.
  std::string scalar(const TensorImpl& inline_scalar, DType dtype);
  // Adds a constant of rank 0 with this value.
  std::string number(double value, DType dtype);
  std::string integer(int64_t value);                     // A constant of type i64[].
  std::string integers(std::span<const int64_t> values);  // A constant of type i64[n].
  std::string integers(std::initializer_list<int64_t> values) {
    return integers(std::span<const int64_t>(values.begin(), values.size()));
  }

  // ---- sizes as i64 values; these functions throw UnavailableSize
  // Adds nodes that compute the size, unless they exist. Returns the name of their i64[1] result.
  std::string size(Size size);
  // Declares that the value named `value` holds a data-dependent size, for the nodes that follow.
  void set_size(Size size, const std::string& value) { body_.known_sizes[size.word()] = value; }
  // Adds nodes that compute the sizes as one vector. Returns the name of their i64[n] result.
  std::string sizes(std::span<const Size> sizes);
  std::string sizes(const Dims& shape) { return sizes(std::span<const Size>(shape)); }

  // ---- shorthands
  // Adds a Cast node and returns the name of its output.
  std::string cast(const std::string& x, DType to);
  std::string reshape(const std::string& x, std::initializer_list<int64_t> shape) {
    return node("Reshape", {x, integers(shape)});
  }
  // Adds a node for a tensor of zeros. `sizes` is the name of the value that holds its shape.
  std::string zeros(DType dtype, const std::string& sizes);

 private:
  // Adds nodes that compute a symbol, quotient, remainder, minimum or maximum of a size formula.
  // Returns the name of their result.
  std::string write_size_part(const SizeTable::Part& part);
  // Whether any of the sizes is data-dependent. Nodes at the start of the graph cannot compute such
  // a size.
  bool has_data_dependent(std::span<const Size> sizes) const;

  Body& body_;
  std::vector<WireWriter>& nodes_;
  std::set<std::string> made_;
};

// Returns the shape to declare for a value: numbers, the names of symbols, and unknown for
// formulas.
std::vector<DeclaredSize> declared_shape(SizeTable& sizes, const TensorType& type);

}  // namespace tenon::onnx
