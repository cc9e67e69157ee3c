#include "plugins/vulkan/kernels/tiled_product.h"

#include "plugins/vulkan/kernels/rows.h"
#include "plugins/vulkan/kernels/shader.h"
#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan {
namespace {

using spirv::Code;
using spirv::Element;
using spirv::Elements;
using spirv::ElementVar;
using spirv::SharedElements;
using spirv::U32;
using enum ProductParameters::Parameter;

constexpr uint32_t kSide = 8;  // A group is kSide x kSide invocations.
static_assert(kSide * kSide == kLocalSize);
constexpr uint32_t kVector = 4;  // An invocation computes groups of kVector contiguous lines.

// Returns n / by, rounded up.
int64_t divide_up(int64_t n, int64_t by) { return (n + by - 1) / by; }

// Returns the number of tiles with `lines` rows and `lines` columns that cover the result.
int64_t count_tiles(const ProductSizes& sizes, int64_t lines) {
  return sizes.matrices * divide_up(sizes.rows, lines) * divide_up(sizes.columns, lines);
}

// A panel of a factor in shared memory: the elements of `n` lines for kPanelDepth values of k.
// Lines are rows of the left factor or columns of the right factor. Element (line, k) is at index
// k * (n + kApart) + line. Thus neighbours in k, and neighbouring lines, are in different ones of
// the 32 memory banks.
class Panel {
 public:
  static constexpr uint32_t kApart = 32 / kPanelDepth;

  Panel(Code& code, tenon_dtype dtype, uint32_t n, U32 is_contiguous_in_k)
      : code_(code),
        n_(n),
        elements_(code, dtype, (n + kApart) * kPanelDepth),
        is_along_k_(is_contiguous_in_k != 0) {
    for (uint32_t i = 0; i < n * kPanelDepth / kLocalSize; ++i) {
      own_.emplace_back(spirv::constant(code, dtype, 0));
    }
  }

  // Loads the invocation's elements of the panel by load(line, k) into variables. Neighbouring
  // invocations load contiguous elements. Indices outside the factor are clamped, which avoids a
  // branch; the loaded elements are not used.
  template <class Load>
  void fetch(U32 first_line, U32 n_lines, U32 first_k, U32 end_k, const Load& load) const {
    for (uint32_t i = 0; i < own_.size(); ++i) {
      const auto [line, k] = place_of(i);
      own_[i].set(load(min(first_line + line, n_lines - 1), min(first_k + k, end_k - 1)));
    }
  }
  void put() const {
    for (uint32_t i = 0; i < own_.size(); ++i) {
      const auto [line, k] = place_of(i);
      elements_.set(k * (n_ + kApart) + line, own_[i].get());
    }
  }
  // Returns the panel's line for line `i` of an invocation. An invocation has groups of four
  // contiguous lines, which are kSide * kVector lines apart.
  template <class Number>
  U32 line_of(U32 own, Number i) const {
    return own * kVector + (i / kVector * (kSide * kVector) + i % kVector);
  }
  Element get(U32 own, uint32_t i, U32 k) const {
    return elements_.get(k * (n_ + kApart) + line_of(own, i));
  }

 private:
  std::pair<U32, U32> place_of(uint32_t i) const {
    const U32 at = code_.local_index() + i * kLocalSize;
    return {select(is_along_k_, at / kPanelDepth, at % n_),
            select(is_along_k_, at % kPanelDepth, at / n_)};
  }

  Code& code_;
  const uint32_t n_;
  const SharedElements elements_;
  const spirv::Bool is_along_k_;
  std::vector<ElementVar> own_;
};

}  // namespace

// Returns how the sums over k of a product are split. `wide`: dtype of the sums.
SplitK choose_split_k(const Capabilities& capabilities, tenon_dtype wide,
                      const ProductSizes& sizes) {
  // kFull: number of groups that occupy a large device. kMinSteps: minimum length of a chunk along
  // k.
  constexpr int64_t kFull = 256, kMinSteps = 128;
  // Maximum size in bytes of the partial sums of all chunks.
  constexpr int64_t kMaxBytes = 4 << 20;
  const int64_t tiles = count_tiles(sizes, lines_per_tile(TileSize::kSmall));
  int64_t steps = sizes.deep;
  if (!capabilities.runs_on_host && 2 * tiles <= kFull && sizes.deep >= 2 * kMinSteps) {
    const int64_t least = std::max(kMinSteps, divide_up(sizes.deep * tiles, kFull));
    steps = divide_up(least, kPanelDepth) * kPanelDepth;
  }
  if (spirv::is_float(wide)) steps = std::min(steps, longest_chain(sizes.deep));
  if (steps >= sizes.deep) return {.steps = sizes.deep};
  const int64_t n = divide_up(sizes.deep, steps);
  const int64_t bytes =
      sizes.matrices * sizes.rows * sizes.columns * static_cast<int64_t>(tenon_sdk::size_of(wide));
  return {.n = n,
          .steps = steps,
          .at_once = std::clamp<int64_t>(kMaxBytes / std::max<int64_t>(bytes, 1), 1, n)};
}

// Returns the number of rows and of columns that an invocation computes.
uint32_t lines_per_invocation(TileSize size) { return size == TileSize::kLarge ? 8 : 4; }
// Returns the number of rows and of columns of a tile.
int64_t lines_per_tile(TileSize size) { return kSide * lines_per_invocation(size); }

