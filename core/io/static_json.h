// Converts the static arguments of functions to JSON and back, as in tenon.json: an object that
// maps names to values. A value without a JSON equivalent is an object with one key: {"float":
// "inf"}, {"enum": ["color", 3]}, {"map": {"a": 1}}.

#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "core/base/json.h"
#include "core/trace/statics.h"

namespace tenon {

// Maximum nesting depth of one static argument.
constexpr int kMaxStaticDepth = 32;

// Converts static arguments to JSON. Throws UNIMPLEMENTED for arguments that a file cannot store:
// handles of objects, and arguments without a name.
Json json_of_statics(std::span<const tenon_static> all);

// Converts the result of json_of_statics() back to static arguments. Throws DATA_LOSS if the JSON
// is malformed; `what` names the arguments at the start of the message.
std::shared_ptr<const OwnedStatics> statics_of_json(const Json& json, std::string_view what);

}  // namespace tenon
