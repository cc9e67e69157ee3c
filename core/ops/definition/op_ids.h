// The numbers of the built-in ops by name: OpId::k_add. Files that include this are compiled again
// when an op is added.

#pragma once

#include "core/ops/definition/registry.h"

namespace tenon {

enum class OpId : uint32_t {
#define TENON_OP(id, name) k_##name = id,
#include "core/ops/ops.def"
};

}  // namespace tenon
