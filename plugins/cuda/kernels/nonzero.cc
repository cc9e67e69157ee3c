#include "plugins/cuda/kernels/embedded.h"

namespace tenon_cuda {
namespace {

constexpr int64_t kChunk = 4 * kBlockSize;  // Must equal kChunkOfBlock of device/nonzero.cu.

// Returns the number of chunks, each of which a block processes.
int64_t count_chunks(const tenon_launch& launch) {
  return (tenon_sdk::count(launch.inputs[0]) + kChunk - 1) / kChunk;
}
uint64_t nonzero_workspace(const tenon_launch& launch) {
  return 8 * static_cast<uint64_t>(count_chunks(launch));
}

}  // namespace

Prepared prepare_nonzero(const Request& request) {
  const auto attrs = request.attrs<tenon_nonzero_attrs>();
  if (attrs.size < 0) {
    return tenon_sdk::refuse("requires that the call specifies the size of the result");
  }
  return embedded_kernel<4>(
      request, {"fill_indices", "count_found", "add_counts", "write_found"},
      embedded_source(type_line(type_name(request.input(0).dtype), "T"), "nonzero.cu"),
      [room = attrs.size, fill = attrs.fill](const Dispatcher& dispatcher,
                                             const tenon_launch& launch) -> tenon_error* {
        const tenon_view& x = launch.inputs[0];
        const int64_t n_chunks = count_chunks(launch);
        Parameters parameters;
        parameters.push_view(x);
        parameters.push(tenon_sdk::count(x));
        parameters.push(n_chunks);
        parameters.push(room);
        parameters.push(fill);
        parameters.push_address(address_of(launch.workspace));
        parameters.push_address(address_of(launch.outputs[0]));
        parameters.push_address(address_of(launch.outputs[1]));
        const uint32_t n_blocks = blocks_for(dispatcher.device(), n_chunks, 1);
        if (tenon_error* error = dispatcher.run_over(0, x.rank * room, parameters)) return error;
        if (tenon_error* error = dispatcher.run(1, n_blocks, parameters)) return error;
        if (tenon_error* error = dispatcher.run(2, 1, parameters)) return error;
        return dispatcher.run(3, n_blocks, parameters);
      },
      nonzero_workspace, kTraits | TENON_KERNEL_WORKSPACE);
}

}  // namespace tenon_cuda
