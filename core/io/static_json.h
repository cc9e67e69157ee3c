// Static arguments of functions as JSON, as tenon.json holds them: by their names, each as the JSON
// value that is of its kind. What has none is an object of one key: {"float": "inf"},
// {"enum": ["color", 3]}, {"map": {"a": 1}}.

#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "core/base/json.h"
#include "core/trace/statics.h"

namespace tenon {

// How deep what stands for one argument may nest.
constexpr int kDeepestStatic = 32;

// Throws UNIMPLEMENTED for what no file can hold: objects, and arguments without names.
Json json_of_statics(std::span<const tenon_static> all);

// Throws DATA_LOSS that begins with `what`.
std::shared_ptr<const KeptStatics> statics_of_json(const Json& json, std::string_view what);

}  // namespace tenon
