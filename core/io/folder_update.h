// Updates files of a folder together: writes new files under temporary names, and renames them when
// all are complete.
//
// No file system renames several files in one step. So finish() is called under a FolderLock, which
// excludes readers and other writers. It first renames the earlier files to NAME.tenon-old,
// starting with the file that was added last. If anything fails, it renames them back. If a process
// is killed during this, no file of the last name exists. The next process that locks the folder
// then restores the earlier files (FolderLock::restore). A new file has the permissions of the file
// that it replaces. If the folder has a symbolic link of that name, the file that the link names is
// replaced, and the link stays.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tenon {

class FolderUpdate {
 public:
  // Creates the folder if it does not exist. Throws NOT_FOUND or UNAVAILABLE.
  explicit FolderUpdate(const std::string& folder);
  ~FolderUpdate();
  FolderUpdate(const FolderUpdate&) = delete;

  // Returns the path where to write a file. Throws UNAVAILABLE if an existing file of that name is
  // not a regular file.
  std::string add(const std::string& name);
  void write(const std::string& name, const std::string& bytes);
  // Marks a file for removal, unless a new file has its name.
  void remove(const std::string& name);
  // Throws UNAVAILABLE and leaves the folder unchanged on failure. The caller holds an exclusive
  // FolderLock.
  void finish();

 private:
  void rename_to_old(const std::string& path);
  void undo();

  std::filesystem::path folder_;
  bool made_folder_ = false, is_done_ = false;
  std::vector<std::string> names_;      // Names of the new files.
  std::vector<std::string> targets_;    // Final paths of the new files.
  std::vector<std::string> new_paths_;  // Temporary paths of the new files.
  std::vector<std::string> removed_;    // Names of files to remove.
  // Earlier files that finish() has renamed so far.
  struct RenamedFile {
    std::string path, old;
  };
  std::vector<RenamedFile> renamed_;
  size_t n_in_place_ = 0;
};

}  // namespace tenon
