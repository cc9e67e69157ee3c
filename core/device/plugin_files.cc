#include "core/device/plugin_files.h"

#include "core/base/error.h"

#if defined(__EMSCRIPTEN__) || defined(_WIN32)

namespace tenon {

std::string name_in_file_name(std::string_view) { return {}; }

std::vector<std::string> find_plugin_files(std::span<const std::string>) { return {}; }

tenon_plugin_query map_plugin_file(const std::string&) {
  fail(Code::kUnimplemented, "this build cannot load plugin files; use a plugin that is linked in");
}

}  // namespace tenon

#else

#include <dirent.h>
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <new>
#if defined(__linux__)
#include <sys/auxv.h>
#endif

#include "core/device/elf_check.h"

namespace tenon {
namespace {

constexpr std::string_view kPrefix = "libtenon_";
#if defined(__APPLE__)
constexpr std::string_view kSuffix = ".dylib";
#else
constexpr std::string_view kSuffix = ".so";
#endif

// If a plugin exports only the entry point of another ABI epoch, the error names that entry point.
// Epochs below this number are tried.
constexpr int kMaxEpoch = 64;

// Whether the process has more privileges than the user who started it, as with setuid.
bool is_privileged() {
#if defined(__linux__)
  return getauxval(AT_SECURE) != 0;
#else
  return geteuid() != getuid() || getegid() != getgid();
#endif
}

// Collects plugin files. Skips a file that was already found under another path.
class Files {
 public:
  void add(const std::string& path) {
    struct stat status;
    const bool exists = stat(path.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) return add_folder(path);
    if (exists) {
      const auto identity = std::make_pair(status.st_dev, status.st_ino);
      if (std::find(seen_.begin(), seen_.end(), identity) != seen_.end()) return;
      seen_.push_back(identity);
    }
    // Missing files are kept, too, because the list of candidates reports them.
    paths_.push_back(path);
  }

  void add_folder(const std::string& folder) {
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(folder.c_str()), closedir);
    if (!directory) {
      if (errno == ENOMEM) throw std::bad_alloc();
      return;
    }
    std::vector<std::string> names;
    while (const dirent* entry = readdir(directory.get())) {
      if (!name_in_file_name(entry->d_name).empty()) names.emplace_back(entry->d_name);
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      const std::string path = folder + "/" + name;
      struct stat status;
      if (stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) add(path);
    }
  }

  // Skips entries that are not absolute, because they would depend on the working directory.
  void add_list(std::string_view list) {
    while (!list.empty()) {
      const size_t end = std::min(list.find(':'), list.size());
      if (list[0] == '/') add(std::string(list.substr(0, end)));
      list.remove_prefix(std::min(end + 1, list.size()));
    }
  }

  std::vector<std::string> take() { return std::move(paths_); }

 private:
  std::vector<std::string> paths_;
  std::vector<std::pair<dev_t, ino_t> > seen_;
};

// Returns the folder tenon/plugins beside libtenon. dladdr finds libtenon, because this function is
// part of it.
std::string install_folder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&install_folder), &info) == 0 || !info.dli_fname) return {};
  const std::unique_ptr<char, void (*)(void*)> resolved(realpath(info.dli_fname, nullptr),
                                                        std::free);
  if (!resolved) {
    if (errno == ENOMEM) throw std::bad_alloc();
    return {};
  }
  std::string path = resolved.get();
  path.resize(path.rfind('/') + 1);
  return path + "tenon/plugins";
}

}  // namespace

std::string name_in_file_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  if (path.size() <= kPrefix.size() + kSuffix.size()) return {};
  if (path.substr(0, kPrefix.size()) != kPrefix) return {};
  if (path.substr(path.size() - kSuffix.size()) != kSuffix) return {};
  path.remove_prefix(kPrefix.size());
  path.remove_suffix(kSuffix.size());
  return std::string(path);
}

std::vector<std::string> find_plugin_files(std::span<const std::string> paths) {
  Files files;
  for (const std::string& path : paths) {
    if (!path.empty()) files.add(path);
  }
  const char* list = is_privileged() ? nullptr : std::getenv("TENON_PLUGIN_PATH");
  if (list) files.add_list(list);
  const std::string folder = install_folder();
  if (!folder.empty()) files.add_folder(folder);
  return files.take();
}

tenon_plugin_query map_plugin_file(const std::string& path) {
  const FileVerdict verdict = check_shared_object(path);
  require_code(verdict.code == Code::kOk, verdict.code, "{}", verdict.reason);

  // dlopen searches the library path if the name has no slash.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  errno = 0;
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    if (errno == ENOMEM) throw std::bad_alloc();
    const char* why = dlerror();
    fail(Code::kUnavailable, "cannot be loaded: {}", {why ? why : "unknown reason"});
  }
  if (void* entry = dlsym(library, TENON_PLUGIN_SYMBOL)) {
    return reinterpret_cast<tenon_plugin_query>(entry);
  }
  for (int epoch = 0; epoch < kMaxEpoch; ++epoch) {
    const std::string symbol = format("tenon_plugin_query_v{}", {epoch});
    require_code(
        dlsym(library, symbol.c_str()) == nullptr, Code::kUnavailable,
        "has another ABI epoch: the file exports {}, but this host requires " TENON_PLUGIN_SYMBOL,
        symbol);
  }
  fail(Code::kInvalidArgument, "is not a plugin: the file does not export " TENON_PLUGIN_SYMBOL);
}

}  // namespace tenon

#endif
