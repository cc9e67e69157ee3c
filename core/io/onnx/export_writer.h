// Writing the nodes of a graph: values by name, constants, and sizes, which ONNX computes with
// nodes as it computes everything else.

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

// What of a program cannot be said. All of it is told at once.
class Unsayable {
 public:
  void add(std::string what);
  bool any() const { return !all_.empty(); }
  // Throws UNIMPLEMENTED with the whole list.
  [[noreturn]] void fail(std::string_view path) const;
  size_t size() const { return all_.size(); }

 private:
  std::vector<std::string> all_;  // Each once.
  std::set<std::string> known_;
};

// A size that no value at hand tells.
struct UntoldSize {
  std::string text;
};

// What sees no values but its own: a model's graph with those inside of it, or a function.
struct Body {
  Body(std::shared_ptr<SizeTable> table, bool is_function)
      : table(std::move(table)), sizes(*this->table), is_function(is_function) {}

  // A value whose axis is the symbol.
  struct Source {
    std::string value;
    int64_t axis;
  };
  // What an input tells of sizes.
  void learn(const std::string& input, const TensorType& type);

  std::shared_ptr<SizeTable> table;
  SizeTable& sizes;
  bool is_function;
  Names names;
  std::vector<WireWriter> first;         // Nodes of constants and sizes, before all others.
  std::vector<WireWriter> initializers;  // Functions have none.
  std::map<size_t, Source> sources;      // Of symbols.
  std::map<int64_t, std::string> known_sizes;
  std::map<std::string, std::string> constants;  // By their bytes.
};

class NodeWriter {
 public:
  NodeWriter(Body& body, std::vector<WireWriter>& nodes) : body_(body), nodes_(nodes) {}

  Body& body() const { return body_; }
  std::vector<WireWriter>& nodes() const { return nodes_; }
  // Whether this writer's nodes gave the value.
  bool made(const std::string& value) const { return made_.contains(value); }

  // A node, and the name of what it gives.
  std::string node(std::string_view op, const Texts& inputs, const Attributes& attributes = {});
  Texts nodes_of(std::string_view op, const Texts& inputs, size_t n_outputs,
                 const Attributes& attributes = {}, std::string_view domain = "");
  // With outputs that have names already.
  void node_for(std::string_view op, const Texts& inputs, const Texts& outputs,
                const Attributes& attributes = {});

  // ---- constants
  std::string constant(DType dtype, std::span<const int64_t> shape, std::string_view elements);
  std::string scalar(const TensorImpl& inline_scalar, DType dtype);
  std::string number(double value, DType dtype);
  std::string integer(int64_t value);                     // i64[]
  std::string integers(std::span<const int64_t> values);  // i64[n]
  std::string integers(std::initializer_list<int64_t> values) {
    return integers(std::span<const int64_t>(values.begin(), values.size()));
  }

  // ---- sizes; throw UntoldSize
  std::string size(Size size);  // i64[1]
  // From here on, what such a value says is the size: of a symbol that is born.
  void set_size(Size size, const std::string& value) { body_.known_sizes[size.word()] = value; }
  std::string sizes(std::span<const Size> sizes);
  std::string sizes(const Dims& shape) { return sizes(std::span<const Size>(shape)); }

  // ---- shorthands
  std::string cast(const std::string& x, DType to);
  std::string reshape(const std::string& x, std::initializer_list<int64_t> shape) {
    return node("Reshape", {x, integers(shape)});
  }
  std::string zeros(DType dtype, const std::string& sizes);  // Of sizes that a value says.

 private:
  std::string part(const SizeTable::Part& part);
  // Whether data say some of them, so that nodes in front of all do not know it.
  bool is_late(std::span<const Size> sizes) const;

  Body& body_;
  std::vector<WireWriter>& nodes_;
  std::set<std::string> made_;
};

// As a declared shape says it: symbols by name, and nothing of formulas.
std::vector<DeclaredSize> declared(SizeTable& sizes, const TensorType& type);

}  // namespace tenon::onnx
