// The expansions of transcendental ops, which core/ops/expansions defines, as data. There is one in
// float and one in double for each op without attributes that core/ops/expansions decomposes.

#pragma once

#include "plugins/sdk/expansion_code.h"
#include "plugins/sdk/expansions_gen.h"

namespace tenon_sdk {

// Returns the expansion of an op (TENON_OP_<name>); NULL if the op has none.
inline const Expansion* find_expansion(uint32_t op, bool is_double) {
  for (const Expansion& expansion : expansion_data::kAll) {
    if (expansion.op == op && expansion.is_double == is_double) return &expansion;
  }
  return nullptr;
}

}  // namespace tenon_sdk
