#include "plugins/cuda/driver/compiler.h"

#include <algorithm>

#include "plugins/cuda/driver/nvtx.h"

namespace tenon_cuda {

tenon_error* Module::load(const std::string& name, const std::string& code) {
  return driver_.check(driver_.cu.ModuleLoadData(&module_, code.data()),
                       "loading the compiled " + name);
}

Module::~Module() {
  if (module_ == nullptr) return;
  const Entered entered(driver_, context_);
  driver_.cu.ModuleUnload(module_);
}

tenon_error* Module::find_function(const std::string& name, CUfunction& function) const {
  const Entered entered(driver_, context_);
  if (tenon_error* error = entered.error()) return error;
  return driver_.check(driver_.cu.ModuleGetFunction(&function, module_, name.c_str()),
                       "finding the kernel " + name);
}

tenon_error* Compiler::nvrtc_error(nvrtcResult result, std::string_view what) const {
  if (result == 0) return nullptr;
  const char* const text = nvrtc_.GetErrorString(result);
  return driver_.error(TENON_INTERNAL, "cuda: " + std::string(what) + " failed: " +
                                           (text != nullptr ? text : "an unknown result"));
}

// Chooses the newest architecture that NVRTC supports and the device runs: the same major version,
// and the same or an older minor version.
tenon_error* Compiler::choose_architecture() {
  int major = 0, minor = 0, n = 0;
  if (tenon_error* error = nvrtc_error(nvrtc_.Version(&major, &minor), "nvrtcVersion")) {
    return error;
  }
  if (tenon_error* error =
          nvrtc_error(nvrtc_.GetNumSupportedArchs(&n), "nvrtcGetNumSupportedArchs")) {
    return error;
  }
  std::vector<int> architectures(static_cast<size_t>(std::max(n, 0)));
  if (tenon_error* error =
          nvrtc_error(nvrtc_.GetSupportedArchs(architectures.data()), "nvrtcGetSupportedArchs")) {
    return error;
  }
  int best = 0;
  for (const int each : architectures) {
    if (each <= chip_ && each / 10 == chip_ / 10) best = std::max(best, each);
  }
  version_ = std::to_string(major) + "." + std::to_string(minor);
  if (best == 0) {
    return driver_.error(TENON_UNAVAILABLE,
                         "cuda: NVRTC " + version_ + " does not support compute capability " +
                             std::to_string(chip_ / 10) + "." + std::to_string(chip_ % 10));
  }
  architecture_ = "-arch=sm_" + std::to_string(best);
  return nullptr;
}

tenon_error* Compiler::get_module(const std::string& name, const std::string& source,
                                  const Module** module) {
  *module = nullptr;
  std::lock_guard guard(mutex_);
  if (const auto found = modules_.find(source); found != modules_.end()) {
    *module = found->second.get();
    return nullptr;
  }
  // --fmad=false disables contraction, so that a product and a sum are rounded separately, as on
  // other devices.
  const std::vector<std::string> options = {architecture_, "--fmad=false", "-std=c++17", "-w"};
  std::string key = "NVRTC " + version_;
  for (const std::string& option : options) key += " " + option;
  key += "\n" + source;
  std::string code = cache_.read(key);
  const bool is_kept = !code.empty();
  if (!is_kept) {
    if (tenon_error* error = compile(name, source, options, code)) return error;
  }
  const Entered entered(driver_, context_);
  if (tenon_error* error = entered.error()) return error;
  auto made = std::make_unique<Module>(driver_, context_);
  if (tenon_error* error = made->load(name, code)) return error;
  if (!is_kept) cache_.write(key, code);
  *module = (modules_[source] = std::move(made)).get();
  return nullptr;
}

tenon_error* Compiler::compile(const std::string& name, const std::string& source,
                               const std::vector<std::string>& options, std::string& code) const {
  const Range range("compile", name);
  struct Owner {
    const NvrtcFunctions& nvrtc;
    nvrtcProgram program = nullptr;
    ~Owner() {
      if (program != nullptr) nvrtc.DestroyProgram(&program);
    }
  } owner{nvrtc_};
  nvrtcProgram& program = owner.program;
  if (tenon_error* error =
          nvrtc_error(nvrtc_.CreateProgram(&program, source.c_str(), (name + ".cu").c_str(), 0,
                                           nullptr, nullptr),
                      "nvrtcCreateProgram for " + name)) {
    return error;
  }
  std::vector<const char*> texts;
  for (const std::string& option : options) texts.push_back(option.c_str());
  const nvrtcResult result =
      nvrtc_.CompileProgram(program, static_cast<int>(texts.size()), texts.data());
  if (result != 0) {
    size_t size = 0;
    std::string log;
    if (nvrtc_.GetProgramLogSize(program, &size) == 0 && size > 1) {
      log.resize(size);
      if (nvrtc_.GetProgramLog(program, log.data()) != 0) log.clear();
    }
    // Joins the lines of the compiler log, because an error message must be one line.
    std::replace(log.begin(), log.end(), '\n', ' ');
    while (!log.empty() && (log.back() == ' ' || log.back() == '\0')) log.pop_back();
    return nvrtc_error(result, "compiling " + name + (log.empty() ? "" : ": " + log));
  }
  size_t size = 0;
  if (tenon_error* error = nvrtc_error(nvrtc_.GetCubinSize(program, &size), "nvrtcGetCUBINSize")) {
    return error;
  }
  code.resize(size);
  return nvrtc_error(nvrtc_.GetCubin(program, code.data()), "nvrtcGetCUBIN");
}

}  // namespace tenon_cuda
