// Runs kernels that are written for float32 and float64 on half types. Inputs are converted to
// float32 first, and outputs are rounded at the end. Half types are meant for storage, so this path
// is not optimised.

#pragma once

#include "plugins/simd/kernels/axes.h"
#include "plugins/simd/kernels/elementwise.h"

namespace tenon_simd {

// A launch whose half-type operands are replaced by dense float32 ones.
class FloatLaunch {
 public:
  FloatLaunch(const tenon_launch& launch, tenon_dtype half) : launch_(launch), half_(half) {
    inputs_.assign(launch.inputs, launch.inputs + launch.n_inputs);
    outputs_.assign(launch.outputs, launch.outputs + launch.n_outputs);
    for (tenon_view& view : inputs_) {
      if (view.dtype == half) widen(view);
    }
    for (tenon_view& view : outputs_) {
      if (view.dtype == half) {
        float* memory = allocate(view);
        view.data = memory;
      }
    }
    launch_.inputs = inputs_.data();
    launch_.outputs = outputs_.data();
  }

  const tenon_launch& launch() const { return launch_; }

  // Rounds the float32 outputs to half types and stores them in the outputs of the original launch.
  void narrow_outputs(const tenon_launch& original) const {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (original.outputs[i].dtype != half_) continue;
      narrow_half(half_, data<const float>(outputs_[i]), original.outputs[i].data,
                  static_cast<size_t>(count(outputs_[i])));
    }
  }

 private:
  // Changes the view to dense float32 and returns new memory for its elements.
  float* allocate(tenon_view& view) {
    memory_.emplace_back(static_cast<size_t>(std::max<int64_t>(1, count(view))));
    strides_.push_back(std::make_unique<tenon_sdk::DenseStrides>(view));
    view.strides = strides_.back()->values;
    view.strides_class = TENON_STRIDES_DENSE;
    view.dtype = TENON_FLOAT32;
    view.content = 0;
    return memory_.back().data();
  }

  // Replaces a view of half-type elements by a view of a float32 copy.
  void widen(tenon_view& view) {
    const int64_t n = count(view);
    const uint16_t* from = data<const uint16_t>(view);
    std::vector<uint16_t> dense(static_cast<size_t>(n));
    if (n > 0) pack(from, axes_of(view), 0, n, dense.data());
    float* to = allocate(view);
    widen_half(half_, dense.data(), to, static_cast<size_t>(n));
    view.data = to;
  }

  tenon_launch launch_;
  tenon_dtype half_;
  std::vector<tenon_view> inputs_, outputs_;
  std::vector<std::vector<float>> memory_;
  std::vector<std::unique_ptr<tenon_sdk::DenseStrides>> strides_;
};

// Prepares a kernel that calls function(Type<T>, launch). T is double if the operand with index
// `input` is float64, otherwise float. If that operand has a half type, converts operands of this
// type from and to float32.
template <class Function>
Prepared through_float(const Request& request, Function function, size_t input = 0) {
  const tenon_dtype dtype = request.input(input).dtype;
  if (dtype == TENON_FLOAT64) {
    return kernel(kTraits, [=](const tenon_launch& launch) { function(Type<double>(), launch); });
  }
  if (dtype == TENON_FLOAT32) {
    return kernel(kTraits, [=](const tenon_launch& launch) { function(Type<float>(), launch); });
  }
  return kernel(kTraits, [=](const tenon_launch& launch) {
    const FloatLaunch widened(launch, dtype);
    function(Type<float>(), widened.launch());
    widened.narrow_outputs(launch);
  });
}

}  // namespace tenon_simd
