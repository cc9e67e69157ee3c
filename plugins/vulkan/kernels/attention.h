// The configuration of the attention shader, and the order of its parameters
// (kernels/attention.cc).

#pragma once

#include "plugins/vulkan/kernels/shader.h"

namespace tenon_vulkan::attention {

inline constexpr uint32_t kEach = 4;
inline constexpr uint32_t kSide = 8;
inline constexpr uint32_t kTile = kSide * kEach;  // Number of queries, and of keys, in a tile.
// Number of columns of queries and keys, and of rows of values, in a panel.
inline constexpr uint32_t kDepth = 8;
static_assert(kSide * kSide == kLocalSize);

// The supported numbers of value columns per group. The number determines how much shared memory a
// group needs.
inline constexpr uint32_t kColumns[] = {32, 64, 128};
// Returns the number of elements in shared memory for this number of value columns per group.
constexpr uint32_t shared_elements(uint32_t columns) {
  return 2 * kTile * kDepth + kTile * kTile + 3 * kTile * kSide + kDepth * columns;
}

// Indices of the parameters. Strides of q, k and v are in the order batch, heads, length, size.
// Strides of the mask are in the order batch, heads, queries, keys.
enum : uint32_t {
  kFirstTile,
  kBegin,  // kBegin and kEnd: range of keys.
  kEnd,
  kHeads,
  kSharing,  // Number of query heads per key head.
  kQueries,
  kKeys,
  kSize,
  kValueSize,
  kScale,  // The scale occupies two words.
  kStridesQ = kScale + 2,
  kStridesK = kStridesQ + 4,
  kStridesV = kStridesK + 4,
  kStridesMask = kStridesV + 4,
};

struct Plan {
  tenon_dtype dtype, wide;  // Dtypes of the operands and of the computation.
  tenon_dtype mask;         // TENON_DTYPE_NONE: no mask.
  bool is_causal;
  double softcap;  // 0: no cap.
  uint32_t columns;
  bool in_pieces;
};

// Returns the number of state elements that an invocation stores between pieces of the keys.
constexpr uint32_t state_elements(uint32_t columns) { return kEach * (3 + columns / kSide); }

// Generates the shader. Operands: q, k, v, the mask if there is one, y, and the state that is
// stored between pieces of the keys.
Words write_shader(const Capabilities& capabilities, const Plan& plan, uint32_t n_operands);

}  // namespace tenon_vulkan::attention
