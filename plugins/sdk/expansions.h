// The expansions of transcendental ops, which core/ops/expansions defines, as data. Contains each
// op of that class without attributes that has a decomposition, in float and in double.

#pragma once

#include "plugins/sdk/expansion_code.h"
#include "plugins/sdk/expansions_gen.h"

namespace tenon_sdk {

// Finds the expansion of an op, TENON_OP_<name>; NULL if it has none.
inline const Expansion* find_expansion(uint32_t op, bool is_double) {
  for (const Expansion& expansion : expansion_data::kAll) {
    if (expansion.op == op && expansion.is_double == is_double) return &expansion;
  }
  return nullptr;
}

}  // namespace tenon_sdk
