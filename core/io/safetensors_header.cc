// Parses and validates the header of a safetensors file.

#include <algorithm>
#include <charconv>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/storage_dtype.h"
#include "core/io/safetensors.h"
#include "core/io/safetensors_dtypes.h"
#include "core/io/strict_json.h"

namespace tenon {
namespace {

constexpr uint64_t kPrefix = 8;  // The first field: the size of the header, a little-endian u64.
constexpr uint64_t kMaxHeader = 100'000'000;
constexpr int kMaxDepth = 3;  // Nesting depth of the JSON: the header, a tensor, its shape.

// Throws DATA_LOSS with the formatted message unless `ok`.
template <class... Args>
void check(bool ok, std::string_view pattern, const Args&... args) {
  require_code(ok, Code::kDataLoss, pattern, args...);
}

// Returns the size of the header in bytes, which is the first field of the file.
uint64_t read_prefix(const ReadBytes& read) {
  unsigned char bytes[kPrefix];
  read(0, bytes, kPrefix);
  uint64_t size = 0;
  for (size_t i = 0; i < kPrefix; ++i) size |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  return size;
}

// Returns the value of `key` in the entry of tensor `name`. Throws if there is none.
const Json& field(const std::string& name, const Json& entry, const char* key) {
  const Json* found = entry.find(key);
  check(found != nullptr, "tensor \"{}\" has no {}", name, key);
  return *found;
}

// Returns the type that the entry of a tensor in the header declares.
TensorType read_type(const std::string& name, const Json& entry) {
  const Json& dtype = field(name, entry, "dtype");
  check(dtype.is_string(), "the dtype of tensor \"{}\" must be a string", name);
  const auto& dtype_name = dtype.text();
  TensorType type;
  type.dtype = dtype_from_safetensors(dtype_name);
  require_code(type.dtype != DType::kNone, Code::kUnimplemented,
               "the dtype {} of tensor \"{}\" is not supported", dtype_name, name);

  const Json& shape = field(name, entry, "shape");
  check(shape.is_array(), "the shape of tensor \"{}\" is not a list", name);
  require_code(shape.size() <= kMaxRank, Code::kUnimplemented,
               "tensor \"{}\" has {} axes, more than the {} that a tensor can have", name,
               shape.size(), kMaxRank);
  for (const Json& size : shape) {
    check(size.is_number_unsigned() && size.get<uint64_t>() <= uint64_t{1} << 62,
          "the shape of tensor \"{}\" contains {}, which is not a valid size", name, size.dump());
    type.shape.push_back(static_cast<int64_t>(size.get<uint64_t>()));
  }
  try {
    check_size(type);
  } catch (const Error& error) {
    fail_because(error, Code::kDataLoss, "tensor \"{}\": {}", {name, error.what()});
  }
  return type;
}

// Parses the entry of a tensor in the header. The data section of the file has `data_size` bytes.
StoredTensor read_tensor(const std::string& name, const Json& entry, uint64_t data_size) {
  check(entry.is_object(), "tensor \"{}\" is not an object", name);
  StoredTensor tensor{.name = name, .type = read_type(name, entry)};
  const Json& offsets = field(name, entry, "data_offsets");
  check(offsets.is_array() && offsets.size() == 2 && offsets.at(0).is_number_unsigned() &&
            offsets.at(1).is_number_unsigned(),
        "the data_offsets of tensor \"{}\" are not two numbers", name);
  const auto begin = offsets.at(0).get<uint64_t>();
  const auto end = offsets.at(1).get<uint64_t>();
  check(begin <= end && end <= data_size,
        "tensor \"{}\" is at bytes {} to {}, but the file has only {} bytes", name, begin, end,
        data_size);
  tensor.begin = begin;
  tensor.size = end - begin;
  const uint64_t needed =
      static_cast<uint64_t>(count(tensor.type.shape)) * size_of(tensor.type.dtype);
  check(tensor.size == needed, "tensor \"{}\" is {} and needs {} bytes, but has {} bytes", name,
        tensor.type, needed, tensor.size);
  return tensor;
}

// Parses the type of a tensor as to_string() formats it. Returns no dtype if the text is invalid.
TensorType parse_type(std::string_view text) {
  TensorType type;
  const size_t bracket = text.find('[');
  if (bracket == std::string_view::npos || !text.ends_with(']')) return {};
  const DType dtype = dtype_from_name(text.substr(0, bracket));
  const char *at = text.data() + bracket + 1, *const end = text.data() + text.size() - 1;
  while (at != end) {
    int64_t size = -1;
    const auto [next, error] = std::from_chars(at, end, size);
    const bool is_followed = next == end || (*next == ',' && next + 1 != end);
    if (error != std::errc() || size < 0 || !is_followed || type.rank() == kMaxRank) return {};
    type.shape.push_back(size);
    at = next == end ? end : next + 1;
  }
  type.dtype = dtype;
  return type;
}

// Gives a tensor the type that the metadata states for it.
void set_stated_type(StoredTensor& tensor, const std::string& text) {
  TensorType type = parse_type(text);
  bool fits = is_storage(type.dtype) && tensor.type.dtype == DType::kU8 && tensor.type.rank() == 1;
  try {
    if (fits) check_size(type);
  } catch (const Error&) {
    fits = false;
  }
  check(fits && packed_size(static_cast<uint64_t>(count(type.shape)), type.dtype) == tensor.size,
        "the type \"{}\" of tensor \"{}\" in {} does not fit its {} bytes", text, tensor.name,
        kMetadata, tensor.size);
  tensor.type = std::move(type);
}

Metadata read_metadata(const Json& entries) {
  check(entries.is_object(), "the key {} must be an object", kMetadata);
  Metadata metadata;
  for (const auto& [key, value] : entries.items()) {
    check(value.is_string(), "the value of \"{}\" in {} must be a string", key, kMetadata);
    metadata[key] = value.text();
  }
  return metadata;
}

// Checks that the tensors cover every byte of the data section exactly once.
void check_offsets(const std::vector<StoredTensor>& tensors, uint64_t data_size) {
  uint64_t end = 0;
  for (const StoredTensor& tensor : tensors) {
    check(tensor.begin >= end, "tensor \"{}\" overlaps the previous tensor at byte {}", tensor.name,
          tensor.begin);
    check(tensor.begin == end, "no tensor contains bytes {} to {}", end, tensor.begin);
    end = tensor.begin + tensor.size;
  }
  check(end == data_size, "no tensor contains bytes {} to {}", end, data_size);
}

}  // namespace

SafetensorsHeader SafetensorsHeader::parse(uint64_t size, const ReadBytes& read) {
  check(size >= kPrefix, "the file has {} bytes, fewer than the 8 bytes of the header's size",
        size);
  const uint64_t header_size = read_prefix(read);
  check(header_size <= kMaxHeader, "the header has {} bytes, but at most {} are allowed",
        header_size, kMaxHeader);
  check(header_size <= size - kPrefix, "the header ends at byte {}, but the file has only {} bytes",
        kPrefix + header_size, size);
  std::string text(header_size, '\0');
  read(kPrefix, text.data(), header_size);
  check(!text.empty() && text[0] == '{', "the header does not begin with a brace");

  const uint64_t data_size = size - kPrefix - header_size;
  const Json json = parse_strict_json(text, kMaxDepth, "the header");
  SafetensorsHeader header;
  for (const auto& [name, entry] : json.items()) {
    if (name == kMetadata) {
      header.metadata = read_metadata(entry);
    } else {
      header.tensors.push_back(read_tensor(name, entry, data_size));
    }
  }
  std::sort(header.tensors.begin(), header.tensors.end(),
            [](const StoredTensor& a, const StoredTensor& b) {
              if (a.begin != b.begin) return a.begin < b.begin;
              return a.size != b.size ? a.size < b.size : a.name < b.name;
            });
  check_offsets(header.tensors, data_size);
  for (StoredTensor& tensor : header.tensors) tensor.begin += kPrefix + header_size;
  header.by_name.reserve(header.tensors.size());
  for (size_t i = 0; i < header.tensors.size(); ++i) {
    StoredTensor& tensor = header.tensors[i];
    header.by_name.emplace(tensor.name, i);
    const auto stated = header.metadata.find(std::string(kTypeKey) + tensor.name);
    if (stated == header.metadata.end()) continue;
    set_stated_type(tensor, stated->second);
    header.metadata.erase(stated);
  }
  return header;
}

std::vector<std::byte> read_elements(const StoredTensor& tensor, const ReadBytes& read) {
  std::vector<std::byte> bytes(tensor.size);
  read(tensor.begin, bytes.data(), tensor.size);
  const DType dtype = tensor.type.dtype;
  if (packed_elements_per_byte(dtype) == 1) return bytes;
  return unpack_elements(bytes, static_cast<size_t>(count(tensor.type.shape)), dtype);
}

}  // namespace tenon
