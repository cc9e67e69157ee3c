// Replaces several files of a folder together: writes the new files under temporary names, and
// renames all of them when all are complete.
//
// No file system renames several files in one step. Therefore finish() is called under a
// FolderLock, which excludes readers and other writers. finish() first renames the earlier files to
// NAME.tenon-old, starting with the file that was added last. If anything fails, it renames them
// back. If the process is killed before it has finished, the file that was added last is missing.
// The next process that locks the folder then restores the earlier files (FolderLock::restore).
// A new file gets the permissions of the file that it replaces. If the name is a symbolic link, the
// target of the link is replaced and the link is kept.

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

  // Adds a new file and returns the temporary path to write it to. Throws UNAVAILABLE if an
  // existing file of that name is not a regular file.
  std::string add(const std::string& name);
  // Adds a new file with these contents.
  void write(const std::string& name, const std::string& bytes);
  // Marks a file for removal. It is kept if a new file with the same name is added.
  void remove(const std::string& name);
  // Moves the new files to their final names and removes the marked files. If that fails, leaves
  // the folder unchanged and throws UNAVAILABLE. The caller must hold an exclusive FolderLock.
  void finish();

 private:
  // Renames an earlier file to its name with .tenon-old, if it exists.
  void rename_to_old(const std::string& path);
  // Undoes the renames of finish(), so that the folder is as before.
  void undo();

  std::filesystem::path folder_;
  bool made_folder_ = false, is_done_ = false;
  std::vector<std::string> names_;      // Names of the new files.
  std::vector<std::string> targets_;    // Final paths of the new files.
  std::vector<std::string> new_paths_;  // Temporary paths of the new files.
  std::vector<std::string> removed_;    // Names of files to remove.
  // A file from before the update that finish() has renamed from `path` to `old`.
  struct RenamedFile {
    std::string path, old;
  };
  std::vector<RenamedFile> renamed_;
  size_t n_in_place_ = 0;
};

}  // namespace tenon
