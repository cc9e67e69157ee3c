// What the shader of attention is made for, and the order of its parameters (kernels/attention.cc).

#pragma once

#include "plugins/vulkan/kernels/shader.h"

namespace tenon_vulkan::attention {

inline constexpr uint32_t kEach = 4;
inline constexpr uint32_t kSide = 8;
inline constexpr uint32_t kTile = kSide * kEach;  // Queries, and keys.
inline constexpr uint32_t kDepth = 8;             // Of a panel: of queries and keys, and of values.
static_assert(kSide * kSide == kLocalSize);

// How many columns of values a group may have, and what it then needs of shared memory.
inline constexpr uint32_t kColumns[] = {32, 64, 128};
constexpr uint32_t shared_elements(uint32_t columns) {
  return 2 * kTile * kDepth + kTile * kTile + 3 * kTile * kSide + kDepth * columns;
}

// Parameters. Strides are those of batch, heads, length and size; those of a mask are the scores'.
enum : uint32_t {
  kFirstTile,
  kBegin,  // Which keys.
  kEnd,
  kHeads,
  kSharing,  // How many heads of q share one of k.
  kQueries,
  kKeys,
  kSize,
  kValueSize,
  kScale,  // Two words.
  kStridesQ = kScale + 2,
  kStridesK = kStridesQ + 4,
  kStridesV = kStridesK + 4,
  kStridesMask = kStridesV + 4,
};

struct Plan {
  tenon_dtype dtype, wide;  // Of the operands, and what is computed in.
  tenon_dtype mask;         // TENON_DTYPE_NONE: there is none.
  bool is_causal;
  double softcap;  // 0: there is none.
  uint32_t columns;
  bool in_pieces;
};

// What an invocation keeps between pieces.
constexpr uint32_t kept_elements(uint32_t columns) { return kEach * (3 + columns / kSide); }

// The shader. Operands: q, k, v, the mask if there is one, y, and what is kept between pieces.
Words write_shader(const Capabilities& capabilities, const Plan& plan, uint32_t n_operands);

}  // namespace tenon_vulkan::attention
