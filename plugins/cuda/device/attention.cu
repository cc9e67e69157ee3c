// Attention with online softmax: a block processes a tile of 64 queries of a head. It iterates over
// tiles of 64 keys and keeps the scores of one tile in shared memory. For each query it maintains
// the largest score so far, the sum of exp(score - largest), and the sum of the values with these
// weights. If a tile has a larger score, the sums so far are multiplied by exp(largest before -
// largest). Requires tile.cuh before this file.
//
// A block computes kChunks tiles of columns of the values. If the values have more columns, several
// blocks compute the same scores and different columns.

typedef Accumulator<T> A;
constexpr int kChunks = N_CHUNKS;

struct Rows {
  char* memory;  // NULL: the operand is passed by value.
  u64 value[2];
  i64 strides[4];
};
struct Attention {
  Rows q, k, v, mask;
  char* y;
  i64 n_items, n_tiles, n_parts, heads, sharing, queries, keys, size, value_size;
  double scale, softcap;
};
template <class E>
DEVICE const E* matrix_of(const Rows& rows, i64 batch, i64 head) {
  return (const E*)(rows.memory != nullptr ? rows.memory : (const char*)rows.value) +
         batch * rows.strides[0] + head * rows.strides[1];
}

// The weights of a tile as panels of kDepth keys. They are the left factor of the product with the
// values.
template <class E, bool tensor_cores>
struct Weights {
  WidePanel<A> of_keys[kTile / kDepth];

  __device__ __forceinline__ void set(int key, int query, A weight) {
    of_keys[key / kDepth].at[key % kDepth][query] = weight;
  }
  __device__ __forceinline__ void multiply(int step, const typename TileSums<E, false>::Panel& values,
                                           TileSums<E, false>& sums) const {
    sums.multiply(of_keys[step], values);
  }
};
// On tensor cores, a weight is represented as the sum of two half-type values, which keeps about
// the precision of float32.
template <class E>
struct Weights<E, true> {
  HalfPanel high[kTile / kDepth], low[kTile / kDepth];

  __device__ __forceinline__ void set(int key, int query, A weight) {
    const E whole = narrow<E>(weight);
    high[key / kDepth].put(key % kDepth, query, whole);
    low[key / kDepth].put(key % kDepth, query, narrow<E>(weight - widen(whole)));
  }
  __device__ __forceinline__ void multiply(int step, const HalfPanel& values,
                                           TileSums<E, true>& sums) const {
    sums.multiply(high[step], values);
    sums.multiply(low[step], values);
  }
};
struct Shared {
  union {
    struct {
      Panel q, k;
    } panels;
    A scores[kTile][kTile + 1];  // [key][query].
    Weights<T, UsesTensorCores<T>::value> weights;
  };
  Panel values[kChunks];
  A largest[kTile], sum[kTile], factor[kTile];
  int has_keys[kTile];  // Whether at least one key of the query is not masked.
};

DEVICE A larger(A a, A b) { return Reduce_max<A>::join(a, b); }
template <class E>
DEVICE E from_neighbour(E x, int bits) {
  return __shfl_xor_sync(0xffffffffu, x, bits);
}

DEVICE bool meets(i64 query, i64 key, i64 end) { return key < end && (!IS_CAUSAL || key <= query); }
// Returns the value that the mask adds to a score.
DEVICE A mask_at(const Attention& p, const Mask* mask, i64 query, i64 key) {
  const Mask m = mask[query * p.mask.strides[2] + key * p.mask.strides[3]];
  if constexpr (Traits<Mask>::is_bool) {
    return widen(m) != 0 ? A(0) : lowest<A>();
  } else {
    return (A)widen(m);
  }
}
// Returns a score after scaling, softcap and mask, which is an input of the softmax.
DEVICE A score_of(const Attention& p, const Mask* mask, i64 query, i64 key, i64 end, A product) {
  if (query >= p.queries || !meets(query, key, end)) return lowest<A>();
  A score = product * (A)p.scale;
#if HAS_CAP
  score = op_tanh(score / (A)p.softcap) * (A)p.softcap;
#endif
  return HAS_MASK ? score + mask_at(p, mask, query, key) : score;
}

// Converts scores to weights and updates the state of the queries. Four neighbouring threads share
// a query; each processes every fourth key.
DEVICE void weigh(Shared& shared, const Attention& p, const Mask* mask, i64 query0, i64 key0,
                  i64 end) {
  const int query = (int)threadIdx.x / 4, part = (int)threadIdx.x % 4;
  A scores[kTile / 4];
  A largest = lowest<A>();
  for (int i = 0; i < kTile / 4; ++i) {
    scores[i] = shared.scores[part + 4 * i][query];
    largest = larger(largest, scores[i]);
  }
  for (int bits = 1; bits < 4; bits *= 2) largest = larger(largest, from_neighbour(largest, bits));
#if HAS_MASK
  // If all scores are minus infinity, the masks determine whether any key is left.
  int has_keys = largest == lowest<A>() ? 0 : 1;
  for (int i = 0; i < kTile / 4 && has_keys == 0 && query0 + query < p.queries; ++i) {
    const i64 key = key0 + part + 4 * i;
    if (!meets(query0 + query, key, end)) continue;
    has_keys = mask_at(p, mask, query0 + query, key) == lowest<A>() ? 0 : 1;
  }
  for (int bits = 1; bits < 4; bits *= 2) has_keys |= from_neighbour(has_keys, bits);
  if (part == 0) shared.has_keys[query] |= has_keys;
#endif
  const A before = shared.largest[query], sum_before = shared.sum[query];
  largest = larger(before, largest);
  // Avoids subtracting minus infinity from itself.
  const A from = largest == lowest<A>() ? A(0) : largest;
  const A factor = op_exp(before - from);
  A sum = 0;
  for (int i = 0; i < kTile / 4; ++i) {
    scores[i] = op_exp(scores[i] - from);
    sum += scores[i];
  }
  for (int bits = 1; bits < 4; bits *= 2) sum += from_neighbour(sum, bits);
  __syncthreads();  // Waits until all threads have read the scores, because their memory is reused.
  for (int i = 0; i < kTile / 4; ++i) shared.weights.set(part + 4 * i, query, scores[i]);
  if (part == 0) {
    shared.largest[query] = largest;
    shared.sum[query] = sum_before * factor + sum;
    shared.factor[query] = factor;
  }
}

