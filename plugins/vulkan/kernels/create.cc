// iota and rng_bits.

#include <array>
#include <tuple>

#include "plugins/vulkan/kernels/each.h"
#include "plugins/vulkan/kernels/kernels.h"
#include "plugins/vulkan/kernels/shader.h"
#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan {
namespace {

using spirv::Bool;
using spirv::Code;
using spirv::Element;
using spirv::Elements;
using spirv::U32;

// ---- Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011)

using Block = std::array<U32, 4>;

Block philox(Block counter, U32 key0, U32 key1) {
  Code& code = *key0.code;
  for (uint32_t round = 0; round < 10; ++round) {
    const auto [left_low, left_high] = code.multiply_wide(counter[0], code.u32(0xD2511F53));
    const auto [right_low, right_high] = code.multiply_wide(counter[2], code.u32(0xCD9E8D57));
    const U32 first = key0 + 0x9E3779B9u * round, second = key1 + 0xBB67AE85u * round;
    counter = {right_high ^ counter[1] ^ first, right_low, left_high ^ counter[3] ^ second,
               left_low};
  }
  return counter;
}

// Adds a number of blocks to the 128-bit counter, modulo 2^128.
Block advance(const Block& counter, U32 blocks) {
  Block sum;
  U32 carry = blocks;
  for (size_t i = 0; i < 4; ++i)
    std::tie(sum[i], carry) = blocks.code->add_carry(counter[i], carry);
  return sum;
}

}  // namespace

// Each element is its index along the axis; it wraps if the integer dtype is too small.
Prepared prepare_iota(const Request& request) {
  const Capabilities& capabilities = capabilities_of(request.device());
  const tenon_dtype dtype = request.output(0).dtype;
  if (dtype == TENON_FLOAT64 && !capabilities.float64) return tenon_sdk::refuse("has no float64");
  Code code(capabilities, {.n_operands = 1, .local_size = kLocalSize});
  const Elements to(code, 0, dtype);
  const U32 n = code.parameter(0u), size = code.parameter(1u), stride = code.parameter(2u);
  for_each_element(code, to, n,
                   [&](U32 i) { return cast(Element(TENON_UINT32, i / stride % size), dtype); });
  const size_t axis =
      tenon_sdk::from_front(request.attrs<tenon_iota_attrs>().axis, request.output(0).rank);
  const auto fill = [axis, size_of = tenon_sdk::size_of(dtype)](const tenon_launch& launch,
                                                                Words& words) {
    const tenon_view& out = launch.outputs[0];
    const int64_t n_elements = tenon_sdk::count(out);
    push(words, n_elements);
    push(words, out.sizes[axis]);
    push(words, tenon_sdk::count(out.rank - axis - 1, out.sizes + axis + 1));
    return groups_for(n_words_of_elements(n_elements, size_of));
  };
  return prepare_one_dispatch(request.device(), code, 1, TENON_KERNEL_DETERMINISTIC, fill);
}

// Word w of the random bits is lane w % 4 of the Philox block at the counter plus w / 4. A u64
// consists of two words, the low one first. Each invocation computes one block of four words.
Prepared prepare_rng_bits(const Request& request) {
  const Capabilities& capabilities = capabilities_of(request.device());
  Code code(capabilities, {.n_operands = 3, .local_size = kLocalSize});
  const Elements state(code, 0, TENON_UINT32), bits(code, 1, TENON_UINT32),
      next(code, 2, TENON_UINT32);
  const U32 n_words = code.parameter(0u), stride = code.parameter(1u);
  std::array<U32, 6> words;
  for (uint32_t i = 0; i < 6; ++i) words[i] = state.load(stride * i).word();
  const Block counter = {words[2], words[3], words[4], words[5]};
  const U32 n_blocks = (n_words + 3) >> 2;
  code.for_each(n_blocks, [&](U32 block) {
    const Block drawn = philox(advance(counter, block), words[0], words[1]);
    for (uint32_t lane = 0; lane < 4; ++lane) {
      const U32 at = (block << 2) + lane;
      code.if_(at < n_words, [&] { bits.store(at, {TENON_UINT32, drawn[lane]}); });
    }
  });
  const Bool is_first = (code.group_index() | code.local_index()) == 0;
  code.if_(is_first, [&] {
    const Block after = advance(counter, n_blocks);
    for (uint32_t i = 0; i < 6; ++i) {
      next.store(code.u32(i), {TENON_UINT32, i < 2 ? words[i] : after[i - 2]});
    }
  });
  const uint32_t words_each = request.output(0).dtype == TENON_UINT64 ? 2 : 1;
  const auto fill = [words_each](const tenon_launch& launch, Words& parameters) {
    const int64_t n = tenon_sdk::count(launch.outputs[0]) * words_each;
    push(parameters, n);
    push(parameters, launch.inputs[0].strides[0]);
    // At least one invocation runs, because the next state is written even if the output is empty.
    return groups_for(std::max<uint64_t>(1, (static_cast<uint64_t>(n) + 3) / 4));
  };
  return prepare_one_dispatch(request.device(), code, 3,
                              TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC, fill);
}

}  // namespace tenon_vulkan
