// concat, pad, dynamic_slice and dynamic_update_slice: kernels that move elements without
// computing.

// Parameters of a copy of view `x` into the output. Element 0 of x is stored at address `to`.
// `strides` are the strides of the output.
struct CopyView {
  View x;
  i64 n;
  char* to;
  i64 strides[16];
};
KERNEL copy_view(PARAMETERS(CopyView) p) {
  FOR_EACH(i, p.n) {
    ((T*)p.to)[offset_of(i, (int)p.x.rank, p.x.sizes, p.strides)] =
        data<const T>(p.x)[offset_of(p.x, i)];
  }
}

// Parameters of pad. Without a value operand, the padding is zero. Negative padding removes
// elements.
struct Pad {
  View x, value, y;
  i64 n;
  i64 pads[16];
};
KERNEL pad(PARAMETERS(Pad) p) {
  const T padding = *data<const T>(p.value);
  FOR_EACH(i, p.n) {
    i64 rest = i, from = 0;
    bool is_inside = true;
#pragma unroll 1
    for (int axis = (int)p.y.rank - 1; axis >= 0; --axis) {
      const i64 q = rest / p.y.sizes[axis], at = rest - q * p.y.sizes[axis] - p.pads[axis];
      is_inside = is_inside && at >= 0 && at < p.x.sizes[axis];
      from += at * p.x.strides[axis];
      rest = q;
    }
    data<T>(p.y)[i] = is_inside ? data<const T>(p.x)[from] : padding;
  }
}

// Returns the start of a slice of `size` elements, clamped so that the slice is within `bound`. A
// negative start counts from the end.
DEVICE i64 wrap_start(i64 start, i64 bound, i64 size) {
  if (start < 0) start += bound;
  return max((i64)0, min(start, bound - size));
}
DEVICE i64 start_along(const View& starts, int axis, i64 bound, i64 size) {
  return wrap_start((i64)data<const Index>(starts)[axis * starts.strides[0]], bound, size);
}

struct Slice {
  View x, starts, y;
  i64 n;
};
KERNEL dynamic_slice(PARAMETERS(Slice) p) {
  i64 from = 0;
#pragma unroll 1
  for (int axis = 0; axis < p.x.rank; ++axis) {
    from += start_along(p.starts, axis, p.x.sizes[axis], p.y.sizes[axis]) * p.x.strides[axis];
  }
  FOR_EACH(i, p.n) {
    data<T>(p.y)[i] =
        data<const T>(p.x)[from + offset_of(i, (int)p.y.rank, p.y.sizes, p.x.strides)];
  }
}

struct UpdateSlice {
  View x, update, starts, y;
  i64 n;
};
KERNEL dynamic_update_slice(PARAMETERS(UpdateSlice) p) {
  FOR_EACH(i, p.n) {
    i64 rest = i, of_update = 0;
    bool is_inside = true;
#pragma unroll 1
    for (int axis = (int)p.y.rank - 1; axis >= 0; --axis) {
      const i64 size = p.update.sizes[axis], q = rest / p.y.sizes[axis];
      const i64 at =
          rest - q * p.y.sizes[axis] - start_along(p.starts, axis, p.y.sizes[axis], size);
      is_inside = is_inside && at >= 0 && at < size;
      of_update += at * p.update.strides[axis];
      rest = q;
    }
    data<T>(p.y)[i] =
        is_inside ? data<const T>(p.update)[of_update] : data<const T>(p.x)[offset_of(p.x, i)];
  }
}
