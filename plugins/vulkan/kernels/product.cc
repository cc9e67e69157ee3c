// Directly: a group computes kTile x kTile elements of the result, each invocation kEach x kEach of
// them in registers, from panels of both factors in shared memory.
//
// Packed: both factors are first written to the workspace as panels, in the order in which they
// will be read. Then a subgroup computes a tile of kRows rows and as many columns as its
// invocations have texels. An element of the left factor lies in the registers of one invocation,
// from where all take it. That is for drivers that run shaders on the host's processor: there every
// word of a buffer costs each invocation tens of instructions, four words of a texel and an element
// of a neighbour two or three.

#include "plugins/vulkan/kernels/product.h"

#include <bit>
#include <optional>

#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan {
namespace {

using spirv::Code;
using spirv::Element;
using spirv::ElementVar;
using spirv::F32;
using spirv::Memory;
using spirv::Shared;
using spirv::U32;
using spirv::Var;

using enum ProductKernel::Parameter;

int64_t divide_up(int64_t n, int64_t by) { return (n + by - 1) / by; }

// ---- directly

constexpr uint32_t kEach = 4;
constexpr uint32_t kSide = 8;  // Of a group, in invocations.
constexpr uint32_t kTile = kSide * kEach;
constexpr uint32_t kDepth = 8;  // Of a panel.
static_assert(kSide * kSide == kLocalSize);

// A panel in shared memory, as the bits of what is computed with.
class Panel {
 public:
  Panel(Code& code, tenon_dtype dtype) : dtype_(dtype), low_(code.shared<U32>(kTile * kDepth)) {
    if (tenon_sdk::size_of(dtype) == 8) high_ = code.shared<U32>(kTile * kDepth);
  }
  void set(U32 at, const Element& x) const {
    const spirv::Bits bits = spirv::bits_of(x);
    low_.set(at, bits.low);
    if (high_) high_->set(at, bits.high);
  }
  Element get(U32 at) const {
    const U32 low = low_.get(at);
    return spirv::element_of(dtype_, {low, high_ ? high_->get(at) : low});
  }

