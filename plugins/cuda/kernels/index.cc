// Gathers and scatters.

#include "plugins/cuda/kernels/embedded.h"

namespace tenon_cuda {
namespace {

std::string gather_source(const Request& request) {
  return embedded_source(type_line(bits_type_name(request.input(0).dtype), "T") +
                             type_line(type_name(request.input(1).dtype), "Index"),
                         "gather.cu");
}

// What is only moved is moved as bits; `none` of the reductions leaves values as they are.
std::string scatter_source(const Request& request, int32_t reduction) {
  const tenon_dtype dtype = request.input(0).dtype;
  const bool moves = reduction == TENON_SCATTER_REDUCTION_NONE;
  return embedded_source("#define REDUCTION " + std::to_string(reduction) + "\n" +
                             type_line(moves ? bits_type_name(dtype) : type_name(dtype), "T") +
                             type_line(type_name(request.input(1).dtype), "Index"),
                         "scatter.cu");
}

bool has_reduction(const Request& request, int32_t reduction) {
  if (reduction < 0 || reduction > TENON_SCATTER_REDUCTION_MAX) return false;
  return reduction == TENON_SCATTER_REDUCTION_NONE || request.input(0).dtype != TENON_BOOL;
}

tenon_error* copy_first(const Dispatcher& dispatcher, const tenon_launch& launch) {
  const int64_t n = tenon_sdk::count(launch.outputs[0]);
  Parameters parameters;
  parameters.push_view(launch.inputs[0]);
  parameters.push(n);
  parameters.push_address(address_of(launch.outputs[0]));
  return dispatcher.run_over(0, n, parameters);
}

}  // namespace

Prepared prepare_gather(const Request& request) {
  const size_t axis =
      tenon_sdk::from_front(request.attrs<tenon_gather_attrs>().axis, request.input(0).rank);
  return embedded_kernel<1>(
      request, {"gather"}, gather_source(request),
      [axis](const Dispatcher& dispatcher, const tenon_launch& launch) -> tenon_error* {
        const tenon_view& x = launch.inputs[0];
        const int64_t n = tenon_sdk::count(launch.outputs[0]);
        if (n == 0) return nullptr;
        const size_t after = axis + 1;
        Parameters parameters;
        parameters.push_view(x);
        parameters.push_view(launch.inputs[1]);
        parameters.push(n);
        parameters.push(static_cast<int64_t>(axis));
        parameters.push(tenon_sdk::count(launch.inputs[1]));
        parameters.push(tenon_sdk::count(x.rank - after, x.sizes + after));
        parameters.push_address(address_of(launch.outputs[0]));
        push_site(parameters, launch);
        return dispatcher.run_over(0, n, parameters);
      });
}

Prepared prepare_gather_elements(const Request& request) {
  const size_t axis = tenon_sdk::from_front(request.attrs<tenon_gather_elements_attrs>().axis,
                                            request.input(0).rank);
  return embedded_kernel<1>(request, {"gather_elements"}, gather_source(request),
                            [axis](const Dispatcher& dispatcher, const tenon_launch& launch) {
                              const int64_t n = tenon_sdk::count(launch.outputs[0]);
                              auto others = strides_of(launch.inputs[0]);
                              others[axis] = 0;
                              Parameters parameters;
                              parameters.push_view(launch.inputs[0]);
                              parameters.push_view(launch.inputs[1]);
                              parameters.push(n);
                              parameters.push(static_cast<int64_t>(axis));
                              parameters.push_list(others);
                              parameters.push_address(address_of(launch.outputs[0]));
                              push_site(parameters, launch);
                              return dispatcher.run_over(0, n, parameters);
                            });
}

Prepared prepare_gather_nd(const Request& request) {
  const auto batch = static_cast<size_t>(request.attrs<tenon_gather_nd_attrs>().batch_dims);
  return embedded_kernel<1>(
      request, {"gather_nd"}, gather_source(request),
      [batch](const Dispatcher& dispatcher, const tenon_launch& launch) -> tenon_error* {
        const tenon_view& x = launch.inputs[0];
        const tenon_view& indices = launch.inputs[1];
        const int64_t n = tenon_sdk::count(launch.outputs[0]);
        if (n == 0) return nullptr;
        const int64_t tuple_size = indices.sizes[indices.rank - 1];
        const size_t whole = batch + static_cast<size_t>(tuple_size);
        auto in_batch = strides_of(x);
        std::fill(in_batch.begin() + static_cast<ptrdiff_t>(batch), in_batch.end(), 0);
        Parameters parameters;
        parameters.push_view(x);
        parameters.push_view(indices);
        parameters.push(n);
        parameters.push(static_cast<int64_t>(batch));
        parameters.push(tuple_size);
        parameters.push(tenon_sdk::count(x.rank - whole, x.sizes + whole));
        parameters.push_list(in_batch);
        parameters.push_address(address_of(launch.outputs[0]));
        push_site(parameters, launch);
        return dispatcher.run_over(0, n, parameters);
      });
}

Prepared prepare_scatter_elements(const Request& request) {
  const auto attrs = request.attrs<tenon_scatter_elements_attrs>();
  if (!has_reduction(request, attrs.reduction)) {
    return tenon_sdk::refuse("no such reduction for this dtype");
  }
  const size_t axis = tenon_sdk::from_front(attrs.axis, request.input(0).rank);
  return embedded_kernel<2>(
      request, {"copy_first", "scatter_elements"}, scatter_source(request, attrs.reduction),
      [axis](const Dispatcher& dispatcher, const tenon_launch& launch) -> tenon_error* {
        const tenon_view& indices = launch.inputs[1];
        if (tenon_error* error = copy_first(dispatcher, launch)) return error;
        if (tenon_sdk::count(indices) == 0) return nullptr;
        const int64_t n_lines = count_lines(indices, axis);
        Parameters parameters;
        parameters.push_view(indices);
        parameters.push_view(launch.inputs[2]);
        parameters.push_view(launch.outputs[0]);
        parameters.push(static_cast<int64_t>(axis));
        parameters.push(n_lines);
        parameters.push_list(line_sizes(indices, axis));
        push_site(parameters, launch);
        return dispatcher.run_over(1, n_lines, parameters);
      });
}

Prepared prepare_scatter_nd(const Request& request) {
  const auto attrs = request.attrs<tenon_scatter_nd_attrs>();
  if (!has_reduction(request, attrs.reduction)) {
    return tenon_sdk::refuse("no such reduction for this dtype");
  }
  return embedded_kernel<2>(
      request, {"copy_first", "scatter_nd"}, scatter_source(request, attrs.reduction),
      [](const Dispatcher& dispatcher, const tenon_launch& launch) -> tenon_error* {
        const tenon_view& indices = launch.inputs[1];
        const tenon_view& y = launch.outputs[0];
        if (tenon_error* error = copy_first(dispatcher, launch)) return error;
        if (tenon_sdk::count(launch.inputs[2]) == 0) return nullptr;
        const size_t rank = indices.rank - size_t{1};
        const auto whole = static_cast<size_t>(indices.sizes[rank]);
        const int64_t n_inner = tenon_sdk::count(y.rank - whole, y.sizes + whole);
        Parameters parameters;
        parameters.push_view(indices);
        parameters.push_view(launch.inputs[2]);
        parameters.push_view(y);
        parameters.push(indices.sizes[rank]);
        parameters.push(tenon_sdk::count(rank, indices.sizes));
        parameters.push(n_inner);
        push_site(parameters, launch);
        return dispatcher.run_over(1, n_inner, parameters);
      });
}

}  // namespace tenon_cuda
