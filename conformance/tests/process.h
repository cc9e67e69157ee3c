// Runs the program tenon-conformance in a child process.

#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace tenon_kit {

struct ProcessResult {
  int status = -1;
  std::string text;  // Output of the program, including stderr.
};

inline ProcessResult run(const std::string& arguments) {
  const std::string command = std::string(TENON_TEST_PROGRAM) + " " + arguments + " 2>&1";
  ProcessResult ended;
  FILE* const output = popen(command.c_str(), "r");
  char chunk[4096];
  while (const size_t n = fread(chunk, 1, sizeof chunk, output)) ended.text.append(chunk, n);
  ended.status = WEXITSTATUS(pclose(output));
  return ended;
}

inline bool has(const ProcessResult& ended, const std::string& words) {
  return ended.text.find(words) != std::string::npos;
}

}  // namespace tenon_kit