// Returns kLarge for large results with 32-bit sums, and kSmall otherwise. `wide`: dtype of the
// sums.
TileSize tile_size_for(const Capabilities& capabilities, tenon_dtype wide,
                       const ProductSizes& sizes) {
  constexpr int64_t kMinTiles = 128;
  const int64_t small = lines_per_tile(TileSize::kSmall), large = lines_per_tile(TileSize::kLarge);
  const bool is_large = !capabilities.runs_on_host && tenon_sdk::size_of(wide) == 4 &&
                        std::min(sizes.rows, sizes.columns) > small &&
                        count_tiles(sizes, large) >= kMinTiles;
  return is_large ? TileSize::kLarge : TileSize::kSmall;
}

// Emits code that computes the result or, if there is an operand number `sums_operand`, the partial
// sums that it stores in this operand.
void write_tiled_product(Code& code, const FactorsOf& factors_of, const TiledShape& shape,
                         std::optional<uint32_t> sums_operand) {
  const uint32_t each = lines_per_invocation(shape.size), lines = kSide * each;
  const Panel left(code, shape.wide, lines, code.parameter(kLeftAlongK)),
      right(code, shape.wide, lines, code.parameter(kRightAlongK));
  const U32 rows = code.parameter(kRows), columns = code.parameter(kColumns),
            deep = code.parameter(kDeep), n_parts = code.parameter(kParts),
            steps = code.parameter(kSteps), first_part = code.parameter(kFirstPart);
  const U32 across = (columns + (lines - 1)) / lines, down = (rows + (lines - 1)) / lines;
  const U32 first_tile = code.parameter(kFirstTile), end_tile = first_tile + code.parameter(kTiles);
  const U32 own_row = code.local_index() / kSide, own_column = code.local_index() % kSide;

  code.for_(first_tile + code.group_index(), end_tile, code.n_groups(), [&](U32 i) {
    const U32 tile = i / n_parts, part = i - tile * n_parts;
    const U32 matrix = tile / (across * down), within = tile - matrix * across * down;
    const U32 first_row = within / across * lines, first_column = within % across * lines;
    const U32 begin = (first_part + part) * steps, end = min(deep, begin + steps);
    const Factors factors = factors_of(matrix);
    std::vector<ElementVar> sums;
    for (uint32_t k = 0; k < each * each; ++k) {
      sums.emplace_back(spirv::constant(code, shape.wide, 0));
    }
    const auto fetch = [&](U32 first_k) {
      left.fetch(first_row, rows, first_k, end, factors.left);
      right.fetch(first_column, columns, first_k, end,
                  [&](U32 column, U32 k) { return factors.right(k, column); });
    };
    if (shape.is_unrolled) code.if_(begin < end, [&] { fetch(begin); });
    code.for_(begin, end, code.u32(kPanelDepth), [&](U32 first_k) {
      if (!shape.is_unrolled) fetch(first_k);
      left.put();
      right.put();
      code.barrier();
      if (shape.is_unrolled) fetch(first_k + kPanelDepth);
      const auto add_products = [&](U32 k) {
        std::vector<Element> a, b;
        for (uint32_t line = 0; line < each; ++line) {
          a.push_back(left.get(own_row, line, k));
          b.push_back(right.get(own_column, line, k));
        }
        for (uint32_t j = 0; j < each * each; ++j) {
          const Element product = arithmetic(TENON_OP_mul, a[j / each], b[j % each]);
          sums[j].set(arithmetic(TENON_OP_add, sums[j].get(), product));
        }
      };
      const U32 n = min(code.u32(kPanelDepth), end - first_k);
      if (shape.is_unrolled) {
        code.for_many(code.u32(0), n, add_products);
      } else {
        code.for_(code.u32(0), n, code.u32(1), add_products);
      }
      code.barrier();
    });
    const U32 first_sum = (part * code.parameter(kMatrices) + matrix) * rows * columns;
    for_each_row(code, std::span<const ElementVar>(sums), each, [&](U32 r, auto line) {
      const U32 row = first_row + left.line_of(own_row, r);
      for (uint32_t j = 0; j < each; ++j) {
        const U32 column = first_column + right.line_of(own_column, j);
        code.if_((row < rows) & (column < columns), [&] {
          if (!sums_operand) return factors.store(row, column, line[j].get());
          const Elements parts(code, *sums_operand, shape.wide);
          const U32 at = first_sum + row * columns + column;
          const ElementVar sum(line[j].get());
          code.if_(code.parameter(kAddsParts) != 0,
                   [&] { sum.set(arithmetic(TENON_OP_add, parts.load(at), sum.get())); });
          parts.store(at, sum.get());
        });
      }
    });
  });
}

// Emits code that computes the result by adding the partial sums in operand `sums_operand`.
void write_sum_of_parts(Code& code, const FactorsOf& factors_of, tenon_dtype wide,
                        uint32_t sums_operand) {
  const Elements sums(code, sums_operand, wide);
  const U32 columns = code.parameter(kColumns), of_matrix = code.parameter(kRows) * columns,
            n = code.parameter(kMatrices) * of_matrix;
  code.for_each(n, [&](U32 i) {
    const U32 matrix = i / of_matrix, within = i - matrix * of_matrix;
    const U32 row = within / columns, column = within - row * columns;
    const ElementVar sum(sums.load(i));
    code.for_many(code.u32(1), code.parameter(kParts), [&](U32 part) {
      sum.set(arithmetic(TENON_OP_add, sum.get(), sums.load(part * n + i)));
    });
    factors_of(matrix).store(row, column, sum.get());
  });
}

}  // namespace tenon_vulkan
