// Errors of the command: a message for people, and an exit status for scripts.

#pragma once

#include <tenon/tenon.h>

#include <stdexcept>

namespace tenon::command {

enum Status : int {
  kDone = 0,
  kFailed = 1,  // The request is valid but failed.
  kMisused = 2  // The command line is invalid.
};

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws a Failure with the message of a C call's error, if there is one.
inline void check(tenon_error* error) {
  if (!error) return;
  const Failure failure(tenon_error_message(error).data);
  tenon_error_release(error);
  throw failure;
}

}  // namespace tenon::command
