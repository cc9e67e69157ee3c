// `tenon new plugin`: starts a plugin as a copy of the installed template.

#pragma once

#include <string>

namespace tenon::command {

struct NewPluginOptions {
  std::string name;
  std::string folder;  // Empty for a folder of the plugin's name.
};

// Runs the installed script in place of this program. Returns the exit status only if there is
// none.
int new_plugin(const NewPluginOptions& options);

}  // namespace tenon::command
