// The functions of the emulated driver that load and launch kernels.

#include "plugins/cuda/testing/emulated_kernels.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>

#include "plugins/cuda/testing/emulated_block.h"
#include "plugins/cuda/testing/emulated_memory.h"

using namespace tenon_cuda;

namespace tenon_emulated {
namespace {

// Locked during a launch. One launch runs at a time, because device code has one global state.
std::mutex execution;

struct Module {
  void* library = nullptr;
  char *shared_begin = nullptr, *shared_end = nullptr;
  std::vector<std::unique_ptr<struct Function>> functions;
};

}  // namespace

struct Function {
  Module* module;
  std::string name;
  Call call;
  size_t parameter_bytes;
};

CUresult make_launch(const CUkernelNodeParameters& given, Launch& launch) {
  auto& called = *reinterpret_cast<Function*>(given.function);
  if (given.grid_x == 0 || given.grid_y == 0 || given.grid_z == 0 || given.grid_x > 0x7fffffffu ||
      given.grid_y > 65535 || given.grid_z > 65535) {
    return invalid(called.name + ": the grid is empty or exceeds the limits of every device");
  }
  const uint64_t n_threads = uint64_t{given.block_x} * given.block_y * given.block_z;
  if (n_threads == 0 || n_threads > 1024)
    return invalid(called.name + ": a block must have 1 to 1024 threads");
  if (given.parameters != nullptr || given.extra == nullptr ||
      given.extra[0] != kParameterPointer || given.extra[2] != kParameterSize ||
      given.extra[4] != kParameterEnd || given.shared_bytes != 0) {
    return invalid(called.name +
                   ": the emulation supports parameters only by CU_LAUNCH_PARAM_BUFFER_POINTER");
  }
  const size_t size = *static_cast<const size_t*>(given.extra[3]);
  if (size != called.parameter_bytes || size > 4096) {
    return invalid(called.name + ": takes " + std::to_string(called.parameter_bytes) +
                   " bytes of parameters, but the kernel takes " + std::to_string(size));
  }
  launch = {&called,
            {given.grid_x, given.grid_y, given.grid_z},
            {given.block_x, given.block_y, given.block_z},
            {}};
  launch.parameters.resize((called.parameter_bytes + 7) / 8);
  std::memcpy(launch.parameters.data(), given.extra[1], size);
  return 0;
}

void run_launch(const Launch& launch) {
  if (context_has_failed()) return;
  std::lock_guard guard(execution);
  TenonEmulatedThread& state = device_state();
  state.grid_size = launch.grid;
  state.block_size = launch.block;
  const Module& module = *launch.function->module;
  std::string fault;
  for (unsigned z = 0; z < launch.grid.z && fault.empty(); ++z) {
    for (unsigned y = 0; y < launch.grid.y && fault.empty(); ++y) {
      for (unsigned x = 0; x < launch.grid.x && fault.empty(); ++x) {
        if (module.shared_begin != module.shared_end) {
          std::memset(module.shared_begin, 0x7f,
                      static_cast<size_t>(module.shared_end - module.shared_begin));
        }
        state.block = {x, y, z};
        fault = run_block(launch.function->call, launch.parameters.data());
      }
    }
  }
  if (fault.empty()) fault = memory().find_write_outside();
  if (!fault.empty()) fail_context(launch.function->name + ": " + fault);
}

}  // namespace tenon_emulated

using namespace tenon_emulated;

ENTRY(cuModuleLoadData)(CUmodule* module, const void* image) {
  NEEDS_CONTEXT("cuModuleLoadData")
  // Modules are not linked with the mathematics library, which every process has loaded for C++.
  // This makes its functions visible to them.
  [[maybe_unused]] static void* const mathematics = dlopen("libm.so.6", RTLD_NOW | RTLD_GLOBAL);
  const auto& header = *static_cast<const TenonEmulatedCode*>(image);
  if (std::memcmp(header.magic, kTenonEmulatedMagic, sizeof header.magic) != 0) {
    return kInvalidImage;
  }
  // dlopen() identifies libraries by file name, so each module is written to a separate file.
  const char* const base = std::getenv("TMPDIR");
  std::string path = std::string(base != nullptr ? base : "/tmp") + "/tenon_kernel_XXXXXX";
  const int file = mkstemp(path.data());
  const char* at = static_cast<const char*>(image) + sizeof header;
  for (uint64_t left = header.size; file >= 0 && left > 0;) {
    const ssize_t n = write(file, at, left);
    if (n <= 0) break;
    at += n;
    left -= static_cast<uint64_t>(n);
  }
  auto made = std::make_unique<Module>();
  made->library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  close(file);
  unlink(path.c_str());
  if (made->library == nullptr) {
    std::fprintf(stderr, "emulated CUDA: %s\n", dlerror());
    return kInvalidImage;
  }
  auto** const state = static_cast<TenonEmulatedThread**>(dlsym(made->library, "tenon_emulated"));
  *state = &device_state();
  const auto shared =
      reinterpret_cast<void (*)(char**, char**)>(dlsym(made->library, "tenon_emulated_shared"));
  if (shared != nullptr) shared(&made->shared_begin, &made->shared_end);
  *module = reinterpret_cast<CUmodule>(made.release());
  return 0;
}

ENTRY(cuModuleUnload)(CUmodule module) {
  auto* const unloaded = reinterpret_cast<Module*>(module);
  {
    std::lock_guard guard(execution);
    dlclose(unloaded->library);
  }
  delete unloaded;
  MAY_FAIL("cuModuleUnload")
  return 0;
}

ENTRY(cuModuleGetFunction)(CUfunction* function, CUmodule module, const char* name) {
  NEEDS_CONTEXT("cuModuleGetFunction")
  Module& in = *reinterpret_cast<Module*>(module);
  const std::string suffix = name;
  const auto call = reinterpret_cast<Call>(dlsym(in.library, ("tenon_call_" + suffix).c_str()));
  const auto* const size =
      static_cast<const unsigned long long*>(dlsym(in.library, ("tenon_size_" + suffix).c_str()));
  if (call == nullptr || size == nullptr) return kNotFound;
  in.functions.push_back(std::make_unique<Function>(Function{&in, suffix, call, *size}));
  *function = reinterpret_cast<CUfunction>(in.functions.back().get());
  return 0;
}

ENTRY(cuLaunchKernel)
(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
 unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** parameters,
 void** extra) {
  NEEDS_CONTEXT("cuLaunchKernel")
  Launch launch;
  if (const CUresult result =
          make_launch({function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                       parameters, extra, nullptr, nullptr},
                      launch)) {
    return result;
  }
  from_c(stream).enqueue([launch = std::move(launch)] { run_launch(launch); });
  return 0;
}
