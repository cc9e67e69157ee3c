#include "plugins/cpu/openblas.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <atomic>
#include <mutex>
#include <string>

#include "plugins/cpu/openblas/buffers.h"
#include "plugins/simd/vectors/dispatch.h"

namespace tenon_simd {
namespace {

constexpr const char* kFile = "tenon_cpu_openblas.so";

struct OpenBlas {
  Blas blas = {};
  bool is_usable = false;
  std::string text;
};

// Returns the folder of the plugin, which is the shared library that contains this function.
std::string plugin_folder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&plugin_folder), &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

// Looks up a function in `library` and in the libraries that it depends on.
template <class F>
bool find_function(void* library, const std::string& name, F*& out_function) {
  out_function = reinterpret_cast<F*>(dlsym(library, name.c_str()));
  return out_function != nullptr;
}

// Looks up all functions of one precision; `prefix` is 's' or 'd'. Returns false if one is missing.
template <class T>
bool find_functions(void* library, char prefix, BlasFunctions<T>& out) {
  const auto lapack = [&](const char* name, auto& function) {
    return find_function(library, prefix + std::string(name) + "_", function);
  };
  const auto blas = [&](const char* name, auto& function) {
    return find_function(library, "cblas_" + (prefix + std::string(name)), function);
  };
  return blas("gemm", out.gemm) && lapack("potrf", out.potrf) && lapack("syevd", out.syevd) &&
         lapack("gesdd", out.gesdd);
}

// Whether OpenBLAS has code for this processor. On an unknown processor it uses code for a much
// older one, which is several times slower than Tenon's own code.
bool supports_processor(const std::string& core) {
#if defined(__x86_64__)
  return core == "Haswell" || core == "Zen" || core == "SkylakeX" || core == "Cooperlake" ||
         core == "SapphireRapids";
#else
  return core != "ARMV8";  // ARMV8 is the generic code.
#endif
}

// Whether OpenBLAS uses the widest vectors of this processor.
bool uses_widest_vectors(const std::string& core) {
  return !has_avx512() || (core != "Haswell" && core != "Zen");
}

// Calls a function of OpenBLAS that always takes a work buffer, unlike products of small matrices.
// Returns false if memory is exhausted.
bool call_with_work_buffer(const Blas& blas) {
  const BlasCalls calls(blas);
  if (!calls) return false;
  float a[4] = {1, 0, 0, 1};
  const int n = 2;
  int info = 0;
  blas.float32.potrf("U", &n, a, &n, &info, 1);
  return true;
}

// Whether the address space has room for OpenBLAS and a buffer. This is checked before dlopen(),
// which does not report whether it failed because memory was exhausted. If it was, a later call may
// succeed.
bool has_room() {
  constexpr size_t kRoom = size_t{400} << 20;
  void* const memory =
      mmap(nullptr, kRoom, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  munmap(memory, kRoom);
  return true;
}

// Loads OpenBLAS. The result contains the reason if it cannot be used.
OpenBlas load_openblas() {
  OpenBlas made;
  const auto refuse = [&](const std::string& reason) {
    made.text = "without OpenBLAS: " + reason;
    return made;
  };
  const std::string folder = plugin_folder();
  if (folder.empty()) return refuse("the folder of the plugin is unknown");
  if (!has_room()) throw std::bad_alloc();
  void* const library = dlopen((folder + kFile).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    return refuse(why != nullptr ? why : "cannot be loaded");
  }
  const auto* const buffers =
      static_cast<const TenonBlasBuffers*>(dlsym(library, "tenon_blas_buffers"));
  char* (*config)() = nullptr;
  char* (*corename)() = nullptr;
  int (*parallel)() = nullptr;
  void (*set_threads)(int) = nullptr;
  if (buffers == nullptr || !find_function(library, "openblas_get_config", config) ||
      !find_function(library, "openblas_get_corename", corename) ||
      !find_function(library, "openblas_get_parallel", parallel) ||
      !find_function(library, "openblas_set_num_threads", set_threads) ||
      !find_functions(library, 's', made.blas.float32) ||
      !find_functions(library, 'd', made.blas.float64)) {
    return refuse("libopenblas.so.0 lacks a function that the plugin needs");
  }
  // The configuration begins with "OpenBLAS 0.3.21 ".
  std::string name = config();
  const size_t space = name.find(' ');
  name = name.substr(0, name.find(' ', space == std::string::npos ? space : space + 1));
  const std::string core = corename();
  if (!supports_processor(core)) {
    return refuse(name + " has no code for this processor and would use the code for " + core);
  }

  made.blas.enter = buffers->enter;
  made.blas.leave = buffers->leave;
  if (!call_with_work_buffer(made.blas)) throw std::bad_alloc();
  if (!buffers->was_called_by_openblas()) {
    return refuse(
        "other code in this process has already loaded OpenBLAS, so its memory allocator cannot be "
        "replaced");
  }
  // OpenBLAS uses one thread, so that results do not depend on the number of threads and all
  // threads belong to one pool.
  if (parallel() != 0) set_threads(1);
  made.blas.multiplies = uses_widest_vectors(core);
  made.is_usable = true;
  made.text = name + " (" + core + ")";
  return made;
}

// Returns OpenBLAS, which the first call loads.
const OpenBlas& openblas() {
  static constinit std::mutex mutex;
  static constinit std::atomic<const OpenBlas*> loaded{nullptr};
  if (const OpenBlas* found = loaded.load(std::memory_order_acquire)) return *found;
  const std::lock_guard guard(mutex);
  const OpenBlas* found = loaded.load(std::memory_order_relaxed);
  if (found == nullptr) {
    found = new OpenBlas(load_openblas());  // Never destroyed.
    loaded.store(found, std::memory_order_release);
  }
  return *found;
}

}  // namespace

const Blas* find_openblas() {
  const OpenBlas& found = openblas();
  return found.is_usable ? &found.blas : nullptr;
}

std::string_view describe_openblas() { return openblas().text; }

}  // namespace tenon_simd
