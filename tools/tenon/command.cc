// The main program of the command `tenon`, which lists devices and ops, and runs and inspects
// programs.

#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "tools/tenon/devices.h"
#include "tools/tenon/failure.h"
#include "tools/tenon/new_plugin.h"
#include "tools/tenon/operations.h"
#include "tools/tenon/programs.h"

namespace tenon::command {
namespace {

// Prints the version of libtenon and returns the exit status.
int version() {
  fmt::print("tenon {}\n", tenon_version().data);
  return kDone;
}

constexpr const char* kProgram = "A folder that a program was saved in, or an ONNX file";

// Adds the option --strict.
void add_strict(CLI::App& command, bool& strict) {
  command.add_flag("--strict", strict,
                   "Fail if the shape of a value contradicts its declaration in an ONNX file, "
                   "instead of warning");
}

// Adds the options of ProgramOptions to a command. `function`: help text of option --function.
void add_program(CLI::App& command, ProgramOptions& options, const char* function) {
  command.add_option("PROGRAM", options.path, kProgram)->required();
  command.add_option("--function,-f", options.function, function)->type_name("NAME");
  command
      .add_option("--device,-d", options.device,
                  "The device to run on: cpu, cpu:0, best, or a device that `tenon devices` lists "
                  "(default: cpu)")
      ->type_name("NAME");
  add_strict(command, options.strict);
}

// Adds the options of CallOptions for inputs and static arguments to a command.
void add_inputs(CLI::App& command, CallOptions& options) {
  command
      .add_option("--input,-i", options.inputs,
                  "An input by name, from a file written by numpy.save(); repeat for each input")
      ->type_name("NAME=FILE.npy")
      ->allow_extra_args(false);
  command
      .add_option("--static", options.statics,
                  "A static argument by its name: true, false, a number, or text; it chooses among "
                  "the signatures of the function")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

// Adds the subcommand `run`, which stores its arguments in `options`, and returns it.
CLI::App* add_run(CLI::App& app, RunOptions& options) {
  CLI::App* const command = app.add_subcommand(
      "run",
      "Call a function of a program with arrays from files. Prints the name and the type of each "
      "output, and the minimum, the mean and the maximum of its elements. Assignments of the "
      "function "
      "to variables are not saved.");
  add_program(*command, options, "The function; optional if there is only one");
  add_inputs(*command, options);
  command
      ->add_option("--output,-o", options.output,
                   "Write each output to a file NAME.npy in this folder, which is created if it "
                   "does not exist")
      ->type_name("FOLDER");
  command
      ->add_option(
          "--batch-size", options.batch_size,
          "Divide all inputs along their first axis into batches of N, call the function for "
          "each batch, which needs less memory, and concatenate the outputs along their first axis")
      ->type_name("N")
      ->check(CLI::Range(int64_t{1}, INT64_MAX));
  return command;
}

// Adds the subcommand `inspect`, which stores its arguments in `options`, and returns it.
CLI::App* add_inspect(CLI::App& app, InspectOptions& options) {
  CLI::App* const command = app.add_subcommand(
      "inspect",
      "Describe a program without running it: for each signature of each function its "
      "inputs, its outputs, its ops, the device and the method by which each call would run, and "
      "the "
      "memory needed; then the variables. If a model has unsupported ops, list them with their "
      "nodes.");
  add_program(*command, options, "Describe only this function");
  command
      ->add_option(
          "--size", options.sizes,
          "A number for a size that is unknown in the file (default: 1 if that is valid); a size "
          "without a name in the file is called INPUT.AXIS, such as x.0")
      ->type_name("NAME=NUMBER")
      ->allow_extra_args(false);
  command->add_flag("--json", options.json, "Print everything as JSON, including each call");
  return command;
}

// Adds the subcommand `profile`, which stores its arguments in `options`, and returns it.
CLI::App* add_profile(CLI::App& app, ProfileOptions& options) {
  CLI::App* const command = app.add_subcommand(
      "profile",
      "Call a function many times and print where it spends its time: for each op how often it "
      "ran, with "
      "which types, on which device, and for how long. The function is first called three times "
      "without measurement.");
  add_program(*command, options, "The function; optional if there is only one");
  add_inputs(*command, options);
  command->add_option("--repeat,-n", options.repeat, "Number of measured calls (10)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  command
      ->add_option("--trace", options.trace,
                   "Write every call of an op to a file that https://ui.perfetto.dev opens")
      ->type_name("FILE.json");
  command->add_flag("--json", options.json, "Print as JSON");
  return command;
}

// Adds the subcommand `convert`, which stores its arguments in `options`, and returns it.
CLI::App* add_convert(CLI::App& app, ConvertOptions& options) {
  CLI::App* const command = app.add_subcommand(
      "convert",
      "Write a model or a program as a program: a folder with an ONNX file of operator set 20 for "
      "each signature of a function, their weights in weights.safetensors, and tenon.json. Other "
      "runtimes open "
      "the ONNX files.");
  command->add_option("MODEL", options.path, kProgram)->required();
  command->add_option("OUT", options.to, "The folder, which is created if it does not exist")
      ->required();
  command
      ->add_option(
          "--size", options.sizes,
          "A number that replaces an unknown size in the written program, for ops "
          "that require a known size; a size without a name is called INPUT.AXIS, such as x.0")
      ->type_name("NAME=NUMBER")
      ->allow_extra_args(false);
  command
      ->add_option("--name", options.name, "The name of the only function in the written program")
      ->type_name("NAME");
  add_strict(*command, options.strict);
  return command;
}

// Adds the subcommand `new plugin`, which stores its arguments in `options`, and returns it.
CLI::App* add_new_plugin(CLI::App& app, NewPluginOptions& options) {
  CLI::App* const command = app.add_subcommand("new", "Start a device plugin");
  command->require_subcommand(1);
  CLI::App* const plugin = command->add_subcommand(
      "plugin", "Copy the template of a plugin, which builds against this installation");
  plugin->add_option("NAME", options.name, "The name of the plugin and its devices, such as acme")
      ->required();
  plugin->add_option("--out", options.folder, "The folder to write; NAME by default")
      ->type_name("FOLDER");
  return plugin;
}

// Parses the command line and runs the command. Returns the exit status.
int run(int argc, char** argv) {
  DevicesOptions devices_options;
  OpsOptions ops_options;
  RunOptions run_options;
  InspectOptions inspect_options;
  ProfileOptions profile_options;
  ConvertOptions convert_options;
  NewPluginOptions new_plugin_options;
  CLI::App app("Inspects Tenon on this machine, and runs programs and models.", "tenon");
  app.footer(
      "Exits with 0 on success, with 1 if the request fails, and with 2 if "
      "the command line is invalid.");

  CLI::App* const devices_command =
      app.add_subcommand("devices", "List the devices; loads every plugin that is found");
  devices_command->add_flag("--json", devices_options.json, "Print everything as JSON");
  devices_command->add_flag("--verbose,-v", devices_options.verbose,
                            "Print all properties, and each plugin tried with its reason");

  CLI::App* const ops_command = app.add_subcommand("ops", "List the ops, or print the page of one");
  ops_command->add_option("NAME", ops_options.name, "The op, such as softmax");
  ops_command->add_flag("--json", ops_options.json, "Print as JSON");

  CLI::App* const run_command = add_run(app, run_options);
  CLI::App* const inspect_command = add_inspect(app, inspect_options);
  CLI::App* const profile_command = add_profile(app, profile_options);
  CLI::App* const convert_command = add_convert(app, convert_options);

  CLI::App* const new_plugin_command = add_new_plugin(app, new_plugin_options);

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
  if (*run_command) return run_program(run_options);
  if (*inspect_command) return inspect_program(inspect_options);
  if (*profile_command) return profile_program(profile_options);
  if (*convert_command) return convert_program(convert_options);
  if (*new_plugin_command) return new_plugin(new_plugin_options);
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
