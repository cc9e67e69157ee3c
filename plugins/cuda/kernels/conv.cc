// Convolution and its two derivatives, as matrix products.

#include <numeric>

#include "plugins/cuda/kernels/product.h"
#include "plugins/cuda/kernels/window.h"

namespace tenon_cuda {
namespace {

// Returns the number of spatial positions of an image.
int64_t count_positions(const tenon_view& view) {
  return tenon_sdk::count(view.rank - size_t{2}, view.sizes + 2);
}

// The phases of conv_backward_input along an axis. A phase is the set of input positions with the
// same taps (device/conv_backward_input.cu). If there would be more than kMaxPhases, there is one
// phase with all taps.
struct PhaseAxis {
  static constexpr int64_t kMaxPhases = 8;
  // First tap of a phase without taps. Larger than the number of taps of any filter.
  static constexpr int64_t kNoTap = int64_t{1} << 40;

  PhaseAxis(int64_t step, int64_t dilation, int64_t pad, int64_t lhs_dilation) {
    const int64_t n_remainders = step / std::gcd(lhs_dilation, step);
    if (n_remainders > kMaxPhases) return;
    n = n_remainders;
    tap_step = step / std::gcd(dilation, step);
    for (int64_t phase = 0; phase < n; ++phase) {
      int64_t tap = 0;
      while (tap < tap_step && (phase * lhs_dilation + pad - tap * dilation) % step != 0) ++tap;
      first_taps[static_cast<size_t>(phase)] = tap < tap_step ? tap : kNoTap;
    }
  }

  int64_t n_places(int64_t size) const { return (size + n - 1) / n; }
  int64_t n_taps(int64_t size) const { return (size + tap_step - 1) / tap_step; }

