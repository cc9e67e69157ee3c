// The ids of the built-in ops as enumerators, such as OpId::k_add. Adding an op recompiles every
// file that includes this header.

#pragma once

#include "core/ops/definition/registry.h"

namespace tenon {

enum class OpId : uint32_t {
#define TENON_OP(id, name) k_##name = id,
#include "core/ops/ops.def"
};

}  // namespace tenon
