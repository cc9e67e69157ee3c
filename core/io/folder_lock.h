// An advisory lock on a folder whose files change together. Readers share the lock; a writer holds
// it exclusively while it renames files. It is the operating system's lock on the folder itself
// (flock), so it leaves no file and ends with the process. On a file system without locks, nothing
// is locked.

#pragma once

#include <string>

namespace tenon {

class FolderLock {
 public:
  enum class Kind { kShared, kExclusive };

  // Waits for at most 30 seconds, then throws UNAVAILABLE. Does not lock a folder that cannot be
  // opened.
  FolderLock(const std::string& folder, Kind kind);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  // Rolls back an update that a killed process left half done. If the file `last` is missing and
  // `last`.tenon-old exists, renames all files NAME.tenon-old back to NAME. The caller holds the
  // exclusive lock.
  static void restore(const std::string& folder, const std::string& last);
  // Whether restore() would do anything.
  static bool is_half_done(const std::string& folder, const std::string& last);

 private:
  int descriptor_ = -1;
};

}  // namespace tenon