 private:
  const tenon_dtype dtype_;
  const Shared<U32> low_;
  std::optional<Shared<U32>> high_;
};

// The invocations bring a panel of kTile lines: element (line, k) lies at k * kTile + line. What is
// beyond the matrix is zero. load(line, k) gives an element.
template <class Load>
void bring(Code& code, const Panel& panel, tenon_dtype dtype, U32 first_line, U32 n_lines,
           U32 first_k, U32 deep, const Load& load) {
  for (uint32_t part = 0; part < kTile * kDepth / kLocalSize; ++part) {
    const U32 at = code.local_index() + part * kLocalSize;
    const U32 line = first_line + at % kTile, k = first_k + at / kTile;
    const ElementVar x(spirv::constant(code, dtype, 0));
    code.if_((line < n_lines) & (k < deep), [&] { x.set(load(line, k)); });
    panel.set(at, x.get());
  }
}

void write_direct(Code& code, const FactorsOf& factors_of, tenon_dtype wide) {
  const Panel left(code, wide), right(code, wide);
  const U32 rows = code.parameter(kRows), columns = code.parameter(kColumns),
            deep = code.parameter(kDeep);
  const U32 across = (columns + (kTile - 1)) / kTile, down = (rows + (kTile - 1)) / kTile;
  const U32 n_tiles = across * down * code.parameter(kMatrices);
  const U32 own_row = (code.local_index() / kSide) * kEach,
            own_column = (code.local_index() % kSide) * kEach;

  code.for_(code.group_index(), n_tiles, code.n_groups(), [&](U32 tile) {
    const U32 matrix = tile / (across * down), within = tile - matrix * across * down;
    const U32 first_row = within / across * kTile, first_column = within % across * kTile;
    const Factors factors = factors_of(matrix);
    std::vector<ElementVar> sums;
    for (uint32_t i = 0; i < kEach * kEach; ++i) sums.emplace_back(spirv::constant(code, wide, 0));
    code.for_(code.u32(0), deep, code.u32(kDepth), [&](U32 first_k) {
      bring(code, left, wide, first_row, rows, first_k, deep, factors.left);
      bring(code, right, wide, first_column, columns, first_k, deep,
            [&](U32 column, U32 k) { return factors.right(k, column); });
      code.barrier();
      // Behind the last k there are zeros, whose products would make NaN of infinities.
      code.for_many(code.u32(0), min(code.u32(kDepth), deep - first_k), [&](U32 k) {
        std::vector<Element> a, b;
        for (uint32_t i = 0; i < kEach; ++i) {
          a.push_back(left.get(k * kTile + own_row + i));
          b.push_back(right.get(k * kTile + own_column + i));
        }
        for (uint32_t i = 0; i < kEach * kEach; ++i) {
          const Element product = arithmetic(TENON_OP_mul, a[i / kEach], b[i % kEach]);
          sums[i].set(arithmetic(TENON_OP_add, sums[i].get(), product));
        }
      });
      code.barrier();
    });
    for (uint32_t i = 0; i < kEach * kEach; ++i) {
      const U32 row = first_row + own_row + i / kEach,
                column = first_column + own_column + i % kEach;
      code.if_((row < rows) & (column < columns),
               [&] { factors.store(row, column, sums[i].get()); });
    }
  });
}

// ---- packed

constexpr uint32_t kTexel = 4;        // Words, and so columns of an invocation.
constexpr uint32_t kPackedRows = 16;  // Of a tile.
constexpr uint32_t kBlock = 8;        // So many k come at a time.
constexpr uint32_t kRowTexels = kBlock / kTexel;
constexpr uint32_t kBlockTexels = kPackedRows * kRowTexels;

// Packed factors have so much room. What needs more is computed in parts, one after the other.
constexpr int64_t kMostPackedBytes = 32 << 20;

U32 tiles_of_rows(U32 rows) { return (rows + (kPackedRows - 1)) / kPackedRows; }

void write_texel(Code& code, uint32_t operand, U32 i, std::span<const Element> elements) {
  std::array<U32, kTexel> words;
  for (uint32_t j = 0; j < kTexel; ++j) words[j] = bits_of(elements[j]).low;
  code.operand(operand).store_vector((code.place(operand) >> 4) + i, words);
}

// [matrix][tile][block][row][k]. What is beyond the matrix is zero.
void write_left(Code& code, const FactorsOf& factors_of, uint32_t operand, bool by_four) {
  const U32 rows = code.parameter(kRows), deep = code.parameter(kDeep),
            n_blocks = code.parameter(kBlocks), first_matrix = code.parameter(kFirstMatrix);
  const U32 n_tiles = tiles_of_rows(rows);
  const Element zero = spirv::constant(code, TENON_FLOAT32, 0);
  code.for_each(code.parameter(kMatrices) * n_tiles * n_blocks * kBlockTexels, [&](U32 i) {
    const U32 above = i / kBlockTexels, within = i % kBlockTexels;
    const U32 line = above / n_blocks, block = above - line * n_blocks;
    const U32 matrix = line / n_tiles, tile = line - matrix * n_tiles;
    const U32 row = tile * kPackedRows + within / kRowTexels;
    const U32 first_k = block * kBlock + within % kRowTexels * kTexel;
    const Factors factors = factors_of(matrix + first_matrix);
    const U32 own_row = min(row, rows - 1);
    std::vector<Element> elements;
    if (by_four) elements = factors.left_four(own_row, min(first_k, deep - kTexel));
    for (uint32_t j = 0; j < kTexel; ++j) {
      const U32 k = first_k + j;
      if (!by_four) elements.push_back(factors.left(own_row, min(k, deep - 1)));
      elements[j] = select((row < rows) & (k < deep), elements[j], zero);
    }
    write_texel(code, operand, i, elements);
  });
}

// [matrix][tile][k][column], likewise.
void write_right(Code& code, const FactorsOf& factors_of, uint32_t operand, uint32_t lanes,
                 bool by_four) {
  const U32 columns = code.parameter(kColumns), deep = code.parameter(kDeep),
            n_tiles = code.parameter(kTiles), first_matrix = code.parameter(kFirstMatrix),
            first_tile = code.parameter(kFirstTile);
  const U32 n_k = code.parameter(kBlocks) * kBlock;
  const Element zero = spirv::constant(code, TENON_FLOAT32, 0);
  code.for_each(code.parameter(kMatrices) * n_tiles * n_k * lanes, [&](U32 i) {
    const U32 above = i / lanes, lane = i % lanes;
    const U32 line = above / n_k, k = above - line * n_k;
    const U32 matrix = line / n_tiles, tile = line - matrix * n_tiles + first_tile;
    const U32 first_column = (tile * lanes + lane) * kTexel;
    const Factors factors = factors_of(matrix + first_matrix);
    const U32 own_k = min(k, deep - 1);
    std::vector<Element> elements;
    if (by_four) elements = factors.right_four(own_k, min(first_column, columns - kTexel));
    for (uint32_t j = 0; j < kTexel; ++j) {
      const U32 column = first_column + j;
      if (!by_four) elements.push_back(factors.right(own_k, min(column, columns - 1)));
      elements[j] = select((column < columns) & (k < deep), elements[j], zero);
    }
    write_texel(code, operand, i, elements);
  });
}

using Floats = std::array<F32, kTexel>;

Floats load_floats(const Memory& memory, U32 texel) {
  const std::array<U32, kTexel> words = memory.load_vector(texel);
  return {float_of(words[0]), float_of(words[1]), float_of(words[2]), float_of(words[3])};
}

// Adds the products of a block of k. Texels of the left factor lie in turn with the invocations.
void add_block(Code& code, const Memory& left, U32 left_at, const Memory& right, U32 right_at,
               uint32_t lanes, U32 lane, std::vector<Var<F32>>& sums) {
  std::vector<Floats> own;
  for (uint32_t first = 0; first < kBlockTexels; first += lanes) {
    own.push_back(load_floats(left, left_at + first + lane));
  }
  std::vector<F32> now;
  for (const Var<F32>& sum : sums) now.push_back(sum.get());
  for (uint32_t k = 0; k < kBlock; ++k) {
    const Floats b = load_floats(right, right_at + k * lanes + lane);
    for (uint32_t row = 0; row < kPackedRows; ++row) {
      const uint32_t texel = row * kRowTexels + k / kTexel;
      const F32 a = code.from_lane(own[texel / lanes][k % kTexel], texel % lanes);
      for (uint32_t j = 0; j < kTexel; ++j) {
        F32& sum = now[row * kTexel + j];
        sum = sum + a * b[j];
      }
    }
  }
  for (size_t i = 0; i < sums.size(); ++i) sums[i].set(now[i]);
}

// A group is a subgroup, so that few tiles are shared out evenly. Tiles that follow each other have
// the same columns, whose panel stays in the caches.
void write_multiply(Code& code, const FactorsOf& factors_of, uint32_t n_operands, uint32_t lanes,
                    bool by_four) {
  const Memory left = code.operand(n_operands), right = code.operand(n_operands + 1);
  const U32 left_begin = code.place(n_operands) >> 4, right_begin = code.place(n_operands + 1) >> 4;
  const U32 rows = code.parameter(kRows), columns = code.parameter(kColumns),
            n_across = code.parameter(kTiles), n_blocks = code.parameter(kBlocks);
  const U32 n_down = tiles_of_rows(rows);
  const U32 lane = code.subgroup_lane();
  const U32 n_tiles = code.parameter(kMatrices) * n_across * n_down;
  code.for_(code.group_index(), n_tiles, code.n_groups(), [&](U32 i) {
    const U32 panel = i / n_down, down = i - panel * n_down;
    const U32 matrix = panel / n_across, across = panel - matrix * n_across;
    std::vector<Var<F32>> sums;
    for (uint32_t k = 0; k < kPackedRows * kTexel; ++k) sums.push_back(code.var(code.f32(0)));
    const U32 left_panel = left_begin + (matrix * n_down + down) * n_blocks * kBlockTexels;
    const U32 right_panel = right_begin + panel * n_blocks * (kBlock * lanes);
    code.for_(code.u32(0), n_blocks, code.u32(1), [&](U32 block) {
      add_block(code, left, left_panel + block * kBlockTexels, right,
                right_panel + block * (kBlock * lanes), lanes, lane, sums);
    });
    const U32 row = down * kPackedRows;
    const U32 column = ((across + code.parameter(kFirstTile)) * lanes + lane) * kTexel;
    const Factors factors = factors_of(matrix + code.parameter(kFirstMatrix));
    for (uint32_t r = 0; r < kPackedRows; ++r) {
      std::vector<Element> line;
      for (uint32_t j = 0; j < kTexel; ++j) {
        line.emplace_back(TENON_FLOAT32, sums[r * kTexel + j].get());
      }
      if (by_four) {
        code.if_((row + r < rows) & (column < columns),
                 [&] { factors.store_four(row + r, column, line); });
        continue;
      }
      for (uint32_t j = 0; j < kTexel; ++j) {
        code.if_((row + r < rows) & (column + j < columns),
                 [&] { factors.store(row + r, column + j, line[j]); });
      }
    }
  });
}

}  // namespace

