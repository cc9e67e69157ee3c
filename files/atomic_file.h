// Writes a file that takes its name when it is whole. A reader of that name sees the file of before
// or the new one, never a part of it, whatever happens to the process that writes and however many
// write at once. All that Tenon writes goes through here.
//
// The bytes go to a new file of a unique name in the same folder (".tenon-HEX.partial"), which is
// synchronised with the disk and then renamed. A process that is killed leaves that file behind,
// which may be deleted. The file keeps the permissions of the one that it replaces. If the path is
// a symbolic link, the file that it names is replaced, and the link stays. What is not a regular
// file (a terminal, a pipe, /dev/null) is written directly.

#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace tenon_files {

// The folder of a path, as a path: "." of a bare name.
inline std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// A path in `folder` that no other call in any process is likely to get.
inline std::string unique_path(const std::string& folder) {
  static std::atomic<uint64_t> count{0};
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  uint64_t word = static_cast<uint64_t>(now) ^ static_cast<uint64_t>(getpid()) << 40;
  word = (word + count.fetch_add(0x9e3779b97f4a7c15)) * 0xff51afd7ed558ccd;
  word ^= word >> 32;
  char name[48];
  std::snprintf(name, sizeof name, "/.tenon-%016llx.partial",
                static_cast<unsigned long long>(word));
  return folder + name;
}

// Follows links from `path`, also to a file that is not there yet. Gives `path` back where that
// does not end.
inline std::string link_target(const std::string& path) {
  std::string at = path;
  for (int n = 0; n < 40; ++n) {
    char to[PATH_MAX];
    const ssize_t size = readlink(at.c_str(), to, sizeof to);
    if (size <= 0 || size == static_cast<ssize_t>(sizeof to)) return at;
    const std::string_view target(to, static_cast<size_t>(size));
    at = target[0] == '/' ? std::string(target) : folder_of(at) + "/" + std::string(target);
  }
  return path;
}

// Waits until the file or folder is on the disk. Also returns true on file systems that do not
// support this.
inline bool synchronise(int descriptor) {
  if (fsync(descriptor) == 0) return true;
  return errno == EINVAL || errno == ENOTSUP || errno == ENOSYS || errno == EROFS;
}

inline void synchronise_folder(const std::string& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY);
  if (descriptor < 0) return;
  synchronise(descriptor);
  close(descriptor);
}

class AtomicFile {
 public:
  // If a call fails, error() returns its errno, and later calls do nothing.
  explicit AtomicFile(const std::string& path) {
    struct stat status = {};
    const bool is_there = stat(path.c_str(), &status) == 0;
    if (is_there && !S_ISREG(status.st_mode)) {
      descriptor_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
      if (descriptor_ < 0) error_ = errno;
      return;
    }
    target_ = link_target(path);
    const std::string folder = folder_of(target_);
    for (int n = 0; n < 100 && descriptor_ < 0; ++n) {
      temporary_ = unique_path(folder);
      descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                         is_there ? 0600 : 0666);
      if (descriptor_ < 0 && errno != EEXIST) break;
    }
    if (descriptor_ < 0) {
      error_ = errno;
      temporary_.clear();
    } else if (is_there) {
      // Not every file system has permissions to keep.
      (void)!fchmod(descriptor_, status.st_mode & 07777);
    }
  }
  ~AtomicFile() { discard(); }
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // The errno of what failed first; 0 while all is well.
  int error() const { return error_; }

  void write(const void* data, size_t size) {
    const char* at = static_cast<const char*>(data);
    while (size > 0 && error_ == 0) {
      const size_t most = size_t{1} << 30;
      const ssize_t n = ::write(descriptor_, at, size < most ? size : most);
      if (n < 0) {
        if (errno != EINTR) fail();
        continue;
      }
      at += n;
      size -= static_cast<size_t>(n);
    }
  }
  void write(std::string_view text) { write(text.data(), text.size()); }

  // Gives the file its name. False if that or anything before failed; the earlier file is then
  // untouched.
  bool finish() {
    if (error_ == 0 && !temporary_.empty() && !synchronise(descriptor_)) fail();
    if (descriptor_ >= 0 && close(descriptor_) != 0 && errno != EINTR) fail();
    descriptor_ = -1;
    if (error_ == 0 && !temporary_.empty()) {
      if (rename(temporary_.c_str(), target_.c_str()) != 0) {
        fail();
      } else {
        temporary_.clear();
        synchronise_folder(folder_of(target_));
      }
    }
    discard();
    return error_ == 0;
  }

 private:
  void fail() {
    if (error_ == 0) error_ = errno;
  }
  void discard() {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
    if (!temporary_.empty()) unlink(temporary_.c_str());
    temporary_.clear();
  }

  std::string target_, temporary_;  // Both empty for what is written directly.
  int descriptor_ = -1;
  int error_ = 0;
};

}  // namespace tenon_files
