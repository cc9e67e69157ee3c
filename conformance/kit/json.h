// Reads and writes values as JSON.

#pragma once

#include <nlohmann/json.hpp>

#include "conformance/kit/attr_values.h"
#include "conformance/kit/json_fwd.h"

namespace tenon_kit {

Json to_json(const AttrValue& value);
// Converts JSON to an attribute value. Throws if no attribute can have that value.
AttrValue attr_from_json(const Json& json);

}  // namespace tenon_kit
