// Files of a folder that change together: new ones are written beside their names, and take them
// when all are whole.
//
// No file system renames several files in one step. So finish() is called under a FolderLock, which
// keeps readers and other writers out meanwhile. The earlier files step aside first, as
// NAME.tenon-old, the one that was added last before all others, and come back if anything fails.
// A process that is killed in the middle of that leaves no file of the last name. The next one that
// locks the folder brings the earlier files back (FolderLock::restore).

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
  // Throws UNAVAILABLE; the folder then is as it was. The caller holds an exclusive FolderLock.
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
  std::vector<std::string> new_paths_;  // Where the files of names_ are written.
  std::vector<std::string> aside_;      // As far as finish() has come.
  size_t n_in_place_ = 0;
};

}  // namespace tenon
