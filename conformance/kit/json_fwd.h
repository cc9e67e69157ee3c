// Forward declaration of the kit's JSON type. The full type (json.h) takes seconds to compile.

#pragma once

#include <nlohmann/json_fwd.hpp>

namespace tenon_kit {

using Json = nlohmann::ordered_json;

}  // namespace tenon_kit
