// Plugin files: where they are searched, whether a file is a complete shared object for this
// machine, and what its query function returns. Nothing here opens a device.
//
// A candidate is a plugin that is found but not loaded: a file, or a plugin linked into the binary.
// It is loaded when a device with its name is requested. A program that uses only the CPU therefore
// does not wait for a GPU driver.

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
  // Prefix of the plugin's device names. Taken from the file name until the plugin is loaded, then
  // from the plugin.
  std::string name;
  // Whether it was found in a searched folder. Its file name must then match the plugin's name.
  bool is_discovered = false;
  State state = State::kNotTried;
  // Why the plugin was refused, without the path of its file. Its code is kOk if the plugin was not
  // refused.
  ErrorInfo refusal = {.code = Code::kOk};
  std::string version;
  const tenon_plugin* plugin = nullptr;  // Set once the plugin is loaded.
  tenon_plugin_query query = nullptr;    // Set for a linked-in plugin.
};

// Creates the candidate for a file, without accessing the file.
PluginCandidate make_file_candidate(const std::string& path);

// Lists the candidates in search order. First the linked-in plugins, then `paths` (files, or
// folders with files libtenon_<name>.so). Then those of TENON_PLUGIN_PATH unless the process is
// privileged, then the install folder beside libtenon. Never searches the working directory.
std::vector<PluginCandidate> discover_plugins(std::span<const std::string> paths);

// Checks, loads and queries a candidate, unless that was already tried. Stores a failure in
// `refusal`.
void load_plugin(PluginCandidate& candidate);

// Throws if the plugin requires a host feature that the host lacks, or the host requires a plugin
// feature that the plugin lacks.
void match_features(const tenon_host& host, const tenon_plugin& plugin);

// Copies a plugin's call table and fills missing optional calls with stubs that return
// UNIMPLEMENTED. Throws if a required call is missing.
tenon_plugin_calls complete_calls(const tenon_plugin_calls& given);

// The default implementation of a plugin's `run_tasks`: runs the tasks one after another.
void run_sequentially(tenon_stream_p* stream, const tenon_tasks* tasks);

// Returns the table of functions that the host provides to plugins. All plugins share one table.
const tenon_host& host_table();

// Implements the host's `log` function. Defined in core/dispatch/context.cc.
void log_to_context(const Context& context, int32_t level, std::string_view message);

// Return the names of the set bits, for messages: "HOST_VISIBLE, bit 40".
std::string plugin_feature_names(tenon_features features);
std::string host_feature_names(tenon_features features);

}  // namespace tenon
