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

namespace tenon {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOld = ".tenon-old";

}  // namespace

FolderLock::FolderLock(const std::string& folder, Kind kind) {
  constexpr auto kMostWait = std::chrono::seconds(30);
  descriptor_ = ::open(folder.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY);
  if (descriptor_ < 0) return;
  const auto start = std::chrono::steady_clock::now();
  const int operation = (kind == Kind::kShared ? LOCK_SH : LOCK_EX) | LOCK_NB;
  while (::flock(descriptor_, operation) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return;
    if (std::chrono::steady_clock::now() - start > kMostWait) {
      ::close(descriptor_);
      fail(Code::kUnavailable, "{}: another process has locked it for 30 s", {folder});
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool FolderLock::is_half_done(const std::string& folder, const std::string& last) {
  std::error_code ignored;
  const fs::path path = fs::path(folder) / last;
  return !fs::exists(path, ignored) && fs::exists(path.string() + kOld, ignored);
}

void FolderLock::restore(const std::string& folder, const std::string& last) {
  if (!is_half_done(folder, last)) return;
  std::error_code error;
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().string();
    if (!name.ends_with(kOld)) continue;
    name.resize(name.size() - std::string_view(kOld).size());
    if (name != last && !name.empty()) names.push_back(name);
  }
  names.push_back(last);
  for (const std::string& name : names) {
    const fs::path path = fs::path(folder) / name;
    fs::rename(path.string() + kOld, path, error);
    require_code(!error, Code::kUnavailable,
                 "{}: a save was interrupted, and the earlier {} cannot be restored: {}", folder,
                 name, error.message());
  }
}

}  // namespace tenon
