// Parses JSON from untrusted files: limits the depth and rejects duplicate keys, which parsers
// interpret differently.

#pragma once

#include <string_view>

#include "core/base/json.h"

namespace tenon {

// Throws DATA_LOSS with a message that begins with `what`, such as "its header". Takes O(n log n)
// time for n bytes.
Json parse_strict_json(std::string_view text, int deepest, std::string_view what);

}  // namespace tenon
