// concat, pad, dynamic_slice and dynamic_update_slice.

#include "plugins/cuda/kernels/embedded.h"

namespace tenon_cuda {
namespace {

// Returns the source of the kernels that move elements. `index`: dtype of the start indices.
std::string move_source(const Request& request, tenon_dtype index = TENON_INT64) {
  return embedded_source(type_line(bits_type_name(request.output(0).dtype), "T") +
                             type_line(type_name(index), "Index"),
                         "move.cu");
}

}  // namespace

// concat. Dispatches one copy for each input.
Prepared prepare_concat(const Request& request) {
  const auto rank = request.output(0).rank;
  const size_t axis = tenon_sdk::from_front(request.attrs<tenon_concat_attrs>().axis, rank);
  return embedded_kernel<1>(
      request, {"copy_view"}, move_source(request),
      [axis](const Dispatcher& dispatcher, const tenon_launch& launch) -> tenon_error* {
        const tenon_view& y = launch.outputs[0];
        const auto size = static_cast<int64_t>(tenon_sdk::size_of(y.dtype));
        int64_t to = 0;
        for (uint32_t i = 0; i < launch.n_inputs; ++i) {
          const tenon_view& x = launch.inputs[i];
          const int64_t n = tenon_sdk::count(x);
          if (n == 0) continue;
          Parameters parameters;
          parameters.push_view(x);
          parameters.push(n);
          parameters.push_address(address_of(y) + static_cast<uint64_t>(to * size));
          parameters.push_list({y.strides, y.rank});
          if (tenon_error* error = dispatcher.run_over(0, n, parameters)) return error;
          to += x.sizes[axis] * y.strides[axis];
        }
        return nullptr;
      });
}

Prepared prepare_pad(const Request& request) {
  const auto attrs = request.attrs<tenon_pad_attrs>();
  if (attrs.mode != TENON_PAD_MODE_CONSTANT || attrs.n_axes > 0) {
    return tenon_sdk::refuse("supports only constant padding of all axes");
  }
  const tenon_sdk::List pads = tenon_sdk::list(attrs.pads, attrs.n_pads);
  return embedded_kernel<1>(request, {"pad"}, move_source(request),
                            [pads](const Dispatcher& dispatcher, const tenon_launch& launch) {
                              const tenon_view& y = launch.outputs[0];
                              static constexpr uint64_t kZero[2] = {};
                              tenon_view value = y;
                              value.buffer = nullptr;
                              value.data = const_cast<uint64_t*>(kZero);
                              value.strides_class = TENON_STRIDES_UNIFORM;
                              if (launch.n_inputs > 1 && tenon_sdk::is_present(launch.inputs[1])) {
                                value = launch.inputs[1];
                              }
                              Parameters parameters;
                              parameters.push_view(launch.inputs[0]);
                              parameters.push_view(value);
                              parameters.push_view(y);
                              parameters.push(tenon_sdk::count(y));
                              parameters.push_list({pads.data(), y.rank});
                              return dispatcher.run_over(0, tenon_sdk::count(y), parameters);
                            });
}

Prepared prepare_dynamic_slice(const Request& request) {
  return embedded_kernel<1>(request, {"dynamic_slice"},
                            move_source(request, request.input(1).dtype),
                            [](const Dispatcher& dispatcher, const tenon_launch& launch) {
                              const int64_t n = tenon_sdk::count(launch.outputs[0]);
                              Parameters parameters;
                              parameters.push_view(launch.inputs[0]);
                              parameters.push_view(launch.inputs[1]);
                              parameters.push_view(launch.outputs[0]);
                              parameters.push(n);
                              return dispatcher.run_over(0, n, parameters);
                            });
}

Prepared prepare_dynamic_update_slice(const Request& request) {
  return embedded_kernel<1>(request, {"dynamic_update_slice"},
                            move_source(request, request.input(2).dtype),
                            [](const Dispatcher& dispatcher, const tenon_launch& launch) {
                              const int64_t n = tenon_sdk::count(launch.outputs[0]);
                              Parameters parameters;
                              for (uint32_t i = 0; i < 3; ++i)
                                parameters.push_view(launch.inputs[i]);
                              parameters.push_view(launch.outputs[0]);
                              parameters.push(n);
                              return dispatcher.run_over(0, n, parameters);
                            });
}

}  // namespace tenon_cuda