tenon_dtype product_dtype(tenon_dtype dtype) {
  switch (spirv::kind_of(dtype)) {
    case spirv::Kind::kF32:
      return TENON_FLOAT32;
    case spirv::Kind::kWord:
      return spirv::is_signed_int(dtype) ? TENON_INT32 : TENON_UINT32;
    default:
      return dtype;
  }
}

bool starts_by_four(const Operand& operand, tenon_dtype dtype) {
  return operand.buffer != nullptr && operand.first % (kTexel * tenon_sdk::size_of(dtype)) == 0;
}

bool goes_by_four(const Operand& operand, const tenon_view& view, size_t axis) {
  if (!starts_by_four(operand, view.dtype) || view.strides[axis] != 1 ||
      view.sizes[axis] % kTexel != 0) {
    return false;
  }
  for (size_t other = 0; other < view.rank; ++other) {
    if (other != axis && view.strides[other] % kTexel != 0) return false;
  }
  return true;
}

ProductKernel::ProductKernel(tenon_device_p* device, const Operands& operands, tenon_dtype dtype)
    : device_(device),
      capabilities_(capabilities_of(device)),
      operands_(operands),
      dtype_(dtype),
      wide_(product_dtype(dtype)),
      can_pack_(wide_ == TENON_FLOAT32 && capabilities_.is_software && capabilities_.texels &&
                capabilities_.subgroup_shuffle && std::has_single_bit(lanes()) &&
                lanes() <= kBlockTexels) {}

