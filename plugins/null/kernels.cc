// Three kernels, each written in a different style.
//
// A prepare function receives dtypes, ranks, stride classes and attributes, but no sizes. It
// selects or compiles code and returns a kernel. The host caches the kernel and launches it many
// times. On a SYNCHRONOUS device, several threads may launch it at once.

#include "kernels.h"

#include "plugins/sdk/view.h"

namespace tenon_null {

using tenon_sdk::data;
using tenon_sdk::Prepared;
using tenon_sdk::Request;
using tenon_sdk::Type;

// Supports inputs with any strides, because the host uses copy to make tensors dense. The trait
// STRIDED_INPUTS declares this. The code depends only on the element size, so one instance per size
// serves all dtypes.
Prepared prepare_copy(const Request& request) {
  constexpr uint32_t traits = TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC;
  return tenon_sdk::dispatch_size(request.input(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(traits, [](const tenon_launch& launch) {
      const tenon_view& in = launch.inputs[0];
      const tenon_view& out = launch.outputs[0];
      const T* x = data<const T>(in);
      T* y = data<T>(out);
      const tenon_sdk::Walk<2> walk(out.rank, out.sizes, {tenon_sdk::strides_of(in), out.strides});
      walk.elements([&](const auto& at) { y[at[1]] = x[at[0]]; });
    });
  });
}

// The fill value is a tensor with one element, or is passed by value (a view without a buffer).
// This device is HOST_VISIBLE, so `data` points to the value in both cases.
Prepared prepare_fill(const Request& request) {
  return tenon_sdk::dispatch_size(request.output(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(TENON_KERNEL_DETERMINISTIC, [](const tenon_launch& launch) {
      const T value = *data<const T>(launch.inputs[0]);
      T* y = data<T>(launch.outputs[0]);
      const int64_t n = tenon_sdk::count(launch.outputs[0]);
      for (int64_t i = 0; i < n; ++i) y[i] = value;
    });
  });
}

namespace {

// Kernels that need state are classes. Members hold what the prepare function determined.
class Add final : public tenon_sdk::Kernel {
 public:
  Add(int64_t step_a, int64_t step_b) : step_a_(step_a), step_b_(step_b) {}

  tenon_error* launch(tenon_stream_p*, const tenon_launch& launch) const override {
    const float* a = data<const float>(launch.inputs[0]);
    const float* b = data<const float>(launch.inputs[1]);
    float* y = data<float>(launch.outputs[0]);
    const int64_t n = tenon_sdk::count(launch.outputs[0]);
    for (int64_t i = 0; i < n; ++i) y[i] = a[i * step_a_] + b[i * step_b_];
    return nullptr;
  }

 private:
  const int64_t step_a_, step_b_;
};

}  // namespace

// Does not declare STRIDED_INPUTS, so the host makes STRIDED operands dense first. The kernel
// therefore supports DENSE and UNIFORM operands (one element that is broadcast). If it refused
// UNIFORM, the host would try the next kernel entry, then the op's decomposition.
Prepared prepare_add(const Request& request) {
  const auto step = [&](size_t i) {
    return request.input(i).strides == TENON_STRIDES_UNIFORM ? 0 : 1;
  };
  return {.kernel = std::make_unique<Add>(step(0), step(1)),
          .traits = TENON_KERNEL_DETERMINISTIC | TENON_KERNEL_MAY_ALIAS};
}

}  // namespace tenon_null
