// Convolution as a matrix product: rows are the output channels of a group, columns the output
// positions of all images, and k iterates over the group's input channels and the taps. Requires
// window.cuh before this file and product.cuh after it.

struct Factors {
  Planes x, w, y;
  Window window;
  i64 rows;
  View bias;  // The rank is 0 if there is no bias.
};

struct Row {
  const T* w;
};
struct Column {
  const T* x;  // The first input channel of the group.
  Spatial start;
};
struct Deep {
  i64 channel, w;  // Offset of the channel in x, and of the tap in the filter `w`.
  Spatial tap;     // Tap coordinates times the dilation.
};
DEVICE Row row_of(const Factors& p, i64 group, i64 row) {
  return {data<const T>(p.w) + (group * p.rows + row) * p.w.batch_stride};
}
DEVICE Column column_of(const Factors& p, i64 group, i64 column) {
  const i64 n_places = places(p.y.sizes), n = divide(column, n_places);
  Column result = {
      data<const T>(p.x) + n * p.x.batch_stride + group * p.w.channels * p.x.channel_stride,
      place(column - n * n_places, p.y.sizes)};
  for (int i = 0; i < 3; ++i) {
    result.start.at[i] = result.start.at[i] * p.window.steps[i] - p.window.pads[i];
  }
  return result;
}
DEVICE Deep deep_of(const Factors& p, i64, i64 k) {
  const i64 n_taps = places(p.w.sizes), channel = divide(k, n_taps);
  Deep result = {channel * p.x.channel_stride, channel * p.w.channel_stride,
                 place(k - channel * n_taps, p.w.sizes)};
  for (int i = 0; i < 3; ++i) {
    result.w += result.tap.at[i] * p.w.strides[i];
    result.tap.at[i] *= p.window.dilations[i];
  }
  return result;
}
DEVICE T left(const Factors&, const Row& row, const Deep& deep) { return row.w[deep.w]; }
DEVICE T right(const Factors& p, const Deep& deep, const Column& column) {
  i64 at = deep.channel;
  if (!add_place(p.window, column.start, deep.tap, p.x, at)) return T{};
  return column.x[at];
}

DEVICE i64 index_of(const Factors& p, i64 group, i64 row, i64 column) {
  const i64 n_places = places(p.y.sizes), n = divide(column, n_places);
  return (n * p.y.channels + group * p.rows + row) * n_places + column - n * n_places;
}
DEVICE Accumulator<T> finished(const Factors& p, i64 group, i64 row, i64, Accumulator<T> sum) {
  if (p.bias.rank == 0) return sum;
  return sum +
         (Accumulator<T>)widen(data<const T>(p.bias)[(group * p.rows + row) * p.bias.strides[0]]);
}
