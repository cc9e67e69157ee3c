// Products of factors that are packed first: written to the workspace as panels, in the order in
// which they will be read. Then a subgroup computes a tile of the result: so many rows, and as many
// columns as its invocations have together.
//
// This is for drivers that run shaders on the host's processor. There a word of a buffer costs an
// invocation tens of instructions unless the driver finds that all invocations of a subgroup read
// side by side or the same, and what it finds differs:
//
//   texels   Four words come as one texel, at two or three instructions each.
//   words    Neighbours read neighbouring words.
//
// Either way an element of the left factor is one invocation's, from where all take it.

#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "plugins/vulkan/kernels/axes.h"
#include "plugins/vulkan/spirv/element.h"

namespace tenon_vulkan {

// The largest number of terms of a floating-point sum that are added one after another. The sums of
// such chains are added one after another too, so that the error grows with the square root of
// `deep`. A multiple of every block and panel.
inline int64_t longest_chain(int64_t deep) {
  int64_t chain = 4096;
  while (chain * chain < deep) chain *= 2;
  return chain;
}

// What is multiplied, in a shader: elements of product_dtype.
struct Factors {
  std::function<spirv::Element(spirv::U32 row, spirv::U32 k)> left;
  std::function<spirv::Element(spirv::U32 k, spirv::U32 column)> right;
  std::function<void(spirv::U32 row, spirv::U32 column, const spirv::Element& sum)> store;
  // Where these go by four, the same for it and its three neighbours: k of the left factor, columns
  // of the others.
  std::function<std::vector<spirv::Element>(spirv::U32 row, spirv::U32 k)> left_four;
  std::function<std::vector<spirv::Element>(spirv::U32 k, spirv::U32 column)> right_four;
  std::function<void(spirv::U32 row, spirv::U32 column, std::span<const spirv::Element> sums)>
      store_four;
};
// Those of a matrix.
using FactorsOf = std::function<Factors(spirv::U32 matrix)>;

// The sizes of the product. Of a part of it: how many matrices it has and which is the first, the
// same of tiles of columns and of the blocks that k comes in, of which there are so many in all;
// and the divisions by these numbers of tiles, by that of tiles of rows, and by those of blocks and
// of k. Of tiles in shared memory: how many parts of sums a dispatch has, how many k a part, which
// part is the first and whether sums are added to those before; and whether what is side by side in
// a factor are elements of neighbouring k. Those of the factors are behind them.
struct ProductParameters {
  enum Parameter : uint32_t {
    kMatrices,
    kRows,
    kColumns,
    kDeep,
    kFirstMatrix,
    kTiles,
    kFirstTile,
    kBlocks,
    kFirstBlock,
    kAllBlocks,
    kByTiles,
    kByTilesOfRows = kByTiles + Division::kWords,
    kByBlocks = kByTilesOfRows + Division::kWords,
    kBySteps = kByBlocks + Division::kWords,
    kParts = kBySteps + Division::kWords,
    kSteps,
    kFirstPart,
    kAddsParts,
    kLeftAlongK,
    kRightAlongK,
    kOwn
  };
};

struct PackedShape {
  uint32_t lanes;  // Invocations of a subgroup, and of a group.
  bool reads_texels;

  // So many k come at a time; rows of a tile, columns of an invocation. Single words cost more
  // code, and what is gone through again and again is to stay in a processor's first cache.
  uint32_t block() const { return reads_texels ? 8 : 4; }
  uint32_t rows() const { return reads_texels ? 16 : 8; }
  uint32_t columns_each() const { return 4; }
  uint32_t columns() const { return lanes * columns_each(); }  // Of a tile.
  // Those whose sums are added to at a time, over all k of a block: as many as a processor's
  // registers hold, where it pays to keep what they are multiplied by.
  uint32_t rows_at_once() const { return reads_texels ? 4 : rows(); }
};

// None where it does not pay.
std::optional<PackedShape> packed_shape(const Capabilities& capabilities);

// Write a factor to operand `to`, whose vectors they are. `by_four`: from the factors' fours.
void write_packed_left(spirv::Code& code, const FactorsOf& factors_of, uint32_t to,
                       const PackedShape& shape, bool by_four);
void write_packed_right(spirv::Code& code, const FactorsOf& factors_of, uint32_t to,
                        const PackedShape& shape, bool by_four);
enum class Sums {
  kWhole,   // Of all blocks of k.
  kByFour,  // The same, stored by the factors' fours; of texels alone.
  kPartial  // Of a part: what earlier parts left in one more operand is added at its end, and the
            // sums go there if it is not the last.
};
// Computes the result from operands `left` and the next one.
void write_packed_product(spirv::Code& code, const FactorsOf& factors_of, uint32_t left,
                          const PackedShape& shape, Sums how);

}  // namespace tenon_vulkan
