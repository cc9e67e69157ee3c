// A folder for the files of a test, gone behind it.

#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace tenon::testing {

class Folder {
 public:
  Folder() {
    std::string path = (std::filesystem::temp_directory_path() / "tenon_test_XXXXXX").string();
    path_ = ::mkdtemp(path.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Writes a file, in place of one that is there.
  std::string write(const std::string& name, const std::string& bytes) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::remove(file);
    std::ofstream(file, std::ios::binary) << bytes;
    return file.string();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace tenon::testing
