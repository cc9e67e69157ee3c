// Collects what the plugin under test logs through its host. A correct plugin has no reason to
// warn, so a warning or an error fails the current cell. This also reports messages of layers
// between a plugin and its driver, such as validation layers.

#pragma once

#include <tenon/plugin.h>

#include <string>

namespace tenon_kit {

// Stores a line that the plugin logs, from any thread. Ignores levels below warning.
void note_plugin_log(int32_t level, tenon_string message);

// Returns the first lines stored since the last call of this function; empty if there are none.
std::string take_plugin_log();

}  // namespace tenon_kit
