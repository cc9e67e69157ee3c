// Tiled matrix products in shared memory, for GPUs. A group computes a tile of the result. Each
// invocation holds several rows and columns of it in registers, and reads panels of both factors.
//
// A long sum is computed in parts of at most longest_chain() k. A last dispatch adds the parts, in
// order. On GPUs, parts are shorter if there are few sums, and each part has groups of its own
// (split-K).

#pragma once

#include "plugins/vulkan/kernels/packed_product.h"

namespace tenon_vulkan {

struct ProductSizes {
  int64_t matrices, rows, columns, deep;
};

// The parts of a sum: their number, and the k of each but the last. One dispatch computes `at_once`
// of them, and the next one adds its parts to these.
struct SplitK {
  int64_t n = 1, steps;
  int64_t at_once = 1;
};
SplitK parts_of_sums(const Capabilities& capabilities, tenon_dtype wide, const ProductSizes& sizes);

enum class TileSize : uint8_t { kSmall, kLarge };

// Rows, and columns, of a tile and of an invocation.
int64_t lines_of(TileSize size);
uint32_t each_of(TileSize size);
// Large tiles are for large results of 32-bit elements: they read less memory and need more
// registers.
TileSize tile_size_for(const Capabilities& capabilities, tenon_dtype wide,
                       const ProductSizes& sizes);

// k per panel.
inline constexpr uint32_t kPanelDepth = 8;

struct TiledShape {
  tenon_dtype wide;
  TileSize size = TileSize::kSmall;
  // Prefetches each panel while the previous one is processed, and unrolls the steps. Drivers then
  // compile a longer shader.
  bool is_unrolled = false;
};

// Computes the result or, with a further operand `sums`, the sums of the dispatch's parts.
// Parameter kAddsParts selects whether they replace the contents of `sums` or are added to them.
void write_tiled_product(spirv::Code& code, const FactorsOf& factors_of, const TiledShape& shape,
                         std::optional<uint32_t> sums);
// Computes the result from the sums of the parts in operand `sums`.
void write_sum_of_parts(spirv::Code& code, const FactorsOf& factors_of, tenon_dtype wide,
                        uint32_t sums);

}  // namespace tenon_vulkan
