// Products by tiles in shared memory, as GPUs want them: a group computes a tile of the result,
// each invocation some rows by some columns of it in registers, from panels of both factors.
//
// A long sum is computed in parts of at most longest_chain() k. A last dispatch adds them up, in
// their order. On GPUs, parts are shorter where there are few sums, and each part has groups of its
// own.

#pragma once

#include "plugins/vulkan/kernels/packed_product.h"

namespace tenon_vulkan {

struct ProductSizes {
  int64_t matrices, rows, columns, deep;
};

// The parts of a sum, and how many k each has but the last. One dispatch computes `at_once` of
// them, and the next one adds its parts to these.
struct SumParts {
  int64_t n = 1, steps;
  int64_t at_once = 1;
};
SumParts parts_of_sums(const Capabilities& capabilities, tenon_dtype wide,
                       const ProductSizes& sizes);

enum class TileSize : uint8_t { kSmall, kLarge };

// How many rows, and as many columns, a tile has, and an invocation.
int64_t lines_of(TileSize size);
uint32_t each_of(TileSize size);
// Large tiles are for large results of words: they read less and need more registers.
TileSize tile_size_for(const Capabilities& capabilities, tenon_dtype wide,
                       const ProductSizes& sizes);

// The k of a panel.
inline constexpr uint32_t kPanelDepth = 8;

struct TiledShape {
  tenon_dtype wide;
  TileSize size = TileSize::kSmall;
  // Panels are fetched while the one before is computed with, and its steps are written out: what
  // drivers compile is longer then.
  bool is_unrolled = false;
};

// Computes the result, or, with a further operand `sums`, those of the dispatch's parts: parameter
// kAddsParts says whether they replace or join what is in `sums`.
void write_tiled_product(spirv::Code& code, const FactorsOf& factors_of, const TiledShape& shape,
                         std::optional<uint32_t> sums);
// Computes the result from operand `sums`.
void write_sum_of_parts(spirv::Code& code, const FactorsOf& factors_of, tenon_dtype wide,
                        uint32_t sums);

}  // namespace tenon_vulkan
