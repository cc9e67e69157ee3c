// Writes the nodes of a graph: named values, constants, and sizes, which ONNX computes with nodes
// like everything else.

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

// Collects everything in a program that ONNX cannot express, to report it in one error.
class Inexpressible {
 public:
  void add(std::string what);
  bool any() const { return !all_.empty(); }
  // Throws UNIMPLEMENTED with the whole list.
  [[noreturn]] void fail(std::string_view path) const;
  size_t size() const { return all_.size(); }

 private:
  std::vector<std::string> all_;  // Without duplicates.
  std::set<std::string> known_;
};

// Thrown for a size that no available value determines.
struct UnavailableSize {
  std::string text;
};

// A scope of value names: a model's main graph with its inner graphs, or a function.
struct Body {
  Body(std::shared_ptr<SizeTable> table, bool is_function)
      : table(std::move(table)), sizes(*this->table), is_function(is_function) {}

  // A value with an axis whose size is the symbol.
  struct Source {
    std::string value;
    int64_t axis;
  };
  // Registers the symbols that an input's shape determines.
  void learn(const std::string& input, const TensorType& type);

  std::shared_ptr<SizeTable> table;
  SizeTable& sizes;
  bool is_function;
  Names names;
  std::vector<WireWriter> first;         // Nodes of constants and sizes, before all others.
  std::vector<WireWriter> initializers;  // Empty for functions.
  std::map<size_t, Source> sources;      // Keyed by symbol.
  std::map<int64_t, std::string> known_sizes;
  std::map<std::string, std::string> constants;  // From the bytes of a constant to its name.
};

class NodeWriter {
 public:
  NodeWriter(Body& body, std::vector<WireWriter>& nodes) : body_(body), nodes_(nodes) {}

  Body& body() const { return body_; }
  std::vector<WireWriter>& nodes() const { return nodes_; }
  // Whether a node of this writer computes the value.
  bool made(const std::string& value) const { return made_.contains(value); }

  // Adds a node and returns the name of its output.
  std::string node(std::string_view op, const Texts& inputs, const Attributes& attributes = {});
  Texts nodes_of(std::string_view op, const Texts& inputs, size_t n_outputs,
                 const Attributes& attributes = {}, std::string_view domain = "");
  // Adds a node whose outputs already have names.
  void node_for(std::string_view op, const Texts& inputs, const Texts& outputs,
                const Attributes& attributes = {});

  // ---- constants
  std::string constant(DType dtype, std::span<const int64_t> shape, std::string_view elements);
  std::string scalar(const TensorImpl& inline_scalar, DType dtype);
  std::string number(double value, DType dtype);
  std::string integer(int64_t value);                     // A constant of type i64[].
  std::string integers(std::span<const int64_t> values);  // A constant of type i64[n].
  std::string integers(std::initializer_list<int64_t> values) {
    return integers(std::span<const int64_t>(values.begin(), values.size()));
  }

  // ---- sizes; throw UnavailableSize
  std::string size(Size size);  // i64[1]
  // Uses `value` for the size from here on: the value of a data-dependent symbol.
  void set_size(Size size, const std::string& value) { body_.known_sizes[size.word()] = value; }
  std::string sizes(std::span<const Size> sizes);
  std::string sizes(const Dims& shape) { return sizes(std::span<const Size>(shape)); }

  // ---- shorthands
  std::string cast(const std::string& x, DType to);
  std::string reshape(const std::string& x, std::initializer_list<int64_t> shape) {
    return node("Reshape", {x, integers(shape)});
  }
  std::string zeros(DType dtype, const std::string& sizes);  // `sizes` is the name of a value.

 private:
  std::string part(const SizeTable::Part& part);
  // Whether a size is data-dependent, so that nodes at the start of the graph cannot compute it.
  bool has_data_dependent(std::span<const Size> sizes) const;

  Body& body_;
  std::vector<WireWriter>& nodes_;
  std::set<std::string> made_;
};

// The shape to declare: symbols by name; formulas are left undeclared.
std::vector<DeclaredSize> declared(SizeTable& sizes, const TensorType& type);

}  // namespace tenon::onnx
