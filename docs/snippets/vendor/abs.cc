#include <cmath>

#include "kernels.h"
#include "plugins/sdk/view.h"

namespace tenon_acme {

tenon_sdk::Prepared prepare_abs(const tenon_sdk::Request& request) {
  const int64_t step = request.input(0).strides == TENON_STRIDES_UNIFORM ? 0 : 1;
  return tenon_sdk::kernel(TENON_KERNEL_DETERMINISTIC, [step](const tenon_launch& launch) {
    const float* x = tenon_sdk::data<const float>(launch.inputs[0]);
    float* y = tenon_sdk::data<float>(launch.outputs[0]);
    const int64_t n = tenon_sdk::count(launch.outputs[0]);
    for (int64_t i = 0; i < n; ++i) {
      const float value = x[i * step];
      y[i] = std::fabs(value);
    }
  });
}

}  // namespace tenon_acme
