// Matrix products whose factors are computed by functions: matmul, and convolutions as implicit
// GEMM. The file before this one defines struct Factors and:
//   Row, Column, Deep   values that are precomputed for an index along m, n and k
//   row_of() etc.       compute these values
//   left(), right()     return an element of a factor
//   finished()          converts a sum to an element of the result, which is rounded later
//   index_of()          returns the linear index of an element in the result; -1: not stored
//
// and finish(Epilogue, index, element) stores the result (kernels/epilogue_source.cc).
//
// A block computes a tile or, if the product has few rows or columns, each thread computes an
// element. A sum is computed in runs of p.run products, and the sums of the runs are added in
// order. If there are few tiles, k is split, and another kernel adds the partial sums in order. The
// algorithm depends only on the sizes.

struct Product {
  i64 n_matrices, m, n, k;
  i64 n_splits, k_of_split, run;
  // For each factor, whether it is contiguous along k, and not along its rows or columns.
  i64 left_along_k, right_along_k;
  char* partial;  // Partial sums, one matrix per split of k.
  Epilogue epilogue;
  Factors factors;
};

DEVICE void store(const Product& p, i64 matrix, i64 row, i64 column, Accumulator<T> sum) {
  const i64 at = index_of(p.factors, matrix, row, column);
  if (at < 0) return;
  finish(p.epilogue, at, narrow<T>(finished(p.factors, matrix, row, column, sum)));
}
// Stores a sum of the product: as a partial sum of `split` if k is split, otherwise as the result.
DEVICE void give(const Product& p, i64 split, i64 matrix, i64 row, i64 column, Accumulator<T> sum) {
  if (p.n_splits == 1) return store(p, matrix, row, column, sum);
  const i64 at = ((split * p.n_matrices + matrix) * p.m + row) * p.n + column;
  ((Accumulator<T>*)p.partial)[at] = sum;
}

struct Tiles {
  Panel left, right;
  Deep deep[2][kDepth];  // Precomputed indices along k of the current panels and of the next ones.
};

// Position in a panel of an element that the thread loads: the index along k (`depth`), and along
// rows or columns (`i`).
struct Spot {
  int depth, i;
};
DEVICE Spot position_in_panel(bool along_k, int e) {
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
    const i64 row = row0 + position_in_panel(left_along_k, self + i * kBlock).i;
    const i64 column = column0 + position_in_panel(right_along_k, self + i * kBlock).i;
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
      const Spot l = position_in_panel(left_along_k, self + i * kBlock),
                 r = position_in_panel(right_along_k, self + i * kBlock);
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

// ---- kernels that run before and after a cuBLASLt product
//
// p.partial holds the elements of the product, rounded to T.

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
// Copies the elements of a factor into contiguous memory.
KERNEL pack_factor(PARAMETERS(Pack) p) {
  const T* const from = data<const T>(p.from);
  FOR_EACH(i, p.n)((T*)p.to)[i] = from[offset_of(p.from, i)];
}
