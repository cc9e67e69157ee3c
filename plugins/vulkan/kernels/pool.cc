// max_pool and window_sum. One invocation computes one element of the result. If a window has more
// than kRun elements, window_sum adds them in runs, as reductions do.

#include "plugins/vulkan/kernels/kernels.h"
#include "plugins/vulkan/kernels/reduction.h"
#include "plugins/vulkan/kernels/shader.h"
#include "plugins/vulkan/kernels/window.h"
#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan {
namespace {

using spirv::Code;
using spirv::Elements;
using spirv::U32;

// max_pool returns the first NaN of a window or, without NaN, the first of its largest elements,
// and the row-major index of that element in x. For window_sum, padding is zero.
template <class Attrs>
Prepared pool_kernel(const Request& request, uint32_t op) {
  const Capabilities& capabilities = capabilities_of(request.device());
  const tenon_dtype dtype = request.output(0).dtype;
  if (dtype == TENON_FLOAT64 && !capabilities.float64) return tenon_sdk::refuse("has no float64");
  const auto attrs = request.attrs<Attrs>();
  const size_t rank = request.input(0).rank;
  const Window window(attrs, rank);
  Spatial taps = {1, 1, 1};
  Window::set(taps, attrs.kernel_shape, attrs.n_kernel_shape, rank);
  for (size_t i = 0; i < kSpatial; ++i) {
    // Positions in x are signed 32-bit numbers, so strides, pads and window extents are limited.
    constexpr int64_t kMax = 1 << 28;
    if (std::max({window.steps[i], window.pads[i], taps[i] * window.dilations[i]}) > kMax) {
      return tenon_sdk::refuse("requires strides, pads and window extents of at most 2^28");
    }
  }
  const bool returns_indices =
      request.n_outputs() > 1 && request.output(1).dtype != TENON_DTYPE_NONE;
  const uint32_t n_operands = returns_indices ? 3 : 2;
  const Reduction reduction(op, dtype);
  Code code(capabilities, {.n_operands = n_operands, .local_size = kLocalSize});
  const Elements x(code, 0, dtype), y(code, 1, dtype);
  const PlanesCode x_planes(code, 1), y_planes(code, 1 + PlanesCode::kWords);
  constexpr uint32_t kWindow = 1 + 2 * PlanesCode::kWords, kTaps = kWindow + WindowCode::kWords;
  const WindowCode window_code(code, kWindow);
  const Place tap_sizes = {code.parameter(kTaps), code.parameter(kTaps + 1),
                           code.parameter(kTaps + 2)};
  const int64_t n_taps = taps[0] * taps[1] * taps[2];
  // Only sums are computed in runs, because the order does not affect a maximum. The number of loop
  // iterations must not exceed the driver's limit.
  const bool in_runs = op == TENON_OP_sum && n_taps > int64_t{kRun} &&
                       n_taps <= int64_t{kMaxCount} &&
                       iterations_of_runs(false, n_taps) <= capabilities.max_iterations;
  code.for_each(code.parameter(0u), [&](U32 i) {
    const PlanesCode::At at = y_planes.at(i);
    const auto take = [&](const Place& k, const PartialVar& best) {
      const WindowCode::Found found = window_code.find(at.p, k, x_planes.sizes);
      code.if_(found.is_there, [&] {
        U32 number = at.n * x_planes.channels + at.channel;
        for (size_t axis = 0; axis < kSpatial; ++axis) {
          number = number * x_planes.sizes[axis] + found.place[axis];
        }
        const auto value = x.load(x_planes.element_offset(at.n, at.channel, found.place));
        best.set(reduction.join(best.get(), reduction.make_partial(value, number)));
      });
    };
    const auto in_sequence = [&] {
      const PartialVar best(reduction, code);
      for_each_place(code, tap_sizes, [&](const Place& k) { take(k, best); });
      return best.get();
    };
    const auto run_by_run = [&] {
      const Reduction* const reductions[] = {&reduction};
      const U32 n = tap_sizes[0] * tap_sizes[1] * tap_sizes[2];
      return reduce_in_runs(
          code, reductions, code.u32(0), n, code.u32(1),
          [&](U32 number, std::span<const PartialVar> run) {
            const U32 line = number / tap_sizes[2], plane = line / tap_sizes[1];
            take({plane, line - plane * tap_sizes[1], number - line * tap_sizes[2]}, run[0]);
          })[0];
    };
    const Reduction::Partial whole = in_runs ? run_by_run() : in_sequence();
    y.store(i, spirv::cast(whole.value, dtype));
    if (returns_indices) Elements(code, 2, TENON_INT64).store(i, reduction.result(whole));
  });
  const uint64_t iterations =
      in_runs ? iterations_of_runs(false, n_taps) : iterations_of_places(taps);
  const auto fill = [window, taps, returns_indices, iterations](const tenon_launch& launch,
                                                                Words& words) {
    const int64_t n = tenon_sdk::count(launch.outputs[0]);
    const PlaneLayout windows(launch.outputs[0]);
    push(words, n);
    PlaneLayout(launch.inputs[0]).push(words);
    windows.push(words);
    window.push(words);
    for (const int64_t size : taps) push(words, size);
    Rounds rounds = rounds_for(static_cast<uint64_t>(n), iterations);
    rounds.offsets_fit_32_bits =
        window.positions_fit_signed_words(windows.sizes, taps) &&
        (!returns_indices || tenon_sdk::count(launch.inputs[0]) <= kMaxCount);
    return rounds;
  };
  return prepare_one_dispatch(request.device(), code, n_operands,
                              TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC, fill);
}

}  // namespace

Prepared prepare_max_pool(const Request& request) {
  return pool_kernel<tenon_max_pool_attrs>(request, TENON_OP_argmax);
}

Prepared prepare_window_sum(const Request& request) {
  return pool_kernel<tenon_window_sum_attrs>(request, TENON_OP_sum);
}

}  // namespace tenon_vulkan
