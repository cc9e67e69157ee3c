// The name of the kit's JSON, for headers: the library itself takes seconds to compile (json.h).

#pragma once

#include <nlohmann/json_fwd.hpp>

namespace tenon_kit {

using Json = nlohmann::ordered_json;

}  // namespace tenon_kit
