// Static arguments of functions as JSON, as in tenon.json: an object that maps their names to JSON
// values of the same kind. A value without a JSON equivalent is an object with one key: {"float":
// "inf"}, {"enum": ["color", 3]}, {"map": {"a": 1}}.

#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "core/base/json.h"
#include "core/trace/statics.h"

namespace tenon {

// Maximum nesting depth of one argument.
constexpr int kMaxStaticDepth = 32;

// Throws UNIMPLEMENTED for arguments that files cannot hold: objects, and arguments without names.
Json json_of_statics(std::span<const tenon_static> all);

// Throws DATA_LOSS with a message that begins with `what`.
std::shared_ptr<const OwnedStatics> statics_of_json(const Json& json, std::string_view what);

}  // namespace tenon
