// The built-in ops, by number and by name.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/ops/definition/op.h"

namespace tenon {

enum class OpId : uint32_t;  // op_ids.h names them.

// NULL if there is none. Custom ops belong to a context and are not listed here.
const OpDef* find_op(uint32_t id);
const OpDef* find_op(std::string_view name);
inline const OpDef& op_def(OpId id) { return *find_op(static_cast<uint32_t>(id)); }

// All built-in ops, in the order of their numbers.
std::span<const OpDef> all_ops();

}  // namespace tenon
