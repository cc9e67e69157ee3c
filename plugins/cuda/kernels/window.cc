// Pooling.

#include "plugins/cuda/kernels/window.h"

namespace tenon_cuda {
namespace {

// Prepares max_pool and window_sum. Their attribute structs have the same members.
template <class Attrs>
Prepared prepare_pool(const Request& request, const char* function) {
  const auto attrs = request.attrs<Attrs>();
  const size_t rank = request.input(0).rank;
  const Window window(attrs, rank);
  const Spatial taps = spatial(attrs.kernel_shape, attrs.n_kernel_shape, rank, 1);
  return embedded_kernel<1>(
      request, {function}, embedded_source(window_lines(request), "pool.cu"),
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

}  // namespace tenon_cuda
