/* rng_bits: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011). */

#include "plain.h"
#include "rows.h"

static void philox(const uint32_t* key, uint32_t* c) {
  uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; ++round) {
    const uint64_t left = (uint64_t)0xD2511F53 * c[0], right = (uint64_t)0xCD9E8D57 * c[2];
    c[0] = (uint32_t)(right >> 32) ^ c[1] ^ k0;
    c[1] = (uint32_t)right;
    c[2] = (uint32_t)(left >> 32) ^ c[3] ^ k1;
    c[3] = (uint32_t)left;
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
}

/* Adds `blocks` to the 128-bit counter, low word first. The counter wraps. */
static void advance(const uint32_t* counter, uint64_t blocks, uint32_t* to) {
  uint64_t carry = blocks;
  for (int i = 0; i < 4; ++i) {
    const uint64_t sum = (carry & 0xffffffffu) + counter[i];
    to[i] = (uint32_t)sum;
    carry = (carry >> 32) + (sum >> 32);
  }
}

/* Computes rng_bits. The state consists of the key (two words) and the counter. Word w of a draw is
 * lane w % 4 of block w / 4 after the counter. */
static void run_rng_bits(const tenon_kernel_p* self, const tenon_launch* launch) {
  const tenon_view* in = &launch->inputs[0];
  const int64_t* strides = plain_strides(in);
  uint32_t state[6], block[4];
  uint32_t *bits = launch->outputs[0].data, *next = launch->outputs[1].data;
  const uint64_t n = (uint64_t)plain_count(&launch->outputs[0]);
  (void)self;
  for (int i = 0; i < 6; ++i) state[i] = ((const uint32_t*)in->data)[strides ? i * strides[0] : 0];
  for (uint64_t i = 0; i < n; ++i) {
    if (i % 4 == 0) {
      advance(state + 2, i / 4, block);
      philox(state, block);
    }
    bits[i] = block[i % 4];
  }
  memcpy(next, state, 2 * sizeof *next);
  advance(state + 2, (n + 3) / 4, next + 2);
}

PLAIN_PREPARE(plain_prepare_rng_bits) {
  const tenon_kernel_p made = {.run = run_rng_bits};
  (void)request;
  (void)out_reason;
  return plain_make_kernel(device, &made, TENON_KERNEL_DETERMINISTIC, out_kernel, out_traits);
}
