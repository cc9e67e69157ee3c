// Ops that a program brings along, as the core's OpDef.

#pragma once

#include <tenon/custom.h>

#include <memory>
#include <vector>

#include "capi/src/handles.h"
#include "core/ops/op.h"

namespace tenon::capi {

inline bool is_custom(const OpDef& op) { return op.id >> 31 != 0; }

// The bytes of a custom op's attributes, as many as the op has.
struct CustomAttrs {
  // `given` is the caller's struct, or NULL for zeros.
  CustomAttrs(const OpDef& op, const void* given);

  std::vector<std::byte> bytes;
};

// Throws what makes the op unfit. The payload is destroyed with the definition.
std::unique_ptr<OpDef> make_custom_op(const tenon_custom_op& op, Payload payload);

}  // namespace tenon::capi
