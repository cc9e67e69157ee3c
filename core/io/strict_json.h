// JSON of files that may be hostile: of bounded depth, and with no key twice in an object, since
// readers would differ in what such a file says.

#pragma once

#include <string_view>

#include "core/base/json.h"

namespace tenon {

// Throws DATA_LOSS that begins with `what`: "its header". Takes O(n log n) time for n bytes.
Json parse_strict_json(std::string_view text, int deepest, std::string_view what);

}  // namespace tenon
