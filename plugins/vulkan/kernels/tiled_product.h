// Tiled matrix products in shared memory, for GPUs. A group computes a tile of the result. Each
// invocation holds several rows and columns of the tile in registers and loads panels of both
// factors.
//
// A long sum is split into chunks of at most longest_chain() values of k. A last dispatch adds the
// partial sums, in order. On GPUs, chunks are shorter if the result has few elements, and separate
// workgroups compute each chunk (split-K).

#pragma once

#include "plugins/vulkan/kernels/packed_product.h"

namespace tenon_vulkan {

struct ProductSizes {
  int64_t matrices, rows, columns, deep;
};

// The chunks of a long sum: `n` chunks of `steps` values of k each; the last one may be shorter.
// One dispatch computes `at_once` chunks, and the next dispatch adds its partial sums to those of
// the previous one.
struct SplitK {
  int64_t n = 1, steps;
  int64_t at_once = 1;
};
// Returns how the sums over k of a product are split. `wide`: dtype of the sums.
SplitK choose_split_k(const Capabilities& capabilities, tenon_dtype wide,
                      const ProductSizes& sizes);

enum class TileSize : uint8_t { kSmall, kLarge };

// lines_per_tile() returns the number of rows and of columns of a tile; lines_per_invocation()
// those of one invocation.
int64_t lines_per_tile(TileSize size);
uint32_t lines_per_invocation(TileSize size);
// Returns kLarge for large results with 32-bit elements. Large tiles need fewer memory accesses,
// but more registers.
TileSize tile_size_for(const Capabilities& capabilities, tenon_dtype wide,
                       const ProductSizes& sizes);

// Number of values of k in a panel.
inline constexpr uint32_t kPanelDepth = 8;

struct TiledShape {
  tenon_dtype wide;
  TileSize size = TileSize::kSmall;
  // Whether the loop over k is unrolled and the next panel is loaded while the current one is
  // processed. This makes the shader longer and its compilation slower.
  bool is_unrolled = false;
};

// Emits code that computes the result or, with an additional operand `sums`, the partial sums of
// the dispatch's chunks. If parameter kAddsParts is set, the partial sums are added to the contents
// of `sums`; otherwise they replace the contents.
void write_tiled_product(spirv::Code& code, const FactorsOf& factors_of, const TiledShape& shape,
                         std::optional<uint32_t> sums);
// Emits code that computes the result by adding the partial sums in operand `sums`.
void write_sum_of_parts(spirv::Code& code, const FactorsOf& factors_of, tenon_dtype wide,
                        uint32_t sums);

}  // namespace tenon_vulkan
