// Named tensors in the safetensors file format: the size of the header, the header in JSON, then
// the elements of all tensors consecutively.
//
// Files are not trusted: everything in the header is checked against the size of the file and
// against the rest of the header before it is used.

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

// A tensor in a file: its type and the location of its elements.
struct StoredTensor {
  std::string name;
  TensorType type;
  uint64_t begin = 0;  // Range of bytes, from the start of the file.
  uint64_t size = 0;
};

// The header of a file of `size` bytes. `read` reads any range of the file.
using ReadBytes = std::function<void(uint64_t offset, void* to, uint64_t size)>;
struct SafetensorsHeader {
  std::vector<StoredTensor> tensors;  // Sorted by the position of their elements.
  Metadata metadata;
  std::unordered_map<std::string_view, size_t> by_name;  // Indices into `tensors`.

  SafetensorsHeader() = default;
  SafetensorsHeader(SafetensorsHeader&&) = default;  // Moving keeps the addresses of the names.
  SafetensorsHeader& operator=(SafetensorsHeader&&) = default;

  static SafetensorsHeader parse(uint64_t size, const ReadBytes& read);
};

// An open file.
class Safetensors final : public Object, public Pooled<Safetensors> {
 public:
  static Ref<Safetensors> open(const std::string& path);
  static Ref<Safetensors> open_memory(std::string bytes);

  void release() const {
    if (drop()) delete this;
  }

  std::span<const StoredTensor> tensors() const { return header_.tensors; }
  const Metadata& metadata() const { return header_.metadata; }
  // Throws NOT_FOUND with the existing names.
  const StoredTensor& find(std::string_view name) const;
  // Copies the elements of a tensor. Callable from any thread.
  void read(const StoredTensor& tensor, void* to) const;

 private:
  Safetensors() : Object(Kind::kSafetensors) {}

  void read_bytes(uint64_t offset, void* to, uint64_t size) const;

  std::string path_;   // Empty for a file in memory.
  std::string bytes_;  // The file in memory.
  mutable std::mutex mutex_;
  mutable std::ifstream file_;
  SafetensorsHeader header_;
};

// A tensor to be written: `read` copies its elements, row-major, to host memory.
struct TensorToStore {
  std::string name;
  TensorType type;
  std::function<void(void* to, uint64_t size)> read;
};

// Writes a file in its canonical form: tensors by the size of their elements, larger first, then by
// name; the elements aligned to 8 bytes. `write` receives the file's bytes in order.
using WriteBytes = std::function<void(const void* data, uint64_t size)>;
void write_safetensors(std::vector<TensorToStore> tensors, const Metadata& metadata,
                       const WriteBytes& write);

// Writes a file atomically.
void save_safetensors(const std::string& path, std::vector<TensorToStore> tensors,
                      const Metadata& metadata);

}  // namespace tenon
