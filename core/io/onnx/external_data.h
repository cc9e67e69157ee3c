// Reads the files that hold a model's tensors. They must be inside the model's folder: absolute
// paths, paths with "..", and symbolic links are rejected.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/onnx/tensor_data.h"

namespace tenon::onnx {

// A file that is open for reading. Owns its descriptor.
class OpenFile {
 public:
  OpenFile() = default;
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  ~OpenFile();
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) noexcept;

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  uint64_t size() const;
  // Reads n bytes at `offset`. Throws DATA_LOSS if the file is too short.
  void read(uint64_t offset, void* to, uint64_t n) const;

 private:
  int descriptor_ = -1;
};

// Reads a whole file. Throws if it has more than `most` bytes.
std::string read_whole(const OpenFile& file, uint64_t most, std::string_view name);
// Reads a whole regular file. Throws NOT_FOUND if it does not exist, and UNAVAILABLE if it cannot
// be read.
std::string read_whole_file(const std::string& path, uint64_t most);

class ModelFolder {
 public:
  // With an empty path the model has no folder, and load() and open() fail.
  explicit ModelFolder(std::string path) : path_(std::move(path)) {}

  // Reads the elements of a tensor from its external file into `data`. Throws DATA_LOSS if the file
  // name, the offset or the length is invalid.
  void load(TensorData& data);
  // Opens a file by its path relative to the folder, or returns it if it was opened last.
  const OpenFile& open(const std::string& location);

 private:
  std::string path_;
  OpenFile folder_;
  std::string location_;  // Path of the file in `file_`.
  OpenFile file_;
};

}  // namespace tenon::onnx
