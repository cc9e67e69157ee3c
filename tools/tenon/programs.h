// `tenon run`, `inspect`, `profile` and `convert`: run a program or an ONNX model, and show what it
// consists of.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::command {

// Options of all these commands.
struct ProgramOptions {
  std::string path;      // A folder or an ONNX file.
  std::string function;  // Empty for the only one; for inspect, for all.
  std::string device = "cpu";
};

// Options for calls.
struct CallOptions : ProgramOptions {
  std::vector<std::string> inputs;   // "NAME=FILE.npy".
  std::vector<std::string> statics;  // "NAME=VALUE".
};

struct RunOptions : CallOptions {
  std::string output;      // A folder; if empty, nothing is written.
  int64_t batch_size = 0;  // Rows of the inputs per call; 0 for all.
};

struct InspectOptions : ProgramOptions {
  std::vector<std::string> sizes;  // "NAME=NUMBER", for unknown sizes.
  bool json = false;
};

struct ProfileOptions : CallOptions {
  int repeat = 10;
  std::string trace;  // A file; empty for none.
  bool json = false;
};

struct ConvertOptions {
  std::string path, to;
  std::string name;                // New name of the only function; empty to keep it.
  std::vector<std::string> sizes;  // "NAME=NUMBER", for unknown sizes to fix.
};

// Each command returns the exit status.
int run_program(const RunOptions& options);
int inspect_program(const InspectOptions& options);
int profile_program(const ProfileOptions& options);
int convert_program(const ConvertOptions& options);

}  // namespace tenon::command
