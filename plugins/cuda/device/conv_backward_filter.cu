// The derivative of a convolution with respect to its filter as a matrix product: rows are the
// output channels of a group, columns its input channels and the taps, and k iterates over the
// output positions of all images. Requires window.cuh before this file and product.cuh after it.

struct Factors {
  Planes x, dy, dw;
  Window window;
  i64 rows;
};

struct Row {
  const T* dy;
};
struct Column {
  const T* x;
  Spatial tap;  // Tap coordinates times the dilation.
};
struct Deep {
  i64 x, dy;  // Offsets in x and in dy.
  Spatial start;
};
DEVICE Row row_of(const Factors& p, i64 group, i64 row) {
  return {data<const T>(p.dy) + (group * p.rows + row) * p.dy.channel_stride};
}
DEVICE Column column_of(const Factors& p, i64 group, i64 column) {
  const i64 n_taps = places(p.dw.sizes), channel = divide(column, n_taps);
  Column result = {data<const T>(p.x) + (group * p.dw.channels + channel) * p.x.channel_stride,
                   place(column - channel * n_taps, p.dw.sizes)};
  for (int i = 0; i < 3; ++i) result.tap.at[i] *= p.window.dilations[i];
  return result;
}
DEVICE Deep deep_of(const Factors& p, i64, i64 k) {
  const i64 n_places = places(p.dy.sizes), n = divide(k, n_places);
  Deep result = {n * p.x.batch_stride, n * p.dy.batch_stride,
                 place(k - n * n_places, p.dy.sizes)};
  for (int i = 0; i < 3; ++i) {
    i64& at = result.start.at[i];
    result.dy += at * p.dy.strides[i];
    at = at * p.window.steps[i] - p.window.pads[i];
  }
  return result;
}
DEVICE T left(const Factors&, const Row& row, const Deep& deep) { return row.dy[deep.dy]; }
DEVICE T right(const Factors& p, const Deep& deep, const Column& column) {
  i64 at = deep.x;
  if (!add_place(p.window, deep.start, column.tap, p.x, at)) return T{};
  return column.x[at];
}

DEVICE i64 index_of(const Factors& p, i64 group, i64 row, i64 column) {
  return (group * p.rows + row) * p.dw.channels * places(p.dw.sizes) + column;
}
DEVICE Accumulator<T> finished(const Factors&, i64, i64, i64, Accumulator<T> sum) { return sum; }
