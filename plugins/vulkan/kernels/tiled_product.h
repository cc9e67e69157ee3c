// Tiled matrix products in shared memory, for GPUs. A group computes a tile of the result. Each
// invocation holds several rows and columns of it in registers, and reads panels of both factors.
//
// A long sum is split into chunks of at most longest_chain() values of k. A last dispatch adds the
// partial sums, in order. On GPUs, chunks are shorter if the result has few elements, and each
// chunk has workgroups of its own (split-K).

#pragma once

#include "plugins/vulkan/kernels/packed_product.h"

namespace tenon_vulkan {

struct ProductSizes {
  int64_t matrices, rows, columns, deep;
};

// The chunks of a long sum: `n` chunks of `steps` values of k each; the last one may be shorter.
// One dispatch computes `at_once` of them, and the next dispatch adds its partial sums to these.
struct SplitK {
  int64_t n = 1, steps;
  int64_t at_once = 1;
};
SplitK parts_of_sums(const Capabilities& capabilities, tenon_dtype wide, const ProductSizes& sizes);

enum class TileSize : uint8_t { kSmall, kLarge };

// Number of rows (and of columns) of a tile, and of the elements of one invocation.
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

// Computes the result or, with a further operand `sums`, the partial sums of the dispatch's chunks.
// If parameter kAddsParts is set, these are added to the contents of `sums`; otherwise they replace
// them.
void write_tiled_product(spirv::Code& code, const FactorsOf& factors_of, const TiledShape& shape,
                         std::optional<uint32_t> sums);
// Computes the result by adding the partial sums in operand `sums`.
void write_sum_of_parts(spirv::Code& code, const FactorsOf& factors_of, tenon_dtype wide,
                        uint32_t sums);

}  // namespace tenon_vulkan
