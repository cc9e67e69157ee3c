// Convolution and the gradient of its filter; window.cuh comes before.

struct Conv {
  Planes x, w, y;
  Window window;
  i64 n, out_of_group;
  View bias;  // Of rank 0: none.
};
KERNEL conv(PARAMETERS(Conv) p) {
  FOR_EACH(i, p.n) {
    const Output out = output(p.y, i);
    const i64 first = out.channel / p.out_of_group * p.w.channels;
    Sum sum;
#pragma unroll 1
    for (i64 c = 0; c < p.w.channels; ++c) {
#pragma unroll 1
      for (i64 tap = 0; tap < places(p.w.sizes); ++tap) {
        const Spatial k = place(tap, p.w.sizes);
        Spatial found;
        if (!find(p.window, out.at, k, p.x.sizes, found)) continue;
        sum.add((Accumulator<T>)widen(data<const T>(p.x)[offset(p.x, out.n, first + c, found)]) *
                (Accumulator<T>)widen(data<const T>(p.w)[offset(p.w, out.channel, c, k)]));
      }
    }
    if (p.bias.rank > 0) {
      sum.add((Accumulator<T>)widen(data<const T>(p.bias)[out.channel * p.bias.strides[0]]));
    }
    data<T>(p.y)[offset(p.y, out.n, out.channel, out.at)] = narrow<T>(sum.result());
  }
}

// A block has an element of dw: the sum of dy times the element of x that the tap is on.
struct ConvBackwardFilter {
  Planes x, dy, dw;
  Window window;
  i64 n, out_of_group;
};
KERNEL conv_backward_filter(PARAMETERS(ConvBackwardFilter) p) {
  __shared__ Accumulator<T> shared[kWarps];
  const i64 n_places = places(p.dy.sizes);
  for (i64 i = blockIdx.x; i < p.n; i += gridDim.x) {
    const Output to = output(p.dw, i);  // `n` is the output channel, `at` the tap.
    const i64 channel = to.n / p.out_of_group * p.dw.channels + to.channel;
    Sum sum;
#pragma unroll 1
    for (i64 k = threadIdx.x; k < p.dy.batch * n_places; k += kBlock) {
      const i64 n = k / n_places;
      const Spatial at = place(k - n * n_places, p.dy.sizes);
      Spatial found;
      if (!find(p.window, at, to.at, p.x.sizes, found)) continue;
      sum.add((Accumulator<T>)widen(data<const T>(p.x)[offset(p.x, n, channel, found)]) *
              (Accumulator<T>)widen(data<const T>(p.dy)[offset(p.dy, n, to.n, at)]));
    }
    const Accumulator<T> whole = join_block<Reduce_sum<T>>(sum.result(), shared);
    if (threadIdx.x == 0) {
      data<T>(p.dw)[offset(p.dw, to.n, to.channel, to.at)] = narrow<T>(whole);
    }
  }
}
