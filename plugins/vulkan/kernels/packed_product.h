// Matrix products whose factors are first packed into the workspace as panels, in the order in
// which they are read. A subgroup then computes a tile of the result: some rows, and as many
// columns as its invocations hold together.
//
// This is for software drivers. On these, loading a word of a buffer takes tens of instructions per
// invocation, unless the driver recognises that all invocations of a subgroup load contiguous words
// or the same word. Drivers recognise different patterns:
//
//   texels   Four words are loaded as one texel, at two or three instructions each.
//   words    Neighbouring invocations load neighbouring words.
//
// In both cases, one invocation holds an element of the left factor and broadcasts it to the
// others.

#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "plugins/vulkan/kernels/axes.h"
#include "plugins/vulkan/spirv/element.h"

namespace tenon_vulkan {

// The maximum number of terms of a floating-point sum that are added one after another. The sums of
// these chains are added one after another too, so the error grows with the square root of `deep`.
// A multiple of every block and panel.
inline int64_t longest_chain(int64_t deep) {
  int64_t chain = 4096;
  while (chain * chain < deep) chain *= 2;
  return chain;
}

// The factors of a product in a shader, as elements of product_dtype, and its result.
struct Factors {
  std::function<spirv::Element(spirv::U32 row, spirv::U32 k)> left;
  std::function<spirv::Element(spirv::U32 k, spirv::U32 column)> right;
  std::function<void(spirv::U32 row, spirv::U32 column, const spirv::Element& sum)> store;
  // If vectorised: like the functions above, for four contiguous elements, along k in the left
  // factor and along columns in the others.
  std::function<std::vector<spirv::Element>(spirv::U32 row, spirv::U32 k)> left_four;
  std::function<std::vector<spirv::Element>(spirv::U32 k, spirv::U32 column)> right_four;
  std::function<void(spirv::U32 row, spirv::U32 column, std::span<const spirv::Element> sums)>
      store_four;
};
// Returns the factors of one matrix of the batch.
using FactorsOf = std::function<Factors(spirv::U32 matrix)>;

// Parameters: first the sizes of the product. Then, for the part that this dispatch computes: the
// number and the first of its matrices, of its tiles of columns and of its blocks of k, and the
// total number of blocks. Then the divisions by the number of tiles of columns, of tiles of rows,
// of blocks and of k. For tiles in shared memory: the number of split-K chunks in a dispatch, the k
// per chunk, the first chunk, whether to add to earlier partial sums, and whether contiguous
// elements of each factor are neighbours in k. The parameters of the factors follow.
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
  uint32_t lanes;  // Invocations of a subgroup, which is also the group.
  bool reads_texels;

  // k per block; rows of a tile; columns of an invocation. Single words take more code, and the
  // inner loop should fit in a processor's L1 cache.
  uint32_t block() const { return reads_texels ? 8 : 4; }
  uint32_t rows() const { return reads_texels ? 16 : 8; }
  uint32_t columns_each() const { return 4; }
  uint32_t columns() const { return lanes * columns_each(); }  // Of a tile.
  // Rows whose sums are updated together, over all k of a block: as many as fit in a processor's
  // registers, if caching the right factor's elements pays off.
  uint32_t rows_at_once() const { return reads_texels ? 4 : rows(); }
};

// None if packing does not pay off on the device.
std::optional<PackedShape> packed_shape(const Capabilities& capabilities);

// Write a factor to operand `to`, which is written as vectors. `is_vectorised`: loads the factors
// as vectors.
void write_packed_left(spirv::Code& code, const FactorsOf& factors_of, uint32_t to,
                       const PackedShape& shape, bool is_vectorised);
void write_packed_right(spirv::Code& code, const FactorsOf& factors_of, uint32_t to,
                        const PackedShape& shape, bool is_vectorised);
enum class Sums {
  kWhole,       // Over all blocks of k.
  kVectorised,  // The same, stored as vectors; only with texels.
  kPartial      // Over a part of k. Adds the sums of earlier parts from one more operand, and
                // stores the sums there unless the part is the last.
};
// Computes the result from the packed factors, operands `left` and `left + 1`.
void write_packed_product(spirv::Code& code, const FactorsOf& factors_of, uint32_t left,
                          const PackedShape& shape, Sums how);

}  // namespace tenon_vulkan
