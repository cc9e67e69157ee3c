// Convolutions and pooling.

#include "plugins/cuda/kernels/embedded.h"

namespace tenon_cuda {
namespace {

constexpr size_t kSpatial = 3;
using Spatial = std::array<int64_t, kSpatial>;

Spatial spatial(const int64_t* values, size_t n, size_t rank, int64_t otherwise) {
  Spatial result;
  result.fill(otherwise);
  const size_t missing = kSpatial + 2 - rank;
  for (size_t i = 0; i < n; ++i) result[missing + i] = values[i];
  return result;
}

// How the window moves, of an op's attributes.
struct Window {
  Spatial steps, pads, dilations, lhs_dilations;

  template <class Attrs>
  Window(const Attrs& attrs, size_t rank)
      : steps(spatial(attrs.strides, attrs.n_strides, rank, 1)),
        pads(spatial(attrs.pads, attrs.n_pads / 2, rank, 0)),  // The first half: those before.
        dilations(spatial(attrs.dilations, attrs.n_dilations, rank, 1)) {
    lhs_dilations.fill(1);
    if constexpr (requires { attrs.lhs_dilation; }) {
      lhs_dilations = spatial(attrs.lhs_dilation, attrs.n_lhs_dilation, rank, 1);
    }
  }

  void push(Parameters& parameters) const {
    for (const Spatial& each : {steps, pads, dilations, lhs_dilations}) {
      for (const int64_t value : each) parameters.push(value);
    }
  }
};

// A view as [n, channels, three spatial axes].
void push_planes(Parameters& parameters, const tenon_view& view) {
  const auto strides = strides_of(view);
  parameters.push_operand(view);
  parameters.push(view.sizes[0]);
  parameters.push(view.sizes[1]);
  parameters.push(strides[0]);
  parameters.push(strides[1]);
  const size_t n = view.rank - size_t{2};
  for (const int64_t size : spatial(view.sizes + 2, n, view.rank, 1)) parameters.push(size);
  for (const int64_t each : spatial(strides.data() + 2, n, view.rank, 0)) parameters.push(each);
}

// Source of a file whose kernels move a window.
std::string window_source(const Request& request, std::string_view file) {
  std::string lines = type_line(type_name(request.input(0).dtype), "T");
  lines += device_file("window.cuh");
  return embedded_source(lines, file);
}

// The two attribute structs are alike.
template <class Attrs>
Prepared prepare_pool(const Request& request, const char* function) {
  const auto attrs = request.attrs<Attrs>();
  const size_t rank = request.input(0).rank;
  const Window window(attrs, rank);
  const Spatial taps = spatial(attrs.kernel_shape, attrs.n_kernel_shape, rank, 1);
  return embedded_kernel<1>(
      request, {function}, window_source(request, "pool.cu"),
      [=](const Dispatcher& dispatcher, const tenon_launch& launch) {
        const int64_t n = tenon_sdk::count(launch.outputs[0]);
        const bool has_indices = launch.n_outputs > 1 && tenon_sdk::is_present(launch.outputs[1]);
        Parameters parameters;
        push_planes(parameters, launch.inputs[0]);
        push_planes(parameters, launch.outputs[0]);
        window.push(parameters);
        for (const int64_t tap : taps) parameters.push(tap);
        parameters.push(n);
        parameters.push_address(has_indices ? address_of(launch.outputs[1]) : 0);
        return dispatcher.run_over(0, n, parameters);
      });
}

}  // namespace

Prepared prepare_max_pool(const Request& request) {
  return prepare_pool<tenon_max_pool_attrs>(request, "max_pool");
}
Prepared prepare_window_sum(const Request& request) {
  return prepare_pool<tenon_window_sum_attrs>(request, "window_sum");
}

Prepared prepare_conv(const Request& request) {
  const auto attrs = request.attrs<tenon_conv_attrs>({.group = 1});
  const Window window(attrs, request.input(0).rank);
  return embedded_kernel<1>(
      request, {"conv"}, window_source(request, "conv.cu"),
      [window, group = attrs.group](const Dispatcher& dispatcher, const tenon_launch& launch) {
        const tenon_view& y = launch.outputs[0];
        const bool has_bias = launch.n_inputs > 2 && tenon_sdk::is_present(launch.inputs[2]);
        Parameters parameters;
        push_planes(parameters, launch.inputs[0]);
        push_planes(parameters, launch.inputs[1]);
        push_planes(parameters, y);
        window.push(parameters);
        parameters.push(tenon_sdk::count(y));
        parameters.push(y.sizes[1] / group);
        parameters.push_view(has_bias ? launch.inputs[2] : tenon_view{});
        return dispatcher.run_over(0, tenon_sdk::count(y), parameters);
      });
}

Prepared prepare_conv_backward_filter(const Request& request) {
  const auto attrs = request.attrs<tenon_conv_backward_filter_attrs>({.group = 1});
  const Window window(attrs, request.input(0).rank);
  return embedded_kernel<1>(
      request, {"conv_backward_filter"}, window_source(request, "conv.cu"),
      [window, group = attrs.group](const Dispatcher& dispatcher, const tenon_launch& launch) {
        const tenon_view& dw = launch.outputs[0];
        const int64_t n = tenon_sdk::count(dw);
        Parameters parameters;
        push_planes(parameters, launch.inputs[0]);
        push_planes(parameters, launch.inputs[1]);
        push_planes(parameters, dw);
        window.push(parameters);
        parameters.push(n);
        parameters.push(launch.inputs[1].sizes[1] / group);
        return dispatcher.run(0, blocks_for(dispatcher.device(), n, 1), parameters);
      });
}

}  // namespace tenon_cuda
