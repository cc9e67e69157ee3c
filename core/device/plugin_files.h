// The part of plugin_library that speaks to the system: folders, the environment, dlopen. Without
// dynamic loading, as in WebAssembly, there are no files.

#pragma once

#include <tenon/plugin.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

// "cpu" for ".../libtenon_cpu.so"; empty for a file that is not called so.
std::string name_in_file_name(std::string_view path);

// Every file that discover_plugins() speaks of, once each.
std::vector<std::string> find_plugin_files(std::span<const std::string> paths);

// Maps a file for good and gives its query function; throws the reason if it cannot.
tenon_plugin_query map_plugin_file(const std::string& path);

}  // namespace tenon
