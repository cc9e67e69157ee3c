// Whether a file is a whole shared object for this machine. Mapping one that is truncated kills the
// process, so this is asked before.

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
