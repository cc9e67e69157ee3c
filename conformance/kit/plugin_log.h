// What the plugin under test says in its host's log. A plugin that is judged has nothing to warn
// of, so a warning or an error fails the cell during which it came: that is how a layer which a
// plugin puts between itself and its driver is heard.

#pragma once

#include <tenon/plugin.h>

#include <string>

namespace tenon_kit {

// A line of the plugin's, from any thread. What is less than a warning is not kept.
void note_plugin_log(int32_t level, tenon_string message);

// What was noted since the last time, the first lines of it; empty if nothing was.
std::string take_plugin_log();

}  // namespace tenon_kit
