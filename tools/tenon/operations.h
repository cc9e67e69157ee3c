// `tenon ops`: lists all ops, or shows the page of one.

#pragma once

#include <string>

namespace tenon::command {

// The text of docs/ops/ops.json: an array with an object for each op.
extern const char* const kPages;

struct OpsOptions {
  std::string name;  // Empty for the list.
  bool json = false;
};

// Prints the list or one page and returns the exit status.
int ops(const OpsOptions& options);

}  // namespace tenon::command
