// Checks whether a file is a complete shared object for this machine. The check comes before
// loading, because mapping a truncated file kills the process.

#pragma once

#include <string>

#include "core/base/error.h"

namespace tenon {

struct FileVerdict {
  Code code = Code::kOk;
  std::string reason;  // Without the path: "is truncated: segment 2 ends at byte ...".
};

FileVerdict check_shared_object(const std::string& path);

}  // namespace tenon
