// Plugins as files: where they are looked for, whether a file is a whole shared object for this
// machine, and what its query function answers. Nothing here opens a device.
//
// A candidate is a file or a linked-in plugin. It is loaded when a device of its name is asked for,
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
  std::string name;  // What its devices are called: by the file's name, then by the plugin's word.
  bool is_discovered = false;  // Found by its name, which the plugin's own must then be.
  State state = State::kNotTried;
  ErrorInfo refusal = {.code = Code::kOk};  // Why it was refused, in words without the path.
  std::string version;
  const tenon_plugin* plugin = nullptr;  // Once it is loaded.
  tenon_plugin_query query = nullptr;    // Of a plugin that is linked in.
};

// The candidate that a file is. The file is not touched yet.
PluginCandidate plugin_file(const std::string& path);

// What may be tried, in this order: the plugins linked in, `paths` (files, or folders that hold
// files libtenon_<name>.so), those of the environment's TENON_PLUGIN_PATH unless the process is
// privileged, the install folder beside libtenon. Never the working directory.
std::vector<PluginCandidate> discover_plugins(std::span<const std::string> paths);

// Checks, maps and queries a candidate that was not tried yet. What goes wrong is its reason.
void load_plugin(PluginCandidate& candidate);

// Throws if either side needs a feature that the other lacks.
void match_features(const tenon_host& host, const tenon_plugin& plugin);

// A plugin's calls with the optional ones that it leaves out answered by UNIMPLEMENTED. Throws if
// it lacks one that is required.
tenon_plugin_calls complete_calls(const tenon_plugin_calls& given);

// What stands in the place of a plugin's `run_tasks`.
void run_in_turn(tenon_stream_p* stream, const tenon_tasks* tasks);

// What a plugin may ask of us; one table for all.
const tenon_host& host_table();

// Where the host's `log` leads; defined beside Context.
void log_to_context(const Context& context, int32_t level, std::string_view message);

// The names of the bits, for messages: "HOST_VISIBLE, bit 40".
std::string plugin_feature_names(tenon_features features);
std::string host_feature_names(tenon_features features);

}  // namespace tenon
