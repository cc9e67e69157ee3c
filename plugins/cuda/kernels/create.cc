// iota and rng_bits.

#include "plugins/cuda/kernels/embedded.h"

namespace tenon_cuda {

Prepared prepare_iota(const Request& request) {
  const tenon_operand& out = request.output(0);
  const size_t axis = tenon_sdk::from_front(request.attrs<tenon_iota_attrs>().axis, out.rank);
  return embedded_kernel<1>(request, {"iota"},
                            embedded_source(type_line(type_name(out.dtype), "T"), "create.cu"),
                            [axis](const Dispatcher& dispatcher, const tenon_launch& launch) {
                              const tenon_view& y = launch.outputs[0];
                              const size_t after = axis + 1;
                              Parameters parameters;
                              parameters.push(tenon_sdk::count(y));
                              parameters.push(y.sizes[axis]);
                              parameters.push(tenon_sdk::count(y.rank - after, y.sizes + after));
                              parameters.push_address(address_of(y));
                              return dispatcher.run_over(0, tenon_sdk::count(y), parameters);
                            });
}

Prepared prepare_rng_bits(const Request& request) {
  const char* const type = type_name(request.output(0).dtype);
  return embedded_kernel<1>(request, {"rng_bits"},
                            embedded_source(type_line(type, "T"), "random.cu"),
                            [](const Dispatcher& dispatcher, const tenon_launch& launch) {
                              const int64_t n = tenon_sdk::count(launch.outputs[0]);
                              Parameters parameters;
                              parameters.push_view(launch.inputs[0]);
                              parameters.push(n);
                              parameters.push_address(address_of(launch.outputs[0]));
                              parameters.push_address(address_of(launch.outputs[1]));
                              // At least one thread runs, because the new state is written even if
                              // the output is empty.
                              return dispatcher.run_over(0, std::max<int64_t>(n, 1), parameters);
                            });
}

}  // namespace tenon_cuda
