// Convolutions, pooling, normalisation and dropout.

#include "core/io/onnx/adapters.h"
#include "core/io/onnx/foreign/foreign.h"

namespace tenon::onnx::adapters {
namespace {

// ---- windows ----

// Parameters of windows along the spatial axes, in the form that Tenon's ops take: auto_pad is
// resolved to numbers, and every list has its default values filled in.
struct Windows {
  Ints strides, dilations, pads;
};

// Upper bound for window parameters. It prevents overflow in sums and products of two of them.
constexpr int64_t kMaxValue = int64_t{1} << 30;

// Divides and rounds up.
int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Computes the pads for SAME_UPPER and SAME_LOWER, such that the output has ceil(size / stride)
// elements. If the padding is odd, the extra element is at the end (UPPER) or at the beginning
// (LOWER).
Ints same_pads(const Dims& x, const Ints& kernel, const Windows& w, bool upper) {
  const size_t axes = kernel.size();
  Ints pads(2 * axes, 0);
  for (size_t i = 0; i < axes; ++i) {
    const int64_t size = x[2 + i], reach = (kernel[i] - 1) * w.dilations[i] + 1;
    const int64_t needed = (ceil_div(size, w.strides[i]) - 1) * w.strides[i] + reach;
    const int64_t total = std::max<int64_t>(needed - size, 0);
    pads[i] = upper ? total / 2 : total - total / 2;
    pads[axes + i] = total - pads[i];
  }
  return pads;
}

// Returns `given`, which must have `size` elements. If `given` is empty, returns a list of `size`
// elements that all equal `value`.
Ints list_or_default(Ints given, size_t size, int64_t value) {
  require(given.empty() || given.size() == size,
          "a list of window parameters must have {} values, but has {}", size, given.size());
  return given.empty() ? Ints(size, value) : given;
}

// Reads the window attributes of a node, for a window with these spatial sizes.
Windows windows_of(const NodeCall& n, const Ints& kernel) {
  const Dims& x = n.in(0)->shape();
  const size_t axes = kernel.size();
  require(x.rank() == axes + 2, "x must have {} axes, two more than the window, but is {}",
          axes + 2, n.in(0)->type);
  for (size_t i = 2; i < x.rank(); ++i) {
    require(x[i] < kMaxValue, "axis {} of {} must have fewer than 2^30 elements", i, n.in(0)->type);
  }
  Windows w;
  w.strides = list_or_default(n.attr_ints("strides"), axes, 1);
  w.dilations = list_or_default(n.attr_ints("dilations"), axes, 1);
  w.pads = list_or_default(n.attr_ints("pads"), 2 * axes, 0);
  for (const int64_t pad : w.pads)
    require(pad > -kMaxValue && pad < kMaxValue, "pads must be in (-2^30, 2^30), but contain {}",
            pad);
  for (size_t i = 0; i < axes; ++i) {
    for (const int64_t value : {kernel[i], w.strides[i], w.dilations[i]}) {
      require(value > 0 && value < kMaxValue,
              "kernel_shape, strides and dilations must be in [1, 2^30), but contain {}", value);
    }
  }
  const std::string auto_pad = n.attr_text("auto_pad", "NOTSET");
  if (auto_pad == "NOTSET") return w;
  const bool upper = auto_pad == "SAME_UPPER";
  require(upper || auto_pad == "SAME_LOWER" || auto_pad == "VALID",
          "attribute auto_pad must be \"NOTSET\", \"SAME_UPPER\", \"SAME_LOWER\" or \"VALID\", but "
          "is \"{}\"",
          auto_pad);
  w.pads = auto_pad == "VALID" ? Ints(2 * axes, 0) : same_pads(x, kernel, w, upper);
  return w;
}

// Returns the spatial sizes of a filter. The attribute kernel_shape must be equal if it is given.
Ints kernel_of(const NodeCall& n, const Tensor& filter) {
  require(filter->rank() >= 3, "the filter must have at least three axes, but is {}", filter->type);
  const Dims& shape = filter->shape();
  Ints kernel;
  for (size_t i = 2; i < shape.rank(); ++i) kernel.push_back(shape[i]);
  const Ints given = n.attr_ints("kernel_shape");
  require(given.empty() || given == kernel,
          "attribute kernel_shape must equal the spatial sizes of the filter, {}", filter->type);
  return kernel;
}

// Converts flat row-major indices of an image to column-major indices.
Tensor column_major(const Tensor& indices, const Dims& x) {
  require_code(x.rank() == 4, Code::kUnimplemented,
               "storage_order 1 is supported only for 4 axes, but there are {}", x.rank());
  const Tensor rows = integer(x[2]), columns = integer(x[3]);
  const Tensor row = mod(floor_div(indices, columns), rows), column = mod(indices, columns);
  const Tensor plane = floor_div(indices, integer(x[2] * x[3]));
  return add(mul(plane, integer(x[2] * x[3])), add(mul(column, rows), row));
}

}  // namespace

Tensor convolve(const NodeCall& n, const Tensor& x, const Tensor& w, const Tensor& b) {
  const Windows windows = windows_of(n, kernel_of(n, w));
  return call_named1("conv",
                     {{"strides", windows.strides},
                      {"pads", windows.pads},
                      {"dilations", windows.dilations},
                      {"group", n.attr("group", 1)}},
                     {x, w, b});
}

Tensors conv(const NodeCall& n) { return {convolve(n, n.in(0), n.in(1), n.optional(2))}; }

// If output_shape is given, computes the pads from it. If the output is too small even with pads of
// 0, appends zeros to it.
Tensors conv_transpose(const NodeCall& n) {
  const Ints kernel = kernel_of(n, n.in(1));
  const size_t axes = kernel.size();
  const std::string auto_pad = n.attr_text("auto_pad", "NOTSET");
  Windows w = windows_of(n, kernel);
  Ints zeros_behind = list_or_default(n.attr_ints("output_padding"), axes, 0);
  Ints sizes = n.attr_ints("output_shape");
  const Dims& x = n.in(0)->shape();
  const bool same = auto_pad.starts_with("SAME");
  for (size_t i = 0; same && sizes.size() < axes; ++i) sizes.push_back(x[2 + i] * w.strides[i]);
  // Some old files include the batch and channel sizes in output_shape.
  const size_t first = sizes.size() == axes + 2 ? 2 : 0;
  require(sizes.empty() || sizes.size() - first == axes,
          "output_shape must have {} sizes, one per spatial axis, but has {}", axes,
          sizes.size() - first);
  for (const Ints& list : {sizes, zeros_behind}) {
    for (const int64_t value : list) {
      require(value >= 0 && value < kMaxValue,
              "output_shape and output_padding must be in [0, 2^30), but contain {}", value);
    }
  }
  for (size_t i = 0; !sizes.empty() && i < axes; ++i) {
    const int64_t reach = (kernel[i] - 1) * w.dilations[i] + 1;
    const int64_t whole = w.strides[i] * (x[2 + i] - 1) + zeros_behind[i] + reach;
    const int64_t cut = std::max<int64_t>(whole - sizes[first + i], 0);
    zeros_behind[i] += std::max<int64_t>(sizes[first + i] - whole, 0);
    w.pads[i] = auto_pad == "SAME_UPPER" ? cut / 2 : cut - cut / 2;
    w.pads[axes + i] = cut - w.pads[i];
  }
  return call_named("conv_transpose",
                    {{"strides", w.strides},
                     {"pads", w.pads},
                     {"dilations", w.dilations},
                     {"group", n.attr("group", 1)},
                     {"output_padding", zeros_behind}},
                    {n.in(0), n.in(1), n.optional(2)});
}

Tensors max_pool(const NodeCall& n) {
  const Ints kernel = n.attr_ints("kernel_shape");
  const Windows w = windows_of(n, kernel);
  Tensors outputs = call_named("max_pool",
                               {{"kernel_shape", kernel},
                                {"strides", w.strides},
                                {"pads", w.pads},
                                {"dilations", w.dilations},
                                {"ceil_mode", n.attr("ceil_mode", 0)}},
                               {n.in(0)});
  const bool columns_first = n.flag("storage_order", false);
  if (columns_first && n.has_output(1)) outputs[1] = column_major(outputs[1], n.in(0)->shape());
  return outputs;
}

Tensor call_avg_pool(const NodeCall& n, const Tensor& x) {
  const Ints kernel = n.attr_ints("kernel_shape");
  const Windows w = windows_of(n, kernel);
  return call_named1("avg_pool",
                     {{"kernel_shape", kernel},
                      {"strides", w.strides},
                      {"pads", w.pads},
                      {"dilations", w.dilations},
                      {"ceil_mode", n.attr("ceil_mode", 0)},
                      {"count_include_pad", n.attr("count_include_pad", 0)}},
                     {x});
}

Tensors average_pool(const NodeCall& n) { return {call_avg_pool(n, n.in(0))}; }

Tensors lp_pool(const NodeCall& n) {
  const Ints kernel = n.attr_ints("kernel_shape");
  const Windows w = windows_of(n, kernel);
  return call_named("lp_pool",
                    {{"kernel_shape", kernel},
                     {"strides", w.strides},
                     {"pads", w.pads},
                     {"dilations", w.dilations},
                     {"ceil_mode", n.attr("ceil_mode", 0)},
                     {"p", n.attr("p", 2)}},
                    {n.in(0)});
}

// Reads the sizes of the image and of the window from inputs 1 and 2.
Tensors col2im(const NodeCall& n) {
  return call_named("col2im",
                    {{"image_shape", n.ints(1)},
                     {"kernel_shape", n.ints(2)},
                     {"strides", n.attr_ints("strides")},
                     {"pads", n.attr_ints("pads")},
                     {"dilations", n.attr_ints("dilations")}},
                    {n.in(0)});
}

// Scatters each element of x to the flat index that max_pool returned for it. Other elements are
// zero.
Tensors max_unpool(const NodeCall& n) {
  const Tensor& x = n.in(0);
  const Ints kernel = n.attr_ints("kernel_shape");
  const Windows w = windows_of(n, kernel);
  Dims pooled = x->shape();
  for (size_t i = 0; i < kernel.size(); ++i) {
    pooled[2 + i] =
        (pooled[2 + i] - 1) * w.strides[i] + kernel[i] - w.pads[i] - w.pads[kernel.size() + i];
  }
  const Tensor nothing = zeros(TensorType(x->type.dtype, pooled));
  const Tensor flat = scatter_elements(reshape(nothing, {count(pooled)}), reshape(n.in(1), {-1}),
                                       reshape(x, {-1}), {.axis = 0});
  const Tensor y = reshape(flat, pooled);
  if (!n.has(2)) return {y};
  const Ints sizes = n.ints(2);
  require(sizes.size() == pooled.rank(),
          "output_shape has {} sizes, but must have one per axis of {}", sizes.size(), y->type);
  Sizes pads(2 * pooled.rank(), 0);
  for (size_t i = 0; i < pooled.rank(); ++i) {
    require(sizes[i] >= pooled[i], "output_shape must be at least {} along each axis", pooled);
    pads[pooled.rank() + i] = sizes[i] - pooled[i];
  }
  return {tenon::pad(y, pads)};
}

// In training mode, normalises by the statistics of the batch and also returns updated running
// statistics.
Tensors batch_normalization(const NodeCall& n) {
  n.require_attr("spatial", 1);
  const double epsilon = n.attr_float("epsilon", 1e-5), momentum = n.attr_float("momentum", 0.9);
  const std::initializer_list<Tensor> inputs = {n.in(0), n.in(1), n.in(2), n.in(3), n.in(4)};
  if (!n.flag("training_mode", false)) {
    return call_named("batch_norm", {{"epsilon", epsilon}}, inputs);
  }
  Tensors outputs =
      call_named("batch_norm_train", {{"epsilon", epsilon}, {"momentum", momentum}}, inputs);
  outputs.resize(3);
  return outputs;
}

// Tenon computes the statistics in float32 or wider, so attribute stash_type is ignored.
Tensors layer_normalization(const NodeCall& n) {
  n.ignore("stash_type");
  return call_named("layer_norm",
                    {{"axis", n.attr("axis", -1)}, {"epsilon", n.attr_float("epsilon", 1e-5)}},
                    {n.in(0), n.in(1), n.optional(2)});
}

// Before version 21, scale and bias have one element per group. Later they have one per channel.
Tensors group_normalization(const NodeCall& n) {
  n.ignore("stash_type");
  const Tensor& x = n.in(0);
  const int64_t groups = n.attr("num_groups", 0);
  const auto of_channels = [&](const Tensor& parameter) {
    if (n.version() >= 21 || x->rank() < 2 || groups < 1 || x->shape()[1] % groups != 0) {
      return parameter;
    }
    const int64_t channels = x->shape()[1];
    const Tensor columns = expand_dims(parameter, {1});
    return reshape(broadcast_to(columns, {groups, channels / groups}), {channels});
  };
  return call_named("group_norm",
                    {{"num_groups", groups}, {"epsilon", n.attr_float("epsilon", 1e-5)}},
                    {x, of_channels(n.in(1)), of_channels(n.in(2))});
}

// Divides by the L1 or L2 norm along an axis.
Tensors lp_normalization(const NodeCall& n) {
  const Tensor& x = n.in(0);
  const int64_t axis = n.attr("axis", -1), p = n.attr("p", 2);
  require(p == 1 || p == 2, "attribute p must be 1 or 2, but is {}", p);
  if (p == 2) return call_named("l2_normalize", {{"axis", axis}}, {x});
  // A norm of 0 is replaced by 1, so that zeros stay zeros.
  const Tensor norm = sum(abs(x), {.axes = {axis}, .keepdims = true});
  return {x / where(equal(norm, number(0)), number(1), norm)};
}

}  // namespace tenon::onnx::adapters
