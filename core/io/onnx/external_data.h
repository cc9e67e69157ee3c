// Files that hold tensors of a model. They must be in the model's folder: paths that leave it,
// textually or through links, are rejected.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/onnx/tensor_data.h"

namespace tenon::onnx {

// A file that is open for reading.
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
  // Throws DATA_LOSS if the file is too short.
  void read(uint64_t offset, void* to, uint64_t n) const;

 private:
  int descriptor_ = -1;
};

// Reads a whole file of at most `most` bytes.
std::string read_whole(const OpenFile& file, uint64_t most, std::string_view name);
// Reads a regular file. Throws NOT_FOUND if there is none, and UNAVAILABLE if it cannot be read.
std::string read_whole_file(const std::string& path, uint64_t most);

class ModelFolder {
 public:
  // If the model has no folder, nothing can be read.
  explicit ModelFolder(std::string path) : path_(std::move(path)) {}

  // Reads the elements of a tensor from another file into `data`. Throws DATA_LOSS if its location
  // is invalid.
  void load(TensorData& data);
  // Opens a file by its path relative to the folder.
  const OpenFile& open(const std::string& location);

 private:
  std::string path_;
  OpenFile folder_;
  std::string location_;  // The file that was opened last.
  OpenFile file_;
};

}  // namespace tenon::onnx
