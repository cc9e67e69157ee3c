// The factors of matmul and gemm: the product of [..., m, k] and [..., k, n], with any layouts.
// Requires product.cuh after this file.

struct Factor {
  char* memory;  // NULL: the operand is passed by value.
  u64 value[2];
  i64 across, along_k;  // Strides between rows of `a` (or columns of `b`), and along k.
  i64 strides[16];      // Strides along the batch axes.
};
struct Factors {
  Factor a, b;
  i64 m, n;
  i64 rank, sizes[16];  // Rank and sizes of the batch axes.
  Factor c;             // The addend of gemm, with strides along rows and columns.
  i64 has_c;
  double alpha, beta;
};
DEVICE const T* data_of(const Factor& f) {
  return (const T*)(f.memory != nullptr ? f.memory : (const char*)f.value);
}

struct Row {
  const T* at;
};
struct Column {
  const T* at;
};
struct Deep {
  i64 a, b;
};
DEVICE Row row_of(const Factors& p, i64 matrix, i64 row) {
  return {data_of(p.a) + offset_of(matrix, (int)p.rank, p.sizes, p.a.strides) + row * p.a.across};
}
DEVICE Column column_of(const Factors& p, i64 matrix, i64 column) {
  return {data_of(p.b) + offset_of(matrix, (int)p.rank, p.sizes, p.b.strides) +
          column * p.b.across};
}
DEVICE Deep deep_of(const Factors& p, i64, i64 k) { return {k * p.a.along_k, k * p.b.along_k}; }
DEVICE T left(const Factors&, const Row& row, const Deep& deep) { return row.at[deep.a]; }
DEVICE T right(const Factors&, const Deep& deep, const Column& column) { return column.at[deep.b]; }

DEVICE i64 index_of(const Factors& p, i64 matrix, i64 row, i64 column) {
  return (matrix * p.m + row) * p.n + column;
}
DEVICE Accumulator<T> finished(const Factors& p, i64, i64 row, i64 column, Accumulator<T> sum) {
#if IS_GEMM
  if (p.alpha != 1) sum = (Accumulator<T>)p.alpha * sum;
  if (p.has_c != 0) {
    auto c = (Accumulator<T>)widen(data_of(p.c)[row * p.c.across + column * p.c.along_k]);
    if (p.beta != 1) c = (Accumulator<T>)p.beta * c;
    sum = sum + c;
  }
#endif
  return sum;
}
