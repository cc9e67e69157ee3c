#include "plugins/vulkan/kernels/product.h"

#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan {
namespace {

using spirv::Code;

using enum ProductKernel::Parameter;

constexpr uint32_t kOperandsOfPacking = 3;  // The packed factors and the partial sums.

int64_t divide_up(int64_t n, int64_t by) { return (n + by - 1) / by; }

void mark_read_only(std::span<Operand> operands) {
  for (Operand& operand : operands) operand.is_written = false;
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

tenon_string refusal_of_product(const Request& request) {
  if (request.output(0).dtype == TENON_FLOAT64 && !capabilities_of(request.device()).float64) {
    return TENON_STR("has no float64");
  }
  size_t n_operands = 1;
  for (size_t i = 0; i < request.n_inputs(); ++i) {
    if (request.input(i).dtype != TENON_DTYPE_NONE) ++n_operands;
  }
  return refusal_of_operands(request.device(), n_operands);
}

bool can_vectorise(const Operand& operand, const tenon_view& view, size_t axis) {
  if (!is_aligned_to_four(operand, view.dtype) || view.strides[axis] != 1 ||
      view.sizes[axis] % 4 != 0) {
    return false;
  }
  for (size_t other = 0; other < view.rank; ++other) {
    const int64_t stride = view.strides[other];
    if (other != axis && (stride < 0 || stride % 4 != 0)) return false;
  }
  return true;
}

ProductKernel::ProductKernel(tenon_device_p* device, const Operands& operands, tenon_dtype dtype,
                             std::optional<LoopPlan> epilogue)
    : device_(device),
      capabilities_(capabilities_of(device)),
      operands_(operands),
      epilogue_(std::move(epilogue)),
      n_operands_(operands.n_inputs +
                  (epilogue_ ? epilogue_->n_inputs() + epilogue_->n_outputs() : 1)),
      dtype_(dtype),
      wide_(product_dtype(dtype)),
      packed_(wide_ == TENON_FLOAT32 &&
                      n_operands_ + kOperandsOfPacking <= capabilities_.max_operands
                  ? packed_shape(capabilities_)
                  : std::nullopt) {}

ResultCode ProductKernel::result_code(Code& code, spirv::U32 end) const {
  return {code, epilogue_ ? &*epilogue_ : nullptr, operands_.n_inputs, dtype_, end};
}

// Stores a divisor and its constants from index `parameter` of `words` on.
void set_division(Words& words, uint32_t parameter, int64_t number) {
  Words pushed;
  Division::push(pushed, number);
  std::copy(pushed.begin(), pushed.end(), words.begin() + parameter);
}

// Maximum size of the packed factors in bytes. Larger products are computed by consecutive
// dispatches, each for some matrices or columns.
constexpr int64_t kMaxPackedBytes = 32 << 20;

// Returns how a product is packed, or nullopt if it is not. A product is packed if each packed
// element is used several times, or if it has more values of k than an invocation of the tiled
// kernel may iterate over.
std::optional<ProductKernel::Packing> ProductKernel::packing(const ProductSizes& sizes) const {
  constexpr int64_t kMinProducts = 1 << 15, kMinReuse = 4, kMaxSteps = kMaxIterations / 2;
  if (!packed_ || sizes.matrices * sizes.rows * sizes.columns == 0) return std::nullopt;
  if (sizes.deep <= kMaxSteps &&
      (sizes.rows * sizes.columns < kMinReuse * (sizes.rows + sizes.columns) ||
       sizes.matrices * sizes.rows * sizes.columns * sizes.deep < kMinProducts)) {
    return std::nullopt;
  }
  const int64_t n_blocks = divide_up(sizes.deep, packed_->block());
  const int64_t n_down = divide_up(sizes.rows, packed_->rows());
  const int64_t block_bytes = packed_->block() * static_cast<int64_t>(sizeof(float));
  const int64_t left_block_bytes = n_down * packed_->rows() * block_bytes;
  // The packed left factor contains all rows for some blocks of k, and must fit into one binding.
  const auto bindable_bytes = static_cast<int64_t>(capabilities_.bindable_bytes());
  const int64_t in_chain = longest_chain(sizes.deep) / packed_->block();
  const int64_t blocks_at_once = std::min({n_blocks, in_chain, bindable_bytes / left_block_bytes});
  if (blocks_at_once == 0) return std::nullopt;
  const int64_t k_bytes = blocks_at_once * block_bytes;
  Packing packing = {.n_blocks = n_blocks,
                     .n_tiles = divide_up(sizes.columns, packed_->columns()),
                     .blocks_at_once = blocks_at_once,
                     .left_bytes = n_down * packed_->rows() * k_bytes,
                     .tile_bytes = packed_->columns() * k_bytes};
  // A dispatch computes several matrices or, if one matrix exceeds the limit, some columns of one
  // matrix.
  const int64_t matrix_bytes = packing.left_bytes + packing.n_tiles * packing.tile_bytes;
  packing.matrices_at_once = std::clamp<int64_t>(kMaxPackedBytes / matrix_bytes, 1, sizes.matrices);
  packing.tiles_at_once = packing.n_tiles;
  if (matrix_bytes > kMaxPackedBytes) {
    const int64_t room = std::max<int64_t>(kMaxPackedBytes - packing.left_bytes, 0);
    packing.tiles_at_once = std::clamp<int64_t>(room / packing.tile_bytes, 1, packing.n_tiles);
  }
  if (packing.has_partial_sums()) {
    packing.sums_bytes = n_down * packed_->rows() * packing.tiles_at_once * packed_->columns() *
                         static_cast<int64_t>(sizeof(float));
    if (packing.sums_bytes > bindable_bytes) return std::nullopt;
  }
  return packing;
}

uint64_t ProductKernel::workspace(const tenon_launch& launch) const {
  const ProductSizes product = sizes(launch);
  if (const std::optional<Packing> all = packing(product)) {
    return static_cast<uint64_t>(
        all->matrices_at_once *
        (all->left_bytes + all->tiles_at_once * all->tile_bytes + all->sums_bytes));
  }
  const SplitK own = split_k(product);
  if (own.n == 1) return 0;
  return static_cast<uint64_t>(own.at_once * product.matrices * product.rows * product.columns) *
         tenon_sdk::size_of(wide_);
}

// Returns how a sum is split. It is not split if the device cannot bind an additional operand for
// the partial sums.
SplitK ProductKernel::split_k(const ProductSizes& sizes) const {
  if (n_operands_ + 1 > capabilities_.max_operands) return {.steps = sizes.deep};
  const SplitK parts = choose_split_k(capabilities_, wide_, sizes);
  const auto bytes =
      static_cast<uint64_t>(parts.at_once * sizes.matrices * sizes.rows * sizes.columns) *
      tenon_sdk::size_of(wide_);
  return bytes <= capabilities_.bindable_bytes() ? parts : SplitK{.steps = sizes.deep};
}

tenon_error* ProductKernel::enqueue(Encoder& encoder, const tenon_launch& launch) const {
  const ProductSizes product = sizes(launch);
  if (product.matrices * product.rows * product.columns == 0) return nullptr;
  if (tenon_error* error = check_axes(device_, launch)) return error;
  if (tenon_error* error = check_count(device_, product.deep)) return error;
  if (tenon_error* error = check(launch)) return error;
  std::vector<Operand> operands = operands_of(launch);
  Words words = {static_cast<uint32_t>(product.matrices), static_cast<uint32_t>(product.rows),
                 static_cast<uint32_t>(product.columns), static_cast<uint32_t>(product.deep)};
  words.resize(kOwn);
  push(launch, words);
  const uint32_t first_of_loop = launch.n_inputs - (epilogue_ ? epilogue_->n_inputs() : 0);
  if (epilogue_) epilogue_->push(launch, first_of_loop, words);
  if (const std::optional<Packing> all = packing(product)) {
    VectorisedMatrices is_vectorised = vectorised_matrices(launch);
    if (epilogue_ && !epilogue_->can_vectorise(launch, first_of_loop)) is_vectorised.result = false;
    return run_packed(encoder, std::move(operands), workspace_of(launch), words, product, *all,
                      is_vectorised);
  }
  const SplitK own = split_k(product);
  words[kSteps] = static_cast<uint32_t>(own.steps);
  const AlongK along = along_k(launch);
  words[kLeftAlongK] = along.left ? 1 : 0;
  words[kRightAlongK] = along.right ? 1 : 0;
  if (own.n == 1) {
    words[kParts] = 1;
    const uint64_t iterations_of_store =
        epilogue_ ? epilogue_->iterations(launch, first_of_loop) : 0;
    return run_tiles(encoder, std::move(operands), nullptr, words, product, iterations_of_store);
  }
  const Operand sums = workspace_of(launch);
  for (int64_t part = 0; part < own.n; part += own.at_once) {
    words[kFirstPart] = static_cast<uint32_t>(part);
    words[kAddsParts] = part > 0 ? 1 : 0;
    words[kParts] = static_cast<uint32_t>(std::min(own.at_once, own.n - part));
    if (tenon_error* error = run_tiles(encoder, operands, &sums, words, product)) return error;
  }
  words[kParts] = static_cast<uint32_t>(own.at_once);
  return add_partial_sums(encoder, std::move(operands), sums, words, product);
}

uint32_t ProductKernel::vector_operand_bit(uint32_t operand, bool is_vectorised) const {
  return is_vectorised && spirv::Elements::needs_vectors(dtype_) ? 1u << operand : 0;
}

uint32_t ProductKernel::result_vector_operand_mask(bool is_vectorised) const {
  const uint32_t first = operands_.n_inputs;
  if (!is_vectorised || !epilogue_) return vector_operand_bit(first, is_vectorised);
  return epilogue_->plan().vector_operand_mask(epilogue_->n_inputs()) << first;
}

Code::Shape ProductKernel::shape_of_packing(uint32_t operand, bool is_vectorised) const {
  const uint32_t vectors = vector_operand_bit(operand, is_vectorised), written = 1u << n_operands_;
  return {.n_operands = n_operands_ + 1,
          .local_size = kLocalSize,
          .vectors = written | (packed_->reads_texels ? 0 : vectors),
          .texels = packed_->reads_texels ? vectors : 0};
}

template <class Write>
tenon_error* ProductKernel::get_pipeline(const LazyPipeline& lazy, Code::Shape shape,
                                         const Pipeline*& pipeline, const Write& write) const {
  const auto make = [&] {
    Code code(capabilities_, shape);
    write(code);
    return code.finish();
  };
  return lazy.get(device_, shape.n_operands, &pipeline, make, shape.texels);
}

tenon_error* ProductKernel::run_tiles(Encoder& encoder, std::vector<Operand> operands,
                                      const Operand* sums, Words& words,
                                      const ProductSizes& product,
                                      uint64_t iterations_of_store) const {
  const TileSize size = tile_size_for(capabilities_, wide_, product);
  const int64_t lines = lines_per_tile(size);
  const auto n_tiles =
      static_cast<uint64_t>(int64_t{words[kParts]} * product.matrices *
                            divide_up(product.rows, lines) * divide_up(product.columns, lines));
  const auto n_panels = static_cast<uint64_t>(divide_up(words[kSteps], kPanelDepth));
  const uint64_t of_tile =
      std::max<uint64_t>(n_panels * static_cast<uint64_t>(lines * lines) * kPanelDepth, 1);
  const uint64_t tiles_at_once =
      std::clamp<uint64_t>(capabilities_.max_products_per_submission / of_tile, 1, n_tiles);
  // Number of loop iterations: a panel takes one plus those over its values of k; a row of sums
  // takes one plus those of its epilogue.
  const bool is_unrolled = !packed_;
  const uint64_t of_panel =
      1 + (is_unrolled ? Code::iterations_of_many(kPanelDepth) : kPanelDepth + 1);
  const uint64_t of_row = 1 + lines_per_invocation(size) * iterations_of_store;
  const Rounds rounds = rounds_for(tiles_at_once * kLocalSize,
                                   n_panels * of_panel + lines_per_invocation(size) * of_row);
  if (tenon_error* error = check_iterations(device_, rounds.iterations)) return error;
  const Pipeline* pipeline = nullptr;
  const uint32_t n = n_operands_;
  const std::optional<uint32_t> sums_at = sums != nullptr ? std::optional(n) : std::nullopt;
  if (tenon_error* error = get_pipeline(
          tiles_[static_cast<size_t>(size)][sums != nullptr],
          {.n_operands = n + (sums != nullptr ? 1 : 0), .local_size = kLocalSize}, pipeline,
          [&](Code& code) {
            write_tiled_product(code, factors(code), {wide_, size, is_unrolled}, sums_at);
          })) {
    return error;
  }
  if (sums != nullptr) {
    mark_read_only(operands);
    operands.push_back(*sums);
  }
  for (uint64_t tile = 0; tile < n_tiles; tile += tiles_at_once) {
    const uint64_t n_at_once = std::min(tiles_at_once, n_tiles - tile);
    words[kFirstTile] = static_cast<uint32_t>(tile);
    words[kTiles] = static_cast<uint32_t>(n_at_once);
    if (tenon_error* error =
            encoder.dispatch({pipeline, operands, words, rounds.groups, n_at_once * of_tile})) {
      return error;
    }
  }
  return nullptr;
}

tenon_error* ProductKernel::add_partial_sums(Encoder& encoder, std::vector<Operand> operands,
                                             Operand sums, const Words& words,
                                             const ProductSizes& product) const {
  const auto n = static_cast<uint64_t>(product.matrices * product.rows * product.columns);
  const Rounds rounds = rounds_for(n, Code::iterations_of_many(words[kParts]));
  if (tenon_error* error = check_iterations(device_, rounds.iterations)) return error;
  const Pipeline* pipeline = nullptr;
  if (tenon_error* error = get_pipeline(
          add_parts_, {.n_operands = n_operands_ + 1, .local_size = kLocalSize}, pipeline,
          [&](Code& code) { write_sum_of_parts(code, factors(code), wide_, n_operands_); })) {
    return error;
  }
  sums.is_written = false;
  operands.push_back(sums);
  return encoder.dispatch({pipeline, operands, words, rounds.groups});
}

tenon_error* ProductKernel::run_packed(Encoder& encoder, std::vector<Operand> operands,
                                       const Operand& workspace, Words& words,
                                       const ProductSizes& product, const Packing& all,
                                       const VectorisedMatrices& vectorised_matrices) const {
  const auto bytes = [&](int64_t of_matrix) {
    return static_cast<uint64_t>(all.matrices_at_once * of_matrix);
  };
  Operand left = workspace, right = workspace, sums = workspace;
  left.end = left.begin + bytes(all.left_bytes);
  right.begin = right.first = left.end;
  right.end = right.begin + bytes(all.tiles_at_once * all.tile_bytes);
  sums.begin = sums.first = right.end;
  words[kAllBlocks] = static_cast<uint32_t>(all.n_blocks);
  set_division(words, kByTilesOfRows, divide_up(product.rows, packed_->rows()));
  for (int64_t matrix = 0; matrix < product.matrices; matrix += all.matrices_at_once) {
    words[kFirstMatrix] = static_cast<uint32_t>(matrix);
    words[kMatrices] =
        static_cast<uint32_t>(std::min(all.matrices_at_once, product.matrices - matrix));
    for (int64_t tile = 0; tile < all.n_tiles; tile += all.tiles_at_once) {
      words[kFirstTile] = static_cast<uint32_t>(tile);
      words[kTiles] = static_cast<uint32_t>(std::min(all.tiles_at_once, all.n_tiles - tile));
      set_division(words, kByTiles, words[kTiles]);
      for (int64_t block = 0; block < all.n_blocks; block += all.blocks_at_once) {
        words[kFirstBlock] = static_cast<uint32_t>(block);
        words[kBlocks] = static_cast<uint32_t>(std::min(all.blocks_at_once, all.n_blocks - block));
        set_division(words, kByBlocks, words[kBlocks]);
        set_division(words, kBySteps, int64_t{words[kBlocks]} * packed_->block());
        tenon_error* error = nullptr;
        if (tile == 0 || all.has_partial_sums()) {
          error = pack(encoder, kLeft, operands, left, words, vectorised_matrices.left);
        }
        if (error == nullptr)
          error = pack(encoder, kRight, operands, right, words, vectorised_matrices.right);
        if (error == nullptr) {
          error = multiply(encoder, operands, left, right, all.has_partial_sums() ? &sums : nullptr,
                           words, vectorised_matrices.result);
        }
        if (error != nullptr) return error;
      }
    }
  }
  return nullptr;
}

tenon_error* ProductKernel::pack(Encoder& encoder, Side side, std::vector<Operand> operands,
                                 const Operand& to, const Words& words, bool is_vectorised) const {
  const auto write = side == kLeft ? write_packed_left : write_packed_right;
  const uint32_t from = side == kLeft ? operands_.left : operands_.right;
  const Pipeline* pipeline = nullptr;
  if (tenon_error* error = get_pipeline(
          pack_[side][is_vectorised], shape_of_packing(from, is_vectorised), pipeline,
          [&](Code& code) { write(code, factors(code), n_operands_, *packed_, is_vectorised); })) {
    return error;
  }
  mark_read_only(operands);
  operands.push_back(to);
  return encoder.dispatch(
      {pipeline, operands, words, groups_for((to.end - to.begin) / (4 * sizeof(float)))});
}

tenon_error* ProductKernel::multiply(Encoder& encoder, std::vector<Operand> operands, Operand left,
                                     Operand right, const Operand* sums, const Words& words,
                                     bool is_vectorised) const {
  const Pipeline* pipeline = nullptr;
  const uint32_t n = n_operands_;
  // Without texels, the columns of an invocation are not contiguous, so they are not stored as
  // vectors.
  const Sums how = sums != nullptr                          ? Sums::kPartial
                   : is_vectorised && packed_->reads_texels ? Sums::kVectorised
                                                            : Sums::kWhole;
  if (tenon_error* error = get_pipeline(
          multiply_[static_cast<size_t>(how)],
          {.n_operands = n + (how == Sums::kPartial ? 3 : 2),
           .local_size = packed_->lanes,
           .vectors = result_vector_operand_mask(how == Sums::kVectorised),
           .texels = packed_->reads_texels ? 3u << n : 0},
          pipeline,
          [&](Code& code) { write_packed_product(code, factors(code), n, *packed_, how); })) {
    return error;
  }
  left.is_written = right.is_written = false;
  operands.insert(operands.end(), {left, right});
  if (sums != nullptr) operands.push_back(*sums);
  const int64_t n_tiles =
      int64_t{words[kMatrices]} * words[kTiles] * divide_up(words[kRows], packed_->rows());
  return encoder.dispatch(
      {pipeline, operands, words, groups_up_to_limit(static_cast<uint64_t>(n_tiles))});
}

// Rejects epilogues with ops whose code contains loops, because the iteration count of a product
// does not include them.
Prepared prepare_with_epilogue(const Request& anchor, LoopPlan plan) {
  const auto n_inputs = static_cast<uint32_t>(anchor.n_inputs());
  if (const tenon_string reason =
          refusal_of_loop(anchor.device(), plan, n_inputs + kOperandsOfPacking);
      reason.size > 0) {
    return {.reason = reason};
  }
  if (iterations_of(plan) > 0)
    return tenon_sdk::refuse(
        "cannot fuse an op whose shader code contains a loop into the epilogue of a product");
  switch (anchor.op()) {
    case TENON_OP_matmul:
      return prepare_matmul(anchor, std::move(plan));
    case TENON_OP_gemm:
      return prepare_gemm(anchor, std::move(plan));
    case TENON_OP_conv:
      return prepare_conv(anchor, std::move(plan));
    default:
      return tenon_sdk::refuse("does not support an epilogue after this op");
  }
}

}  // namespace tenon_vulkan
