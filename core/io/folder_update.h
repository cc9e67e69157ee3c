// Files of a folder that change together: new ones are written beside their names, and take them
// when all are whole.
//
// No file system renames several files in one step. So finish() is called under a FolderLock, which
// keeps readers and other writers out meanwhile. The earlier files step aside first, as
// NAME.tenon-old, the one that was added last before all others, and come back if anything fails.
// A process that is killed in the middle of that leaves no file of the last name. The next one that
// locks the folder brings the earlier files back (FolderLock::restore). A new file has the
// permissions of the one that it replaces. Where the folder has a symbolic link of that name, all
// this happens to the file that the link names, and the link stays.

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

  // Where to write a file. Throws UNAVAILABLE if that file is no regular one.
  std::string add(const std::string& name);
  void write(const std::string& name, const std::string& bytes);
  // A file that goes, unless one of its name comes.
  void remove(const std::string& name);
  // Throws UNAVAILABLE; the folder then is as it was. The caller holds an exclusive FolderLock.
  void finish();

 private:
  void step_aside(const std::string& path);
  void undo();

  std::filesystem::path folder_;
  bool made_folder_ = false, is_done_ = false;
  std::vector<std::string> names_;      // Of new files.
  std::vector<std::string> targets_;    // Where they go,
  std::vector<std::string> new_paths_;  // and where they are written.
  std::vector<std::string> removed_;    // Names of files that go.
  // Earlier files, as far as finish() has come.
  struct Aside {
    std::string path, old;
  };
  std::vector<Aside> aside_;
  size_t n_in_place_ = 0;
};

}  // namespace tenon
