// Matrix products whose factors are computed: matmul, and convolutions as implicit GEMM. The file
// before it defines Factors, from which elements are read:
//
//   Row, Column, Deep   what an index along m, n and k comes to, and row_of(), column_of(), deep_of()
//   left(), right()     an element of the factors
//   finished()          the value of a sum, before it is rounded
//   index_of()          where the result is; -1: nowhere
//
// and finish(Epilogue, index, element) stores the result (kernels/epilogue_source.cc).
//
// A block computes a tile, or, of a product with few rows or columns, a thread computes an element.
// Sums are of p.run products each, which are added in their order. Where there are few tiles, k is
// split, and the sums of the splits are added by another kernel in their order. All of this depends
// on the sizes alone.

struct Product {
  i64 n_matrices, m, n, k;
  i64 n_splits, k_of_split, run;
  i64 left_along_k, right_along_k;  // Whether neighbours in memory are neighbours along k.
  char* partial;                    // The sums of splits.
  Epilogue epilogue;
  Factors factors;
};

DEVICE void store(const Product& p, i64 matrix, i64 row, i64 column, Accumulator<T> sum) {
  const i64 at = index_of(p.factors, matrix, row, column);
  if (at < 0) return;
  finish(p.epilogue, at, narrow<T>(finished(p.factors, matrix, row, column, sum)));
}
// A sum of split `split`, or the whole.
DEVICE void give(const Product& p, i64 split, i64 matrix, i64 row, i64 column, Accumulator<T> sum) {
  if (p.n_splits == 1) return store(p, matrix, row, column, sum);
  const i64 at = ((split * p.n_matrices + matrix) * p.m + row) * p.n + column;
  ((Accumulator<T>*)p.partial)[at] = sum;
}

struct Tiles {
  Panel left, right;
  Deep deep[2][kDepth];  // Of the panels at hand, and of the next ones.
};

// The number along k, and along the rows or columns, of the element that the thread brings.
struct Spot {
  int depth, i;
};
DEVICE Spot spot(bool along_k, int e) {
  if (along_k) return {e % kDepth, e / kDepth};
  return {e / kTile, e % kTile};
}

DEVICE void multiply_tile(const Product& p, i64 tile, Tiles& shared) {
  const i64 n_tiles_m = (p.m + kTile - 1) / kTile, n_tiles_n = (p.n + kTile - 1) / kTile;
  const i64 matrix_tile = tile / p.n_splits, split = tile - matrix_tile * p.n_splits;
  const i64 matrix = matrix_tile / (n_tiles_m * n_tiles_n);
  const i64 in_matrix = matrix_tile - matrix * n_tiles_m * n_tiles_n;
  const i64 row0 = in_matrix / n_tiles_n * kTile, column0 = in_matrix % n_tiles_n * kTile;
  const i64 begin = split * p.k_of_split, end = min(begin + p.k_of_split, p.k);
  const int self = (int)threadIdx.x;
  const bool left_along_k = p.left_along_k != 0, right_along_k = p.right_along_k != 0;
  Row rows[kEach];
  Column columns[kEach];
  for (int i = 0; i < kEach; ++i) {
    const i64 row = row0 + spot(left_along_k, self + i * kBlock).i;
    const i64 column = column0 + spot(right_along_k, self + i * kBlock).i;
    if (row < p.m) rows[i] = row_of(p.factors, matrix, row);
    if (column < p.n) columns[i] = column_of(p.factors, matrix, column);
  }
  Sums sums;
  sums.clear();
  if (self < kDepth && begin + self < end) {
    shared.deep[0][self] = deep_of(p.factors, matrix, begin + self);
  }
  __syncthreads();
  int at = 0;
#pragma unroll 1
  for (i64 k0 = begin; k0 < end; k0 += kDepth, at ^= 1) {
    for (int i = 0; i < kEach; ++i) {
      const Spot l = spot(left_along_k, self + i * kBlock), r = spot(right_along_k, self + i * kBlock);
      const bool is_left = row0 + l.i < p.m && k0 + l.depth < end;
      const bool is_right = column0 + r.i < p.n && k0 + r.depth < end;
      shared.left.put(l.depth, l.i,
                      is_left ? left(p.factors, rows[i], shared.deep[at][l.depth]) : T{});
      shared.right.put(r.depth, r.i,
                       is_right ? right(p.factors, shared.deep[at][r.depth], columns[i]) : T{});
    }
    if (self < kDepth && k0 + kDepth + self < end) {
      shared.deep[at ^ 1][self] = deep_of(p.factors, matrix, k0 + kDepth + self);
    }
    __syncthreads();
    sums.multiply(shared.left, shared.right);
    __syncthreads();
    if ((k0 + kDepth - begin) % p.run == 0 || k0 + kDepth >= end) {
      sums.each([](int, int, Accumulator<T>& sum, Accumulator<T>& run) {
        sum = Reduce_sum<T>::join(sum, run);
        run = 0;
      });
    }
  }
  sums.each([&](int row, int column, Accumulator<T>& sum, Accumulator<T>&) {
    if (row0 + row < p.m && column0 + column < p.n) {
      give(p, split, matrix, row0 + row, column0 + column, sum);
    }
  });
}

