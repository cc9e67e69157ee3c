// Matrix products [..., m, k] times [..., k, n]: a block has a tile of kTile x kTile elements, a
// thread 4 x 4 of them. Sums are of kRun products each, which are added in their order; it depends on
// k alone.

constexpr int kTile = 64, kDepth = 16, kEach = 4, kRun = 256;

struct Matmul {
  View a, b;
  char* y;
  i64 m, n, k;
  i64 a_row, a_column, b_row, b_column;
  i64 n_batches, batch_rank, batch_sizes[16];
};

template <class A>
struct Tiles {
  A a[kDepth][kTile + 1];
  A b[kDepth][kTile + 1];
};

DEVICE void multiply_tile(const Matmul& p, i64 tile, Tiles<Accumulator<T>>& shared) {
  typedef Accumulator<T> A;
  const i64 n_tiles_m = (p.m + kTile - 1) / kTile, n_tiles_n = (p.n + kTile - 1) / kTile;
  const i64 batch = tile / (n_tiles_m * n_tiles_n), in_batch = tile - batch * n_tiles_m * n_tiles_n;
  const i64 row0 = in_batch / n_tiles_n * kTile, column0 = in_batch % n_tiles_n * kTile;
  const T* a = data<const T>(p.a) +
               offset_of(batch, (int)p.batch_rank, p.batch_sizes, p.a.strides);
  const T* b = data<const T>(p.b) +
               offset_of(batch, (int)p.batch_rank, p.batch_sizes, p.b.strides);
  const int self = (int)threadIdx.x, own_row = self / 16 * kEach, own_column = self % 16 * kEach;
  A sums[kEach][kEach], run[kEach][kEach];
  for (int i = 0; i < kEach; ++i) {
    for (int j = 0; j < kEach; ++j) sums[i][j] = run[i][j] = A(0);
  }
  for (i64 k0 = 0; k0 < p.k; k0 += kDepth) {
    for (int e = self; e < kTile * kDepth; e += 256) {
      // Neighbouring threads read neighbouring elements of b, and of a along its rows.
      const int depth = e % kDepth, row = e / kDepth;
      const bool is_in_a = row0 + row < p.m && k0 + depth < p.k;
      shared.a[depth][row] =
          is_in_a ? (A)widen(a[(row0 + row) * p.a_row + (k0 + depth) * p.a_column]) : A(0);
      const int column = e % kTile, depth_b = e / kTile;
      const bool is_in_b = column0 + column < p.n && k0 + depth_b < p.k;
      shared.b[depth_b][column] =
          is_in_b ? (A)widen(b[(k0 + depth_b) * p.b_row + (column0 + column) * p.b_column]) : A(0);
    }
    __syncthreads();
    for (int depth = 0; depth < kDepth; ++depth) {
      for (int i = 0; i < kEach; ++i) {
        for (int j = 0; j < kEach; ++j) {
          run[i][j] = Reduce_sum<T>::join(
              run[i][j], Reduce_prod<T>::join(shared.a[depth][own_row + i],
                                              shared.b[depth][own_column + j]));
        }
      }
    }
    __syncthreads();
    if ((k0 + kDepth) % kRun == 0 || k0 + kDepth >= p.k) {
      for (int i = 0; i < kEach; ++i) {
        for (int j = 0; j < kEach; ++j) {
          sums[i][j] = Reduce_sum<T>::join(sums[i][j], run[i][j]);
          run[i][j] = A(0);
        }
      }
    }
  }
  T* y = (T*)p.y + batch * p.m * p.n;
  for (int i = 0; i < kEach; ++i) {
    for (int j = 0; j < kEach; ++j) {
      const i64 row = row0 + own_row + i, column = column0 + own_column + j;
      if (row < p.m && column < p.n) y[row * p.n + column] = narrow<T>(sums[i][j]);
    }
  }
}

KERNEL matmul(PARAMETERS(Matmul) p) {
  __shared__ Tiles<Accumulator<T>> shared;
  const i64 n_tiles =
      p.n_batches * ((p.m + kTile - 1) / kTile) * ((p.n + kTile - 1) / kTile);
  for (i64 tile = blockIdx.x; tile < n_tiles; tile += gridDim.x) multiply_tile(p, tile, shared);
}
