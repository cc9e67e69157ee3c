// int8_matmul: products of 8-bit integer matrices, with one zero point per row of `a` and one per
// column of `b`.

struct Int8Matmul {
  View a, b, zero_a, zero_b;
  char* y;
  i64 m, n, k, n_batches;
};
DEVICE const i64 offset_in_batch(const View& view, i64 batch, const Int8Matmul& p) {
  return offset_of(batch, (int)view.rank - 2, view.sizes, view.strides);
}
KERNEL int8_matmul(PARAMETERS(Int8Matmul) p) {
  const int row_axis = (int)p.a.rank - 2, column_axis = row_axis + 1;
  FOR_EACH(i, p.n_batches * p.m * p.n) {
    const i64 batch = i / (p.m * p.n), row = i / p.n % p.m, column = i % p.n;
    const i64 a = offset_in_batch(p.a, batch, p) + row * p.a.strides[row_axis];
    const i64 b = offset_in_batch(p.b, batch, p) + column * p.b.strides[column_axis];
    i32 zero_a = 0, zero_b = 0;
    if (p.zero_a.rank > 0) {
      zero_a =
          (i32)data<const TA>(p.zero_a)[offset_of(batch, row_axis, p.a.sizes, p.zero_a.strides) +
                                        row * p.zero_a.strides[row_axis]];
    }
    if (p.zero_b.rank > 0) {
      zero_b =
          (i32)data<const TB>(p.zero_b)[offset_of(batch, row_axis, p.b.sizes, p.zero_b.strides) +
                                        column * p.zero_b.strides[column_axis]];
    }
    u32 sum = 0;  // Unsigned, so that overflow wraps.
#pragma unroll 1
    for (i64 k = 0; k < p.k; ++k) {
      const i32 x = (i32)data<const TA>(p.a)[a + k * p.a.strides[column_axis]] - zero_a;
      const i32 y = (i32)data<const TB>(p.b)[b + k * p.b.strides[row_axis]] - zero_b;
      sum += (u32)(x * y);
    }
    ((i32*)p.y)[i] = (i32)sum;
  }
}