KERNEL product_by_tile(PARAMETERS(Product) p) {
  __shared__ Tiles shared;
  const i64 n_tiles =
      p.n_splits * p.n_matrices * ((p.m + kTile - 1) / kTile) * ((p.n + kTile - 1) / kTile);
  for (i64 tile = blockIdx.x; tile < n_tiles; tile += gridDim.x) multiply_tile(p, tile, shared);
}

KERNEL product_by_thread(PARAMETERS(Product) p) {
  const i64 of_split = p.n_matrices * p.m * p.n;
  FOR_EACH(i, p.n_splits * of_split) {
    const i64 split = i / of_split, in_split = i - split * of_split;
    const i64 line = in_split / p.n, column = in_split - line * p.n;
    const i64 matrix = line / p.m, row = line - matrix * p.m;
    const i64 begin = split * p.k_of_split, end = min(begin + p.k_of_split, p.k);
    const Row own_row = row_of(p.factors, matrix, row);
    const Column own_column = column_of(p.factors, matrix, column);
    Accumulator<T> sum = 0;
#pragma unroll 1
    for (i64 k0 = begin; k0 < end; k0 += p.run) {
      Accumulator<T> run = 0;
      const i64 run_end = min(k0 + p.run, end);
#pragma unroll 1
      for (i64 k = k0; k < run_end; ++k) {
        const Deep deep = deep_of(p.factors, matrix, k);
        const auto a = (Accumulator<T>)widen(left(p.factors, own_row, deep));
        const auto b = (Accumulator<T>)widen(right(p.factors, deep, own_column));
        run = Reduce_sum<T>::join(run, Reduce_prod<T>::join(a, b));
      }
      sum = Reduce_sum<T>::join(sum, run);
    }
    give(p, split, matrix, row, column, sum);
  }
}

KERNEL join_splits(PARAMETERS(Product) p) {
  const i64 of_split = p.n_matrices * p.m * p.n;
  const Accumulator<T>* const partial = (const Accumulator<T>*)p.partial;
  FOR_EACH(i, of_split) {
    Accumulator<T> sum = partial[i];
#pragma unroll 1
    for (i64 split = 1; split < p.n_splits; ++split) {
      sum = Reduce_sum<T>::join(sum, partial[split * of_split + i]);
    }
    const i64 line = i / p.n;
    store(p, line / p.m, line % p.m, i - line * p.n, sum);
  }
}

// ---- around a product by a library: p.partial has its elements, each rounded to T

KERNEL finish_product(PARAMETERS(Product) p) {
  const T* const products = (const T*)p.partial;
  FOR_EACH(i, p.n_matrices * p.m * p.n) {
    const i64 line = i / p.n;
    store(p, line / p.m, line % p.m, i - line * p.n, (Accumulator<T>)widen(products[i]));
  }
}

struct Pack {
  View from;
  char* to;
  i64 n;
};
// Lays the elements of a factor out without gaps.
KERNEL pack_factor(PARAMETERS(Pack) p) {
  const T* const from = data<const T>(p.from);
  FOR_EACH(i, p.n) ((T*)p.to)[i] = from[offset_of(p.from, i)];
}
