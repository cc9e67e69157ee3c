// An advisory lock on a folder whose files change together. Readers share the lock. A writer holds
// it exclusively while it renames files. The lock is flock() on the folder itself, which creates no
// lock file and ends with the process. On a file system that does not support locks, the lock has
// no effect.

#pragma once

#include <string>

namespace tenon {

// Appended to the name of a file that an update replaces, until the update finishes.
inline constexpr const char* kOldSuffix = ".tenon-old";

class FolderLock {
 public:
  enum class Kind { kShared, kExclusive };

  // Waits for the lock for at most 30 seconds, then throws UNAVAILABLE. If the folder cannot be
  // opened, takes no lock and does not fail.
  FolderLock(const std::string& folder, Kind kind);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  // Rolls back an update whose process was killed before it finished. If the file `last` is missing
  // and `last`.tenon-old exists, renames all files NAME.tenon-old back to NAME. The caller must
  // hold the exclusive lock.
  static void restore(const std::string& folder, const std::string& last);
  // Whether an update was interrupted before it finished, so that restore() would rename files.
  static bool is_half_done(const std::string& folder, const std::string& last);

 private:
  int descriptor_ = -1;
};

}  // namespace tenon
