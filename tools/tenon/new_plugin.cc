#include "tools/tenon/new_plugin.h"

#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>

#include "tools/tenon/failure.h"

namespace tenon::command {

// Runs the installed script of `./dev new`, which copies plugins/null of its working directory.
int new_plugin(const NewPluginOptions& options) {
  namespace fs = std::filesystem;
  std::error_code unknown;
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  const fs::path share = program.parent_path().parent_path() / TENON_SHARE;
  if (!fs::exists(share / "plugins/null", unknown)) {
    fmt::print(stderr,
               "tenon: new: there is no template in {}; install Tenon's files for development\n",
               share.string());
    return kFailed;
  }
  const fs::path folder = fs::absolute(options.folder.empty() ? options.name : options.folder);
  fs::current_path(share);
  execl("/bin/sh", "sh", "tools/new/new.sh", "plugin", options.name.c_str(), "--out",
        folder.c_str(), nullptr);
  fmt::print(stderr, "tenon: new: cannot run /bin/sh\n");
  return kFailed;
}

}  // namespace tenon::command
