// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011). Word w of the
// random bits is lane w % 4 of the Philox block at the counter plus w / 4. A u64 consists of two
// words, the low one first.

struct Random {
  View state;  // The key, followed by the counter; low words first.
  i64 n;       // Number of elements.
  char *bits, *new_state;
};
struct Block {
  u32 word[4];
};

DEVICE Block philox(Block counter, u32 key0, u32 key1) {
  for (int round = 0; round < 10; ++round) {
    const u64 left = (u64)0xD2511F53u * counter.word[0], right = (u64)0xCD9E8D57u * counter.word[2];
    counter = {{(u32)(right >> 32) ^ counter.word[1] ^ key0, (u32)right,
                (u32)(left >> 32) ^ counter.word[3] ^ key1, (u32)left}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

// Adds a number of blocks to the 128-bit counter, which wraps.
DEVICE Block advance(Block counter, u64 blocks) {
  u64 carry = blocks;
  for (int i = 0; i < 4; ++i) {
    const u64 sum = (carry & 0xffffffffu) + counter.word[i];
    counter.word[i] = (u32)sum;
    carry = (carry >> 32) + (sum >> 32);
  }
  return counter;
}

KERNEL rng_bits(PARAMETERS(Random) p) {
  const u32* state = data<const u32>(p.state);
  const i64 stride = p.state.strides[0];
  const u32 key0 = state[0], key1 = state[stride];
  const Block counter = {
      {state[2 * stride], state[3 * stride], state[4 * stride], state[5 * stride]}};
  constexpr int words_each = sizeof(T) / 4, per_block = 4 / words_each;
  FOR_EACH(i, (p.n + per_block - 1) / per_block) {
    const Block block = philox(advance(counter, (u64)i), key0, key1);
    for (int k = 0; k < per_block && i * per_block + k < p.n; ++k) {
      u64 value = block.word[k * words_each];
      if (words_each == 2) value |= (u64)block.word[(k * words_each + 1) % 4] << 32;
      ((T*)p.bits)[i * per_block + k] = (T)value;
    }
  }
  if (first_number() == 0) {
    const Block next = advance(counter, ((u64)p.n * words_each + 3) / 4);
    u32* to = (u32*)p.new_state;
    to[0] = key0;
    to[1] = key1;
    for (int i = 0; i < 4; ++i) to[2 + i] = next.word[i];
  }
}
