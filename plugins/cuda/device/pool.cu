// Pooling. Requires window.cuh before this file.

struct Pool {
  Planes x, y;
  Window window;
  i64 taps[3];
  i64 n;
  i64* indices;  // NULL if the indices are not an output.
};
// Returns the first NaN of a window or, without NaN, the first of its largest elements. Ignores
// padding.
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

// Padding counts as zero.
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