  int64_t n = 1, tap_step = 1;
  std::array<int64_t, kMaxPhases> first_taps = {};
};
using Phases = std::array<PhaseAxis, kSpatial>;

// Returns the sizes of the matrix products of conv, one for each of `group` groups.
ProductShape conv_shape(const tenon_launch& launch, int64_t group) {
  const tenon_view &w = launch.inputs[1], &y = launch.outputs[0];
  return {.matrices = group,
          .rows = y.sizes[1] / group,
          .columns = y.sizes[0] * count_positions(y),
          .depth = w.sizes[1] * count_positions(w),
          .left_along_k = true,
          .right_along_k = false};
}

// Returns the sizes of the matrix products of conv_backward_filter, one for each of `group` groups.
ProductShape backward_filter_shape(const tenon_launch& launch, int64_t group) {
  const tenon_view &dy = launch.inputs[1], &dw = launch.outputs[0];
  return {.matrices = group,
          .rows = dw.sizes[0] / group,
          .columns = dw.sizes[1] * count_positions(dw),
          .depth = dy.sizes[0] * count_positions(dy),
          .left_along_k = true,
          .right_along_k = true};
}

// Returns the sizes of the matrix products of conv_backward_input, one for each phase of each of
// `group` groups.
ProductShape backward_input_shape(const tenon_launch& launch, int64_t group, const Phases& phases) {
  const tenon_view &dy = launch.inputs[0], &w = launch.inputs[1], &dx = launch.outputs[0];
  const size_t n = dx.rank - size_t{2};
  const Spatial sizes = spatial(dx.sizes + 2, n, dx.rank, 1),
                taps = spatial(w.sizes + 2, n, dx.rank, 1);
  int64_t n_phases = 1, n_places = 1, n_taps = 1;
  for (size_t i = 0; i < kSpatial; ++i) {
    n_phases *= phases[i].n;
    n_places *= phases[i].n_places(sizes[i]);
    n_taps *= phases[i].n_taps(taps[i]);
  }
  return {.matrices = group * n_phases,
          .rows = dx.sizes[1] / group,
          .columns = dx.sizes[0] * n_places,
          .depth = dy.sizes[1] / group * n_taps,
          .left_along_k = false,
          .right_along_k = false};
}

}  // namespace

Prepared prepare_conv(const Request& request, std::optional<LoopPlan> epilogue) {
  const auto attrs = request.attrs<tenon_conv_attrs>(TENON_CONV_ATTRS_DEFAULT);
  const bool has_bias = request.n_inputs() > 2 && request.input(2).dtype != TENON_DTYPE_NONE;
  return prepare_product(
      request,
      {.factors = window_lines(request) + std::string(device_file("conv.cu")),
       .shape = [group =
                     attrs.group](const tenon_launch& launch) { return conv_shape(launch, group); },
       .push_factors =
           [window = Window(attrs, request.input(0).rank), group = attrs.group, has_bias](
               const tenon_launch& launch, Parameters& parameters) {
             push_planes(parameters, launch.inputs[0]);
             push_planes(parameters, launch.inputs[1]);
             push_planes(parameters, launch.outputs[0]);
             window.push(parameters);
             parameters.push(launch.outputs[0].sizes[1] / group);
             parameters.push_view(has_bias ? launch.inputs[2] : tenon_view{});
           }},
      std::move(epilogue));
}
Prepared prepare_conv(const Request& request) { return prepare_conv(request, std::nullopt); }

Prepared prepare_conv_backward_filter(const Request& request) {
  const auto attrs =
      request.attrs<tenon_conv_backward_filter_attrs>(TENON_CONV_BACKWARD_FILTER_ATTRS_DEFAULT);
  return prepare_product(
      request,
      {.factors = window_lines(request) + std::string(device_file("conv_backward_filter.cu")),
       .shape = [group = attrs.group](
                    const tenon_launch& launch) { return backward_filter_shape(launch, group); },
       .push_factors =
           [window = Window(attrs, request.input(0).rank), group = attrs.group](
               const tenon_launch& launch, Parameters& parameters) {
             push_planes(parameters, launch.inputs[0]);
             push_planes(parameters, launch.inputs[1]);
             push_planes(parameters, launch.outputs[0]);
             window.push(parameters);
             parameters.push(launch.outputs[0].sizes[0] / group);
           }},
      std::nullopt);
}

Prepared prepare_conv_backward_input(const Request& request) {
  const auto attrs =
      request.attrs<tenon_conv_backward_input_attrs>(TENON_CONV_BACKWARD_INPUT_ATTRS_DEFAULT);
  const Window window(attrs, request.input(0).rank);
  const auto axis = [&](size_t i) {
    return PhaseAxis(window.steps[i], window.dilations[i], window.pads[i], window.lhs_dilations[i]);
  };
  const Phases phases = {axis(0), axis(1), axis(2)};
  const auto push_factors = [window, phases, group = attrs.group](const tenon_launch& launch,
                                                                  Parameters& parameters) {
    const tenon_view &dy = launch.inputs[0], &w = launch.inputs[1], &dx = launch.outputs[0];
    push_planes(parameters, dy);
    push_planes(parameters, w);
    push_planes(parameters, dx);
    window.push(parameters);
    parameters.push(dx.sizes[1] / group);
    parameters.push(dy.sizes[1] / group);
    const size_t n = dx.rank - size_t{2};
    const Spatial sizes = spatial(dx.sizes + 2, n, dx.rank, 1),
                  taps = spatial(w.sizes + 2, n, dx.rank, 1);
    for (size_t i = 0; i < kSpatial; ++i) {
      parameters.push(phases[i].n);
      parameters.push(phases[i].tap_step);
      parameters.push(phases[i].n_places(sizes[i]));
      parameters.push(phases[i].n_taps(taps[i]));
      for (const int64_t tap : phases[i].first_taps) parameters.push(tap);
    }
  };
  return prepare_product(
      request,
      {.factors = window_lines(request) + std::string(device_file("conv_backward_input.cu")),
       .shape =
           [phases, group = attrs.group](const tenon_launch& launch) {
             return backward_input_shape(launch, group, phases);
           },
       .push_factors = push_factors},
      std::nullopt);
}

}  // namespace tenon_cuda
