// rng_bits: Philox4x32-10. A block depends only on key and counter, so blocks are computed in
// parallel.

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include <array>

#include "plugins/simd/kernels/axes.h"

namespace tenon_simd {
namespace {

using Words = std::array<uint32_t, 4>;

inline Words philox(Words counter, uint32_t key0, uint32_t key1) {
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

// Blocks that are computed together, one in each lane of a vector. A word is in the lower half of
// its lane.
constexpr int64_t kLanes = 4;
typedef uint64_t Lanes __attribute__((vector_size(8 * kLanes)));

// Multiplies the words, and ignores the upper halves of the lanes of x.
inline Lanes multiply(Lanes x, uint32_t factor) {
#ifdef __AVX2__
  const __m256i y = _mm256_set1_epi64x(factor);
  return reinterpret_cast<Lanes>(_mm256_mul_epu32(reinterpret_cast<__m256i>(x), y));
#else
  return (x & 0xffffffffu) * factor;
#endif
}

// Computes kLanes consecutive blocks. `counter` is that of the first block, and its lowest word
// does not overflow within the blocks.
inline void philox_blocks(const Words& counter, uint32_t key0, uint32_t key1, std::byte* to) {
  const Lanes none = {};
  Lanes c0 = none + counter[0] + Lanes{0, 1, 2, 3}, c1 = none + counter[1];
  Lanes c2 = none + counter[2], c3 = none + counter[3];
  for (int round = 0; round < 10; ++round) {
    const Lanes left = multiply(c0, 0xD2511F53), right = multiply(c2, 0xCD9E8D57);
    c0 = (right >> 32) ^ c1 ^ key0;
    c1 = right;
    c2 = (left >> 32) ^ c3 ^ key1;
    c3 = left;
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  const Lanes first = (c0 & 0xffffffffu) | c1 << 32, second = (c2 & 0xffffffffu) | c3 << 32;
  const Lanes blocks[] = {__builtin_shufflevector(first, second, 0, 4, 1, 5),
                          __builtin_shufflevector(first, second, 2, 6, 3, 7)};
  std::memcpy(to, blocks, sizeof blocks);
}

// 128-bit addition that wraps, low word first.
inline Words advance(Words counter, uint64_t blocks) {
  uint64_t carry = blocks;
  for (uint32_t& word : counter) {
    const uint64_t sum = (carry & 0xffffffffu) + word;
    word = static_cast<uint32_t>(sum);
    carry = (carry >> 32) + (sum >> 32);
  }
  return counter;
}

}  // namespace

// Word w of the random bits is lane w % 4 of the Philox block at the counter plus w / 4. A u64
// consists of two words, low word first, which is its layout in memory.
Prepared prepare_rng_bits(const Request& request) {
  const int64_t words_each = request.output(0).dtype == TENON_UINT64 ? 2 : 1;
  return kernel(kTraits, [words_each, pool = &pool_of(request)](const tenon_launch& launch) {
    const tenon_view& state = launch.inputs[0];
    std::array<uint32_t, 6> from;
    for (int64_t i = 0; i < 6; ++i) {
      from[static_cast<size_t>(i)] = data<const uint32_t>(state)[i * stride_of(state, 0)];
    }
    const Words counter{from[2], from[3], from[4], from[5]};
    const int64_t n = count(launch.outputs[0]) * words_each;
    const int64_t blocks = (n + 3) / 4;
    std::byte* const to = data<std::byte>(launch.outputs[0]);
    pool->parallel_tasks(blocks, 16 * 1024, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        const Words first = advance(counter, static_cast<uint64_t>(block));
        if (block + kLanes <= std::min(end, n / 4) && first[0] < ~uint32_t{0} - kLanes) {
          philox_blocks(first, from[0], from[1], to + 16 * block);
          block += kLanes - 1;
          continue;
        }
        const Words words = philox(first, from[0], from[1]);
        const size_t used = static_cast<size_t>(std::min<int64_t>(4, n - 4 * block));
        std::memcpy(to + 16 * block, words.data(), used * sizeof(uint32_t));
      }
    });
    if (launch.n_outputs < 2 || !is_present(launch.outputs[1])) return;
    const Words next = advance(counter, static_cast<uint64_t>(blocks));
    uint32_t* const new_state = data<uint32_t>(launch.outputs[1]);
    std::copy_n(from.begin(), 2, new_state);
    std::copy(next.begin(), next.end(), new_state + 2);
  });
}

}  // namespace tenon_simd
