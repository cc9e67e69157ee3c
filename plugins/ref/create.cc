// fill and iota.

#include "plugins/ref/kernels.h"
#include "plugins/ref/scalar.h"
#include "plugins/sdk/view.h"

namespace tenon_ref {

// The fill value has the dtype of the output. It is in memory, or passed by value.
Prepared prepare_fill(const Request& request) {
  return tenon_sdk::dispatch_size(request.output(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(kTraits, [](const tenon_launch& launch) {
      const T* value = tenon_sdk::data<const T>(launch.inputs[0]);
      T* y = tenon_sdk::data<T>(launch.outputs[0]);
      const int64_t n = tenon_sdk::count(launch.outputs[0]);
      for (int64_t i = 0; i < n; ++i) y[i] = *value;
    });
  });
}

// Each element is its index along the axis. An index that exceeds the dtype wraps.
Prepared prepare_iota(const Request& request) {
  const auto rank = request.output(0).rank;
  const size_t axis = tenon_sdk::from_front(request.attrs<tenon_iota_attrs>().axis, rank);
  return tenon_sdk::dispatch<tenon_sdk::Numbers>(request.output(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(kTraits, [axis](const tenon_launch& launch) {
      const tenon_view& out = launch.outputs[0];
      T* y = tenon_sdk::data<T>(out);
      const int64_t n = tenon_sdk::count(out);
      const int64_t size = out.sizes[axis];
      const size_t behind = axis + 1;
      const int64_t stride = tenon_sdk::count(out.rank - behind, out.sizes + behind);
      for (int64_t i = 0; i < n; ++i) y[i] = narrow<T>(i / stride % size);
    });
  });
}

}  // namespace tenon_ref
