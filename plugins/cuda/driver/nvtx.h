// NVTX ranges, which profilers such as Nsight Systems show on the timeline of a thread. The plugin
// needs no NVTX library: a profiler sets the environment variable NVTX_INJECTION64_PATH to its
// own library, and that library stores its functions in the tables below.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tenon_cuda {

// The protocol between programs and profilers (nvtxTypes.h of NVTX 3).
using NvtxFunction = void (*)();
inline constexpr uint32_t kNvtxVersion = 3;
inline constexpr uint32_t kNvtxTableCallbacks = 1, kNvtxTableVersion = 3;  // NVTX_ETID_*
inline constexpr int kNvtxModuleCore = 1;                                  // NVTX_CB_MODULE_CORE
inline constexpr unsigned kNvtxRangePush = 9, kNvtxRangePop = 11;          // NVTX_CBID_CORE_*
inline constexpr unsigned kNvtxCoreFunctions = 16;                         // NVTX_CBID_CORE_SIZE
// Returns the table of functions of a module; nonzero on success.
struct NvtxCallbackTable {
  size_t struct_size;
  int (*get_module)(int module, NvtxFunction*** out_table, unsigned* out_size);
};
struct NvtxVersionTable {
  size_t struct_size;
  uint32_t version, reserved;
  void (*set_profiler_version)(uint32_t version);
};
using NvtxGetTable = const void* (*)(uint32_t id);
// The type of the profiler's function InitializeInjectionNvtx2; nonzero on success.
using NvtxAttach = int (*)(NvtxGetTable get_table);

// Marks a range of the calling thread from the construction to the destruction of the object. Costs
// a few nanoseconds if no profiler is attached.
class Range {
 public:
  // `prefix` and `name` form the range's name, such as "tenon: launch add".
  Range(const char* prefix, const std::string& name);
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
  ~Range();

  // Attaches the profiler that NVTX_INJECTION64_PATH names, once in a process. Does nothing if
  // there is none.
  static void attach_profiler();

 private:
  const bool is_open_;
};

}  // namespace tenon_cuda
