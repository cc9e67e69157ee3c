// Matrix products with packed factors. First, the factors are packed into the workspace as panels,
// in the order in which they are read. Then each subgroup computes a tile of the result:
// PackedShape::rows() rows and PackedShape::columns() columns.
//
// This algorithm is for software drivers. There, loading a word of a buffer takes tens of
// instructions per invocation, unless the driver recognises that the invocations of a subgroup load
// contiguous words or the same word. Drivers recognise different patterns:
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

// Returns the maximum number of terms that are added serially (a chain) in a floating-point sum of
// `deep` terms. The sums of the chains are also added serially, so the error grows with the square
// root of `deep`. The result is a multiple of all block and panel sizes.
inline int64_t longest_chain(int64_t deep) {
  int64_t chain = 4096;
  while (chain * chain < deep) chain *= 2;
  return chain;
}

// Functions that load the factors of a product in a shader, as elements of product_dtype(), and
// store its result.
struct Factors {
  std::function<spirv::Element(spirv::U32 row, spirv::U32 k)> left;
  std::function<spirv::Element(spirv::U32 k, spirv::U32 column)> right;
  std::function<void(spirv::U32 row, spirv::U32 column, const spirv::Element& sum)> store;
  // Variants that access four contiguous elements: neighbours in k of the left factor, and
  // neighbouring columns of one row of the right factor and of the result.
  std::function<std::vector<spirv::Element>(spirv::U32 row, spirv::U32 k)> left_four;
  std::function<std::vector<spirv::Element>(spirv::U32 k, spirv::U32 column)> right_four;
  std::function<void(spirv::U32 row, spirv::U32 column, std::span<const spirv::Element> sums)>
      store_four;
};
// Returns the functions for one matrix of the batch.
using FactorsOf = std::function<Factors(spirv::U32 matrix)>;

// Indices of the parameters. They begin with the sizes of the product. Next is the range that a
// dispatch computes: number and first index of matrices, of tiles of columns and of blocks of k,
// and the total number of blocks. Next are divisions by the numbers of tiles of columns, tiles of
// rows, blocks and values of k. Next, for tiles in shared memory: number of split-K chunks in a
// dispatch, values of k per chunk, first chunk, whether to add to earlier partial sums, and for
// each factor whether its contiguous elements are neighbours in k. The parameters of the factors
// follow.
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
  uint32_t lanes;  // Number of invocations of a subgroup. A workgroup is one subgroup.
  bool reads_texels;

  // block(): number of values of k in a block. rows(): number of rows in a tile. columns_each():
  // number of columns that an invocation computes. Without texels, both block() and rows() are
  // halved, because loads of single words take more code and the inner loop should fit into a
  // processor's L1 instruction cache.
  uint32_t block() const { return reads_texels ? 8 : 4; }
  uint32_t rows() const { return reads_texels ? 16 : 8; }
  uint32_t columns_each() const { return 4; }
  uint32_t columns() const { return lanes * columns_each(); }  // Columns of a tile.
  // Number of rows whose sums are updated together over all values of k of a block. With texels,
  // only as many as fit into a processor's registers.
  uint32_t rows_at_once() const { return reads_texels ? 4 : rows(); }
};

// Returns the shape of packed products, or nullopt if packing does not pay off on the device.
std::optional<PackedShape> packed_shape(const Capabilities& capabilities);

// Emit code that packs a factor into operand `to`, which is stored as vectors. `is_vectorised`: the
// factor is also loaded as vectors.
void write_packed_left(spirv::Code& code, const FactorsOf& factors_of, uint32_t to,
                       const PackedShape& shape, bool is_vectorised);
void write_packed_right(spirv::Code& code, const FactorsOf& factors_of, uint32_t to,
                        const PackedShape& shape, bool is_vectorised);
enum class Sums {
  kWhole,       // The dispatch sums over all blocks of k.
  kVectorised,  // Like kWhole, but stores vectors. Requires texels.
  // The dispatch sums over some blocks of k. It adds the partial sums in an additional operand and,
  // except in the last dispatch, stores the sums there.
  kPartial
};
// Emits code that computes the result from the packed factors in operands `left` and `left + 1`.
void write_packed_product(spirv::Code& code, const FactorsOf& factors_of, uint32_t left,
                          const PackedShape& shape, Sums how);

}  // namespace tenon_vulkan
