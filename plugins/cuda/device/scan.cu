// cumsum, cumprod, cummax and cummin. A thread scans a short line. A block scans a long line in
// tiles. Each thread processes `each` neighbouring elements of a tile. The order of the sums
// depends only on the line's length.

typedef REDUCE Reduce;
typedef Reduce::Partial Partial;

struct Scan {
  View x;
  char *y, *indices;   // `indices`: indices of the extreme elements, for cummax and cummin.
  i64 strides[16];     // Strides of the outputs.
  i64 axis, n_lines, is_exclusive, is_reverse;
  i64 line_sizes[16];  // The sizes of x, with 1 along the axis.
  i64 each;
};

struct Line {
  const T* x;
  i64 to, n, x_stride, y_stride;
};
DEVICE Line line_at(const Scan& p, i64 number) {
  const int rank = (int)p.x.rank;
  return {data<const T>(p.x) + offset_of(number, rank, p.line_sizes, p.x.strides),
          offset_of(number, rank, p.line_sizes, p.strides), p.x.sizes[p.axis],
          p.x.strides[p.axis], p.strides[p.axis]};
}

// Joins the elements of a line from step `first` up to, but not including, step `end`.
DEVICE Partial join_steps(const Scan& p, const Line& line, i64 first, i64 end) {
  Partial own = Reduce::identity();
#pragma unroll 1
  for (i64 step = first; step < end; ++step) {
    const i64 i = p.is_reverse != 0 ? line.n - 1 - step : step;
    own = Reduce::join(own, Reduce::of(line.x[i * line.x_stride], step));
  }
  return own;
}
// Writes the scan results of the steps in [first, end). `value` joins the steps before `first`.
DEVICE void write_steps(const Scan& p, const Line& line, i64 first, i64 end, Partial value) {
#pragma unroll 1
  for (i64 step = first; step < end; ++step) {
    const i64 i = p.is_reverse != 0 ? line.n - 1 - step : step, at = line.to + i * line.y_stride;
    const Partial before = value;
    value = Reduce::join(value, Reduce::of(line.x[i * line.x_stride], step));
#if IS_EXTREME
    const i64 best = p.is_reverse != 0 ? line.n - 1 - value.index : value.index;
    ((T*)p.y)[at] = line.x[best * line.x_stride];
    if (p.indices != nullptr) ((i64*)p.indices)[at] = best;
#else
    ((T*)p.y)[at] = Reduce::result(p.is_exclusive != 0 ? before : value);
#endif
  }
}

KERNEL scan_by_thread(PARAMETERS(Scan) p) {
  FOR_EACH(number, p.n_lines) {
    const Line line = line_at(p, number);
    write_steps(p, line, 0, line.n, Reduce::identity());
  }
}

// Inclusive scan over the threads of a block: stores in shared[i] the joined values of threads 0 to
// i.
DEVICE void scan_block(Partial own, Partial* shared) {
  const int self = (int)threadIdx.x;
  shared[self] = own;
  __syncthreads();
  for (int by = 1; by < kBlock; by *= 2) {
    Partial before = own;
    if (self >= by) before = shared[self - by];
    __syncthreads();
    if (self >= by) own = Reduce::join(before, own);
    shared[self] = own;
    __syncthreads();
  }
}

KERNEL scan_by_block(PARAMETERS(Scan) p) {
  __shared__ Partial shared[kBlock];
  const int self = (int)threadIdx.x;
  for (i64 number = blockIdx.x; number < p.n_lines; number += gridDim.x) {
    const Line line = line_at(p, number);
    Partial carry = Reduce::identity();
#pragma unroll 1
    for (i64 tile = 0; tile < line.n; tile += kBlock * p.each) {
      const i64 first = tile + self * p.each, end = min(first + p.each, line.n);
      scan_block(join_steps(p, line, first, end), shared);
      const Partial before = self > 0 ? Reduce::join(carry, shared[self - 1]) : carry;
      const Partial all = shared[kBlock - 1];
      __syncthreads();
      write_steps(p, line, first, end, before);
      carry = Reduce::join(carry, all);
    }
  }
}
