// The files that a model's tensors lie in, beside the model's own. They lie in its folder, and
// nowhere else: what a path could reach beyond it is refused, be it by its text or by what lies
// there.

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
  // Throws DATA_LOSS where the file ends before.
  void read(uint64_t offset, void* to, uint64_t n) const;

 private:
  int descriptor_ = -1;
};

// All bytes of a file, of which there may be so many.
std::string read_whole(const OpenFile& file, uint64_t most, std::string_view name);
// Of a regular file. Throws NOT_FOUND where there is none, and UNAVAILABLE where it cannot be read.
std::string read_whole_file(const std::string& path, uint64_t most);

class ModelFolder {
 public:
  // Of a model without one, nothing can be read.
  explicit ModelFolder(std::string path) : path_(std::move(path)) {}

  // Reads the elements of a tensor that lie in another file, as elements that it owns. Throws
  // DATA_LOSS where they cannot lie there.
  void load(TensorData& data);
  // A file in it, by its path from there.
  const OpenFile& open(const std::string& location);

 private:
  std::string path_;
  OpenFile folder_;
  std::string location_;  // Of the file that was opened last.
  OpenFile file_;
};

}  // namespace tenon::onnx
