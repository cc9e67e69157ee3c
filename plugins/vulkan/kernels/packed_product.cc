#include "plugins/vulkan/kernels/packed_product.h"

#include <array>
#include <bit>

#include "plugins/vulkan/kernels/rows.h"
#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan {
namespace {

using spirv::Code;
using spirv::Element;
using spirv::F32;
using spirv::Memory;
using spirv::U32;
using spirv::Var;
using enum ProductParameters::Parameter;

constexpr uint32_t kVector = 4;  // Words per vector.

// Returns the number of vectors in a row of a block of the left factor.
uint32_t row_vectors(const PackedShape& shape) { return shape.block() / kVector; }

// Loads a division by one of the sizes in the parameters.
Division load_division(Code& code, uint32_t parameter) {
  return Division::load(code, code.u32(parameter));
}

// Stores vector `i`, four elements, to an operand. The elements are the result of four() if
// `is_vectorised`, and otherwise those of one(j) for j in [0, 4). Elements for which is_there(j) is
// false are replaced by zero.
template <class Four, class One, class IsThere>
void write_vector(Code& code, uint32_t operand, U32 i, bool is_vectorised, const Four& four,
                  const One& one, const IsThere& is_there) {
  const Element zero = spirv::constant(code, TENON_FLOAT32, 0);
  std::vector<Element> elements;
  if (is_vectorised) elements = four();
  std::array<U32, kVector> words;
  for (uint32_t j = 0; j < kVector; ++j) {
    if (!is_vectorised) elements.push_back(one(j));
    words[j] = bits_of(select(is_there(j), elements[j], zero)).low;
  }
  code.operand(operand).store_vector((code.operand_offset(operand) >> 4) + i, words);
}

// ---- distribution of a block of both factors among the invocations of a subgroup

// Loads texels. An invocation holds every nth texel of the left factor, where n is the number of
// lanes, and computes four contiguous columns.
class Texels {
 public:
  Texels(Code& code, const Memory& left, const Memory& right, const PackedShape& shape, U32 lane)
      : code_(code), left_(left), right_(right), shape_(shape), lane_(lane) {}

  void begin(U32 left_at) {
    own_.clear();
    for (uint32_t first = 0; first < shape_.rows() * row_vectors(shape_); first += shape_.lanes) {
      own_.push_back(floats(left_, (left_at >> 2) + first + lane_));
    }
  }
  F32 left(uint32_t row, uint32_t k) const {
    const uint32_t texel = row * row_vectors(shape_) + k / kVector;
    return code_.from_lane(own_[texel / shape_.lanes][k % kVector], texel % shape_.lanes);
  }
  std::vector<F32> right(U32 at) const { return floats(right_, (at >> 2) + lane_); }
  U32 column(uint32_t j) const { return lane_ * kVector + j; }

 private:
  static std::vector<F32> floats(const Memory& memory, U32 texel) {
    std::vector<F32> all;
    for (const U32 word : memory.load_vector(texel)) all.push_back(float_of(word));
    return all;
  }

  Code& code_;
  const Memory left_, right_;
  const PackedShape shape_;
  const U32 lane_;
  std::vector<std::vector<F32>> own_;
};

// Loads single words. An invocation holds every nth word of the left factor, where n is the number
// of lanes. Its columns are n columns apart, so that the invocations of a subgroup load contiguous
// words.
class SingleWords {
 public:
  SingleWords(Code& code, const Memory& left, const Memory& right, const PackedShape& shape,
              U32 lane)
      : code_(code), left_(left), right_(right), shape_(shape), lane_(lane) {}

  void begin(U32 left_at) {
    own_.clear();
    for (uint32_t first = 0; first < shape_.rows() * shape_.block(); first += shape_.lanes) {
      own_.push_back(float_of(left_.load(left_at + lane_ + first)));
    }
  }
  F32 left(uint32_t row, uint32_t k) const {
    const uint32_t word = row * shape_.block() + k;
    return code_.broadcast(own_[word / shape_.lanes], word % shape_.lanes);
  }
  std::vector<F32> right(U32 at) const {
    std::vector<F32> all;
    for (uint32_t j = 0; j < shape_.columns_each(); ++j) {
      all.push_back(float_of(right_.load(at + column(j))));
    }
    return all;
  }
  U32 column(uint32_t j) const { return lane_ + j * shape_.lanes; }

