// Contexts, which own devices and plugins. Handles of devices.

#pragma once

#include <string>
#include <tenon/error.hpp>
#include <vector>

namespace tenon {

class Device {
 public:
  // Takes ownership of the caller's reference.
  static Device adopt(tenon_device* device) { return Device(Shared::adopt(device)); }
  // Adds a reference to an object that the caller keeps.
  static Device share(tenon_device* device) { return Device(Shared::share(device)); }

  std::string_view name() const { return detail::view(tenon_device_name(get())); }

  // Returns the properties of the device. Their strings stay valid as long as the device.
  tenon_device_info info(SourceLocation at = here()) const {
    tenon_device_info info = {};
    info.struct_size = sizeof info;
    check(tenon_device_describe(get(), &info), at);
    return info;
  }

  // Returns the current memory statistics of the device.
  tenon_memory_info memory(SourceLocation at = here()) const {
    tenon_memory_info info = {};
    info.struct_size = sizeof info;
    check(tenon_device_describe_memory(get(), &info), at);
    return info;
  }

  // Returns cached memory to the device. Returns the number of bytes freed.
  uint64_t trim(SourceLocation at = here()) const {
    uint64_t freed = 0;
    check(tenon_device_trim(get(), &freed), at);
    return freed;
  }

  // Resets the peak in memory() to the bytes that are in use now.
  void reset_peak() const { tenon_device_reset_peak(get()); }

  tenon_device* get() const { return handle_.get(); }

 private:
  using Shared = Handle<tenon_device, tenon_device_retain, tenon_device_release>;
  explicit Device(Shared handle) : handle_(std::move(handle)) {}

  Shared handle_;
};

// An option for a plugin, for example {"vulkan", "device", "discrete"}. The plugin's documentation
// lists its keys.
struct PluginOption {
  std::string plugin, key, value;
};

struct ContextOptions {
  uint32_t threads = 0;                   // Threads of each device on the host; 0: one per core.
  uint64_t memory_limit_bytes = 0;        // Memory limit of each device; 0: no limit.
  std::vector<std::string> plugin_paths;  // Files or folders, searched before all others.
  std::vector<PluginOption> plugin_options;
  int32_t log_level = TENON_LOG_WARNING;
  int32_t numeric_policy = TENON_NUMERIC_STRICT;
  int32_t fallback_policy = TENON_FALLBACK_WARN;
  bool deterministic = false;
};

class Context {
 public:
  explicit Context(const ContextOptions& options = {}, SourceLocation at = here()) {
    std::vector<tenon_string> paths;
    for (const std::string& path : options.plugin_paths) paths.push_back(detail::c_text(path));
    std::vector<tenon_plugin_option> for_plugins;
    for (const PluginOption& each : options.plugin_options) {
      for_plugins.push_back(
          {detail::c_text(each.plugin), detail::c_text(each.key), detail::c_text(each.value)});
    }
    tenon_context_options c_options = TENON_CONTEXT_OPTIONS_DEFAULT;
    c_options.log_level = options.log_level;
    c_options.plugin_paths = paths.data();
    c_options.n_plugin_paths = paths.size();
    c_options.plugin_options = for_plugins.data();
    c_options.n_plugin_options = for_plugins.size();
    c_options.memory_limit_bytes = options.memory_limit_bytes;
    c_options.threads = options.threads;
    c_options.numeric_policy = options.numeric_policy;
    c_options.fallback_policy = options.fallback_policy;
    c_options.deterministic = options.deterministic;
    handle_ = detail::make<Shared>(
        at, [&](tenon_context** out) { return tenon_context_create(&c_options, out); });
  }

  // Takes ownership of the caller's reference.
  static Context adopt(tenon_context* context) { return Context(Shared::adopt(context)); }

  // Returns the context that is used unless a program creates its own. Created on first use.
  static const Context& shared() {
    static const Context context;
    return context;
  }

  // Finds a device by name: "cpu:1"; "cpu" for cpu:0; "best" for the first device that is not a
  // CPU.
  Device device(std::string_view name, SourceLocation at = here()) const {
    tenon_device* device = nullptr;
    check(tenon_context_find_device(get(), detail::c_text(name), &device), at);
    return Device::adopt(device);
  }

  // Returns all devices. Loads every plugin.
  std::vector<Device> devices(SourceLocation at = here()) const {
    size_t count = 0;
    check(tenon_context_count_devices(get(), &count), at);
    std::vector<Device> devices;
    for (size_t i = 0; i < count; ++i) {
      tenon_device* device = nullptr;
      check(tenon_context_get_device(get(), i, &device), at);
      devices.push_back(Device::adopt(device));
    }
    return devices;
  }

  // Lists the plugins that were found, loaded or not. Their strings stay valid as long as the
  // context.
  std::vector<tenon_plugin_candidate> candidates(SourceLocation at = here()) const {
    std::vector<tenon_plugin_candidate> candidates(tenon_context_count_candidates(get()));
    for (size_t i = 0; i < candidates.size(); ++i) {
      candidates[i].struct_size = sizeof candidates[i];
      check(tenon_context_get_candidate(get(), i, &candidates[i]), at);
    }
    return candidates;
  }

  // Loads the plugin in this file.
  void load_plugin(std::string_view path, SourceLocation at = here()) const {
    check(tenon_context_load_plugin(get(), detail::c_text(path)), at);
  }

  // Cancels the calls that run in the context's scopes: they throw Code::kCancelled when
  // they next check for cancellation.
  void cancel() const { tenon_context_cancel(get()); }

  tenon_context* get() const { return handle_.get(); }

 private:
  using Shared = Handle<tenon_context, tenon_context_retain, tenon_context_release>;
  explicit Context(Shared handle) : handle_(std::move(handle)) {}

  Shared handle_;
};

// Return the version of the loaded library: as text, and as a number to compare with
// TENON_VERSION_NUMBER.
inline std::string_view version() { return detail::view(tenon_version()); }
inline uint32_t version_number() { return tenon_version_number(); }

}  // namespace tenon
