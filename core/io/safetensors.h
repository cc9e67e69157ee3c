// Reads and writes named tensors in the safetensors file format. A file consists of the size of the
// header, the header in JSON, and the elements of all tensors.
//
// Files are untrusted: all offsets, sizes and shapes in the header are checked against each other
// and against the size of the file before they are used.

#pragma once

#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/pool.h"
#include "core/base/ref.h"
#include "core/base/shape.h"

namespace tenon {

using Metadata = std::map<std::string, std::string>;

// Describes one tensor of a file: its name, its type, and the location of its elements.
struct StoredTensor {
  std::string name;
  TensorType type;
  uint64_t begin = 0;  // Offset from the start of the file, in bytes.
  uint64_t size = 0;   // Size in the file, where elements of 4 or 2 bits are packed.
};

// Reads any byte range of a file.
using ReadBytes = std::function<void(uint64_t offset, void* to, uint64_t size)>;

// Reads the elements of a tensor, and unpacks them.
std::vector<std::byte> read_elements(const StoredTensor& tensor, const ReadBytes& read);

// The parsed header of a file.
struct SafetensorsHeader {
  std::vector<StoredTensor> tensors;  // In the order of their elements in the file.
  Metadata metadata;
  std::unordered_map<std::string_view, size_t> by_name;  // Indices into `tensors`.

  SafetensorsHeader() = default;
  SafetensorsHeader(SafetensorsHeader&&) = default;  // Moving keeps the addresses of the names.
  SafetensorsHeader& operator=(SafetensorsHeader&&) = default;

  // Parses the header of a file of `size` bytes. Throws DATA_LOSS if it is invalid.
  static SafetensorsHeader parse(uint64_t size, const ReadBytes& read);
};

// An open file. It is immutable, and any thread may read from it.
class Safetensors final : public Object, public Pooled<Safetensors> {
 public:
  // Opens a file and parses its header.
  static Ref<Safetensors> open(const std::string& path);
  // Parses the header of a file whose content is in memory.
  static Ref<Safetensors> open_memory(std::string bytes);

  void release() const {
    if (drop()) delete this;
  }

  std::span<const StoredTensor> tensors() const { return header_.tensors; }
  const Metadata& metadata() const { return header_.metadata; }
  // Finds a tensor by name. If there is none, throws NOT_FOUND with the names of the existing
  // tensors.
  const StoredTensor& find(std::string_view name) const;
  // Returns the elements of a tensor. May be called from any thread.
  std::vector<std::byte> read(const StoredTensor& tensor) const;

 private:
  Safetensors() : Object(Kind::kSafetensors) {}

  // Copies `size` bytes of the file, beginning at `offset`, to `to`.
  void read_bytes(uint64_t offset, void* to, uint64_t size) const;

  std::string path_;   // Empty if the file is in memory.
  std::string bytes_;  // The content, if the file is in memory.
  mutable std::mutex mutex_;
  mutable std::ifstream file_;
  SafetensorsHeader header_;
};

// Describes a tensor to write. `read` copies its row-major elements to host memory.
struct TensorToStore {
  std::string name;
  TensorType type;
  std::function<void(void* to, uint64_t size)> read;
};

using WriteBytes = std::function<void(const void* data, uint64_t size)>;
// Writes a file in canonical form: tensors are sorted by the size of their elements, larger first,
// then by name, and the elements are aligned to 8 bytes. Calls `write` with consecutive chunks of
// the file.
void write_safetensors(std::vector<TensorToStore> tensors, const Metadata& metadata,
                       const WriteBytes& write);

// Writes a file under a temporary name and renames it when it is complete.
void save_safetensors(const std::string& path, std::vector<TensorToStore> tensors,
                      const Metadata& metadata);

}  // namespace tenon
