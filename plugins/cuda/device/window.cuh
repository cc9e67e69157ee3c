// The sliding window of convolutions and pooling over three spatial axes. If a tensor has fewer
// spatial axes, leading ones of size 1 are added.

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
// Divides non-negative numbers, with 32 bits if possible: a 64-bit division takes several times as
// many instructions.
DEVICE i64 divide(i64 a, i64 b) {
  if (b == 1) return a;
  return ((u64)(a | b) >> 32) == 0 ? (i64)((u32)a / (u32)b) : a / b;
}
DEVICE i64 places(const i64* sizes) { return sizes[0] * sizes[1] * sizes[2]; }
DEVICE Spatial place(i64 number, const i64* sizes) {
  const i64 line = divide(number, sizes[2]), plane = divide(line, sizes[1]);
  return {{plane, line - plane * sizes[1], number - line * sizes[2]}};
}
// Adds the offset of the element of `x` that is under a tap of the window at `start`. The tap is
// already multiplied by the dilation. Returns false if the tap is over padding, or between elements
// of a dilated input.
DEVICE bool add_place(const Window& w, const Spatial& start, const Spatial& tap, const Planes& x,
                      i64& offset) {
  for (int i = 0; i < 3; ++i) {
    const i64 dilated = start.at[i] + tap.at[i];
    if (dilated < 0) return false;
    const i64 at = divide(dilated, w.lhs_dilations[i]);
    if (at >= x.sizes[i] || at * w.lhs_dilations[i] != dilated) return false;
    offset += at * x.strides[i];
  }
  return true;
}
// Computes the position in x under tap `k` of the window at output position `p`. Returns false
// if the tap is over padding, or between elements of a dilated input.
DEVICE bool find(const Window& w, const Spatial& p, const Spatial& k, const i64* sizes,
                 Spatial& found) {
  for (int i = 0; i < 3; ++i) {
    const i64 dilated = p.at[i] * w.steps[i] + k.at[i] * w.dilations[i] - w.pads[i];
    if (dilated < 0) return false;
    found.at[i] = divide(dilated, w.lhs_dilations[i]);
    if (found.at[i] >= sizes[i] || found.at[i] * w.lhs_dilations[i] != dilated) return false;
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

// Adds terms in runs of kRun, and then adds the sums of the runs.
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
