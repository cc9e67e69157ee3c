// Files of a folder that change together: new ones are written beside their names, and take them
// when all are whole.
//
// No file system renames several files in one step. So those that were there step aside first, the
// one that was added last before all others, and come back if anything fails. A process that ends
// in the middle of that leaves no file of that name; the new files are in place or NAME.tenon-new,
// and the earlier ones NAME.tenon-old.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tenon {

class FolderUpdate {
 public:
  // Makes the folder if it is not there. Throws NOT_FOUND or UNAVAILABLE.
  explicit FolderUpdate(const std::string& folder);
  ~FolderUpdate();
  FolderUpdate(const FolderUpdate&) = delete;

  // Where to write a file.
  std::string add(const std::string& name);
  void write(const std::string& name, const std::string& bytes);
  // A file that goes, unless one of its name comes.
  void remove(const std::string& name);
  // Throws UNAVAILABLE; the folder then is as it was.
  void finish();

 private:
  std::filesystem::path beside(const std::string& name, const char* suffix) const {
    return folder_ / (name + suffix);
  }
  void step_aside(const std::string& name);
  void undo();

  std::filesystem::path folder_;
  bool made_folder_ = false, is_done_ = false;
  std::vector<std::string> names_, removed_;
  std::vector<std::string> aside_, in_place_;  // As far as finish() has come.
};

}  // namespace tenon
