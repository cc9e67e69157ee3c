#include "core/io/onnx/graph_writer.h"

#include "core/base/storage_dtype.h"
#include "core/io/onnx/tensor_data.h"

namespace tenon::onnx {
namespace {

// Values of AttributeProto.type in the ONNX format.
enum : uint64_t { kFloat = 1, kInt = 2, kText = 3, kTensor = 4, kGraph = 5, kInts = 7, kTexts = 8 };

// Returns a tensor without elements.
WireWriter tensor_header(std::string_view name, DType dtype, std::span<const int64_t> shape) {
  WireWriter out;
  out.numbers(1, shape).number(2, static_cast<uint64_t>(onnx_type_number(dtype))).text(8, name);
  return out;
}

// Returns a StringStringEntryProto.
WireWriter entry(std::string_view key, std::string_view value) {
  return WireWriter().text(1, key).text(2, value);
}

}  // namespace

// Returns the number by which ONNX denotes a dtype; 0 if ONNX lacks it.
int64_t onnx_type_number(DType dtype) {
  constexpr int64_t kElements = 32;
  for (int64_t element = 1; element < kElements && dtype != DType::kNone; ++element) {
    if (dtype_of_element(element) == dtype) return element;
  }
  return 0;
}

int64_t operator_set_of(DType dtype) {
  switch (dtype) {
    case DType::kI4:
    case DType::kU4:
      return 21;
    case DType::kF4E2M1FN:
      return 23;
    case DType::kF8E8M0FNU:
      return 24;
    case DType::kI2:
    case DType::kU2:
      return 25;
    default:
      return kOperatorSet;
  }
}

// Reserves and returns a unique name: `name` or, if it is taken, `name` followed by a number.
std::string Names::fresh(std::string_view name) {
  std::string found(name.empty() ? "v" : name);
  while (!take(found)) found = std::string(name) + "_" + std::to_string(next_++);
  return found;
}

WireWriter attribute(std::string_view name, int64_t value) {
  return WireWriter().text(1, name).number(3, static_cast<uint64_t>(value)).number(20, kInt);
}
WireWriter attribute(std::string_view name, double value) {
  return WireWriter().text(1, name).real(2, static_cast<float>(value)).number(20, kFloat);
}
WireWriter attribute(std::string_view name, std::string_view value) {
  return WireWriter().text(1, name).text(4, value).number(20, kText);
}
WireWriter attribute(std::string_view name, std::span<const int64_t> values) {
  return WireWriter().text(1, name).numbers(8, values).number(20, kInts);
}
WireWriter attribute(std::string_view name, const Texts& values) {
  WireWriter out;
  out.text(1, name);
  for (const std::string& value : values) out.text(9, value);
  return out.number(20, kTexts);
}
WireWriter graph_attribute(std::string_view name, const WireWriter& graph) {
  return WireWriter().text(1, name).message(6, graph).number(20, kGraph);
}
WireWriter tensor_attribute(std::string_view name, const WireWriter& tensor) {
  return WireWriter().text(1, name).message(5, tensor).number(20, kTensor);
}

WireWriter tensor(std::string_view name, DType dtype, std::span<const int64_t> shape,
                  std::string_view elements) {
  const auto bytes =
      pack_elements(std::as_bytes(std::span<const char>(elements.data(), elements.size())), dtype);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return tensor_header(name, dtype, shape).text(9, text);
}

WireWriter tensor_in_file(std::string_view name, DType dtype, std::span<const int64_t> shape,
                          std::string_view file, uint64_t offset, uint64_t length) {
  constexpr uint64_t kExternal = 1;
  WireWriter out = tensor_header(name, dtype, shape);
  out.message(13, entry("location", file));
  out.message(13, entry("offset", std::to_string(offset)));
  out.message(13, entry("length", std::to_string(length)));
  return out.number(14, kExternal);
}

WireWriter value_info(std::string_view name, DType dtype, std::span<const DeclaredSize> shape) {
  WireWriter sizes;
  for (const DeclaredSize& size : shape) {
    WireWriter dim;
    if (size.number >= 0) {
      dim.number(1, static_cast<uint64_t>(size.number));
    } else if (!size.name.empty()) {
      dim.text(2, size.name);
    }
    sizes.message(1, dim);
  }
  WireWriter type;
  type.number(1, static_cast<uint64_t>(onnx_type_number(dtype))).message(2, sizes);
  return WireWriter().text(1, name).message(2, WireWriter().message(1, type));
}

WireWriter node(std::string_view op, std::string_view domain, const Texts& inputs,
                const Texts& outputs, const Attributes& attributes) {
  WireWriter out;
  size_t n_inputs = inputs.size();
  while (n_inputs > 0 && inputs[n_inputs - 1].empty()) --n_inputs;
  for (size_t i = 0; i < n_inputs; ++i) out.text(1, inputs[i]);
  for (const std::string& output : outputs) out.text(2, output);
  out.text(4, op);
  for (const WireWriter& attribute : attributes) out.message(5, attribute);
  if (!domain.empty()) out.text(7, domain);
  return out;
}

WireWriter graph(const GraphParts& parts) {
  WireWriter out;
  for (const WireWriter& node : parts.nodes) out.message(1, node);
  out.text(2, parts.name);
  for (const WireWriter& tensor : parts.initializers) out.message(5, tensor);
  if (!parts.doc.empty()) out.text(10, parts.doc);
  for (const WireWriter& value : parts.inputs) out.message(11, value);
  for (const WireWriter& value : parts.outputs) out.message(12, value);
  return out;
}

// Returns the declaration that the file uses this version of a domain's operator set.
WireWriter operator_set(std::string_view domain, int64_t version) {
  return WireWriter().text(1, domain).number(2, static_cast<uint64_t>(version));
}

}  // namespace tenon::onnx
