// Compiled kernels on disk, one file each. A file says which source, options, architecture and
// NVRTC it is made of, and a checksum, so that one that is torn or foreign is compiled again.

#pragma once

#include <string>
#include <string_view>

namespace tenon_cuda {

class Cache {
 public:
  // An empty folder: nothing is kept.
  explicit Cache(std::string folder) : folder_(std::move(folder)) {}

  // In the user's cache; empty if there is none.
  static std::string default_folder();

  // Empty: there is none, or not a whole one of this key.
  std::string read(std::string_view key) const;
  // Whoever reads meanwhile sees the old file or the new one. Failures are ignored: the next run
  // compiles again.
  void write(std::string_view key, std::string_view code) const;

 private:
  std::string path_of(std::string_view key) const;

  const std::string folder_;
};

}  // namespace tenon_cuda
