// Records the decompositions of transcendental ops as instruction lists, for gen_expansions.py.

#pragma once

#include <nlohmann/json.hpp>

namespace tenon {

// Returns a record for each op of class `transcendental` that has a decomposition and no
// attributes, in float32 and in float64. Decompositions are expanded until only other ops remain.
nlohmann::ordered_json record_expansions();

}  // namespace tenon
