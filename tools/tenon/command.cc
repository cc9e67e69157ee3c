// The command tenon: what this machine can compute on, what the ops are, which version this is.

#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "tools/tenon/devices.h"
#include "tools/tenon/failure.h"
#include "tools/tenon/operations.h"

namespace tenon::command {
namespace {

int version() {
  fmt::print("tenon {}\n", tenon_version().data);
  return kDone;
}

int run(int argc, char** argv) {
  DevicesOptions devices_options;
  OpsOptions ops_options;
  CLI::App app("Looks at Tenon on this machine.", "tenon");
  app.footer(
      "Exits with 0; with 1 if what was asked for does not exist or fails, and with 2 if "
      "the command line is wrong.");

  CLI::App* const devices_command = app.add_subcommand(
      "devices", "List the devices; every plugin that is found is loaded for it");
  devices_command->add_flag("--json", devices_options.json, "Print all as JSON");
  devices_command->add_flag("--verbose,-v", devices_options.verbose,
                            "Print all properties, and each plugin tried with its reason");

  CLI::App* const ops_command = app.add_subcommand("ops", "List the ops, or print one's page");
  ops_command->add_option("NAME", ops_options.name, "The op, such as softmax");
  ops_command->add_flag("--json", ops_options.json, "Print as JSON");

  CLI::App* const version_command =
      app.add_subcommand("version", "Print the version of the library");

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "tenon: {}\nTry tenon --help.\n", error.what());
    return kMisused;
  }
  if (*devices_command) return devices(devices_options);
  if (*ops_command) return ops(ops_options);
  if (*version_command) return version();
  fmt::print(stderr, "{}", app.help());
  return kMisused;
}

}  // namespace
}  // namespace tenon::command

int main(int argc, char** argv) {
  try {
    return tenon::command::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "tenon: {}\n", error.what());
    return tenon::command::kFailed;
  }
}
