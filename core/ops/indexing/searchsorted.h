// The attributes of searchsorted, for its own file and for histogram, which calls it.

#pragma once

#include "core/ops/definition/formulas.h"

namespace tenon {

enum class Side : int32_t { kLeft, kRight };
EnumInfo enum_info(Side);

struct SearchsortedAttrs {
  Side side = Side::kLeft;  // Whether to insert before (left) or after (right) equal elements.
  TENON_ATTRS(side)
};

}  // namespace tenon
