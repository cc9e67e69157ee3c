#include "core/io/onnx/export_writer.h"

#include <algorithm>

#include "core/base/error.h"

namespace tenon::onnx {

void Inexpressible::add(std::string what) {
  if (known_.insert(what).second) all_.push_back(std::move(what));
}

void Inexpressible::fail(std::string_view path) const {
  std::string list;
  for (const std::string& what : all_) list += "\n  " + what;
  tenon::fail(Code::kUnimplemented, "{}: nothing is written, because ONNX cannot express:{}",
              {path, list});
}

// Registers the symbols in the shape of an input, so that sizes can be computed from the input.
void Body::learn(const std::string& input, const TensorType& type) {
  for (size_t axis = 0; axis < type.rank(); ++axis) {
    const auto symbol = sizes.symbol_of(type.shape[axis]);
    if (symbol) sources.try_emplace(*symbol, Source{input, static_cast<int64_t>(axis)});
  }
}

// ---- nodes

// Adds a node with one output and returns the name of the output.
std::string NodeWriter::node(std::string_view op, const Texts& inputs,
                             const Attributes& attributes) {
  return nodes_of(op, inputs, 1, attributes)[0];
}

Texts NodeWriter::nodes_of(std::string_view op, const Texts& inputs, size_t n_outputs,
                           const Attributes& attributes, std::string_view domain) {
  std::string base;
  for (const char c : op) base += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  Texts outputs;
  for (size_t i = 0; i < n_outputs; ++i) outputs.push_back(body_.names.fresh(base));
  nodes_.push_back(onnx::node(op, domain, inputs, outputs, attributes));
  made_.insert(outputs.begin(), outputs.end());
  return outputs;
}

// Adds a node for outputs that already have names.
void NodeWriter::node_for(std::string_view op, const Texts& inputs, const Texts& outputs,
                          const Attributes& attributes) {
  nodes_.push_back(onnx::node(op, "", inputs, outputs, attributes));
  made_.insert(outputs.begin(), outputs.end());
}

// ---- constants

std::string NodeWriter::constant(DType dtype, std::span<const int64_t> shape,
                                 std::string_view elements) {
  std::string key = std::string(name_of(dtype));
  for (const int64_t size : shape) key += "," + std::to_string(size);
  key += ":" + std::string(elements);
  const auto [at, is_new] = body_.constants.try_emplace(std::move(key));
  if (!is_new) return at->second;
  at->second = body_.names.fresh("c");
  const WireWriter value = tensor(body_.is_function ? "" : at->second, dtype, shape, elements);
  if (body_.is_function) {
    body_.first.push_back(
        onnx::node("Constant", "", {}, {at->second}, {tensor_attribute("value", value)}));
  } else {
    body_.initializers.push_back(value);
  }
  return at->second;
}

// Adds a constant of rank 0 and returns its name.
std::string NodeWriter::scalar(const TensorImpl& inline_scalar, DType dtype) {
  ElementBits bits = {};
  write_scalar(inline_scalar, dtype, &bits);
  return constant(dtype, {}, {reinterpret_cast<const char*>(&bits), size_of(dtype)});
}

// Adds a constant of rank 0 with this value and returns its name.
std::string NodeWriter::number(double value, DType dtype) {
  return scalar(
      is_floating(dtype) ? *make_scalar(value) : *make_scalar(static_cast<int64_t>(value)), dtype);
}

// Adds a constant of type i64[] and returns its name.
std::string NodeWriter::integer(int64_t value) {
  return constant(DType::kI64, {}, {reinterpret_cast<const char*>(&value), sizeof value});
}

// Adds a constant of type i64[n] and returns its name.
std::string NodeWriter::integers(std::span<const int64_t> values) {
  const int64_t n = static_cast<int64_t>(values.size());
  return constant(DType::kI64, {&n, 1},
                  {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

// ---- sizes

// Adds nodes that compute a part of a size formula, such as a symbol or a quotient. Returns the
// name of their result.
std::string NodeWriter::write_size_part(const SizeTable::Part& part) {
  SizeTable& table = body_.sizes;
  if (part.kind == SizeTable::PartKind::kSymbol) {
    const std::string& name = table.symbol_name(part.symbol);
    const auto known = body_.known_sizes.find(table.symbol(name).word());
    if (known != body_.known_sizes.end()) return known->second;
    const auto source = body_.sources.find(part.symbol);
    if (source == body_.sources.end()) throw UnavailableSize{name};
    const auto [value, axis] = source->second;
    return node("Shape", {value}, {attribute("start", axis), attribute("end", axis + 1)});
  }
  const Texts operands = {size(part.a), size(part.b)};
  switch (part.kind) {
    case SizeTable::PartKind::kQuotient:
      return node("Div", operands);
    case SizeTable::PartKind::kRemainder:
      return node("Mod", operands, {attribute("fmod", int64_t{1})});
    case SizeTable::PartKind::kMinimum:
      return node("Min", operands);
    default:
      return node("Max", operands);
  }
}

// Whether any of the sizes is data-dependent.
bool NodeWriter::has_data_dependent(std::span<const Size> sizes) const {
  return std::any_of(sizes.begin(), sizes.end(), [&](Size size) {
    return !body_.sizes.data_dependent_symbols_of(size).empty();
  });
}

// Adds nodes that compute a size, unless they exist. Returns the name of their i64[1] result.
std::string NodeWriter::size(Size given) {
  SizeTable& table = body_.sizes;
  const Size size = table.resolved(given);
  if (size.known()) return integers({size.word()});
  const auto at = body_.known_sizes.find(size.word());
  if (at != body_.known_sizes.end()) return at->second;
  // Other sizes are computed by nodes at the start of the graph, so that any later node can use
  // them. Data-dependent sizes are computed at the current position.
  const bool here = has_data_dependent({&size, 1});
  NodeWriter first(body_, body_.first);
  NodeWriter& w = here ? *this : first;
  std::string sum;
  for (const Term& term : table.terms(size)) {
    std::string product;
    if (term.coefficient != 1 || term.atoms.empty()) product = w.integers({term.coefficient});
    for (const uint32_t atom : term.atoms) {
      const std::string factor = w.write_size_part(table.part(atom));
      product = product.empty() ? factor : w.node("Mul", {product, factor});
    }
    sum = sum.empty() ? product : w.node("Add", {sum, product});
  }
  if (!here) body_.known_sizes[size.word()] = sum;
  return sum;
}

// Adds nodes that compute the sizes as one vector. Returns the name of their i64[n] result.
std::string NodeWriter::sizes(std::span<const Size> sizes) {
  Ints numbers;
  bool all_known = true;
  for (const Size size : sizes) {
    const Size resolved = body_.sizes.resolved(size);
    all_known = all_known && resolved.known();
    numbers.push_back(resolved.word());
  }
  if (all_known) return integers(numbers);
  Texts parts;
  for (const Size each : sizes) parts.push_back(size(each));
  if (parts.size() == 1) return parts[0];
  NodeWriter first(body_, body_.first);
  NodeWriter& w = has_data_dependent(sizes) ? *this : first;
  return w.node("Concat", parts, {attribute("axis", int64_t{0})});
}

// ---- shorthands

std::string NodeWriter::cast(const std::string& x, DType to) {
  return node("Cast", {x}, {attribute("to", onnx_type_number(to))});
}

// Adds a node for a tensor of zeros. `sizes` is the name of the value that holds its shape.
std::string NodeWriter::zeros(DType dtype, const std::string& sizes) {
  const int64_t one = 1;
  const std::string bytes(size_of(dtype), '\0');
  return node("ConstantOfShape", {sizes},
              {tensor_attribute("value", tensor("", dtype, {&one, 1}, bytes))});
}

// Returns the shape to declare for a value: numbers, names of symbols, and unknown for formulas.
std::vector<DeclaredSize> declared_shape(SizeTable& sizes, const TensorType& type) {
  std::vector<DeclaredSize> shape;
  if (type.lists) shape.push_back({});
  for (const Size given : type.shape) {
    const Size size = sizes.resolved(given);
    const auto symbol = size.known() ? std::nullopt : sizes.symbol_of(size);
    shape.push_back({size.known() ? size.word() : -1, symbol ? sizes.symbol_name(*symbol) : ""});
  }
  return shape;
}

}  // namespace tenon::onnx
