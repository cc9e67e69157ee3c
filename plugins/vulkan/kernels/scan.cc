// cumsum, cumprod, cummax and cummin: an invocation goes along a line.

#include "plugins/vulkan/kernels/axes.h"
#include "plugins/vulkan/kernels/kernels.h"
#include "plugins/vulkan/kernels/reduction.h"
#include "plugins/vulkan/kernels/shader.h"

namespace tenon_vulkan {
namespace {

using spirv::Code;
using spirv::Elements;
using spirv::U32;

// Parameters: how many lines, how long they are, the strides of input and result along them, and
// the other axes.
struct Scan {
  bool is_exclusive, is_reverse;
  bool tells_where;  // A second result: which element it was.
};

uint32_t reduction_of(uint32_t op) {
  switch (op) {
    case TENON_OP_cumsum:
      return TENON_OP_sum;
    case TENON_OP_cumprod:
      return TENON_OP_prod;
    case TENON_OP_cummax:
      return TENON_OP_argmax;
    default:
      return TENON_OP_argmin;
  }
}

Prepared scan_kernel(const Request& request, int64_t given_axis, const Scan& scan) {
  const Capabilities& capabilities = capabilities_of(request.device());
  const tenon_dtype dtype = request.input(0).dtype;
  if (dtype == TENON_FLOAT64 && !capabilities.float64) return tenon_sdk::refuse("has no float64");
  const Reduction reduction(reduction_of(request.op()), dtype);
  const uint32_t n_operands = scan.tells_where ? 3 : 2;
  Code code(capabilities, {.n_operands = n_operands, .local_size = kLocalSize});
  const Elements x(code, 0, dtype), y(code, 1, dtype);
  const U32 length = code.parameter(1u), x_stride = code.parameter(2u),
            y_stride = code.parameter(3u);
  const AxesCode axes(code, code.u32(4), 2);
  code.for_each(code.parameter(0u), [&](U32 line) {
    const std::vector<U32> places = axes.places(line);
    const PartialVar total(reduction, code);
    code.for_many(code.u32(0), length, [&](U32 step) {
      const U32 i = scan.is_reverse ? length - 1 - step : step;
      const Reduction::Partial before = total.get();
      const Reduction::Partial own = reduction.partial(x.load(places[0] + i * x_stride), step);
      const Reduction::Partial after = reduction.join(before, own);
      total.set(after);
      const U32 to = places[1] + i * y_stride;
      const Reduction::Partial& shown = scan.is_exclusive ? before : after;
      y.store(to, spirv::cast(shown.value, dtype));
      if (!scan.tells_where) return;
      const U32 where = scan.is_reverse ? length - 1 - shown.index : shown.index;
      Elements(code, 2, TENON_INT64).store(to, {TENON_INT64, spirv::zero_extended(where)});
    });
  });
  const size_t axis = tenon_sdk::from_front(given_axis, request.input(0).rank);
  const auto fill = [axis](const tenon_launch& launch, Words& words) {
    const tenon_view &in = launch.inputs[0], &out = launch.outputs[0];
    const int64_t n = tenon_sdk::count(in);
    const int64_t n_lines = n == 0 ? 0 : n / in.sizes[axis];
    for (const int64_t word : {n_lines, in.sizes[axis], in.strides[axis], out.strides[axis]}) {
      push(words, word);
    }
    const int64_t* const strides[] = {in.strides, out.strides};
    Axes(in.rank, in.sizes, ~(uint32_t{1} << axis), strides).push(words);
    return groups_for(static_cast<uint64_t>(n_lines));
  };
  return one_dispatch(request.device(), code, n_operands,
                      TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC, fill);
}

}  // namespace

// The two attribute structs are alike.
Prepared prepare_scan(const Request& request) {
  const auto attrs = request.attrs<tenon_cumsum_attrs>();
  return scan_kernel(request, attrs.axis,
                     {.is_exclusive = attrs.exclusive != 0, .is_reverse = attrs.reverse != 0});
}

Prepared prepare_extreme_scan(const Request& request) {
  const auto attrs = request.attrs<tenon_cummax_attrs>();
  return scan_kernel(
      request, attrs.axis,
      {.is_exclusive = false, .is_reverse = attrs.reverse != 0, .tells_where = true});
}

}  // namespace tenon_vulkan
