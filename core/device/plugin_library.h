// Plugins as files: where to search, whether a file is a complete shared object for this machine,
// and what its query function returns. Nothing here opens a device.
//
// A candidate is a file or a linked-in plugin. It is loaded when a device of its name is requested,
// so that a program on the CPU does not wait for a driver.

#pragma once

#include <tenon/plugin.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace tenon {

class Context;

struct PluginCandidate {
  enum class State : int32_t { kNotTried, kLoaded, kRefused };

  std::string path;  // Empty for a plugin that is linked in.
  std::string name;  // Prefix of its devices' names: from the file name, then from the plugin.
  bool is_discovered = false;  // Found by its file name, which must match the plugin's name.
  State state = State::kNotTried;
  ErrorInfo refusal = {.code = Code::kOk};  // Why it was refused, without the path.
  std::string version;
  const tenon_plugin* plugin = nullptr;  // Set once the plugin is loaded.
  tenon_plugin_query query = nullptr;    // Set for a linked-in plugin.
};

// Creates the candidate for a file, without accessing the file.
PluginCandidate plugin_file(const std::string& path);

// Lists the candidates in search order. First the linked-in plugins, then `paths` (files, or
// folders with files libtenon_<name>.so). Then those of TENON_PLUGIN_PATH unless the process is
// privileged, then the install folder beside libtenon. Never searches the working directory.
std::vector<PluginCandidate> discover_plugins(std::span<const std::string> paths);

// Checks, maps and queries a candidate that was not tried yet. Stores a failure as its refusal.
void load_plugin(PluginCandidate& candidate);

// Throws if either side needs a feature that the other lacks.
void match_features(const tenon_host& host, const tenon_plugin& plugin);

// Copies a plugin's call table and fills missing optional calls with stubs that return
// UNIMPLEMENTED. Throws if a required call is missing.
tenon_plugin_calls complete_calls(const tenon_plugin_calls& given);

// The default for a plugin's `run_tasks`.
void run_sequentially(tenon_stream_p* stream, const tenon_tasks* tasks);

// The functions that the host offers to plugins; one table for all.
const tenon_host& host_table();

// Implements the host's `log`; defined in core/dispatch/context.cc.
void log_to_context(const Context& context, int32_t level, std::string_view message);

// The names of the set bits for messages: "HOST_VISIBLE, bit 40".
std::string plugin_feature_names(tenon_features features);
std::string host_feature_names(tenon_features features);

}  // namespace tenon
