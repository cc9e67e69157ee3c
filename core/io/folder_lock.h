// An advisory lock on a folder whose files change together: readers share it, and a writer holds it
// alone while files take their names. It is the operating system's lock on the folder itself
// (flock), so it leaves no file and ends with the process. Where a file system has none, nothing is
// locked.

#pragma once

#include <string>

namespace tenon {

class FolderLock {
 public:
  enum class Kind { kShared, kExclusive };

  // Waits for at most 30 seconds, then throws UNAVAILABLE. A folder that cannot be opened is not
  // locked.
  FolderLock(const std::string& folder, Kind kind);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  // Ends an update of the folder that a killed process left half done: if the file `last` is
  // missing and `last`.tenon-old is there, all files NAME.tenon-old get their names back. The
  // caller holds the lock alone.
  static void restore(const std::string& folder, const std::string& last);
  // Whether restore() has something to do.
  static bool is_half_done(const std::string& folder, const std::string& last);

 private:
  int descriptor_ = -1;
};

}  // namespace tenon
