// The attributes of searchsorted, which histogram calls.

#pragma once

#include "core/ops/definition/formulas.h"

namespace tenon {

enum class Side : int32_t { kLeft, kRight };
EnumInfo enum_info(Side);

struct SearchsortedAttrs {
  Side side = Side::kLeft;  // Whether to insert before or after elements that equal the value.
  TENON_ATTRS(side)
};

}  // namespace tenon
