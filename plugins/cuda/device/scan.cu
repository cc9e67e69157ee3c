// cumsum, cumprod, cummax and cummin: a block has a line, which it goes along in tiles of kBlock
// elements. The order of the sums depends on the line's length alone.

struct Scan {
  View x;
  char *y, *indices;   // Of the extremes.
  i64 strides[16];     // Of the outputs.
  i64 axis, n_lines, is_exclusive, is_reverse;
  i64 line_sizes[16];  // Those of x, with 1 along the axis.
};

// The join of what the threads up to each have.
template <class Reduce>
DEVICE typename Reduce::Partial scan_block(typename Reduce::Partial own,
                                           typename Reduce::Partial* shared) {
  const int self = (int)threadIdx.x;
  shared[self] = own;
  __syncthreads();
  for (int by = 1; by < kBlock; by *= 2) {
    typename Reduce::Partial before = own;
    if (self >= by) before = shared[self - by];
    __syncthreads();
    if (self >= by) own = Reduce::join(before, own);
    shared[self] = own;
    __syncthreads();
  }
  return own;
}

KERNEL scan(PARAMETERS(Scan) p) {
  typedef REDUCE Reduce;
  typedef Reduce::Partial Partial;
  __shared__ Partial shared[kBlock];
  const int axis = (int)p.axis, self = (int)threadIdx.x;
  const i64 n = p.x.sizes[axis];
  for (i64 line = blockIdx.x; line < p.n_lines; line += gridDim.x) {
    const T* x = data<const T>(p.x) + offset_of(line, (int)p.x.rank, p.line_sizes, p.x.strides);
    const i64 to = offset_of(line, (int)p.x.rank, p.line_sizes, p.strides);
    Partial carry = Reduce::identity();
#pragma unroll 1
    for (i64 tile = 0; tile < n; tile += kBlock) {
      const i64 step = tile + self, i = p.is_reverse != 0 ? n - 1 - step : step;
      Partial own = Reduce::identity();
      if (step < n) own = Reduce::of(x[i * p.x.strides[axis]], step);
      own = scan_block<Reduce>(own, shared);
      Partial before = Reduce::identity();
      if (self > 0) before = shared[self - 1];
      const Partial all = shared[kBlock - 1];
      __syncthreads();
      if (step < n) {
        const Partial value = Reduce::join(carry, p.is_exclusive != 0 ? before : own);
        const i64 at = to + i * p.strides[axis];
#if IS_EXTREME
        const i64 best = p.is_reverse != 0 ? n - 1 - value.index : value.index;
        ((T*)p.y)[at] = x[best * p.x.strides[axis]];
        if (p.indices != nullptr) ((i64*)p.indices)[at] = best;
#else
        ((T*)p.y)[at] = Reduce::result(value);
#endif
      }
      carry = Reduce::join(carry, all);
    }
  }
}
