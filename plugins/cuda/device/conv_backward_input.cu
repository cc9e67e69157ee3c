// The derivative of a convolution with respect to its input as a matrix product. Input position x
// meets tap k of the window at output position y if
//
//   x * lhs_dilation + pad = y * step + k * dilation
//
// Along a strided axis, only every tap_step-th tap satisfies this equation. The first of these taps
// depends on the phase of x, which is x modulo the number of phases. The positions with the same
// phase along each axis form a separate matrix product, whose k iterates over the taps of the phase
// only (PhaseAxis in kernels/conv.cc). Rows are the input channels of a group, columns the
// positions of a phase in all images, and k iterates over the group's output channels and the
// phase's taps. Requires window.cuh before this file and product.cuh after it.

struct Phases {
  i64 n, tap_step;       // Number of phases of the axis, and distance between taps of a phase.
  i64 n_places, n_taps;  // Largest number of positions, and of taps, in any phase.
  i64 first_taps[8];
};
struct Factors {
  Planes dy, w, dx;
  Window window;
  i64 rows, channels;  // Number of input channels, and of output channels, in each group.
  Phases phases[3];
};

struct Phase {
  i64 group, of_axis[3];
};
DEVICE Phase phase_of(const Factors& p, i64 matrix) {
  Phase result;
  for (int i = 2; i >= 0; --i) {
    const i64 rest = divide(matrix, p.phases[i].n);
    result.of_axis[i] = matrix - rest * p.phases[i].n;
    matrix = rest;
  }
  result.group = matrix;
  return result;
}

constexpr i64 kNoTap = -1;  // Value of Deep::tap.at[0] for indices along k that have no tap.

struct Row {
  const T* w;
};
struct Column {
  const T* dy;
  Spatial at;  // x * lhs_dilation + pad, for input position x.
};
struct Deep {
  i64 dy, w;    // Offsets in dy and in the filter.
  Spatial tap;  // Tap coordinates times the dilation.
};
DEVICE Row row_of(const Factors& p, i64 matrix, i64 row) {
  return {data<const T>(p.w) + phase_of(p, matrix).group * p.channels * p.w.batch_stride +
          row * p.w.channel_stride};
}
// Computes the image `n` and position `x` of a column. Returns false if the position does not
// exist: some phases have one position less than others along an axis.
DEVICE bool find_column(const Factors& p, const Phase& phase, i64 column, i64& n, Spatial& x) {
  bool exists = true;
  for (int i = 2; i >= 0; --i) {
    const Phases& axis = p.phases[i];
    const i64 rest = divide(column, axis.n_places);
    x.at[i] = (column - rest * axis.n_places) * axis.n + phase.of_axis[i];
    exists = exists && x.at[i] < p.dx.sizes[i];
    column = rest;
  }
  n = column;
  return exists;
}
DEVICE Column column_of(const Factors& p, i64 matrix, i64 column) {
  const Phase phase = phase_of(p, matrix);
  i64 n;
  Column result;
  find_column(p, phase, column, n, result.at);
  result.dy =
      data<const T>(p.dy) + n * p.dy.batch_stride + phase.group * p.channels * p.dy.channel_stride;
  for (int i = 0; i < 3; ++i) {
    i64& at = result.at.at[i];
    at = at * p.window.lhs_dilations[i] + p.window.pads[i];
  }
  return result;
}
DEVICE Deep deep_of(const Factors& p, i64 matrix, i64 k) {
  const Phase phase = phase_of(p, matrix);
  Deep result;
  i64 w = 0;
  bool exists = true;
  for (int i = 2; i >= 0; --i) {
    const Phases& axis = p.phases[i];
    const i64 rest = divide(k, axis.n_taps);
    const i64 tap = axis.first_taps[phase.of_axis[i]] + (k - rest * axis.n_taps) * axis.tap_step;
    exists = exists && tap < p.w.sizes[i];
    w += tap * p.w.strides[i];
    result.tap.at[i] = tap * p.window.dilations[i];
    k = rest;
  }
  result.dy = k * p.dy.channel_stride;
  result.w = w + k * p.w.batch_stride;
  if (!exists) result.tap.at[0] = kNoTap;
  return result;
}
DEVICE T left(const Factors&, const Row& row, const Deep& deep) {
  return deep.tap.at[0] == kNoTap ? T{} : row.w[deep.w];
}
DEVICE T right(const Factors& p, const Deep& deep, const Column& column) {
  if (deep.tap.at[0] == kNoTap) return T{};
  i64 at = deep.dy;
  for (int i = 0; i < 3; ++i) {
    const i64 from = column.at.at[i] - deep.tap.at[i];
    if (from < 0) return T{};
    const i64 y = divide(from, p.window.steps[i]);
    if (y * p.window.steps[i] != from || y >= p.dy.sizes[i]) return T{};
    at += y * p.dy.strides[i];
  }
  return column.dy[at];
}

DEVICE i64 index_of(const Factors& p, i64 matrix, i64 row, i64 column) {
  const Phase phase = phase_of(p, matrix);
  i64 n;
  Spatial x;
  if (!find_column(p, phase, column, n, x)) return -1;
  const i64 plane = n * p.dx.channels + phase.group * p.rows + row;
  return ((plane * p.dx.sizes[0] + x.at[0]) * p.dx.sizes[1] + x.at[1]) * p.dx.sizes[2] + x.at[2];
}
DEVICE Accumulator<T> finished(const Factors&, i64, i64, i64, Accumulator<T> sum) { return sum; }
