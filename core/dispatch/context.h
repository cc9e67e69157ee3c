// A context owns the devices, the plugin instances and the defaults of one program or library. Two
// contexts in one process are independent of each other.

#pragma once

#include <tenon/plugin.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/pool.h"
#include "core/base/ref.h"
#include "core/device/callback_queue.h"
#include "core/device/device.h"
#include "core/device/plugin_library.h"

namespace tenon {

class ProfileLog;
class ProfileTrack;
class Scope;
struct OpDef;

enum class NumericPolicy : int32_t { kStrict, kFast };
enum class FallbackPolicy : int32_t { kWarn, kStrict, kAuto };

struct PluginOption {
  std::string plugin;  // The plugin that receives the option.
  std::string key;
  std::string value;
};

struct ContextOptions {
  // Receives log messages. If it is empty, they are written to stderr.
  std::function<void(int32_t level, std::string_view message)> log;
  int32_t log_level = TENON_LOG_WARNING;  // Messages below this level are dropped.
  std::vector<std::string> plugin_paths;  // Files, or folders that hold plugins.
  std::vector<PluginOption> plugin_options;
  uint64_t memory_limit_bytes = 0;  // Memory limit per device; 0 for no limit.
  uint32_t threads = 0;  // Number of threads per device that computes on the host; 0 for all cores.
  bool deterministic = false;
  NumericPolicy numeric_policy = NumericPolicy::kStrict;
  FallbackPolicy fallback_policy = FallbackPolicy::kWarn;
};

class Context final : public Object, public Pooled<Context> {
 public:
  explicit Context(ContextOptions options);

  void release() const;

  Scope& default_scope() { return *default_scope_; }
  const ContextOptions& options() const { return options_; }
  void log(int32_t level, std::string_view message) const;

  // Sets the function that receives the text that programs print. By default, it goes to stdout.
  using Print = std::function<void(std::string_view text)>;
  void set_print(Print print);
  void print(std::string_view text) const;

  // Finds a device: "cpu:1", or "cpu" for cpu:0. "best" is the first device that is not a CPU, else
  // cpu:0. Loads the plugin of that name if necessary. The NOT_FOUND error lists the devices.
  Device& device(std::string_view name);

  // Loads every plugin found and opens all their devices, sorted by name with cpu first.
  std::vector<Device*> devices();

  // Loads one more plugin and opens its devices.
  void load_plugin(const std::string& path);
  // Adds a plugin that is linked into the program.
  void add_plugin(std::string_view name, tenon_plugin_query query);

  // Returns every plugin file that was found, and whether it was loaded or why not.
  std::vector<PluginCandidate> candidates();

  // Interns the text: returns a copy that lives as long as the context, the same for equal texts.
  const std::string& keep(std::string_view text);

  CallbackQueue& callbacks() { return callbacks_; }

  // Makes calls in progress fail with CANCELLED at their next check. Later calls are not affected.
  void cancel() { cancels_.fetch_add(1, std::memory_order_relaxed); }
  // Number of calls of cancel().
  uint64_t cancels() const { return cancels_.load(std::memory_order_relaxed); }

  // Whether a call of a function runs its body eagerly instead of a trace. Used for debugging.
  bool runs_functions_eagerly() const { return eager_functions_.load(std::memory_order_relaxed); }
  void run_functions_eagerly(bool eagerly) {
    eager_functions_.store(eagerly, std::memory_order_relaxed);
  }

  // Whether pass i in the table of passes (core/trace/passes/) is disabled.
  bool is_pass_disabled(size_t i) const {
    return disabled_passes_.load(std::memory_order_relaxed) >> i & 1;
  }
  // Disables pass i or, if `leave_out` is false, enables it again.
  void disable_pass(size_t i, bool leave_out) {
    const uint32_t bit = uint32_t{1} << i;
    leave_out ? disabled_passes_.fetch_or(bit) : disabled_passes_.fetch_and(~bit);
  }

  // ---- profiling (core/dispatch/profiler.h)
  // Number of the active log; 0 if no profiler is active.
  uint64_t profiled() const { return profiled_.load(std::memory_order_relaxed); }
  // Fails if a profile is already active.
  void start_profile(std::shared_ptr<ProfileLog> log);
  // Does nothing if `log` is not the active one.
  void stop_profile(const ProfileLog& log);
  // Creates a track in the active log; NULL if there is none.
  std::shared_ptr<ProfileTrack> new_profile_track();

  // Returns a number that is unique in the context, for tapes and cells.
  uint64_t next_serial() { return serial_.fetch_add(1, std::memory_order_relaxed); }

  // Adds a custom op and assigns it an id from 2^31. Throws if the name is taken.
  const OpDef& add_op(std::unique_ptr<OpDef> op);
  // Finds a custom or built-in op; NULL if there is none.
  const OpDef* find_op(uint32_t id) const;
  const OpDef* find_op(std::string_view name) const;

  // The TENON_REQUEST_* flags that follow from the policies.
  uint32_t request_flags() const { return request_flags_; }

  // Returns true on the first call with this text. Used to log a warning only once.
  bool is_first_time(const std::string& what);

 private:
  struct Plugin;
  ~Context();

  // Finds the plugin files, on the first call only.
  void discover();
  // Adds a candidate and opens it. Errors refer to it as `called`.
  void add(PluginCandidate found, std::string_view called);
  // Loads a plugin and opens its devices. On failure, stores the reason in the candidate and
  // returns NULL.
  Plugin* open(PluginCandidate& candidate);
  // Finds a device of a plugin that is open; NULL if there is none.
  Device* find_open(std::string_view plugin, size_t index);
  // Lists the devices and the refused plugins, for an error message.
  std::string list_devices();

  ContextOptions options_;
  uint32_t request_flags_ = 0;
  mutable std::recursive_mutex mutex_;
  bool discovered_ = false;
  std::vector<PluginCandidate> candidates_;
  // Declared before plugins_ and therefore destroyed after them, because kernels hold attributes of
  // these ops.
  std::vector<std::unique_ptr<OpDef>> custom_ops_;
  std::vector<std::unique_ptr<Plugin>> plugins_;
  std::shared_ptr<const Print> print_;
  std::vector<std::string> warned_;
  std::set<std::string, std::less<>> kept_;
  std::atomic<uint64_t> cancels_{0};
  std::atomic<bool> eager_functions_{false};
  std::atomic<uint32_t> disabled_passes_{0};
  std::atomic<uint64_t> serial_{1};
  std::atomic<uint64_t> profiled_{0};
  std::shared_ptr<ProfileLog> profile_log_;
  mutable std::mutex ops_mutex_;
  CallbackQueue callbacks_;
  std::unique_ptr<Scope> default_scope_;  // Last member: destroyed before the devices.
};

}  // namespace tenon
