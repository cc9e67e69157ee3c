// rng_bits: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).

#include <array>

#include "plugins/ref/kernels.h"
#include "plugins/sdk/view.h"

namespace tenon_ref {
namespace {

using Words = std::array<uint32_t, 4>;

// A generator's state: the key, then the counter, low words first.
struct State {
  uint32_t key[2];
  Words counter;
};

Words philox(Words counter, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t left = uint64_t{0xD2511F53} * counter[0];
    const uint64_t right = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(right >> 32) ^ counter[1] ^ key0, static_cast<uint32_t>(right),
               static_cast<uint32_t>(left >> 32) ^ counter[3] ^ key1, static_cast<uint32_t>(left)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return counter;
}

// Adds `blocks` to a 128-bit counter, with wraparound.
Words advance(Words counter, uint64_t blocks) {
  uint64_t carry = blocks;
  for (uint32_t& word : counter) {
    const uint64_t sum = (carry & 0xffffffffu) + word;
    word = static_cast<uint32_t>(sum);
    carry = (carry >> 32) + (sum >> 32);
  }
  return counter;
}

}  // namespace

// Draws 32-bit words. Word w is lane w % 4 of the Philox block at counter + w / 4. A uint64 element
// consists of two words, the low one first.
Prepared prepare_rng_bits(const Request& request) {
  const tenon_dtype dtype = request.output(0).dtype;
  if (dtype != TENON_UINT32 && dtype != TENON_UINT64) return {};
  const uint64_t words_each = dtype == TENON_UINT64 ? 2 : 1;
  return tenon_sdk::kernel(kTraits, [words_each](const tenon_launch& launch) {
    const tenon_view& in = launch.inputs[0];
    uint32_t words[6];
    for (int i = 0; i < 6; ++i) {
      words[i] = tenon_sdk::data<const uint32_t>(in)[i * in.strides[0]];
    }
    const State state = {{words[0], words[1]}, {words[2], words[3], words[4], words[5]}};

    const auto n = static_cast<uint64_t>(tenon_sdk::count(launch.outputs[0])) * words_each;
    const auto word = [&](uint64_t w) {
      return philox(advance(state.counter, w / 4), state.key[0], state.key[1])[w % 4];
    };
    if (words_each == 1) {
      auto* bits = tenon_sdk::data<uint32_t>(launch.outputs[0]);
      for (uint64_t i = 0; i < n; ++i) bits[i] = word(i);
    } else {
      auto* bits = tenon_sdk::data<uint64_t>(launch.outputs[0]);
      for (uint64_t i = 0; i < n / 2; ++i)
        bits[i] = word(2 * i) + (uint64_t{word(2 * i + 1)} << 32);
    }

    const Words next = advance(state.counter, (n + 3) / 4);
    auto* new_state = tenon_sdk::data<uint32_t>(launch.outputs[1]);
    new_state[0] = state.key[0];
    new_state[1] = state.key[1];
    for (int i = 0; i < 4; ++i) new_state[2 + i] = next[i];
  });
}

}  // namespace tenon_ref
