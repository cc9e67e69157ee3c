// Convolutions and pooling: a window that moves over three spatial axes, of which the first have size
// 1 where a tensor has fewer.

struct Planes {
  char* memory;
  u64 value[2];
  i64 batch, channels, batch_stride, channel_stride;
  i64 sizes[3], strides[3];
};
struct Window {
  i64 steps[3], pads[3], dilations[3], lhs_dilations[3];
};
struct Spatial {
  i64 at[3];
};

template <class E>
DEVICE E* data(const Planes& planes) {
  return (E*)(planes.memory != nullptr ? planes.memory : (char*)planes.value);
}
DEVICE i64 offset(const Planes& p, i64 n, i64 channel, const Spatial& s) {
  return n * p.batch_stride + channel * p.channel_stride + s.at[0] * p.strides[0] +
         s.at[1] * p.strides[1] + s.at[2] * p.strides[2];
}
DEVICE i64 places(const i64* sizes) { return sizes[0] * sizes[1] * sizes[2]; }
DEVICE Spatial place(i64 number, const i64* sizes) {
  const i64 line = number / sizes[2];
  return {{line / sizes[1], line % sizes[1], number - line * sizes[2]}};
}
// The element that tap k of the window at output p is on. False: it is on padding, or between the
// elements of a dilated input.
DEVICE bool find(const Window& w, const Spatial& p, const Spatial& k, const i64* sizes,
                 Spatial& found) {
  for (int i = 0; i < 3; ++i) {
    const i64 dilated = p.at[i] * w.steps[i] + k.at[i] * w.dilations[i] - w.pads[i];
    if (dilated < 0 || dilated % w.lhs_dilations[i] != 0) return false;
    found.at[i] = dilated / w.lhs_dilations[i];
    if (found.at[i] >= sizes[i]) return false;
  }
  return true;
}
struct Output {
  i64 n, channel;
  Spatial at;
};
DEVICE Output output(const Planes& y, i64 number) {
  const i64 n_places = places(y.sizes), plane = number / n_places;
  return {plane / y.channels, plane % y.channels, place(number - plane * n_places, y.sizes)};
}

// A sum of runs of kRun terms each.
constexpr int kRun = 256;
struct Sum {
  Accumulator<T> whole = 0, run = 0;
  int n = 0;
  __device__ __forceinline__ void add(Accumulator<T> x) {
    run += x;
    if (++n == kRun) {
      whole += run;
      run = 0;
      n = 0;
    }
  }
  __device__ __forceinline__ Accumulator<T> result() const { return whole + run; }
};

#if defined(IS_CONV)

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

#else

struct Pool {
  Planes x, y;
  Window window;
  i64 taps[3];
  i64 n;
  i64* indices;  // NULL: not wanted.
};
// The first NaN wins, then the first of the largest; padding never does.
KERNEL max_pool(PARAMETERS(Pool) p) {
  FOR_EACH(i, p.n) {
    const Output out = output(p.y, i);
    bool has_any = false;
    T best = T();
    i64 best_index = 0;
#pragma unroll 1
    for (i64 tap = 0; tap < places(p.taps); ++tap) {
      Spatial found;
      if (!find(p.window, out.at, place(tap, p.taps), p.x.sizes, found)) continue;
      const T candidate = data<const T>(p.x)[offset(p.x, out.n, out.channel, found)];
      if (has_any && (is_nan(best) || !(widen(best) < widen(candidate) || is_nan(candidate)))) {
        continue;
      }
      has_any = true;
      best = candidate;
      const i64 plane = out.n * p.x.channels + out.channel;
      best_index = ((plane * p.x.sizes[0] + found.at[0]) * p.x.sizes[1] + found.at[1]) *
                       p.x.sizes[2] + found.at[2];
    }
    const i64 to = offset(p.y, out.n, out.channel, out.at);
    data<T>(p.y)[to] = best;
    if (p.indices != nullptr) p.indices[to] = best_index;
  }
}

// Padding counts as zeros.
KERNEL window_sum(PARAMETERS(Pool) p) {
  FOR_EACH(i, p.n) {
    const Output out = output(p.y, i);
    Sum sum;
#pragma unroll 1
    for (i64 tap = 0; tap < places(p.taps); ++tap) {
      Spatial found;
      if (!find(p.window, out.at, place(tap, p.taps), p.x.sizes, found)) continue;
      sum.add((Accumulator<T>)widen(data<const T>(p.x)[offset(p.x, out.n, out.channel, found)]));
    }
    data<T>(p.y)[offset(p.y, out.n, out.channel, out.at)] = narrow<T>(sum.result());
  }
}

#endif
