// The system calls of plugin_library: folders, environment variables, dlopen. Without dynamic
// loading, as in WebAssembly, no files are found.

#pragma once

#include <tenon/plugin.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

// "cpu" for ".../libtenon_cpu.so"; empty if the file name does not match the pattern.
std::string name_in_file_name(std::string_view path);

// The plugin files of discover_plugins(), without duplicates.
std::vector<std::string> find_plugin_files(std::span<const std::string> paths);

// Loads a file, which stays mapped, and returns its query function. Throws the reason on failure.
tenon_plugin_query map_plugin_file(const std::string& path);

}  // namespace tenon
