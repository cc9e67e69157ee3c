// `tenon run`, `inspect`, `profile` and `convert`: what a program or an ONNX model does, and what
// it is made of.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::command {

// What all of them take.
struct ProgramOptions {
  std::string path;      // A folder or an ONNX file.
  std::string function;  // Empty: the only one; for inspect all.
  std::string device = "cpu";
};

// A call.
struct CallOptions : ProgramOptions {
  std::vector<std::string> inputs;   // "NAME=FILE.npy".
  std::vector<std::string> statics;  // "NAME=VALUE".
};

struct RunOptions : CallOptions {
  std::string output;      // A folder; empty: nothing is written.
  int64_t batch_size = 0;  // How much of the first axis one call takes; 0: all of it.
};

struct InspectOptions : ProgramOptions {
  std::vector<std::string> sizes;  // "NAME=NUMBER", of unknown sizes.
  bool json = false;
};

struct ProfileOptions : CallOptions {
  int repeat = 10;
  std::string trace;  // A file; empty: none.
  bool json = false;
};

struct ConvertOptions {
  std::string path, to;
  std::string name;                // Of the only function; empty: as it is called.
  std::vector<std::string> sizes;  // "NAME=NUMBER", of unknown sizes that become known.
};

// Each gives the status to exit with.
int run_program(const RunOptions& options);
int inspect_program(const InspectOptions& options);
int profile_program(const ProfileOptions& options);
int convert_program(const ConvertOptions& options);

}  // namespace tenon::command
