// Writes safetensors files: first the JSON header, then the elements of all tensors.

#include <algorithm>
#include <cstring>

#include "core/base/json.h"
#include "core/base/os_error.h"
#include "core/base/storage_dtype.h"
#include "core/io/safetensors.h"
#include "core/io/safetensors_dtypes.h"
#include "files/atomic_file.h"

namespace tenon {
namespace {

constexpr uint64_t kAlignment = 8;

// Sorts the tensors into the order in which the file stores them. Throws if a name occurs twice or
// is reserved.
void sort_and_check(std::vector<TensorToStore>& tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const TensorToStore& a, const TensorToStore& b) {
    const size_t size_a = size_of(a.type.dtype), size_b = size_of(b.type.dtype);
    return size_a != size_b ? size_a > size_b : a.name < b.name;
  });
  std::vector<std::string_view> names;
  for (const TensorToStore& tensor : tensors) names.push_back(tensor.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  require(twice == names.end(), "the name \"{}\" occurs twice",
          twice == names.end() ? std::string_view() : *twice);
  require(!std::binary_search(names.begin(), names.end(), kMetadata), "the name {} is reserved",
          kMetadata);
}

// Returns the JSON header of the file.
std::string header_of(const std::vector<TensorToStore>& tensors, Metadata metadata) {
  Json json = Json::object();
  uint64_t end = 0;
  for (const TensorToStore& tensor : tensors) {
    const uint64_t begin = end;
    end += packed_bytes_of(tensor.type);
    TensorType type = tensor.type;
    if (safetensors_name(type.dtype).empty()) {
      require(is_storage(type.dtype), "{} is {}, which safetensors does not support", tensor.name,
              type.dtype);
      metadata[std::string(kTypeKey) + tensor.name] = to_string(type);
      type = TensorType(DType::kU8, Dims{static_cast<int64_t>(end - begin)});
    }
    Json shape = Json::array();
    for (const int64_t size : type.shape) shape.push_back(size);
    json[tensor.name] = {{"dtype", std::string(safetensors_name(type.dtype))},
                         {"shape", std::move(shape)},
                         {"data_offsets", {begin, end}}};
  }
  if (!metadata.empty()) json[kMetadata] = metadata;
  std::string text = json.dump();
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  return text;
}

}  // namespace

void write_safetensors(std::vector<TensorToStore> tensors, const Metadata& metadata,
                       const WriteBytes& write) {
  sort_and_check(tensors);
  const std::string header = header_of(tensors, metadata);
  unsigned char prefix[8];
  for (size_t i = 0; i < sizeof prefix; ++i) {
    prefix[i] = static_cast<unsigned char>(uint64_t{header.size()} >> (8 * i));
  }
  write(prefix, sizeof prefix);
  write(header.data(), header.size());
  std::vector<std::byte> bytes;
  for (const TensorToStore& tensor : tensors) {
    bytes.resize(bytes_of(tensor.type));
    tensor.read(bytes.data(), bytes.size());
    if (packed_elements_per_byte(tensor.type.dtype) > 1) {
      bytes = pack_elements(bytes, tensor.type.dtype);
    }
    write(bytes.data(), bytes.size());
  }
}

void save_safetensors(const std::string& path, std::vector<TensorToStore> tensors,
                      const Metadata& metadata) {
  tenon_files::AtomicFile file(path);
  const auto check = [&] {
    const int error = file.error();
    if (error == 0) return;
    fail(code_of_errno(error), "{}: cannot be written: {}", {path, std::strerror(error)});
  };
  check();
  write_safetensors(std::move(tensors), metadata, [&](const void* data, uint64_t size) {
    file.write(data, size);
    check();
  });
  file.finish();
  check();
}

}  // namespace tenon
