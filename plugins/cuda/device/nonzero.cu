// nonzero: the indices of nonzero elements, in row-major order. First, blocks count the nonzero
// elements of chunks. Then a scan of the counts yields the output offset of each chunk. Last,
// blocks write the indices.

constexpr int kEach = 4;  // Number of contiguous elements per thread.
constexpr i64 kChunkOfBlock = kEach * kBlock;

struct NonZero {
  View x;
  i64 n, n_chunks, room, fill;
  // `indices` has a row of `room` elements for each axis of x; `room` is an attribute of the call.
  i64 *counts, *indices, *n_found;
};

DEVICE bool is_found(const NonZero& p, i64 i) {
  return i < p.n && widen(data<const T>(p.x)[offset_of(p.x, i)]) != 0;
}

// Exclusive scan of `own` over the threads of a block. `sum` receives the total.
DEVICE i64 exclusive_scan_of_block(i64 own, i64* shared, i64* sum) {
  const int self = (int)threadIdx.x;
  shared[self] = own;
  __syncthreads();
  i64 before = 0, all = 0;
  for (int k = 0; k < kBlock; ++k) {
    if (k < self) before += shared[k];
    all += shared[k];
  }
  __syncthreads();
  *sum = all;
  return before;
}

KERNEL count_found(PARAMETERS(NonZero) p) {
  __shared__ i64 shared[kBlock];
  for (i64 chunk = blockIdx.x; chunk < p.n_chunks; chunk += gridDim.x) {
    i64 own = 0, sum = 0;
    for (int k = 0; k < kEach; ++k) {
      own += is_found(p, chunk * kChunkOfBlock + threadIdx.x * kEach + k) ? 1 : 0;
    }
    exclusive_scan_of_block(own, shared, &sum);
    if (threadIdx.x == 0) p.counts[chunk] = sum;
  }
}

// Exclusive scan of the chunks' counts, by one block.
KERNEL add_counts(PARAMETERS(NonZero) p) {
  __shared__ i64 shared[kBlock];
  i64 carry = 0;
#pragma unroll 1
  for (i64 tile = 0; tile < p.n_chunks; tile += kBlock) {
    const i64 chunk = tile + threadIdx.x;
    i64 sum = 0;
    const i64 own = chunk < p.n_chunks ? p.counts[chunk] : 0;
    const i64 before = exclusive_scan_of_block(own, shared, &sum);
    if (chunk < p.n_chunks) p.counts[chunk] = carry + before;
    carry += sum;
  }
  if (threadIdx.x == 0) *p.n_found = carry;
}

KERNEL fill_indices(PARAMETERS(NonZero) p) { FOR_EACH(i, p.x.rank * p.room) p.indices[i] = p.fill; }

KERNEL write_found(PARAMETERS(NonZero) p) {
  __shared__ i64 shared[kBlock];
  for (i64 chunk = blockIdx.x; chunk < p.n_chunks; chunk += gridDim.x) {
    const i64 first = chunk * kChunkOfBlock + threadIdx.x * kEach;
    i64 own = 0, sum = 0;
    for (int k = 0; k < kEach; ++k) own += is_found(p, first + k) ? 1 : 0;
    i64 column = p.counts[chunk] + exclusive_scan_of_block(own, shared, &sum);
    for (int k = 0; k < kEach; ++k) {
      if (!is_found(p, first + k)) continue;
      i64 rest = first + k;
      if (column < p.room) {
#pragma unroll 1
        for (int axis = (int)p.x.rank - 1; axis >= 0; --axis) {
          p.indices[axis * p.room + column] = rest % p.x.sizes[axis];
          rest /= p.x.sizes[axis];
        }
      }
      ++column;
    }
  }
}
