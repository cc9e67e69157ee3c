#include "core/base/attrs.h"

namespace tenon::detail {

void fail_attr(std::string_view name, std::string_view what, int64_t value) {
  fail(Code::kInvalidArgument, "attribute {}: {} {}", {name, value, what});
}

}  // namespace tenon::detail
