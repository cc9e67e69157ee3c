// matmul and int8_matmul.

#include "plugins/cuda/kernels/embedded.h"

namespace tenon_cuda {
namespace {

constexpr int64_t kTile = 64;  // Of device/matmul.cu.

int64_t tiles(int64_t n) { return (n + kTile - 1) / kTile; }

}  // namespace

Prepared prepare_matmul(const Request& request) {
  const auto attrs = request.attrs<tenon_matmul_attrs>();
  const uint16_t rank = request.output(0).rank;
  if (rank < 2 || request.input(0).rank != rank || request.input(1).rank != rank) {
    return tenon_sdk::refuse("matmul: operands and result must have one rank, two or more");
  }
  const bool transpose_a = attrs.transpose_a, transpose_b = attrs.transpose_b;
  const char* const type = type_name(request.input(0).dtype);
  return embedded_kernel<1>(
      request, {"matmul"}, embedded_source(type_line(type, "T"), "matmul.cu"),
      [=](const Dispatcher& dispatcher, const tenon_launch& launch) -> tenon_error* {
        const tenon_view& a = launch.inputs[0];
        const tenon_view& y = launch.outputs[0];
        if (tenon_sdk::count(y) == 0) return nullptr;
        const size_t row = rank - size_t{2}, column = rank - size_t{1};
        const auto a_strides = strides_of(a), b_strides = strides_of(launch.inputs[1]);
        const int64_t m = y.sizes[row], n = y.sizes[column];
        const int64_t n_batches = tenon_sdk::count(row, y.sizes);
        Parameters parameters;
        parameters.push_view(a);
        parameters.push_view(launch.inputs[1]);
        parameters.push_address(address_of(y));
        parameters.push(m);
        parameters.push(n);
        parameters.push(a.sizes[transpose_a ? row : column]);
        parameters.push(a_strides[transpose_a ? column : row]);
        parameters.push(a_strides[transpose_a ? row : column]);
        parameters.push(b_strides[transpose_b ? column : row]);
        parameters.push(b_strides[transpose_b ? row : column]);
        parameters.push(n_batches);
        parameters.push(static_cast<int64_t>(row));
        parameters.push_list({y.sizes, row});
        const int64_t n_tiles = n_batches * tiles(m) * tiles(n);
        return dispatcher.run(0, blocks_for(dispatcher.device(), n_tiles, 1), parameters);
      });
}

Prepared prepare_int8_matmul(const Request& request) {
  return embedded_kernel<1>(request, {"int8_matmul"},
                            embedded_source(type_line(type_name(request.input(0).dtype), "TA") +
                                                type_line(type_name(request.input(1).dtype), "TB"),
                                            "int8_matmul.cu"),
                            [](const Dispatcher& dispatcher, const tenon_launch& launch) {
                              const tenon_view& y = launch.outputs[0];
                              const size_t row = y.rank - size_t{2}, column = y.rank - size_t{1};
                              Parameters parameters;
                              parameters.push_view(launch.inputs[0]);
                              parameters.push_view(launch.inputs[1]);
                              for (uint32_t i = 2; i < 4; ++i) {
                                const bool has =
                                    i < launch.n_inputs && tenon_sdk::is_present(launch.inputs[i]);
                                parameters.push_view(has ? launch.inputs[i] : tenon_view{});
                              }
                              parameters.push_address(address_of(y));
                              parameters.push(y.sizes[row]);
                              parameters.push(y.sizes[column]);
                              parameters.push(launch.inputs[0].sizes[column]);
                              parameters.push(tenon_sdk::count(row, y.sizes));
                              return dispatcher.run_over(0, tenon_sdk::count(y), parameters);
                            });
}

}  // namespace tenon_cuda
