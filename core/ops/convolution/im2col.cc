// im2col copies the elements of each sliding window into one column of a matrix. col2im is its
// transpose: it adds such columns back into an image.

#include "core/ops/convolution/conv_shape.h"
#include "core/ops/definition/symbolic_sizes.h"

namespace tenon::ops {
namespace {

struct Attrs {
  Ints kernel_shape;  // Size of the window per spatial axis.
  Ints strides;       // Step of the window per spatial axis; empty: 1.
  Ints pads;          // Padding before, then after each spatial axis; empty: 0.
  Ints dilations;     // Dilation of the window per spatial axis; empty: 1.
  TENON_ATTRS(kernel_shape, strides, pads, dilations)
};

struct BackAttrs {
  Sizes image_shape;  // Spatial sizes of the result.
  Ints kernel_shape;  // Size of the window per spatial axis.
  Ints strides;       // Step of the window per spatial axis; empty: 1.
  Ints pads;          // Padding before, then after each spatial axis; empty: 0.
  Ints dilations;     // Dilation of the window per spatial axis; empty: 1.
  TENON_ATTRS(image_shape, kernel_shape, strides, pads, dilations)
};

// Returns the attributes of a pooling op with the same windows.
template <class A>
PoolAttrs pool_attrs(const A& attrs) {
  return {.kernel_shape = attrs.kernel_shape,
          .strides = attrs.strides,
          .pads = attrs.pads,
          .dilations = attrs.dilations};
}

// Sizes of the padded image, and the number and size of its windows.
struct Geometry {
  Sizes pads;     // Pads of all axes, including 0 for batch and channels.
  Dims padded;    // The spatial sizes of the padded image.
  Dims windows;   // Number of windows along each spatial axis.
  Size taps = 1;  // Number of elements in a window.
  Size columns = 1;
};

// Returns the sizes of the padded image, and the number and size of its windows.
Geometry geometry_of(const Dims& image, const PoolAttrs& attrs) {
  const Dims out = infer_pool_shape(image, attrs);
  const Window window = pool_window(attrs);
  Geometry g{.pads = Sizes(2 * image.rank(), 0)};
  for (size_t i = 0; i < window.size(); ++i) {
    const size_t axis = kSpatial + i;
    g.pads[axis] = window[i].pad_begin;
    g.pads[image.rank() + axis] = window[i].pad_end;
    g.padded.push_back(image[axis] + window[i].pad_begin + window[i].pad_end);
    g.windows.push_back(out[axis]);
  }
  const Dims kernel(attrs.kernel_shape.span());
  for (const Dims& sizes : {g.padded, g.windows, kernel})
    check_size(TensorType(DType::kI64, sizes));
  g.taps = count(kernel);
  g.columns = count(g.windows);
  check_size(TensorType(DType::kI64, {image[1], g.taps, g.columns}));
  return g;
}

// Returns a tensor [taps, columns]. Entry (k, l) is the row-major index, in one channel of the
// padded image, of element k of window l.
Tensor padded_indices(const Geometry& g, const PoolAttrs& attrs) {
  const Window window = pool_window(attrs);
  const size_t n = window.size();
  const auto steps = [&](size_t at, Size size, int64_t step) {
    Dims shape;
    for (size_t i = 0; i < 2 * n; ++i) shape.push_back(i == at ? size : Size(1));
    return mul(iota(shape, DType::kI64, static_cast<int64_t>(at)), integer(step));
  };
  Tensor place;
  for (size_t i = 0; i < n; ++i) {
    const WindowAxis& axis = window[i];
    const Tensor along =
        add(steps(i, axis.size, axis.dilation), steps(n + i, g.windows[i], axis.stride));
    place = place ? add(mul(place, integer(g.padded[i])), along) : along;
  }
  return reshape(place, {g.taps, g.columns});
}

// ---- im2col

// Constraints of im2col.
//   C1  x has any dtype.
//   C2  x has one to three spatial axes.
//   C3  kernel_shape has one positive value for each spatial axis; strides and dilations are empty
//       or have one positive value for each as well; pads is empty or has two non-negative values
//       for each.
//   C4  the window fits into each padded axis.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  const Geometry g = geometry_of(x.shape, pool_attrs(attrs));
  const TensorType y(x.dtype, {x.shape[0], x.shape[1] * g.taps, g.columns});
  check_size(y);
  return {y};
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Dims& x = in[0]->shape();
  const Geometry g = geometry_of(x, pool_attrs(attrs));
  const Tensor planes = reshape(pad(in[0], g.pads), {x[0], x[1], count(g.padded)});
  return {reshape(gather(planes, padded_indices(g, pool_attrs(attrs)), 2),
                  {x[0], x[1] * g.taps, g.columns})};
}

// ---- col2im

// Constraints of col2im.
//   C1  x is floating point.
//   C2  image_shape has one to three sizes, none of them negative.
//   C3  kernel_shape has one positive value for each spatial axis; strides and dilations are empty
//       or have one positive value for each as well; pads is empty or has two non-negative values
//       for each.
//   C4  the window fits into each padded axis.
//   C5  x has a batch axis, an axis of channels times elements of a window, and an axis with one
//       column for each window.
TensorType image_type(const BackAttrs& attrs, const TensorType& x) {
  require(is_floating(x.dtype), "C1: x must be floating point, but is {}", x.dtype);
  require(x.rank() == 3, "C5: x must have axes for batch, window elements and columns, but is {}",
          x);
  const TensorType sizes = require_sizes(x.dtype, attrs.image_shape, "C2");
  TensorType image(x.dtype, {x.shape[0], 1});
  for (const Size size : sizes.shape) image.shape.push_back(size);
  const Geometry g = geometry_of(image.shape, pool_attrs(attrs));
  require(x.shape[1] % g.taps == 0 && x.shape[2] == g.columns,
          "C5: x must have {} columns and a multiple of {} rows, but is {}", g.columns, g.taps, x);
  image.shape[1] = x.shape[1] / g.taps;
  check_size(image);
  return image;
}

TensorTypes col2im_infer(const BackAttrs& attrs, TypeSpan in) { return {image_type(attrs, in[0])}; }

// Adds the columns of all planes (batch * channels) by one scatter_nd. Each row of the updates
// holds the values for one position of the image, one value for each plane.
Tensors col2im_decompose(const BackAttrs& attrs, TensorSpan in) {
  const Dims image = image_type(attrs, in[0]->type).shape;
  const Geometry g = geometry_of(image, pool_attrs(attrs));
  const Size planes = image[0] * image[1], n = g.taps * g.columns;
  Dims padded{image[0], image[1]};
  Sizes crop = g.pads;
  for (const Size size : g.padded) padded.push_back(size);
  for (Size& size : crop) size = -size;
  return {in_wide(in[0], [&](const Tensor& x) {
    const Tensor rows = reshape(padded_indices(g, pool_attrs(attrs)), {n, 1});
    const Tensor nothing = zeros(TensorType(x->type.dtype, {count(g.padded), planes}));
    const Tensor sums =
        scatter_nd(nothing, rows, transpose(reshape(x, {planes, n})), ScatterReduction::kAdd);
    return pad(reshape(transpose(sums), padded), crop);
  })};
}

// ---- cases

Cases<Attrs> cases() {
  const CaseTensor grid = f32({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const CaseTensor line = f32({1, 1, 4}, {1, 2, 3, 4});
  return {
      {.name = "example",
       .attrs = {.kernel_shape = {2, 2}},
       .inputs = {grid},
       .expect = {f32({1, 4, 4}, {1, 2, 4, 5, 2, 3, 5, 6, 4, 5, 7, 8, 5, 6, 8, 9})}},
      {.name = "strides",
       .attrs = {.kernel_shape = {2}, .strides = {2}},
       .inputs = {line},
       .expect = {f32({1, 2, 2}, {1, 3, 2, 4})}},
      {.name = "pads",
       .attrs = {.kernel_shape = {3}, .pads = {1, 0}},
       .inputs = {line},
       .expect = {f32({1, 3, 3}, {0, 1, 2, 1, 2, 3, 2, 3, 4})}},
      {.name = "dilations",
       .attrs = {.kernel_shape = {2}, .dilations = {3}},
       .inputs = {line},
       .expect = {f32({1, 2, 1}, {1, 4})}},
      {.name = "channels_and_batch",
       .attrs = {.kernel_shape = {2}},
       .inputs = {i8({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
       .expect = {i8({2, 4, 1}, {1, 2, 3, 4, 5, 6, 7, 8})}},
      {.name = "three_axes",
       .attrs = {.kernel_shape = {2, 1, 2}, .strides = {1, 2, 1}, .pads = {1, 0, 0, 0, 1, 1}},
       .inputs = {uniform({2, 2, 2, 3, 3})}},
      {.name = "bool",
       .attrs = {.kernel_shape = {1}},
       .inputs = {boolean({1, 1, 2}, {1, 0})},
       .expect = {boolean({1, 1, 2}, {1, 0})}},
      {.name = "empty_batch",
       .attrs = {.kernel_shape = {2}},
       .inputs = {uniform({0, 2, 4})},
       .expect = {f32({0, 4, 3}, {})}},
      {.name = "no_spatial_axes",
       .attrs = {.kernel_shape = {1}},
       .inputs = {uniform({1, 1})},
       .error = "C2"},
      {.name = "no_kernel_shape", .inputs = {line}, .error = "C3"},
      {.name = "window_is_larger", .attrs = {.kernel_shape = {5}}, .inputs = {line}, .error = "C4"},
  };
}

Cases<BackAttrs> col2im_cases() {
  const CaseTensor columns = f32({1, 2, 3}, {1, 2, 3, 10, 20, 30});
  return {
      {.name = "example",
       .attrs = {.image_shape = {3, 3}, .kernel_shape = {2, 2}},
       .inputs = {f32({1, 4, 4}, {1, 2, 4, 5, 2, 3, 5, 6, 4, 5, 7, 8, 5, 6, 8, 9})},
       .expect = {f32({1, 1, 3, 3}, {1, 4, 3, 8, 20, 12, 7, 16, 9})}},
      {.name = "columns_that_overlap_add_up",
       .attrs = {.image_shape = {4}, .kernel_shape = {2}},
       .inputs = {columns},
       .expect = {f32({1, 1, 4}, {1, 12, 23, 30})}},
      {.name = "strides",
       .attrs = {.image_shape = {7}, .kernel_shape = {2}, .strides = {2}},
       .inputs = {columns},
       .expect = {f32({1, 1, 7}, {1, 10, 2, 20, 3, 30, 0})}},
      {.name = "pads_are_cut_off",
       .attrs = {.image_shape = {2}, .kernel_shape = {2}, .pads = {1, 1}},
       .inputs = {columns},
       .expect = {f32({1, 1, 2}, {12, 23})}},
      {.name = "dilations",
       .attrs = {.image_shape = {6}, .kernel_shape = {2}, .dilations = {3}},
       .inputs = {columns},
       .expect = {f32({1, 1, 6}, {1, 2, 3, 10, 20, 30})}},
      {.name = "channels_and_batch",
       .attrs = {.image_shape = {2}, .kernel_shape = {2}},
       .inputs = {f64({2, 4, 1}, {1, 2, 3, 4, 5, 6, 7, 8})},
       .expect = {f64({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}},
      {.name = "three_axes",
       .attrs = {.image_shape = {2, 3, 3},
                 .kernel_shape = {2, 1, 2},
                 .strides = {1, 2, 1},
                 .pads = {1, 0, 0, 0, 1, 1}},
       .inputs = {uniform({2, 8, 12})}},
      {.name = "empty_batch",
       .attrs = {.image_shape = {4}, .kernel_shape = {2}},
       .inputs = {uniform({0, 4, 3})},
       .expect = {f32({0, 2, 4}, {})}},
      {.name = "integers",
       .attrs = {.image_shape = {1}, .kernel_shape = {1}},
       .inputs = {i32({1, 1, 1}, {1})},
       .error = "C1"},
      {.name = "negative_size",
       .attrs = {.image_shape = {-1}, .kernel_shape = {1}},
       .inputs = {columns},
       .error = "C2"},
      {.name = "no_image_shape",
       .attrs = {.kernel_shape = {2}},
       .inputs = {columns},
       .error = "C2"},
      {.name = "no_kernel_shape",
       .attrs = {.image_shape = {4}},
       .inputs = {columns},
       .error = "C3"},
      {.name = "window_is_larger",
       .attrs = {.image_shape = {1}, .kernel_shape = {2}},
       .inputs = {columns},
       .error = "C4"},
      {.name = "a_column_too_few",
       .attrs = {.image_shape = {5}, .kernel_shape = {2}},
       .inputs = {columns},
       .error = "C5"},
      {.name = "half_a_window",
       .attrs = {.image_shape = {5}, .kernel_shape = {3}},
       .inputs = {columns},
       .error = "C5"},
  };
}

constexpr const char* kKernelShapeDoc = "The size of the window along each spatial axis.";
constexpr const char* kStridesDoc =
    "The step of the window along each spatial axis; empty for ones.";
constexpr const char* kPadsDoc =
    "The number of zeros added before each spatial axis, then after each; empty for none.";
constexpr const char* kDilationsDoc =
    "The step between elements of the window along each spatial axis; empty for ones.";

}  // namespace

OpDef im2col_def() {
  return define<Attrs>({
      .name = "im2col",
      .summary = "The elements in each position of a sliding window, as columns.",
      .formula =
          "y[n, c * K + k, l] = x[n, c, l * stride + k * dilation - pad], with K elements to a "
          "window",
      .details = "k is the row-major index of an element in its window, and l is that of the "
                 "window. Padding elements are zeros.",
      .inputs = {{"x", "batch, channels, then one to three spatial axes"}},
      .outputs = {{"y", "batch, channels times elements of a window, number of windows"}},
      .attrs_doc = {{"kernel_shape", kKernelShapeDoc},
                    {"strides", kStridesDoc},
                    {"pads", kPadsDoc},
                    {"dilations", kDilationsDoc}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
  });
}

OpDef col2im_def() {
  return define<BackAttrs>({
      .name = "col2im",
      .summary = "Sums columns into an image at the positions of a sliding window: the transpose "
                 "of im2col.",
      .formula =
          "y[n, c, l * stride + k * dilation - pad] += x[n, c * K + k, l], with K elements to "
          "a window",
      .details = "k is the row-major index of an element in its window, and l is that of the "
                 "window. Elements that fall on padding are dropped.",
      .inputs = {{"x", "batch, channels times elements of a window, number of windows"}},
      .outputs = {{"y", "batch, channels, then the spatial axes"}},
      .attrs_doc = {{"image_shape", "The spatial sizes of the result."},
                    {"kernel_shape", kKernelShapeDoc},
                    {"strides", kStridesDoc},
                    {"pads", kPadsDoc},
                    {"dilations", kDilationsDoc}},
      .infer = col2im_infer,
      .decompose = col2im_decompose,
      .cases = col2im_cases,
      .numeric = Numeric::kAccumulation,
      .onnx = "Col2Im",
  });
}

}  // namespace tenon::ops
