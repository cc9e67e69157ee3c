#include "core/ops/random/random_draws.h"

namespace tenon::ops {

TensorType rng_state_type() { return TensorType(DType::kU32, {kRngStateWords}); }

// Requires the first input to be a generator's state.
void require_rng_state(TypeSpan in) {
  require(in[0].dtype == DType::kU32 && in[0].shape == Dims{kRngStateWords},
          "C1: state must be u32[6], but is {}", in[0]);
}

// Infers the types of a draw of floats and of the new state.
TensorTypes infer_floating_draw(TypeSpan in, DType dtype, const Sizes& shape) {
  require_rng_state(in);
  require(is_floating(dtype), "C2: dtype must be floating point, but is {}", dtype);
  return {require_sizes(dtype, shape, "C3"), rng_state_type()};
}

// Draws evenly spaced floats in [0, 1). Returns the floats and the new state.
Tensors draw_uniform(const Tensor& state, const Dims& shape, DType dtype) {
  struct Source {
    DType bits;
    int64_t dropped;  // Number of low bits of a word that the dtype's fraction cannot hold.
    double step;      // Distance between adjacent numbers.
  };
  const auto source = [&]() -> Source {
    switch (dtype) {
      case DType::kF64:
        return {DType::kU64, 11, 0x1p-53};
      case DType::kF16:
        return {DType::kU32, 21, 0x1p-11};
      case DType::kBF16:
        return {DType::kU32, 24, 0x1p-8};
      default:
        return {DType::kU32, 8, 0x1p-24};
    }
  }();
  Tensors drawn = rng_bits(state, shape, source.bits);
  drawn[0] = cast(shift_right(drawn[0], integer(source.dropped)), dtype) * source.step;
  return drawn;
}

}  // namespace tenon::ops
