// How the command reports errors: a message, and an exit status that scripts can use.

#pragma once

#include <tenon/tenon.h>

#include <stdexcept>

namespace tenon::command {

enum Status : int {
  kDone = 0,
  kFailed = 1,  // What was requested does not exist or does not work.
  kMisused = 2  // The command line is wrong.
};

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws the error of a C call, with its message.
inline void check(tenon_error* error) {
  if (!error) return;
  const Failure failure(tenon_error_message(error).data);
  tenon_error_release(error);
  throw failure;
}

}  // namespace tenon::command
