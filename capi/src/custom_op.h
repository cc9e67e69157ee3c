// Converts custom ops to the core's OpDef.

#pragma once

#include <tenon/custom.h>

#include <memory>
#include <vector>

#include "capi/src/handles.h"
#include "core/ops/definition/op.h"

namespace tenon::capi {

inline bool is_custom(const OpDef& op) { return op.id >> 31 != 0; }

// The attributes of a custom op as bytes, in the full size of the op's struct.
struct CustomAttrs {
  // `given` is the caller's struct, or NULL for zeros.
  CustomAttrs(const OpDef& op, const void* given);

  std::vector<std::byte> bytes;
};

// Throws if the op is invalid. The payload is destroyed with the definition.
std::unique_ptr<OpDef> make_custom_op(const tenon_custom_op& op, Payload payload);

}  // namespace tenon::capi
