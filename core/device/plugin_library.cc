#include "core/device/plugin_library.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "core/base/error_object.h"
#include "core/device/elf_check.h"
#include "core/device/plugin_files.h"
#include "core/device/static_plugins.h"

namespace tenon {
namespace {

constexpr const char* kPluginFeatures[] = {"HOST_VISIBLE",  "HOST_BLOCKING", "SYNCHRONOUS",
                                           "IMPORT_HOST",   "IEEE_DIV",      "IEEE_FMA",
                                           "FLUSH_TO_ZERO", "FAST_MATH",     "FLOAT64"};
constexpr const char* kHostFeatures[] = {"ERROR_RECORDS", "BROADCAST_VIEWS"};

// Returns the names of the set bits, separated by commas.
std::string names_of(tenon_features features, std::span<const char* const> names) {
  std::string text;
  for (size_t bit = 0; bit < 64; ++bit) {
    if (!(features >> bit & 1)) continue;
    if (!text.empty()) text += ", ";
    text += bit < names.size() ? std::string(names[bit]) : format("bit {}", {bit});
  }
  return text;
}

// Whether the name has the form [a-z][a-z0-9_]*.
bool is_name(std::string_view name) {
  if (name.empty() || name[0] < 'a' || name[0] > 'z') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// Whether the text has a data pointer, which may be NULL only if the size is 0.
bool is_valid(const tenon_string& text) { return text.data != nullptr || text.size == 0; }

// Returns the error for using a function that the plugin does not provide, such as `map`.
tenon_error* make_unimplemented_error(const char* call) {
  return make_error(Code::kUnimplemented, format("the plugin has no `{}`", {call}));
}

// Throws if a plugin claims a feature whose functions it does not provide.
void check_feature_functions(const tenon_plugin& plugin) {
  constexpr size_t kFirst = offsetof(tenon_plugin_calls, destroy);
  require(plugin.calls->struct_size > kFirst,
          "tenon_plugin_calls.struct_size is {}, too small for any function",
          plugin.calls->struct_size);
  complete_calls(*plugin.calls);
  tenon_plugin_calls calls = {};
  std::memcpy(&calls, plugin.calls, std::min<size_t>(plugin.calls->struct_size, sizeof calls));
  const auto claims = [&](tenon_features feature) { return (plugin.provides & feature) != 0; };
  require(calls.map || !claims(TENON_FEATURE_HOST_VISIBLE),
          "the plugin provides HOST_VISIBLE, but has no `map`");
  require(calls.wait || !claims(TENON_FEATURE_HOST_BLOCKING),
          "the plugin provides HOST_BLOCKING, but has no `wait`");
  require(calls.import_host || !claims(TENON_FEATURE_IMPORT_HOST),
          "the plugin provides IMPORT_HOST, but has no `import_host`");
}

// Throws, with the reason, if the plugin's description (tenon_plugin) is invalid.
void check_plugin(const tenon_plugin& plugin) {
  constexpr size_t kMinSize = offsetof(tenon_plugin, kernel_size) + sizeof(size_t);
  require(plugin.struct_size >= kMinSize, "tenon_plugin.struct_size is {}, but must be at least {}",
          plugin.struct_size, kMinSize);
  require(is_valid(plugin.name) && is_name(view_of(plugin.name)),
          "its name {} is not of the form [a-z][a-z0-9_]*", view_of(plugin.name));
  require(is_valid(plugin.version), "tenon_plugin.version is NULL; give a version string");
  require(plugin.create != nullptr && plugin.calls != nullptr,
          "tenon_plugin.create or tenon_plugin.calls is NULL; both are required");
  require(plugin.n_kernels == 0 || plugin.kernels != nullptr,
          "tenon_plugin.kernels is NULL, but n_kernels is not 0");
  require(plugin.n_kernels == 0 ||
              plugin.kernel_size >= offsetof(tenon_kernel, prepare) + sizeof(void*),
          "tenon_plugin.kernel_size is {} bytes, but must be at least {}", plugin.kernel_size,
          offsetof(tenon_kernel, prepare) + sizeof(void*));

  // Bounds far above those of real plugins. A larger value indicates an uninitialised field.
  constexpr size_t kMaxKernels = size_t{1} << 20, kMaxKernelSize = 4096;
  require(plugin.n_kernels <= kMaxKernels, "tenon_plugin.n_kernels is {}, but must be at most {}",
          plugin.n_kernels, kMaxKernels);
  require(plugin.kernel_size <= kMaxKernelSize || plugin.n_kernels == 0,
          "tenon_plugin.kernel_size is {} bytes, but must be at most {}", plugin.kernel_size,
          kMaxKernelSize);

  match_features(host_table(), plugin);
  check_feature_functions(plugin);
}

}  // namespace

// Throws if the host lacks a feature that the plugin requires, or the other way round.
void match_features(const tenon_host& host, const tenon_plugin& plugin) {
  const tenon_features of_host = plugin.requires_of_host & ~host.provides;
  require_code(of_host == 0, Code::kUnavailable,
               "the plugin requires features that this host lacks: {}",
               host_feature_names(of_host));
  const tenon_features of_plugin = host.requires_of_plugin & ~plugin.provides;
  require_code(of_plugin == 0, Code::kUnavailable,
               "the plugin lacks features that this host requires: {}",
               plugin_feature_names(of_plugin));
}

std::string plugin_feature_names(tenon_features features) {
  return names_of(features, kPluginFeatures);
}

std::string host_feature_names(tenon_features features) {
  return names_of(features, kHostFeatures);
}

PluginCandidate make_file_candidate(const std::string& path) {
  PluginCandidate candidate;
  candidate.path = path;
  candidate.name = name_in_file_name(path);
  return candidate;
}

std::vector<PluginCandidate> discover_plugins(std::span<const std::string> paths) {
  std::vector<PluginCandidate> candidates;
#if defined(TENON_STATIC)
  for (const StaticPlugin* row = tenon_static_plugins; row->name; ++row) {
    PluginCandidate candidate;
    candidate.name = row->name;
    candidate.query = row->query;
    candidate.is_discovered = true;
    candidates.push_back(std::move(candidate));
  }
#endif
  for (const std::string& file : find_plugin_files(paths)) {
    candidates.push_back(make_file_candidate(file));
    candidates.back().is_discovered = !candidates.back().name.empty();
  }
  return candidates;
}

void load_plugin(PluginCandidate& candidate) {
  if (candidate.state != PluginCandidate::State::kNotTried) return;
  try {
    const tenon_plugin_query query =
        candidate.query ? candidate.query : map_plugin_file(candidate.path);
    const tenon_plugin* plugin = nullptr;
    if (tenon_error* error = query(&host_table(), &plugin)) throw take_error(error);
    require_code(plugin != nullptr, Code::kInternal,
                 "its query function returned neither a plugin nor an error");
    check_plugin(*plugin);
    require(!candidate.is_discovered || candidate.name == view_of(plugin->name),
            "its file is named for the plugin {}, but holds the plugin {}: name the file after its "
            "plugin, or load it by its path",
            candidate.name, view_of(plugin->name));
    candidate.plugin = plugin;
    candidate.name = view_of(plugin->name);
    candidate.version = view_of(plugin->version);
    candidate.state = PluginCandidate::State::kLoaded;
  } catch (const Error& error) {
    candidate.state = PluginCandidate::State::kRefused;
    candidate.refusal = error.info();
  }
}

// Runs the tasks one after another.
void run_sequentially(tenon_stream_p*, const tenon_tasks* tasks) {
  for (size_t i = 0; i < tasks->n; ++i) tasks->run(tasks->payload, i);
}

// Copies a call table and fills missing optional calls with stubs that return UNIMPLEMENTED.
tenon_plugin_calls complete_calls(const tenon_plugin_calls& given) {
  tenon_plugin_calls calls = {};
  std::memcpy(&calls, &given, std::min<size_t>(given.struct_size, sizeof calls));
  calls.struct_size = sizeof calls;
  if (!calls.map) calls.map = [](tenon_buffer_p*) -> void* { return nullptr; };
  if (!calls.wait) calls.wait = [](tenon_stream_p*) { return make_unimplemented_error("wait"); };
  if (!calls.import_host) {
    calls.import_host = [](tenon_device_p*, void*, uint64_t, tenon_buffer_p**) {
      return make_unimplemented_error("import_host");
    };
  }
  if (!calls.prepare_loop) {
    calls.prepare_loop = [](tenon_device_p*, const tenon_loop_request*, tenon_kernel_p**,
                            tenon_kernel_traits*, tenon_string* out_reason) -> tenon_error* {
      *out_reason = TENON_STR("has no loops");
      return nullptr;
    };
  }
  if (!calls.record || !calls.replay || !calls.release_recording) {
    calls.record = [](tenon_device_p*, const tenon_record_request*, tenon_recording_p**,
                      tenon_string* out_reason) -> tenon_error* {
      *out_reason = TENON_STR("has no recordings");
      return nullptr;
    };
    calls.replay = [](tenon_recording_p*, tenon_stream_p*, const tenon_replay*) {
      return make_unimplemented_error("replay");
    };
    calls.release_recording = [](tenon_recording_p*) {};
  }
  if (!calls.run_tasks) calls.run_tasks = run_sequentially;
  if (!calls.mark_time || !calls.read_time) {
    calls.mark_time = [](tenon_stream_p*, uint64_t*) {
      return make_unimplemented_error("mark_time");
    };
    calls.read_time = [](tenon_stream_p*, uint64_t, uint64_t*) {
      return make_unimplemented_error("read_time");
    };
  }
#define TENON_SLOT(result, name, parameters) \
  require(calls.name != nullptr, "the table of calls has no `{}`, which is required", #name);
#include <tenon/plugin_slots.def>
  return calls;
}

}  // namespace tenon