// A product that is worth it: each element that is packed is multiplied several times.
bool ProductKernel::is_packed(const ProductSizes& sizes) const {
  constexpr int64_t kLeastProducts = 1 << 15, kLeastTimes = 4;
  return can_pack_ && sizes.rows * sizes.columns >= kLeastTimes * (sizes.rows + sizes.columns) &&
         sizes.matrices * sizes.rows * sizes.columns * sizes.deep >= kLeastProducts;
}

ProductKernel::Packing ProductKernel::packing(const ProductSizes& sizes) const {
  const int64_t n_blocks = divide_up(sizes.deep, kBlock);
  const int64_t k_bytes = n_blocks * kBlock * static_cast<int64_t>(sizeof(float));
  Packing packing = {.n_blocks = n_blocks,
                     .n_tiles = divide_up(sizes.columns, kTexel * lanes()),
                     .left_bytes = divide_up(sizes.rows, kPackedRows) * kPackedRows * k_bytes,
                     .tile_bytes = kTexel * lanes() * k_bytes};
  // Some of the matrices; if not even one is small enough, some of its columns.
  const int64_t matrix_bytes = packing.left_bytes + packing.n_tiles * packing.tile_bytes;
  packing.matrices_at_once =
      std::clamp<int64_t>(kMostPackedBytes / matrix_bytes, 1, sizes.matrices);
  packing.tiles_at_once = packing.n_tiles;
  if (matrix_bytes > kMostPackedBytes) {
    const int64_t room = std::max<int64_t>(kMostPackedBytes - packing.left_bytes, 0);
    packing.tiles_at_once = std::clamp<int64_t>(room / packing.tile_bytes, 1, packing.n_tiles);
  }
  return packing;
}

