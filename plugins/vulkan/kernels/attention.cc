// attention with online softmax. A workgroup processes a tile of queries of one head and iterates
// over tiles of keys. It stores the scores of only one tile of keys, in shared memory.
//
// For each query it maintains the largest score so far, m, the sum of exp(score - m), and the sum
// of the values with these weights. If a tile has a larger m, the sums so far are multiplied by
// exp(m before - m). At the end the weighted sum is divided by the sum of weights. The tile sizes
// determine the order of all operations.
//
// A group is kSide x kSide invocations, as for a matrix product. Each invocation computes kEach x
// kEach scores (queries x keys) of a tile, and 1/kSide of the group's value columns. If the values
// have more columns than one group computes, several groups compute the same scores and different
// columns.
//
// Long key sequences are split into pieces of at most longest_chain() keys, one dispatch each. The
// state of each query is stored after each piece and merged with the state of the next piece. This
// bounds the rounding error of long sums and the number of loop iterations (kMaxIterations).

#include "plugins/vulkan/kernels/attention.h"

#include <cmath>
#include <cstring>

#include "plugins/vulkan/kernels/kernels.h"
#include "plugins/vulkan/kernels/lazy_pipeline.h"
#include "plugins/vulkan/kernels/product.h"

namespace tenon_vulkan {
namespace {

using namespace attention;

class Attention final : public Kernel {
 public:
  Attention(const Request& request, const Plan& plan, double scale)
      : device_(request.device()), plan_(plan), scale_(scale) {}

  uint64_t workspace(const tenon_launch& launch) const override {
    const Sizes sizes = sizes_of(launch);
    if (!sizes.in_pieces()) return 0;
    return sizes.tiles_at_once() * kLocalSize * state_elements(sizes.columns) *
           tenon_sdk::size_of(plan_.wide);
  }

  tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const override {
    if (tenon_sdk::count(launch.outputs[0]) == 0) return nullptr;
    if (tenon_error* error = check_axes(device_, launch)) return error;
    const Sizes sizes = sizes_of(launch);
    std::vector<Operand> operands = operands_of(launch);
    if (sizes.in_pieces()) operands.push_back(workspace_of(launch));
    const Pipeline* pipeline = nullptr;
    if (tenon_error* error = check_iterations(device_, sizes.iterations)) return error;
    if (tenon_error* error = pipeline_of(sizes, &pipeline)) return error;
    Words words = words_of(launch);
    const uint64_t tiles_at_once = sizes.tiles_at_once();
    for (uint64_t tile = 0; tile < sizes.n_tiles; tile += tiles_at_once) {
      const uint64_t n_tiles = std::min(tiles_at_once, sizes.n_tiles - tile);
      const uint64_t n_products = n_tiles * sizes.products_of_tile;
      words[kFirstTile] = static_cast<uint32_t>(tile);
      // If there are no keys, the loop runs once and writes zeros.
      for (int64_t begin = 0; begin < sizes.keys || begin == 0; begin += sizes.keys_at_once) {
        words[kBegin] = static_cast<uint32_t>(begin);
        words[kEnd] = static_cast<uint32_t>(std::min(sizes.keys, begin + sizes.keys_at_once));
        tenon_error* error = encoder.dispatch(
            {pipeline, operands, words, {static_cast<uint32_t>(n_tiles), 1, 1}, n_products});
        if (error != nullptr) return error;
      }
    }
    return nullptr;
  }

 private:
  struct Sizes {
    uint64_t n_tiles, iterations;  // `iterations`: shader loop iterations per tile of keys.
    int64_t keys, keys_at_once;
    uint32_t columns, shape;    // `shape`: index into kColumns.
    uint64_t products_of_tile;  // Number of multiplications of a group for one piece of the keys.
    uint64_t max_tiles;

    bool in_pieces() const { return keys > keys_at_once; }
    uint64_t tiles_at_once() const { return std::min(n_tiles, max_tiles); }
  };

  Sizes sizes_of(const tenon_launch& launch) const {
    const tenon_view &q = launch.inputs[0], &v = launch.inputs[2];
    const uint32_t room = capabilities_of(device_).shared_memory_bytes;
    const auto element = static_cast<uint32_t>(tenon_sdk::size_of(plan_.wide));
    uint32_t shape = 0;
    while (shape + 1 < std::size(kColumns) && v.sizes[3] > kColumns[shape] &&
           shared_elements(kColumns[shape + 1]) * element <= room) {
      ++shape;
    }
    const uint32_t columns = kColumns[shape];
    const int64_t tiles = (q.sizes[2] + kTile - 1) / kTile;
    const int64_t chunks = (v.sizes[3] + columns - 1) / columns;
    // Loop iterations per tile of keys: each panel of queries and keys takes one iteration plus
    // those over its columns. The panels of the values take at most 4 * kDepth iterations.
    const auto panels = static_cast<uint64_t>((q.sizes[3] + kDepth - 1) / kDepth);
    const uint64_t iterations = panels * (1 + spirv::Code::iterations_of_many(kDepth)) + 4 * kDepth;
    const uint64_t tiles_of_keys = std::clamp<uint64_t>(
        kMaxIterations / iterations, 1, static_cast<uint64_t>(longest_chain(v.sizes[2]) / kTile));
    Sizes sizes = {.n_tiles = static_cast<uint64_t>(q.sizes[0] * q.sizes[1] * tiles * chunks),
                   .iterations = iterations,
                   .keys = v.sizes[2],
                   .keys_at_once = static_cast<int64_t>(tiles_of_keys) * kTile,
                   .columns = columns,
                   .shape = shape};
    const int64_t keys = std::clamp<int64_t>(sizes.keys, 1, sizes.keys_at_once);
    sizes.products_of_tile = static_cast<uint64_t>(kTile * keys * (q.sizes[3] + columns));
    // kMaxKept limits the state that is stored between pieces to a size that a shader can bind.
    constexpr uint64_t kMaxGroups = 65535, kMaxKept = 4096;
    const uint64_t most = sizes.in_pieces() ? kMaxKept * sizeof(float) / element : kMaxGroups;
    const uint64_t busy =
        capabilities_of(device_).max_products_per_submission / sizes.products_of_tile;
    sizes.max_tiles = std::clamp<uint64_t>(busy, 1, most);
    return sizes;
  }

