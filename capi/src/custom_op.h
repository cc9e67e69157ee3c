// Converts a custom op, defined by the user in C, to an OpDef of the core.

#pragma once

#include <tenon/custom.h>

#include <memory>
#include <vector>

#include "capi/src/handles.h"
#include "core/ops/definition/op.h"

namespace tenon::capi {

inline bool is_custom(const OpDef& op) { return op.id >> 31 != 0; }

// The attributes of a custom op as bytes. The vector always has the size of the op's struct.
struct CustomAttrs {
  // Copies the struct that `given` points to. Sets missing bytes to zero if that struct is shorter
  // than the op's; sets all bytes to zero if `given` is NULL.
  CustomAttrs(const OpDef& op, const void* given);

  std::vector<std::byte> bytes;
};

// Returns the OpDef of the custom op that the user has defined. It owns the payload. Throws
// INVALID_ARGUMENT if the definition is invalid.
std::unique_ptr<OpDef> make_custom_op(const tenon_custom_op& op, Payload payload);

}  // namespace tenon::capi
