// `tenon run`, `inspect`, `profile` and `convert`: commands that run or describe programs and ONNX
// models.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::command {

// Options that all of these commands have.
struct ProgramOptions {
  std::string path;      // A folder or an ONNX file.
  std::string function;  // Empty: the only function or, for `inspect`, all functions.
  std::string device = "cpu";
  bool strict = false;  // Whether wrong declared shapes are errors.
};

// Options of commands that call a function.
struct CallOptions : ProgramOptions {
  std::vector<std::string> inputs;   // "NAME=FILE.npy".
  std::vector<std::string> statics;  // "NAME=VALUE".
};

struct RunOptions : CallOptions {
  std::string output;      // A folder; if empty, nothing is written.
  int64_t batch_size = 0;  // Number of rows of the inputs per call; 0: all rows.
};

struct InspectOptions : ProgramOptions {
  std::vector<std::string> sizes;  // "NAME=NUMBER", for unknown sizes.
  bool json = false;
};

struct ProfileOptions : CallOptions {
  int repeat = 10;
  std::string trace;  // File for the trace of the profiler; if empty, none is written.
  bool json = false;
};

struct ConvertOptions {
  std::string path, to;
  std::string name;                // New name of the function. Empty: keep the old one.
  std::vector<std::string> sizes;  // "NAME=NUMBER": unknown sizes to fix.
  bool strict = false;             // Whether wrong declared shapes are errors.
};

// Execute a command. Return its exit status.
int run_program(const RunOptions& options);
int inspect_program(const InspectOptions& options);
int profile_program(const ProfileOptions& options);
int convert_program(const ConvertOptions& options);

}  // namespace tenon::command