  tenon_error* pipeline_of(const Sizes& sizes, const Pipeline** out_pipeline) const {
    const uint32_t n_operands =
        4 + (plan_.mask == TENON_DTYPE_NONE ? 0 : 1) + (sizes.in_pieces() ? 1 : 0);
    Plan plan = plan_;
    plan.columns = sizes.columns;
    plan.in_pieces = sizes.in_pieces();
    return pipelines_[2 * sizes.shape + plan.in_pieces].get(device_, n_operands, out_pipeline, [&] {
      return write_shader(capabilities_of(device_), plan, n_operands);
    });
  }

  Words words_of(const tenon_launch& launch) const {
    const tenon_view &q = launch.inputs[0], &k = launch.inputs[1], &v = launch.inputs[2];
    Words words;
    const int64_t sharing = k.sizes[1] == 0 ? 1 : q.sizes[1] / k.sizes[1];
    for (const int64_t word : {int64_t{0}, int64_t{0}, int64_t{0}, q.sizes[1], sharing, q.sizes[2],
                               k.sizes[2], q.sizes[3], v.sizes[3]}) {
      push(words, word);
    }
    const double scale = scale_ > 0 ? scale_ : 1 / std::sqrt(static_cast<double>(q.sizes[3]));
    uint64_t bits = 0;
    if (plan_.wide == TENON_FLOAT64) {
      std::memcpy(&bits, &scale, sizeof scale);
    } else {
      const auto narrow = static_cast<float>(scale);
      std::memcpy(&bits, &narrow, sizeof narrow);
    }
    push(words, static_cast<int64_t>(bits));
    push(words, static_cast<int64_t>(bits >> 32));
    for (const tenon_view* view : {&q, &k, &v}) {
      for (size_t axis = 0; axis < 4; ++axis) push(words, view->strides[axis]);
    }
    if (plan_.mask == TENON_DTYPE_NONE) return words;
    // The mask's axes are batch, heads, queries and keys; axes of size 1 are broadcast.
    const tenon_view& mask = launch.inputs[3];
    const size_t missing = size_t{4} - mask.rank;
    for (size_t axis = 0; axis < 4; ++axis) {
      const bool repeats = axis < missing || mask.sizes[axis - missing] == 1;
      push(words, repeats ? 0 : mask.strides[axis - missing]);
    }
    return words;
  }

  tenon_device_p* const device_;
  const Plan plan_;
  const double scale_;
  LazyPipeline pipelines_[2 * std::size(kColumns)];
};

}  // namespace

Prepared prepare_attention(const Request& request) {
  const auto attrs = request.attrs<tenon_attention_attrs>();
  const Capabilities& capabilities = capabilities_of(request.device());
  const tenon_dtype dtype = request.input(0).dtype;
  if (dtype == TENON_FLOAT64 && !capabilities.float64) return tenon_sdk::refuse("has no float64");
  const tenon_dtype wide = dtype == TENON_FLOAT64 ? TENON_FLOAT64 : TENON_FLOAT32;
  if (shared_elements(kColumns[0]) * tenon_sdk::size_of(wide) > capabilities.shared_memory_bytes) {
    return tenon_sdk::refuse("would need more shared (workgroup) memory than the device has");
  }
  // The maximum number of operands: q, k, v, mask, y and workspace.
  if (const tenon_string reason = refusal_of_operands(request.device(), 6); reason.size > 0) {
    return {.reason = reason};
  }
  const Plan plan = {
      .dtype = dtype,
      .wide = wide,
      .mask = request.n_inputs() > 3 ? request.input(3).dtype : tenon_dtype{TENON_DTYPE_NONE},
      .is_causal = attrs.is_causal != 0,
      .softcap = attrs.softcap,
      .columns = kColumns[0],
      .in_pieces = false};
  return {
      .kernel = std::make_unique<Attention>(request, plan, attrs.scale),
      .traits = TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC | TENON_KERNEL_WORKSPACE};
}

}  // namespace tenon_vulkan
