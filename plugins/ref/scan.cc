// Cumulative ops along one axis: cumsum, cumprod, cummax and cummin.

#include "plugins/ref/kernels.h"
#include "plugins/ref/scalar.h"
#include "plugins/sdk/view.h"

namespace tenon_ref {
namespace {

// Calls line(offsets) for each line along the axis. `offsets` holds the offset of the line's first
// element in each of N operands.
template <size_t N, class Line>
void for_each_line(const tenon_view& in, size_t axis, const std::array<const int64_t*, N>& strides,
                   const Line& line) {
  if (in.sizes[axis] == 0) return;
  int64_t starts[TENON_MAX_RANK];  // The sizes of `in`, but 1 along the axis: one index per line.
  for (size_t i = 0; i < in.rank; ++i) starts[i] = i == axis ? 1 : in.sizes[i];
  tenon_sdk::Walk<N>(in.rank, starts, strides).elements(line);
}

}  // namespace

// Each output is the sum or product of all elements up to its index along the axis (from its index
// on if `reverse`). If `exclusive`, the element at the index is not included. cumsum and cumprod
// have the same attributes.
Prepared prepare_scan(const Request& request) {
  const bool is_sum = request.op() == TENON_OP_cumsum;
  const auto attrs = request.attrs<tenon_cumsum_attrs>();
  const size_t axis = tenon_sdk::from_front(attrs.axis, request.input(0).rank);
  const bool exclusive = attrs.exclusive, reverse = attrs.reverse;
  return tenon_sdk::dispatch<tenon_sdk::Numbers>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(kTraits, [=](const tenon_launch& launch) {
      const tenon_view& in = launch.inputs[0];
      const tenon_view& out = launch.outputs[0];
      const T* x = tenon_sdk::data<const T>(in);
      T* y = tenon_sdk::data<T>(out);
      const int64_t n = in.sizes[axis];
      for_each_line<2>(in, axis, {in.strides, out.strides}, [&](const auto& at) {
        Wide<T> total = is_sum ? 0 : 1;
        for (int64_t j = 0; j < n; ++j) {
          const int64_t i = reverse ? n - 1 - j : j;
          const Wide<T> before = total;
          const Wide<T> next = widen<Wide<T>>(x[at[0] + i * in.strides[axis]]);
          total = is_sum ? total + next : total * next;
          y[at[1] + i * out.strides[axis]] = narrow<T>(exclusive ? before : total);
        }
      });
    });
  });
}

// The outputs are the extreme of all elements so far along the axis, and its index. Among equal
// elements, the first one decides. The first NaN wins over all other elements.
Prepared prepare_extreme_scan(const Request& request) {
  const bool is_max = request.op() == TENON_OP_cummax;
  const auto attrs = request.attrs<tenon_cummax_attrs>();
  const size_t axis = tenon_sdk::from_front(attrs.axis, request.input(0).rank);
  const bool reverse = attrs.reverse;
  return tenon_sdk::dispatch<tenon_sdk::Numbers>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(kTraits, [=](const tenon_launch& launch) {
      const tenon_view& in = launch.inputs[0];
      const tenon_view& out = launch.outputs[0];  // Both outputs have the same layout.
      const T* x = tenon_sdk::data<const T>(in);
      T* values = tenon_sdk::data<T>(out);
      int64_t* indices = tenon_sdk::data<int64_t>(launch.outputs[1]);
      const int64_t n = in.sizes[axis];
      for_each_line<2>(in, axis, {in.strides, out.strides}, [&](const auto& at) {
        const auto element = [&](int64_t i) {
          return widen<Exact<T>>(x[at[0] + i * in.strides[axis]]);
        };
        int64_t best = reverse ? n - 1 : 0;
        for (int64_t j = 0; j < n; ++j) {
          const int64_t i = reverse ? n - 1 - j : j;
          const Exact<T> leader = element(best), candidate = element(i);
          const bool wins =
              candidate != candidate || (is_max ? leader < candidate : candidate < leader);
          if (leader == leader && wins) best = i;
          values[at[1] + i * out.strides[axis]] = x[at[0] + best * in.strides[axis]];
          indices[at[1] + i * out.strides[axis]] = best;
        }
      });
    });
  });
}

}  // namespace tenon_ref
