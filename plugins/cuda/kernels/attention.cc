// attention. device/attention.cu describes the algorithm.

#include <cmath>
#include <cstring>

#include "plugins/cuda/kernels/embedded.h"
#include "plugins/cuda/kernels/expansion_source.h"

namespace tenon_cuda {
namespace {

constexpr int64_t kTile = 64;  // The tile size of device/tile.cuh.
// Maximum number of tiles of value columns that a block computes. For float64, shared memory holds
// only one tile.
constexpr int64_t kMaxChunks = 2;

// Divides and rounds up.
int64_t divide_up(int64_t n, int64_t by) { return (n + by - 1) / by; }

// Returns the bits of a double, to pass it as a parameter word.
int64_t bits_of(double x) {
  int64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

// Returns the source of the kernel that computes `n_chunks` tiles of value columns per block.
std::string attention_source(tenon_dtype dtype, tenon_dtype mask,
                             const tenon_attention_attrs& attrs, int64_t n_chunks) {
  const tenon_dtype wide = dtype == TENON_FLOAT64 ? TENON_FLOAT64 : TENON_FLOAT32;
  std::string text = prelude_source(LoopPlan());
  text += device_file("reduce.cuh");
  text += expansion_source(TENON_OP_exp, "exp", wide);
  if (attrs.softcap > 0) text += expansion_source(TENON_OP_tanh, "tanh", wide);
  text += type_line(type_name(dtype), "T");
  text += std::string("#define HAS_MASK ") + (mask != TENON_DTYPE_NONE ? "1\n" : "0\n");
  text += type_line(type_name(mask != TENON_DTYPE_NONE ? mask : dtype), "Mask");
  text += std::string("#define IS_CAUSAL ") + (attrs.is_causal ? "1\n" : "0\n");
  text += std::string("#define HAS_CAP ") + (attrs.softcap > 0 ? "1\n" : "0\n");
  text += "#define N_CHUNKS " + std::to_string(n_chunks) + "\n";
  text += device_file("tile.cuh");
  text += device_file("attention.cu");
  return text;
}

class Attention final : public Kernel {
 public:
  explicit Attention(const Request& request)
      : device_(request.device()),
        dtype_(request.input(0).dtype),
        mask_(request.n_inputs() > 3 ? request.input(3).dtype : tenon_dtype{TENON_DTYPE_NONE}),
        attrs_(request.attrs<tenon_attention_attrs>()) {
    set_name("attention");
  }

  tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const override {
    const tenon_view &q = launch.inputs[0], &k = launch.inputs[1], &v = launch.inputs[2],
                     &y = launch.outputs[0];
    if (tenon_sdk::count(y) == 0) return nullptr;
    const int64_t most_chunks = dtype_ == TENON_FLOAT64 ? 1 : kMaxChunks;
    const int64_t n_chunks = std::min(most_chunks, divide_up(v.sizes[3], kTile));
    const Function* functions = nullptr;
    const auto source = [&] { return attention_source(dtype_, mask_, attrs_, n_chunks); };
    const auto& lazy = functions_[static_cast<size_t>(n_chunks - 1)];
    if (tenon_error* error = lazy.get(device_, name(), source, &functions)) return error;

    const int64_t n_tiles = divide_up(q.sizes[2], kTile);
    const int64_t n_parts = divide_up(v.sizes[3], n_chunks * kTile);
    const int64_t n_items = q.sizes[0] * q.sizes[1] * n_tiles * n_parts;
    // Heads of size 0 use the scale of size 1. Their scores are 0, and an infinite scale would make
    // them NaN.
    const auto size = static_cast<double>(std::max<int64_t>(q.sizes[3], 1));
    const double scale = attrs_.scale > 0 ? attrs_.scale : 1 / std::sqrt(size);
    Parameters parameters;
    for (const tenon_view* view : {&q, &k, &v}) {
      const auto strides = strides_of(*view);
      parameters.push_operand(*view);
      for (size_t axis = 0; axis < 4; ++axis) parameters.push(strides[axis]);
    }
    push_mask(parameters, launch);
    parameters.push_address(address_of(y));
    for (const int64_t word :
         {n_items, n_tiles, n_parts, q.sizes[1], k.sizes[1] == 0 ? 1 : q.sizes[1] / k.sizes[1],
          q.sizes[2], k.sizes[2], q.sizes[3], v.sizes[3]}) {
      parameters.push(word);
    }
    parameters.push(bits_of(scale));
    parameters.push(bits_of(attrs_.softcap));
    return Dispatcher(encoder, device_, functions)
        .run(0, blocks_for(device_, n_items, 1), parameters);
  }

 private:
  // Pushes the mask's strides along batch, heads, queries and keys. Missing axes and axes of size 1
  // are broadcast.
  void push_mask(Parameters& parameters, const tenon_launch& launch) const {
    if (mask_ == TENON_DTYPE_NONE) {
      parameters.push_operand(tenon_view{});
      for (size_t axis = 0; axis < 4; ++axis) parameters.push(0);
      return;
    }
    const tenon_view& mask = launch.inputs[3];
    const auto strides = strides_of(mask);
    const size_t missing = size_t{4} - mask.rank;
    parameters.push_operand(mask);
    for (size_t axis = 0; axis < 4; ++axis) {
      const bool repeats = axis < missing || mask.sizes[axis - missing] == 1;
      parameters.push(repeats ? 0 : strides[axis - missing]);
    }
  }

  tenon_device_p* const device_;
  const tenon_dtype dtype_, mask_;
  const tenon_attention_attrs attrs_;
  // One kernel for each number of tiles of value columns, from 1 to kMaxChunks.
  const LazyFunctions<1> functions_[kMaxChunks] = {LazyFunctions<1>({"attention"}),
                                                   LazyFunctions<1>({"attention"})};
};

}  // namespace

Prepared prepare_attention(const Request& request) {
  return {.kernel = std::make_unique<Attention>(request), .traits = kTraits};
}

}  // namespace tenon_cuda
