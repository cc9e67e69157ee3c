// cumsum.

#include "plugins/ref/kernels.h"
#include "plugins/ref/scalar.h"
#include "plugins/sdk/view.h"

namespace tenon_ref {

// Each element becomes the sum of those before it along the axis, and of itself unless the sum is
// exclusive. In reverse, of those behind it.
Prepared prepare_cumsum(const Request& request) {
  const auto attrs = request.attrs<tenon_cumsum_attrs>();
  const size_t axis = tenon_sdk::from_front(attrs.axis, request.input(0).rank);
  const bool exclusive = attrs.exclusive, reverse = attrs.reverse;
  return tenon_sdk::dispatch<tenon_sdk::Numbers>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(kTraits, [axis, exclusive, reverse](const tenon_launch& launch) {
      const tenon_view& in = launch.inputs[0];
      const tenon_view& out = launch.outputs[0];
      const T* x = tenon_sdk::data<const T>(in);
      T* y = tenon_sdk::data<T>(out);
      const int64_t n = in.sizes[axis];
      if (n == 0) return;
      int64_t starts[TENON_MAX_RANK];  // One element along the axis stands for each line.
      for (size_t i = 0; i < in.rank; ++i) starts[i] = i == axis ? 1 : in.sizes[i];
      const tenon_sdk::Walk<2> lines(in.rank, starts, {in.strides, out.strides});
      lines.elements([&](const auto& at) {
        Wide<T> sum = 0;
        for (int64_t j = 0; j < n; ++j) {
          const int64_t i = reverse ? n - 1 - j : j;
          const Wide<T> before = sum;
          sum += widen<Wide<T>>(x[at[0] + i * in.strides[axis]]);
          y[at[1] + i * out.strides[axis]] = narrow<T>(exclusive ? before : sum);
        }
      });
    });
  });
}

}  // namespace tenon_ref
