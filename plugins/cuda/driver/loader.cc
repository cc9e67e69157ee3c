#include "plugins/cuda/driver/loader.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace tenon_cuda {
namespace {

namespace fs = std::filesystem;

// The file names of a library, and the folders under site-packages into which its wheels install
// it.
struct Searched {
  std::vector<const char*> names, wheel_folders;
};
// NVRTC 13 compiles for compute capability 7.5 and later, NVRTC 12 also for older devices. Their
// wheels are nvidia-cuda-nvrtc and nvidia-cuda-nvrtc-cu12.
const Searched& nvrtc_locations() {
  static const Searched searched = {{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"},
                                    {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"}};
  return searched;
}
// The wheels of cuBLASLt are nvidia-cublas and nvidia-cublas-cu12.
const Searched& cublaslt_locations() {
  static const Searched searched = {{"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"},
                                    {"nvidia/cu13/lib", "nvidia/cublas/lib"}};
  return searched;
}

// Returns the reason why dlopen() failed for this file.
std::string dlopen_failure(const std::string& name) {
  const char* const reason = dlerror();
  return reason != nullptr ? reason : name + " cannot be opened";
}

class Search {
 public:
  explicit Search(const Searched& searched)
      : searched_(searched), files_(searched.names.begin(), searched.names.end()) {}

  void add_files(const fs::path& folder) {
    std::error_code failure;
    for (const char* const name : searched_.names) {
      const fs::path file = folder / name;
      if (fs::exists(file, failure)) files_.push_back(file.string());
    }
  }
  void add_site_packages(const fs::path& site_packages) {
    for (const char* const folder : searched_.wheel_folders) add_files(site_packages / folder);
  }
  // Adds the site-packages of the Python environment at `prefix`.
  void add_environment(const fs::path& prefix) {
    std::error_code failure;
    for (const char* const lib : {"lib", "lib64"}) {
      for (const auto& entry : fs::directory_iterator(prefix / lib, failure)) {
        if (entry.path().filename().string().rfind("python3", 0) != 0) continue;
        add_site_packages(entry.path() / "site-packages");
        add_site_packages(entry.path() / "dist-packages");
      }
    }
  }
  // Adds the site-packages folder that contains the plugin, if the plugin is part of a Python
  // package.
  void add_own_site_packages() {
    Dl_info info;
    if (dladdr(reinterpret_cast<const void*>(&trusted_environment_variable), &info) == 0) return;
    std::error_code failure;
    fs::path at = fs::absolute(info.dli_fname, failure);
    while (!failure && at.has_relative_path()) {
      at = at.parent_path();
      if (at.filename() == "site-packages" || at.filename() == "dist-packages") {
        add_site_packages(at);
      }
    }
  }
  // Returns file names for dlopen, in the order in which they are tried.
  std::vector<std::string> run() {
    for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"}) {
      if (const char* const toolkit = trusted_environment_variable(variable)) {
        add_files(fs::path(toolkit) / "lib64");
      }
    }
    add_files("/usr/local/cuda/lib64");
    add_own_site_packages();
    for (const char* const variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
      if (const char* const prefix = trusted_environment_variable(variable))
        add_environment(prefix);
    }
    std::error_code failure;
    const fs::path program = fs::read_symlink("/proc/self/exe", failure);
    if (!failure && program.filename().string().rfind("python", 0) == 0) {
      add_environment(program.parent_path().parent_path());
    }
    for (const char* const prefix : {"/usr/local", "/usr"}) add_environment(prefix);
    return std::move(files_);
  }

 private:
  const Searched& searched_;
  std::vector<std::string> files_;
};

// Opens the first of these libraries that can be opened, and stores its name in `name`. If none can
// be opened, returns NULL, with the reason for the first library in `why`.
void* open_first(const std::vector<std::string>& names, std::string& name, std::string& why) {
  for (const std::string& candidate : names) {
    name = candidate;
    if (void* const library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    if (why.empty()) why = dlopen_failure(candidate);
  }
  return nullptr;
}

// Finds a symbol of library `name`. If the library lacks it, returns false and describes this in
// `why` unless that holds an earlier reason.
bool find_symbol(void* library, const char* symbol, void** function, const std::string& name,
                 std::string& why) {
  *function = dlsym(library, symbol);
  if (*function != nullptr) return true;
  if (why.empty()) why = name + " lacks the function " + symbol + ", so it is too old";
  return false;
}

#define TENON_CUDA_FIND(field, symbol, parameters) \
  all &= find_symbol(library, #symbol, reinterpret_cast<void**>(&functions.field), name, why);

}  // namespace

// Returns an environment variable; NULL in a process with elevated privileges.
const char* trusted_environment_variable(const char* name) {
#if defined(__GLIBC__)
  return secure_getenv(name);
#else
  return std::getenv(name);
#endif
}

// Opens libcuda. If that fails, returns false, with the reason in `why`.
bool open_driver(DriverFunctions& functions, std::string& why) {
  const char* const forced = trusted_environment_variable("TENON_CUDA_DRIVER");
  const std::string name = forced != nullptr ? forced : "libcuda.so.1";
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    why = "cannot load the CUDA driver: " + dlopen_failure(name);
    return false;
  }
  bool all = true;
  TENON_CUDA_DRIVER_FUNCTIONS(TENON_CUDA_FIND)
  return all;
}

// Returns the file names of NVRTC for dlopen(), in the order in which they are tried.
std::vector<std::string> candidates_for_nvrtc() { return Search(nvrtc_locations()).run(); }

// Opens NVRTC. If that fails, returns false, with the reason in `why`.
bool open_nvrtc(NvrtcFunctions& functions, std::string& why) {
  const char* const forced = trusted_environment_variable("TENON_CUDA_NVRTC");
  const std::vector<std::string> names =
      forced != nullptr ? std::vector<std::string>{forced} : candidates_for_nvrtc();
  std::string name, first_reason;
  void* const library = open_first(names, name, first_reason);
  if (library == nullptr) {
    why = "cannot load NVRTC, which compiles kernels: " + first_reason +
          "; install the wheel nvidia-cuda-nvrtc or a CUDA toolkit, or set TENON_CUDA_NVRTC";
    return false;
  }
  bool all = true;
  TENON_CUDA_NVRTC_FUNCTIONS(TENON_CUDA_FIND)
  TENON_CUDA_FIND(GetErrorString, nvrtcGetErrorString, )
  return all;
}

// Opens cuBLASLt. Only if the library that the environment variable names cannot be opened, returns
// kFailed, with the reason in `why`.
Opened open_cublaslt(CublasLtFunctions& functions, std::string& why) {
  const char* const forced = trusted_environment_variable("TENON_CUDA_CUBLASLT");
  if (forced != nullptr && *forced == '\0') return Opened::kNone;
  const std::vector<std::string> names =
      forced != nullptr ? std::vector<std::string>{forced} : Search(cublaslt_locations()).run();
  std::string name, first_reason;
  void* const library = open_first(names, name, first_reason);
  if (library == nullptr) {
    why = "the library in TENON_CUDA_CUBLASLT cannot be opened: " + first_reason;
    return forced != nullptr ? Opened::kFailed : Opened::kNone;
  }
  bool all = true;
  TENON_CUDA_CUBLASLT_FUNCTIONS(TENON_CUDA_FIND)
  if (all) return Opened::kYes;
  return forced != nullptr ? Opened::kFailed : Opened::kNone;
}

}  // namespace tenon_cuda
