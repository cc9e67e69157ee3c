// Records the expansions of transcendental ops from their decompositions, for gen_expansions.py.

#pragma once

#include <nlohmann/json.hpp>

namespace tenon {

// One entry for each op of class `transcendental` that has a decomposition and no attributes, in
// float32 and in float64: its calls, expanded down to ops outside that class.
nlohmann::ordered_json recorded_expansions();

}  // namespace tenon
