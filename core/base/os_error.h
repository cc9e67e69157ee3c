// Error codes of failed system calls.

#pragma once

#include <cerrno>

#include "core/base/error.h"

namespace tenon {

// Converts the errno of a failed system call that opens, reads or writes a file.
inline Code code_of_errno(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return Code::kNotFound;
    case ENOMEM:
      return Code::kOutOfMemory;
    default:
      return Code::kUnavailable;
  }
}

}  // namespace tenon
