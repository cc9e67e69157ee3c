// System calls for plugin_library: listing folders, environment variables, dlopen. On platforms
// without dynamic loading, such as WebAssembly, no files are found.

#pragma once

#include <tenon/plugin.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

// Returns the plugin's name in the path of its file, such as "cpu" for ".../libtenon_cpu.so"; empty
// if the file name is not of the form libtenon_<name>.so.
std::string name_in_file_name(std::string_view path);

// Returns the plugin files that discover_plugins() lists, in its search order and without
// duplicates.
std::vector<std::string> find_plugin_files(std::span<const std::string> paths);

// Loads a plugin file and returns its query function. The file is never unloaded. Throws an error
// with the reason if loading fails.
tenon_plugin_query map_plugin_file(const std::string& path);

}  // namespace tenon
