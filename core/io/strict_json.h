// Parses JSON from untrusted files. Limits the nesting depth, and rejects duplicate keys, because
// parsers disagree on which of the values they use.

#pragma once

#include <string_view>

#include "core/base/json.h"

namespace tenon {

// Parses `text`, with at most `deepest` nested levels. `what` names the text in error messages,
// such as "its header". Throws DATA_LOSS if the text is invalid. Takes O(n log n) time for n bytes.
Json parse_strict_json(std::string_view text, int deepest, std::string_view what);

}  // namespace tenon
