// cumsum, cumprod, cummax and cummin.

#include <algorithm>

#include "plugins/cuda/kernels/embedded.h"

namespace tenon_cuda {
namespace {

// Maximum length of a line that one thread scans.
constexpr int64_t kLongestOfThread = 32;
// Maximum number of elements per thread in a tile. More elements mean fewer barriers per element.
constexpr int64_t kMaxOfThread = 16;

std::string scan_source(const Request& request, const char* reduce, bool is_extreme) {
  return embedded_source(type_line(type_name(request.input(0).dtype), "T") + "#define REDUCE " +
                             reduce + "<T>\n#define IS_EXTREME " + (is_extreme ? "1\n" : "0\n"),
                         "scan.cu");
}

// Prepares a scan whose kernels are in `source`. A negative axis counts from the last one.
Prepared prepare(const Request& request, std::string source, int64_t given_axis, bool is_exclusive,
                 bool is_reverse) {
  const size_t axis = tenon_sdk::from_front(given_axis, request.input(0).rank);
  return embedded_kernel<2>(
      request, {"scan_by_thread", "scan_by_block"}, std::move(source),
      [=](const Dispatcher& dispatcher, const tenon_launch& launch) -> tenon_error* {
        const tenon_view& x = launch.inputs[0];
        const tenon_view& y = launch.outputs[0];
        if (tenon_sdk::count(x) == 0) return nullptr;
        const int64_t n_lines = count_lines(x, axis);
        const bool has_indices = launch.n_outputs > 1 && tenon_sdk::is_present(launch.outputs[1]);
        Parameters parameters;
        parameters.push_view(x);
        parameters.push_address(address_of(y));
        parameters.push_address(has_indices ? address_of(launch.outputs[1]) : 0);
        parameters.push_list({y.strides, y.rank});
        parameters.push(static_cast<int64_t>(axis));
        parameters.push(n_lines);
        parameters.push(is_exclusive ? 1 : 0);
        parameters.push(is_reverse ? 1 : 0);
        parameters.push_list(line_sizes(x, axis));
        parameters.push(std::clamp<int64_t>(x.sizes[axis] / kBlockSize, 1, kMaxOfThread));
        if (x.sizes[axis] <= kLongestOfThread) return dispatcher.run_over(0, n_lines, parameters);
        return dispatcher.run(1, blocks_for(dispatcher.device(), n_lines, 1), parameters);
      });
}

}  // namespace

// Prepares cumsum and cumprod. Their attribute structs have the same layout.
Prepared prepare_scan(const Request& request) {
  const auto attrs = request.attrs<tenon_cumsum_attrs>();
  const char* const reduce = request.op() == TENON_OP_cumsum ? "Reduce_sum" : "Reduce_prod";
  return prepare(request, scan_source(request, reduce, false), attrs.axis, attrs.exclusive,
                 attrs.reverse);
}

// Prepares cummax and cummin.
Prepared prepare_extreme_scan(const Request& request) {
  const auto attrs = request.attrs<tenon_cummax_attrs>();
  const char* const reduce = request.op() == TENON_OP_cummax ? "Reduce_argmax" : "Reduce_argmin";
  return prepare(request, scan_source(request, reduce, true), attrs.axis, false, attrs.reverse);
}

}  // namespace tenon_cuda
