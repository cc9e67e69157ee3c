// Finds built-in ops by id and by name.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/ops/definition/op.h"

namespace tenon {

enum class OpId : uint32_t;  // The enumerators are in op_ids.h.

// Return the built-in op; NULL if there is none. Custom ops belong to a context and are not found
// here.
const OpDef* find_op(uint32_t id);
const OpDef* find_op(std::string_view name);
inline const OpDef& op_def(OpId id) { return *find_op(static_cast<uint32_t>(id)); }

// Returns all built-in ops in ascending order of their ids.
std::span<const OpDef> all_ops();

}  // namespace tenon
