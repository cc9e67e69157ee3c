// `tenon ops`: the list of all ops, and a page for each.

#pragma once

#include <string>

namespace tenon::command {

// docs/ops/ops.json as text: an array with an object for each op.
extern const char* const kPages;

struct OpsOptions {
  std::string name;  // Empty for the list.
  bool json = false;
};

// Prints the list or one page; gives the status to exit with.
int ops(const OpsOptions& options);

}  // namespace tenon::command