uint64_t ProductKernel::workspace(const tenon_launch& launch) const {
  const ProductSizes product = sizes(launch);
  if (!is_packed(product)) return 0;
  const Packing all = packing(product);
  return static_cast<uint64_t>(all.matrices_at_once *
                               (all.left_bytes + all.tiles_at_once * all.tile_bytes));
}

tenon_error* ProductKernel::enqueue(Encoder& encoder, const tenon_launch& launch) const {
  const ProductSizes product = sizes(launch);
  if (product.matrices * product.rows * product.columns == 0) return nullptr;
  std::vector<Operand> operands;
  for (uint32_t i = 0; i < launch.n_inputs + launch.n_outputs; ++i) {
    const bool is_absent = i < launch.n_inputs && launch.inputs[i].dtype == TENON_DTYPE_NONE;
    if (!is_absent) operands.push_back(operand_of(launch, i));
  }
  Words words = {static_cast<uint32_t>(product.matrices), static_cast<uint32_t>(product.rows),
                 static_cast<uint32_t>(product.columns), static_cast<uint32_t>(product.deep)};
  words.resize(kOwn);
  push(launch, words);
  if (!is_packed(product)) return run_direct(encoder, operands, words, product);
  return run_packed(encoder, std::move(operands), workspace_of(launch), words, product,
                    fours(launch));
}

uint32_t ProductKernel::vectors_of(uint32_t operand, bool by_four) const {
  return by_four && spirv::Elements::needs_vectors(dtype_) ? 1u << operand : 0;
}

template <class Write>
tenon_error* ProductKernel::get(const LazyPipeline& lazy, Code::Shape shape,
                                const Pipeline*& pipeline, const Write& write) const {
  if (shape.local_size == 0) shape.local_size = kLocalSize;
  const auto make = [&] {
    Code code(capabilities_, shape);
    write(code);
    return code.finish();
  };
  return lazy.get(device_, shape.n_operands, &pipeline, make, shape.texels);
}

tenon_error* ProductKernel::run_direct(Encoder& encoder, std::span<const Operand> operands,
                                       const Words& words, const ProductSizes& product) const {
  const Pipeline* pipeline = nullptr;
  if (tenon_error* error = get(direct_, {.n_operands = operands_.n}, pipeline,
                               [&](Code& code) { write_direct(code, factors(code), wide_); })) {
    return error;
  }
  const int64_t n_tiles =
      product.matrices * divide_up(product.rows, kTile) * divide_up(product.columns, kTile);
  return encoder.dispatch(
      {pipeline, operands, words, groups_for(static_cast<uint64_t>(n_tiles) * kLocalSize)});
}

