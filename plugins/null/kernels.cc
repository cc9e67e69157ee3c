// Three kernels, each written in a different way.
//
// A prepare function gets the dtypes, ranks, stride classes and attributes, but no sizes. It
// selects or compiles code. The kernel that it returns is kept and launched many times, on a
// SYNCHRONOUS device also by several threads at once.

#include "kernels.h"

#include "plugins/sdk/view.h"

namespace tenon_null {

using tenon_sdk::data;
using tenon_sdk::Prepared;
using tenon_sdk::Request;
using tenon_sdk::Type;

// copy accepts inputs of any strides, since the host uses it to make tensors dense, so it declares
// STRIDED_INPUTS. Elements are only moved, so four types serve all dtypes.
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

// The value is a tensor with one element, or is passed by value. On this HOST_VISIBLE device `data`
// points to it in both cases. On other devices, a view without a buffer is passed by value.
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

// A more complex kernel is a class, whose members hold what prepare determined.
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

// Does not declare STRIDED_INPUTS, so the host copies STRIDED operands. The remaining classes are
// DENSE and UNIFORM: a scalar, or one element that is broadcast. If a kernel refused UNIFORM
// operands, the host would use another line or the op's decomposition.
Prepared prepare_add(const Request& request) {
  const auto step = [&](size_t i) {
    return request.input(i).strides == TENON_STRIDES_UNIFORM ? 0 : 1;
  };
  return {.kernel = std::make_unique<Add>(step(0), step(1)),
          .traits = TENON_KERNEL_DETERMINISTIC | TENON_KERNEL_MAY_ALIAS};
}

}  // namespace tenon_null
