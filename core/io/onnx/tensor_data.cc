#include "core/io/onnx/tensor_data.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "core/base/error.h"
#include "core/base/storage_dtype.h"
#include "core/dispatch/dispatch.h"

namespace tenon::onnx {
namespace {

static_assert(std::endian::native == std::endian::little,
              "files are little-endian, and elements are read without conversion");

struct Element {
  const char* name;
  DType dtype;
};

constexpr Element kElements[] = {
    {"undefined", DType::kNone},
    {"float", DType::kF32},
    {"uint8", DType::kU8},
    {"int8", DType::kI8},
    {"uint16", DType::kU16},
    {"int16", DType::kI16},
    {"int32", DType::kI32},
    {"int64", DType::kI64},
    {"string", DType::kNone},
    {"bool", DType::kBool},
    {"float16", DType::kF16},
    {"double", DType::kF64},
    {"uint32", DType::kU32},
    {"uint64", DType::kU64},
    {"complex64", DType::kNone},
    {"complex128", DType::kNone},
    {"bfloat16", DType::kBF16},
    {"float8e4m3fn", DType::kF8E4M3FN},
    {"float8e4m3fnuz", DType::kF8E4M3FNUZ},
    {"float8e5m2", DType::kF8E5M2},
    {"float8e5m2fnuz", DType::kF8E5M2FNUZ},
    {"uint4", DType::kU4},
    {"int4", DType::kI4},
    {"float4e2m1", DType::kF4E2M1FN},
    {"float8e8m0", DType::kF8E8M0FNU},
    {"uint2", DType::kU2},
    {"int2", DType::kI2},
};

// Returns whether ONNX defines an element type with this number.
bool is_element_type(int64_t element) {
  return element >= 0 && element < static_cast<int64_t>(std::size(kElements));
}

// The fields of a TensorProto as parsed, before checks that they are consistent.
struct Fields {
  std::vector<int64_t> dims;
  int64_t element = 0;
  bool external = false;
  bool has_raw = false;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<int32_t> int32s;
  std::vector<int64_t> int64s;
  std::vector<uint64_t> uint64s;
};

// Returns the type of the tensor. Throws if it has too many axes or an invalid size.
TensorType checked_type(const std::string& name, const Fields& fields) {
  require_code(fields.dims.size() <= kMaxRank, Code::kUnimplemented,
               "tensor \"{}\" has {} axes, more than the {} that a tensor can have", name,
               fields.dims.size(), kMaxRank);
  const DType dtype = dtype_of_element(fields.element);
  const Dims shape(std::span<const int64_t>(fields.dims));
  try {
    for (const int64_t size : shape) require(size >= 0, "size {} is negative", size);
    check_size(TensorType(dtype == DType::kNone ? DType::kBool : dtype, shape));
  } catch (const Error& error) {
    fail_because(error, Code::kDataLoss, "tensor \"{}\": {}", {name, error.what()});
  }
  return TensorType(dtype, shape);
}

// Converts the values of a field to the tensor's elements. An element that is narrower than T is in
// the low bits of the value.
template <class T>
void convert(TensorData& data, const std::vector<T>& values) {
  const size_t size = size_of(data.type.dtype), n = packed_bytes_of(data.type) / size;
  require_code(values.size() == n, Code::kDataLoss, "tensor \"{}\" is {}, but has {} {}", data.name,
               data.type, values.size(),
               packed_elements_per_byte(data.type.dtype) > 1 ? "packed bytes" : "elements");
  data.converted.resize(n * size);
  for (size_t i = 0; i < n; ++i) std::memcpy(data.converted.data() + i * size, &values[i], size);
}

// Converts the elements from the field that ONNX uses for the tensor's dtype.
void convert(TensorData& data, const Fields& fields) {
  switch (data.type.dtype) {
    case DType::kF32:
      return convert(data, fields.floats);
    case DType::kF64:
      return convert(data, fields.doubles);
    case DType::kI64:
      return convert(data, fields.int64s);
    case DType::kU32:
    case DType::kU64:
      return convert(data, fields.uint64s);
    default:
      return convert(data, fields.int32s);
  }
}

// Parses a decimal number of bytes, which ONNX stores as text.
uint64_t parse_byte_count(std::string_view text, const WireReader& reader) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    reader.fail_here("is not a number of bytes");
  }
  return value;
}

// Reads one entry of the field external_data: a key and its value.
void read_external(WireReader entry, ExternalData& external) {
  std::string key, value;
  while (entry.next()) {
    if (entry.number() == 1) key = entry.text();
    if (entry.number() != 2) continue;
    value = entry.text();
    // Writers always put the key before the value.
    if (key == "offset") external.offset = parse_byte_count(value, entry);
    if (key == "length") external.length = parse_byte_count(value, entry);
  }
  if (key == "location") external.location = value;
}

}  // namespace

DType dtype_of_element(int64_t element) {
  return is_element_type(element) ? kElements[element].dtype : DType::kNone;
}

std::string name_of_element(int64_t element) {
  return is_element_type(element) ? kElements[element].name
                                  : format("element type {}", {FormatArg(element)});
}

TensorData read_tensor_data(WireReader reader) {
  TensorData data;
  Fields fields;
  ExternalData external;
  while (reader.next()) {
    switch (reader.number()) {
      case 1:
        reader.append_to(fields.dims);
        break;
      case 2:
        fields.element = reader.int32();
        break;
      case 4:
        reader.append_to(fields.floats);
        break;
      case 5:
        reader.append_to(fields.int32s);
        break;
      case 7:
        reader.append_to(fields.int64s);
        break;
      case 8:
        data.name = reader.text();
        break;
      case 9:
        data.raw = reader.bytes();
        fields.has_raw = true;
        break;
      case 10:
        reader.append_to(fields.doubles);
        break;
      case 11:
        reader.append_to(fields.uint64s);
        break;
      case 3:
        reader.fail_here("is a segment of a tensor, which is not supported");
      case 13:
        read_external(reader.message(), external);
        break;
      case 14:
        fields.external = reader.int32() == 1;
        break;
    }
  }
  data.type = checked_type(data.name, fields);
  if (data.type.dtype == DType::kNone) {
    data.unreadable = "the elements have an unsupported type: " + name_of_element(fields.element);
  } else if (fields.external) {
    data.unreadable = "the elements are in another file";
    data.external = std::move(external);
  } else if (fields.has_raw) {
    const uint64_t needed = packed_bytes_of(data.type);
    require_code(data.raw.size() == needed, Code::kDataLoss,
                 "tensor \"{}\" is {} and needs {} bytes, but has {} bytes", data.name, data.type,
                 needed, data.raw.size());
  } else {
    convert(data, fields);
  }
  if (data.unreadable.empty()) normalise(data);
  return data;
}

void normalise(TensorData& data) {
  const auto elements = data.elements();
  if (data.type.dtype == DType::kBool) {
    std::vector<std::byte> ones(elements.size());
    std::transform(elements.begin(), elements.end(), ones.begin(),
                   [](std::byte b) { return std::byte{b != std::byte{0}}; });
    data.converted = std::move(ones);
  } else if (packed_elements_per_byte(data.type.dtype) > 1) {
    data.converted = unpack_elements(elements, bytes_of(data.type), data.type.dtype);
  }
}

Tensor upload(Scope& scope, Device& device, const TensorData& data) {
  require_code(data.unreadable.empty(), Code::kUnimplemented, "tensor \"{}\" cannot be read: {}",
               data.name, data.unreadable);
  return from_host(scope, device, data.type, data.elements().data());
}

}  // namespace tenon::onnx