tenon_error* ProductKernel::run_packed(Encoder& encoder, std::vector<Operand> operands,
                                       const Operand& workspace, Words& words,
                                       const ProductSizes& product, const Fours& fours) const {
  const Packing all = packing(product);
  Operand left = workspace, right = workspace;
  left.end = left.begin + static_cast<uint64_t>(all.matrices_at_once * all.left_bytes);
  right.begin = right.first = left.end;
  words[kBlocks] = static_cast<uint32_t>(all.n_blocks);
  for (int64_t matrix = 0; matrix < product.matrices; matrix += all.matrices_at_once) {
    words[kFirstMatrix] = static_cast<uint32_t>(matrix);
    words[kMatrices] =
        static_cast<uint32_t>(std::min(all.matrices_at_once, product.matrices - matrix));
    if (tenon_error* error = pack_left(encoder, operands, left, words, fours.left)) return error;
    for (int64_t tile = 0; tile < all.n_tiles; tile += all.tiles_at_once) {
      words[kFirstTile] = static_cast<uint32_t>(tile);
      words[kTiles] = static_cast<uint32_t>(std::min(all.tiles_at_once, all.n_tiles - tile));
      tenon_error* error = pack_right(encoder, operands, right, words, fours.right);
      if (error == nullptr) error = multiply(encoder, operands, left, right, words, fours.result);
      if (error != nullptr) return error;
    }
  }
  return nullptr;
}

tenon_error* ProductKernel::pack_left(Encoder& encoder, std::vector<Operand> operands,
                                      const Operand& to, const Words& words, bool by_four) const {
  const Pipeline* pipeline = nullptr;
  const uint32_t n = operands_.n, texels = vectors_of(operands_.left, by_four);
  if (tenon_error* error =
          get(pack_left_[by_four], {.n_operands = n + 1, .vectors = 1u << n, .texels = texels},
              pipeline, [&](Code& code) { write_left(code, factors(code), n, by_four); })) {
    return error;
  }
  return pack(encoder, pipeline, operands, to, words);
}

tenon_error* ProductKernel::pack_right(Encoder& encoder, std::vector<Operand> operands,
                                       const Operand& to, const Words& words, bool by_four) const {
  const Pipeline* pipeline = nullptr;
  const uint32_t n = operands_.n, texels = vectors_of(operands_.right, by_four);
  if (tenon_error* error = get(
          pack_right_[by_four], {.n_operands = n + 1, .vectors = 1u << n, .texels = texels},
          pipeline, [&](Code& code) { write_right(code, factors(code), n, lanes(), by_four); })) {
    return error;
  }
  return pack(encoder, pipeline, operands, to, words);
}

tenon_error* ProductKernel::pack(Encoder& encoder, const Pipeline* pipeline,
                                 std::vector<Operand>& operands, const Operand& to,
                                 const Words& words) const {
  operands[operands_.result].is_written = false;
  operands.push_back(to);
  return encoder.dispatch(
      {pipeline, operands, words, groups_for((to.end - to.begin) / (kTexel * sizeof(float)))});
}

tenon_error* ProductKernel::multiply(Encoder& encoder, std::vector<Operand> operands, Operand left,
                                     Operand right, const Words& words, bool by_four) const {
  const Pipeline* pipeline = nullptr;
  const uint32_t n = operands_.n;
  if (tenon_error* error = get(multiply_[by_four],
                               {.n_operands = n + 2,
                                .local_size = lanes(),
                                .vectors = vectors_of(operands_.result, by_four),
                                .texels = 3u << n},
                               pipeline, [&](Code& code) {
                                 write_multiply(code, factors(code), n, lanes(), by_four);
                               })) {
    return error;
  }
  left.is_written = right.is_written = false;
  operands.insert(operands.end(), {left, right});
  const int64_t n_tiles =
      int64_t{words[kMatrices]} * words[kTiles] * divide_up(words[kRows], kPackedRows);
  return encoder.dispatch(
      {pipeline, operands, words, so_many_groups(static_cast<uint64_t>(n_tiles))});
}

}  // namespace tenon_vulkan
