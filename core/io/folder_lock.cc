#include "core/io/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "files/atomic_file.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

// Returns the path of the file `name` in the folder. If it is a symbolic link, returns the link's
// target.
std::string target_of(const std::string& folder, const std::string& name) {
  return tenon_files::link_target((fs::path(folder) / name).string());
}

// Whether a file of any type exists; a dangling symbolic link counts.
bool is_there(const std::string& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

}  // namespace

FolderLock::FolderLock(const std::string& folder, Kind kind) {
  constexpr auto kMaxWait = std::chrono::seconds(30);
  descriptor_ = ::open(folder.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY);
  if (descriptor_ < 0) return;
  const auto start = std::chrono::steady_clock::now();
  const int operation = (kind == Kind::kShared ? LOCK_SH : LOCK_EX) | LOCK_NB;
  while (::flock(descriptor_, operation) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return;
    if (std::chrono::steady_clock::now() - start > kMaxWait) {
      ::close(descriptor_);
      fail(Code::kUnavailable,
           "{}: the folder could not be locked within 30 s, because another process holds the lock",
           {folder});
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

// Whether an update of the folder was interrupted: the file `last` is missing, but `last`.tenon-old
// exists.
bool FolderLock::is_half_done(const std::string& folder, const std::string& last) {
  const std::string path = target_of(folder, last);
  return !is_there(path) && is_there(path + kOldSuffix);
}

// Rolls back an interrupted update: renames all files NAME.tenon-old of the folder back to NAME.
void FolderLock::restore(const std::string& folder, const std::string& last) {
  if (!is_half_done(folder, last)) return;
  std::error_code error;
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().string();
    if (entry.is_symlink(error) && !name.ends_with(kOldSuffix)) names.push_back(name);
    if (!name.ends_with(kOldSuffix)) continue;
    name.resize(name.size() - std::string_view(kOldSuffix).size());
    if (!name.empty()) names.push_back(name);
  }
  std::erase(names, last);
  names.push_back(last);
  for (const std::string& name : names) {
    const std::string path = target_of(folder, name);
    if (!is_there(path + kOldSuffix)) continue;
    fs::rename(path + kOldSuffix, path, error);
    require_code(!error, Code::kUnavailable,
                 "{}: a save was interrupted, and the earlier {} cannot be restored: {}", folder,
                 name, error.message());
  }
}

}  // namespace tenon