 private:
  Code& code_;
  const Memory left_, right_;
  const PackedShape shape_;
  const U32 lane_;
  std::vector<F32> own_;
};

// Adds the products of a block to the sums, for each sum in ascending order of k.
template <class Block>
void add_block(Block& block, U32 left_at, U32 right_at, const PackedShape& shape,
               const std::vector<Var<F32>>& sums) {
  block.begin(left_at);
  std::vector<std::vector<F32>> right;
  for (uint32_t k = 0; k < shape.block(); ++k) {
    right.push_back(block.right(right_at + k * shape.columns()));
  }
  const size_t each = shape.columns_each();
  for (uint32_t first = 0; first < shape.rows(); first += shape.rows_at_once()) {
    const std::span some = std::span(sums).subspan(first * each, shape.rows_at_once() * each);
    std::vector<F32> now;
    for (const Var<F32>& sum : some) now.push_back(sum.get());
    for (uint32_t k = 0; k < shape.block(); ++k) {
      for (uint32_t row = 0; row < shape.rows_at_once(); ++row) {
        const F32 a = block.left(first + row, k);
        for (size_t j = 0; j < each; ++j) {
          F32& sum = now[row * each + j];
          sum = sum + a * right[k][j];
        }
      }
    }
    for (size_t i = 0; i < some.size(); ++i) some[i].set(now[i]);
  }
}

// Emits the product shader. Consecutive tiles have the same columns, so that the panel of the right
// factor stays in the caches.
template <class Block>
void write_product(Code& code, const FactorsOf& factors_of, uint32_t left_operand,
                   const PackedShape& shape, Sums how) {
  const uint32_t right_operand = left_operand + 1, each = shape.columns_each();
  const uint32_t left_words = shape.rows() * shape.block();
  const uint32_t right_words = shape.columns() * shape.block();
  const U32 left_begin = code.operand_offset(left_operand) >> 2,
            right_begin = code.operand_offset(right_operand) >> 2;
  const U32 rows = code.parameter(kRows), columns = code.parameter(kColumns),
            n_across = code.parameter(kTiles), n_blocks = code.parameter(kBlocks),
            first_block = code.parameter(kFirstBlock);
  const Division by_down = load_division(code, kByTilesOfRows),
                 by_across = load_division(code, kByTiles);
  const U32 n_down = by_down.number;
  const U32 n_tiles = code.parameter(kMatrices) * n_across * n_down;
  Block block(code, code.operand(left_operand), code.operand(right_operand), shape,
              code.subgroup_lane());
  code.for_(code.group_index(), n_tiles, code.n_groups(), [&](U32 i) {
    const auto [panel, down] = by_down.divide_by_any_divisor(i);
    const auto [matrix, across] = by_across.divide_by_any_divisor(panel);
    std::vector<Var<F32>> sums;
    for (uint32_t k = 0; k < shape.rows() * each; ++k) sums.push_back(code.var(code.f32(0)));
    const auto for_partial = [&](const auto& function) {
      const Memory partial = code.operand(right_operand + 1);
      const U32 begin =
          (code.operand_offset(right_operand + 1) >> 2) + i * (shape.rows() * shape.columns());
      for (uint32_t k = 0; k < sums.size(); ++k) {
        function(sums[k], partial, begin + k / each * shape.columns() + block.column(k % each));
      }
    };
    const U32 left_panel = left_begin + (matrix * n_down + down) * n_blocks * left_words;
    const U32 right_panel = right_begin + panel * n_blocks * right_words;
    code.for_(code.u32(0), n_blocks, code.u32(1), [&](U32 b) {
      add_block(block, left_panel + b * left_words, right_panel + b * right_words, shape, sums);
    });
    const auto store = [&] {
      const Factors factors = factors_of(matrix + code.parameter(kFirstMatrix));
      const U32 first_column = (across + code.parameter(kFirstTile)) * shape.columns();
      for_each_row(code, std::span<const Var<F32>>(sums), shape.rows(), [&](U32 r, auto line) {
        const U32 row = down * shape.rows() + r;
        std::vector<Element> elements;
        for (const Var<F32>& sum : line) elements.emplace_back(TENON_FLOAT32, sum.get());
        if (how == Sums::kVectorised) {
          const U32 column = first_column + block.column(0);
          return code.if_((row < rows) & (column < columns),
                          [&] { factors.store_four(row, column, elements); });
        }
        for (uint32_t j = 0; j < each; ++j) {
          const U32 column = first_column + block.column(j);
          code.if_((row < rows) & (column < columns),
                   [&] { factors.store(row, column, elements[j]); });
        }
      });
    };
    if (how != Sums::kPartial) return store();
    code.if_(first_block != 0, [&] {
      for_partial([](const Var<F32>& sum, const Memory& partial, U32 at) {
        sum.set(float_of(partial.load(at)) + sum.get());
      });
    });
    code.if_(first_block + n_blocks == code.parameter(kAllBlocks), store, [&] {
      for_partial([](const Var<F32>& sum, const Memory& partial, U32 at) {
        partial.store(at, bits_of(sum.get()));
      });
    });
  });
}

}  // namespace

