// Disk cache of compiled kernels, one file per kernel source. A file begins with a key (source,
// options, architecture and NVRTC version) and a checksum. If the file is incomplete or its key
// differs, the kernel is recompiled.

#pragma once

#include <string>
#include <string_view>

namespace tenon_cuda {

class Cache {
 public:
  // An empty `folder` disables the cache.
  explicit Cache(std::string folder) : folder_(std::move(folder)) {}

  // Returns a folder in the user's cache directory; empty if there is none.
  static std::string default_folder();

  // Returns the code for the key; empty if there is no file, or the file is incomplete or has a
  // different key.
  std::string read(std::string_view key) const;
  // Replaces the file atomically: concurrent readers see the old file or the new one. Failures are
  // ignored: the next run compiles again.
  void write(std::string_view key, std::string_view code) const;

 private:
  // Returns the path of the file for a key.
  std::string file_path(std::string_view key) const;

  const std::string folder_;
};

}  // namespace tenon_cuda
