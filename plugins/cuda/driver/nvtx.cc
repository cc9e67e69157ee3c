#include "plugins/cuda/driver/nvtx.h"

#include <dlfcn.h>

#include <atomic>

#include "plugins/cuda/driver/loader.h"

namespace tenon_cuda {
namespace {

// The functions of NVTX, which the profiler sets; NULL if it lacks one. The plugin calls two of
// them.
NvtxFunction functions[kNvtxCoreFunctions] = {};
// Pointers to the functions, which the profiler receives.
NvtxFunction* pointers[kNvtxCoreFunctions] = {};
std::atomic<bool> is_attached{false};

int get_module(int module, NvtxFunction*** out_table, unsigned* out_size) {
  *out_table = nullptr;
  *out_size = 0;
  if (module != kNvtxModuleCore) return 0;
  for (unsigned i = 0; i < kNvtxCoreFunctions; ++i) pointers[i] = &functions[i];
  *out_table = pointers;
  *out_size = kNvtxCoreFunctions;
  return 1;
}

const void* get_table(uint32_t id) {
  static const NvtxCallbackTable callbacks = {sizeof(NvtxCallbackTable), get_module};
  static const NvtxVersionTable version = {sizeof(NvtxVersionTable), kNvtxVersion, 0,
                                           [](uint32_t) {}};
  if (id == kNvtxTableCallbacks) return &callbacks;
  return id == kNvtxTableVersion ? &version : nullptr;
}

// Returns whether a profiler is attached that can mark ranges.
bool attach() {
  const char* const path = trusted_environment_variable("NVTX_INJECTION64_PATH");
  if (path == nullptr || *path == '\0') return false;
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  const auto attach = reinterpret_cast<NvtxAttach>(dlsym(library, "InitializeInjectionNvtx2"));
  return attach != nullptr && attach(get_table) != 0 && functions[kNvtxRangePush] != nullptr &&
         functions[kNvtxRangePop] != nullptr;
}

}  // namespace

Range::Range(const char* prefix, const std::string& name)
    : is_open_(is_attached.load(std::memory_order_acquire)) {
  if (!is_open_) return;
  const std::string text = std::string("tenon: ") + prefix + " " + name;
  reinterpret_cast<int (*)(const char*)>(functions[kNvtxRangePush])(text.c_str());
}

Range::~Range() {
  if (is_open_) reinterpret_cast<int (*)()>(functions[kNvtxRangePop])();
}

void Range::attach_profiler() {
  static const bool attached = attach();
  is_attached.store(attached, std::memory_order_release);
}

}  // namespace tenon_cuda
