// Compiles CUDA C++ source with NVRTC, or finds the compiled code in the disk cache, and loads it
// as a module.

#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/cuda/driver/cache.h"
#include "plugins/cuda/driver/driver.h"

namespace tenon_cuda {

// A loaded module. It stays loaded as long as the device is open.
class Module {
 public:
  Module(const Driver& driver, CUcontext context) : driver_(driver), context_(context) {}
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module();

  // Loads compiled code; called once. The device's context must be current. `name`: name of the
  // code in error messages.
  tenon_error* load(const std::string& name, const std::string& code);
  // Looks up a function of the module by its name in the source.
  tenon_error* find_function(const std::string& name, CUfunction& function) const;

 private:
  const Driver& driver_;
  const CUcontext context_;
  CUmodule module_ = nullptr;
};

class Compiler {
 public:
  Compiler(const Driver& driver, const NvrtcFunctions& nvrtc, CUcontext context, int chip,
           std::string cache_folder)
      : driver_(driver),
        nvrtc_(nvrtc),
        context_(context),
        chip_(chip),
        cache_(std::move(cache_folder)) {}

  // Chooses the architecture to compile for. Returns an error if NVRTC supports none that the
  // device runs.
  tenon_error* choose_architecture();

  // Returns the module of a source, compiled or from a cache. `name`: name of the source in error
  // messages.
  tenon_error* get_module(const std::string& name, const std::string& source,
                          const Module** module);

 private:
  // Compiles a source and returns its machine code in `code`.
  tenon_error* compile(const std::string& name, const std::string& source,
                       const std::vector<std::string>& options, std::string& code) const;
  // Converts a failed result of NVRTC to an error; returns NULL for success. `what`: the operation
  // that the error names.
  tenon_error* nvrtc_error(nvrtcResult result, std::string_view what) const;

  const Driver& driver_;
  const NvrtcFunctions& nvrtc_;
  const CUcontext context_;
  const int chip_;  // Compute capability, 10 * major + minor.
  const Cache cache_;
  std::string architecture_, version_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Module>, std::less<>> modules_;  // Keyed by source.
};

}  // namespace tenon_cuda
