// Gathers and scatters.

#include "plugins/cuda/kernels/embedded.h"

namespace tenon_cuda {
namespace {

std::string gather_source(const Request& request) {
  return embedded_source(type_line(bits_type_name(request.input(0).dtype), "T") +
                             type_line(type_name(request.input(1).dtype), "Index"),
                         "gather.cu");
}

// Returns the source of a scatter. Without a reduction, elements are handled as unsigned integers.
std::string scatter_source(const Request& request, int32_t reduction) {
  const tenon_dtype dtype = request.input(0).dtype;
  const bool moves = reduction == TENON_SCATTER_REDUCTION_NONE;
  return embedded_source("#define REDUCTION " + std::to_string(reduction) + "\n" +
                             type_line(moves ? bits_type_name(dtype) : type_name(dtype), "T") +
                             type_line(type_name(request.input(1).dtype), "Index"),
                         "scatter.cu");
}

// Whether the scatter kernels support this reduction for the dtype of the request.
bool has_reduction(const Request& request, int32_t reduction) {
  if (reduction < 0 || reduction > TENON_SCATTER_REDUCTION_MAX) return false;
  return reduction == TENON_SCATTER_REDUCTION_NONE || request.input(0).dtype != TENON_BOOL;
}

// Maximum number of updates in a chain (device/scatter.cu).
constexpr int64_t kLongestChain = 4096;

// Determines whether a scatter adds updates to elements directly or in chains.
struct Sums {
  bool of_floats, of_halves;
  uint64_t chain_bytes;

  Sums(const Request& request, int32_t reduction) {
    const tenon_dtype dtype = request.input(0).dtype;
    of_halves = dtype == TENON_FLOAT16 || dtype == TENON_BFLOAT16;
    of_floats = of_halves || dtype == TENON_FLOAT32 || dtype == TENON_FLOAT64;
    of_floats = of_floats && reduction == TENON_SCATTER_REDUCTION_ADD;
    chain_bytes = dtype == TENON_FLOAT64 ? 24 : 16;
  }
  // Whether sums use chains if an element has at most `n_updates` updates.
  bool use_chains(int64_t n_updates) const {
    return of_floats && (of_halves || n_updates > kLongestChain);
  }
};

// Prepares a scatter. `length(launch)` returns the maximum number of updates of one element.
// `push(launch, y, parameters)` pushes the parameters and returns the number of threads. `y` is the
// address of the elements or, if sums use chains, of the chains.
template <class Length, class Push>
Prepared scatter_kernel(const Request& request, int32_t reduction, std::string_view name,
                        Length length, Push push) {
  const Sums sums(request, reduction);
  const auto enqueue = [=](const Dispatcher& dispatcher,
                           const tenon_launch& launch) -> tenon_error* {
    const int64_t n = tenon_sdk::count(launch.outputs[0]);
    const bool in_chains = sums.use_chains(length(launch));
    const uint64_t y = address_of(launch.outputs[0]);
    const uint64_t entries = in_chains ? address_of(launch.workspace) : y;
    Parameters first;
    first.push_view(launch.inputs[0]);
    first.push(n);
    first.push_address(entries);
    if (tenon_error* error = dispatcher.run_over(in_chains ? 2 : 0, n, first)) return error;
    if (n > 0 && tenon_sdk::count(launch.inputs[2]) > 0) {
      Parameters parameters;
      const int64_t n_threads = push(launch, entries, parameters);
      if (tenon_error* error = dispatcher.run_over(in_chains ? 3 : 1, n_threads, parameters)) {
        return error;
      }
    }
    if (!in_chains) return nullptr;
    Parameters last;
    last.push(n);
    last.push_address(entries);
    last.push_address(y);
    return dispatcher.run_over(4, n, last);
  };
  const std::string source = scatter_source(request, reduction);
  const bool is_elements = name == "scatter_elements";
  if (!sums.of_floats) {
    const char* const function = is_elements ? "scatter_elements" : "scatter_nd";
    return embedded_kernel<2>(request, {"copy_first", function}, source, enqueue);
  }
  const auto workspace = [=](const tenon_launch& launch) -> uint64_t {
    if (!sums.use_chains(length(launch))) return 0;
    return sums.chain_bytes * static_cast<uint64_t>(tenon_sdk::count(launch.outputs[0]));
  };
  const std::array<const char*, 5> functions =
      is_elements ? std::array<const char*, 5>{"copy_first", "scatter_elements", "begin_chains",
                                               "scatter_elements_in_chains", "end_chains"}
                  : std::array<const char*, 5>{"copy_first", "scatter_nd", "begin_chains",
                                               "scatter_nd_in_chains", "end_chains"};
  return embedded_kernel<5>(request, functions, source, enqueue, workspace,
                            kTraits | TENON_KERNEL_WORKSPACE);
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
    return tenon_sdk::refuse("does not support this reduction for this dtype");
  }
  const size_t axis = tenon_sdk::from_front(attrs.axis, request.input(0).rank);
  return scatter_kernel(
      request, attrs.reduction, "scatter_elements",
      [axis](const tenon_launch& launch) { return launch.inputs[1].sizes[axis]; },
      [axis](const tenon_launch& launch, uint64_t y, Parameters& parameters) {
        const tenon_view& indices = launch.inputs[1];
        const int64_t n_lines = count_lines(indices, axis);
        parameters.push_view(indices);
        parameters.push_view(launch.inputs[2]);
        parameters.push_view(launch.outputs[0], y);
        parameters.push(static_cast<int64_t>(axis));
        parameters.push(n_lines);
        parameters.push_list(line_sizes(indices, axis));
        push_site(parameters, launch);
        return n_lines;
      });
}

Prepared prepare_scatter_nd(const Request& request) {
  const auto attrs = request.attrs<tenon_scatter_nd_attrs>();
  if (!has_reduction(request, attrs.reduction)) {
    return tenon_sdk::refuse("does not support this reduction for this dtype");
  }
  const auto n_tuples = [](const tenon_launch& launch) {
    return tenon_sdk::count(launch.inputs[1].rank - size_t{1}, launch.inputs[1].sizes);
  };
  return scatter_kernel(request, attrs.reduction, "scatter_nd", n_tuples,
                        [=](const tenon_launch& launch, uint64_t y, Parameters& parameters) {
                          const tenon_view& indices = launch.inputs[1];
                          const tenon_view& out = launch.outputs[0];
                          const auto whole = static_cast<size_t>(indices.sizes[indices.rank - 1]);
                          const int64_t n_inner =
                              tenon_sdk::count(out.rank - whole, out.sizes + whole);
                          parameters.push_view(indices);
                          parameters.push_view(launch.inputs[2]);
                          parameters.push_view(out, y);
                          parameters.push(static_cast<int64_t>(whole));
                          parameters.push(n_tuples(launch));
                          parameters.push(n_inner);
                          push_site(parameters, launch);
                          return n_inner;
                        });
}

}  // namespace tenon_cuda
