// A profiler for tests of NVTX ranges: the plugin loads this library through
// NVTX_INJECTION64_PATH. It stores the names of all ranges.

#include <algorithm>
#include <mutex>
#include <string>

#include "plugins/cuda/driver/nvtx.h"

using namespace tenon_cuda;

namespace {

std::mutex mutex;
std::string names;  // The names of all ranges, each followed by a newline.
thread_local int depth = 0;
bool is_balanced = true;

int push(const char* name) {
  std::lock_guard guard(mutex);
  names += name + std::string("\n");
  return depth++;
}
int pop() {
  std::lock_guard guard(mutex);
  is_balanced = is_balanced && depth > 0;
  return --depth;
}

}  // namespace

#define ENTRY extern "C" __attribute__((visibility("default")))

ENTRY int InitializeInjectionNvtx2(NvtxGetTable get_table) {
  const auto* const version = static_cast<const NvtxVersionTable*>(get_table(kNvtxTableVersion));
  const auto* const callbacks =
      static_cast<const NvtxCallbackTable*>(get_table(kNvtxTableCallbacks));
  if (version == nullptr || version->version < 2 || callbacks == nullptr) return 0;
  version->set_profiler_version(version->version);
  NvtxFunction** table = nullptr;
  unsigned size = 0;
  if (callbacks->get_module(kNvtxModuleCore, &table, &size) == 0 || size <= kNvtxRangePop) return 0;
  // Index 0 is not a function.
  if (std::find(table + 1, table + size, nullptr) != table + size) return 0;
  *table[kNvtxRangePush] = reinterpret_cast<NvtxFunction>(push);
  *table[kNvtxRangePop] = reinterpret_cast<NvtxFunction>(pop);
  return 1;
}

// Returns the names of the ranges since the last call, each followed by a newline. Returns an empty
// string if a range of the calling thread is still open, or one was closed that was not open.
ENTRY const char* tenon_emulated_take_ranges() {
  std::lock_guard guard(mutex);
  static std::string taken;
  taken = is_balanced && depth == 0 ? names : "";
  names.clear();
  return taken.c_str();
}