std::optional<PackedShape> packed_shape(const Capabilities& capabilities) {
  const uint32_t lanes = capabilities.subgroup_size;
  const PackedShape shape = {.lanes = lanes,
                             .reads_texels = capabilities.texels && capabilities.subgroup_shuffle};
  const bool has_neighbours = shape.reads_texels || capabilities.subgroup_ballot;
  if (!capabilities.runs_on_host || !has_neighbours || !std::has_single_bit(lanes) ||
      lanes < kVector || lanes > shape.rows() * row_vectors(shape)) {
    return std::nullopt;
  }
  return shape;
}

// Stores the left factor in the layout [matrix][tile][block][row][k]. Elements outside the matrix
// are zero.
void write_packed_left(Code& code, const FactorsOf& factors_of, uint32_t to,
                       const PackedShape& shape, bool is_vectorised) {
  const U32 rows = code.parameter(kRows), deep = code.parameter(kDeep),
            n_blocks = code.parameter(kBlocks), first_block = code.parameter(kFirstBlock),
            first_matrix = code.parameter(kFirstMatrix);
  const Division by_blocks = load_division(code, kByBlocks),
                 by_tiles = load_division(code, kByTilesOfRows);
  const uint32_t n_vectors = shape.rows() * row_vectors(shape);
  code.for_each(code.parameter(kMatrices) * by_tiles.number * n_blocks * n_vectors, [&](U32 i) {
    const U32 above = i / n_vectors, within = i % n_vectors;
    const auto [line, block] = by_blocks.divide_by_any_divisor(above);
    const auto [matrix, tile] = by_tiles.divide_by_any_divisor(line);
    const U32 row = tile * shape.rows() + within / row_vectors(shape);
    const U32 first_k =
        (block + first_block) * shape.block() + within % row_vectors(shape) * kVector;
    const Factors factors = factors_of(matrix + first_matrix);
    const U32 own_row = min(row, rows - 1);
    write_vector(
        code, to, i, is_vectorised,
        [&] { return factors.left_four(own_row, min(first_k, deep - kVector)); },
        [&](uint32_t j) { return factors.left(own_row, min(first_k + j, deep - 1)); },
        [&](uint32_t j) { return (row < rows) & (first_k + j < deep); });
  });
}

// Stores the right factor in the layout [matrix][tile][k][column]. Elements outside the matrix are
// zero.
void write_packed_right(Code& code, const FactorsOf& factors_of, uint32_t to,
                        const PackedShape& shape, bool is_vectorised) {
  const U32 columns = code.parameter(kColumns), deep = code.parameter(kDeep),
            n_tiles = code.parameter(kTiles), first_matrix = code.parameter(kFirstMatrix),
            first_tile = code.parameter(kFirstTile),
            first_k = code.parameter(kFirstBlock) * shape.block();
  const Division by_steps = load_division(code, kBySteps), by_tiles = load_division(code, kByTiles);
  const uint32_t n_vectors = shape.columns() / kVector;
  code.for_each(code.parameter(kMatrices) * n_tiles * by_steps.number * n_vectors, [&](U32 i) {
    const U32 above = i / n_vectors, within = i % n_vectors;
    const auto [line, step] = by_steps.divide_by_any_divisor(above);
    const auto [matrix, tile] = by_tiles.divide_by_any_divisor(line);
    const U32 k = first_k + step;
    const U32 first_column = (tile + first_tile) * shape.columns() + within * kVector;
    const Factors factors = factors_of(matrix + first_matrix);
    const U32 own_k = min(k, deep - 1);
    write_vector(
        code, to, i, is_vectorised,
        [&] { return factors.right_four(own_k, min(first_column, columns - kVector)); },
        [&](uint32_t j) { return factors.right(own_k, min(first_column + j, columns - 1)); },
        [&](uint32_t j) { return (first_column + j < columns) & (k < deep); });
  });
}

void write_packed_product(Code& code, const FactorsOf& factors_of, uint32_t left,
                          const PackedShape& shape, Sums how) {
  if (shape.reads_texels) {
    write_product<Texels>(code, factors_of, left, shape, how);
  } else {
    write_product<SingleWords>(code, factors_of, left, shape, how);
  }
}

}  // namespace tenon_vulkan
