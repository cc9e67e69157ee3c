// Forward declares the kit's JSON type, since the library takes seconds to compile (json.h).

#pragma once

#include <nlohmann/json_fwd.hpp>

namespace tenon_kit {

using Json = nlohmann::ordered_json;

}  // namespace tenon_kit
