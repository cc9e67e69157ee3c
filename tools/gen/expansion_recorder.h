// The expansions of transcendental ops as they come out of the ops' own decompositions, for
// gen_expansions.py.

#pragma once

#include <nlohmann/json.hpp>

namespace tenon {

// One entry for each op of the class `transcendental` that has a decomposition and no attributes,
// in float32 and in float64: the calls that it makes down to ops that are no such op themselves.
nlohmann::ordered_json recorded_expansions();

}  // namespace tenon
