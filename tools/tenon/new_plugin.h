// `tenon new plugin`: creates a plugin by copying the installed template.

#pragma once

#include <string>

namespace tenon::command {

struct NewPluginOptions {
  std::string name;
  std::string folder;  // By default, the plugin's name.
};

// Replaces this process by the installed script. Returns an exit status only if the script does not
// exist.
int new_plugin(const NewPluginOptions& options);

}  // namespace tenon::command
