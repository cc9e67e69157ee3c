// `tenon ops`: lists all ops, or prints the reference page of one op.

#pragma once

#include <string>

namespace tenon::command {

// The content of docs/ops/ops.json: an array with an object for each op.
extern const char* const kPages;

struct OpsOptions {
  std::string name;  // Empty: lists all ops.
  bool json = false;
};

// Prints the list or a page. Returns the exit status.
int ops(const OpsOptions& options);

}  // namespace tenon::command