DEVICE void attend(const Attention& p, i64 item, Shared& shared) {
  const i64 tile = item / p.n_parts, matrix = tile / p.n_tiles;
  const i64 batch = matrix / p.heads, head = matrix - batch * p.heads;
  const i64 column0 = (item - tile * p.n_parts) * kChunks * kTile;
  const i64 query0 = (tile - matrix * p.n_tiles) * kTile;
  const T* const q = matrix_of<T>(p.q, batch, head);
  const T* const k = matrix_of<T>(p.k, batch, head / p.sharing);
  const T* const v = matrix_of<T>(p.v, batch, head / p.sharing);
  const Mask* const mask = matrix_of<Mask>(p.mask, batch, head);
  // In causal attention, keys after the last query of the tile are skipped.
  const i64 end = IS_CAUSAL ? min(p.keys, query0 + kTile) : p.keys;
  const int self = (int)threadIdx.x;
  Sums values[kChunks];
  for (int c = 0; c < kChunks; ++c) values[c].clear();
  if (self < kTile) {
    shared.largest[self] = lowest<A>();
    shared.sum[self] = 0;
    shared.has_keys[self] = 0;
  }
#pragma unroll 1
  for (i64 key0 = 0; key0 < end; key0 += kTile) {
    Sums scores;
    scores.clear();
#pragma unroll 1
    for (i64 d0 = 0; d0 < p.size; d0 += kDepth) {
      __syncthreads();
      for (int e = self; e < kTile * kDepth; e += kBlock) {
        const int depth = e % kDepth, i = e / kDepth;
        const bool is_size = d0 + depth < p.size;
        const bool is_query = is_size && query0 + i < p.queries, is_key = is_size && key0 + i < end;
        const i64 along = d0 + depth;
        shared.panels.q.put(
            depth, i, is_query ? q[(query0 + i) * p.q.strides[2] + along * p.q.strides[3]] : T{});
        shared.panels.k.put(
            depth, i, is_key ? k[(key0 + i) * p.k.strides[2] + along * p.k.strides[3]] : T{});
      }
      __syncthreads();
      scores.multiply(shared.panels.q, shared.panels.k);
    }
    __syncthreads();
    scores.each([&](int query, int key, A&, A& product) {
      shared.scores[key][query] = score_of(p, mask, query0 + query, key0 + key, end, product);
    });
    __syncthreads();
    weigh(shared, p, mask, query0, key0, end);
    __syncthreads();
    for (int c = 0; c < kChunks; ++c) {
      values[c].each([&](int query, int, A& sum, A& run) {
        sum = sum * shared.factor[query];
        run = 0;
      });
    }
#pragma unroll 1
    for (int step = 0; step < kTile / kDepth; ++step) {
      if (key0 + step * kDepth >= end) break;
      for (int e = self; e < kChunks * kTile * kDepth; e += kBlock) {
        const int column = e % (kChunks * kTile), depth = e / (kChunks * kTile);
        const i64 key = key0 + step * kDepth + depth;
        const bool is_value = key < end && column0 + column < p.value_size;
        shared.values[column / kTile].put(
            depth, column % kTile,
            is_value ? v[key * p.v.strides[2] + (column0 + column) * p.v.strides[3]] : T{});
      }
      __syncthreads();
      for (int c = 0; c < kChunks; ++c) {
        shared.weights.multiply(step, shared.values[c], values[c]);
      }
      __syncthreads();
    }
    for (int c = 0; c < kChunks; ++c) {
      values[c].each([](int, int, A& sum, A& run) { sum += run; });
    }
  }
  __syncthreads();
  for (int c = 0; c < kChunks; ++c) {
    values[c].each([&](int query, int column, A& sum, A&) {
      const i64 to = column0 + c * kTile + column;
      if (query0 + query >= p.queries || to >= p.value_size) return;
      // Without a mask, a query attends to no key only if there are no keys.
      const bool has_none = p.keys == 0 || (HAS_MASK && shared.has_keys[query] == 0);
      const A mean = has_none ? A(0) : sum / shared.sum[query];
      ((T*)p.y)[(matrix * p.queries + query0 + query) * p.value_size + to] = narrow<T>(mean);
    });
  }
  __syncthreads();
}

KERNEL attention(PARAMETERS(Attention) p) {
  __shared__ Shared shared;
  for (i64 item = blockIdx.x; item < p.n_items; item += gridDim.x) attend(p, item, shared);
}
