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

// The folder of the plugin, which is the file that contains this function.
std::string plugin_folder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&plugin_folder), &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

// Also finds functions of the libraries that `library` needs.
template <class F>
bool find(void* library, const std::string& name, F*& out_function) {
  out_function = reinterpret_cast<F*>(dlsym(library, name.c_str()));
  return out_function != nullptr;
}

template <class T>
bool find_functions(void* library, char prefix, BlasFunctions<T>& out) {
  const auto lapack = [&](const char* name, auto& function) {
    return find(library, prefix + std::string(name) + "_", function);
  };
  const auto blas = [&](const char* name, auto& function) {
    return find(library, "cblas_" + (prefix + std::string(name)), function);
  };
  return blas("gemm", out.gemm) && lapack("potrf", out.potrf) && lapack("syevd", out.syevd) &&
         lapack("gesdd", out.gesdd);
}

// On an unknown processor, OpenBLAS falls back to a much older one, which makes it several times
// slower than our own code.
bool knows_processor(const std::string& core) {
#if defined(__x86_64__)
  return core == "Haswell" || core == "Zen" || core == "SkylakeX" || core == "Cooperlake" ||
         core == "SapphireRapids";
#else
  return core != "ARMV8";  // The generic core.
#endif
}

// Whether its products use the vectors of this processor.
bool uses_all_vectors(const std::string& core) {
  return !has_avx512() || (core != "Haswell" && core != "Zen");
}

// Makes a call that takes a buffer, which products of small matrices do not always do.
bool use_buffer(const Blas& blas) {
  const BlasCalls calls(blas);
  if (!calls) return false;
  float a[4] = {1, 0, 0, 1};
  const int n = 2;
  int info = 0;
  blas.float32.potrf("U", &n, a, &n, &info, 1);
  return true;
}

// Whether OpenBLAS and a buffer for it fit the address space. dlopen does not say that it failed
// for want of memory, and that passes, unlike a missing library.
bool has_room() {
  constexpr size_t kRoom = size_t{400} << 20;
  void* const memory =
      mmap(nullptr, kRoom, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  munmap(memory, kRoom);
  return true;
}

OpenBlas load() {
  OpenBlas made;
  const auto refuse = [&](const std::string& reason) {
    made.text = "without OpenBLAS: " + reason;
    return made;
  };
  const std::string folder = plugin_folder();
  if (folder.empty()) return refuse("the plugin has no folder");
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
  if (buffers == nullptr || !find(library, "openblas_get_config", config) ||
      !find(library, "openblas_get_corename", corename) ||
      !find(library, "openblas_get_parallel", parallel) ||
      !find(library, "openblas_set_num_threads", set_threads) ||
      !find_functions(library, 's', made.blas.float32) ||
      !find_functions(library, 'd', made.blas.float64)) {
    return refuse("libopenblas.so.0 lacks a function that is needed");
  }
  // The configuration begins with "OpenBLAS 0.3.21 ".
  std::string name = config();
  const size_t space = name.find(' ');
  name = name.substr(0, name.find(' ', space == std::string::npos ? space : space + 1));
  const std::string core = corename();
  if (!knows_processor(core)) {
    return refuse(name + " does not know this processor and would use its code for " + core);
  }

  made.blas.enter = buffers->enter;
  made.blas.leave = buffers->leave;
  if (!use_buffer(made.blas)) throw std::bad_alloc();
  if (!buffers->has_served()) {
    return refuse("another library of this process has loaded OpenBLAS with its own work memory");
  }
  // So that results do not depend on the number of threads, and one pool has all threads.
  if (parallel() != 0) set_threads(1);
  made.blas.multiplies = uses_all_vectors(core);
  made.is_usable = true;
  made.text = name + " (" + core + ")";
  return made;
}

const OpenBlas& openblas() {
  static constinit std::mutex mutex;
  static constinit std::atomic<const OpenBlas*> loaded{nullptr};
  if (const OpenBlas* found = loaded.load(std::memory_order_acquire)) return *found;
  const std::lock_guard guard(mutex);
  const OpenBlas* found = loaded.load(std::memory_order_relaxed);
  if (found == nullptr) {
    found = new OpenBlas(load());  // Never destroyed.
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
