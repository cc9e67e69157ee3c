#include "plugins/simd/kernels/wide_launch.h"

namespace tenon_simd {

void convert_elements(tenon_dtype from, const void* x, tenon_dtype to, void* y, int64_t n) {
  const auto size = static_cast<size_t>(n);
  if (is_half(from)) {
    widen_half(from, x, static_cast<float*>(y), size);
  } else if (is_half(to)) {
    narrow_half(to, static_cast<const float*>(x), y, size);
  } else {
    const size_t step = 1;
    cast_span(from, to)(&x, &step, y, size, SpanParams());
  }
}

WideLaunch::WideLaunch(const tenon_launch& launch, tenon_dtype narrow, tenon_dtype wide)
    : launch_(launch),
      narrow_(narrow),
      wide_(wide),
      inputs_(launch.inputs, launch.inputs + launch.n_inputs),
      outputs_(launch.outputs, launch.outputs + launch.n_outputs) {
  for (tenon_view& view : inputs_) {
    if (view.dtype == narrow) widen(view);
  }
  for (tenon_view& view : outputs_) {
    if (view.dtype == narrow) allocate(view);
  }
  launch_.inputs = inputs_.data();
  launch_.outputs = outputs_.data();
}

void WideLaunch::narrow_outputs(const tenon_launch& original) const {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const tenon_view& out = original.outputs[i];
    if (out.dtype != narrow_) continue;
    convert_elements(wide_, outputs_[i].data, narrow_, out.data, count(out));
  }
}

void WideLaunch::allocate(tenon_view& view) {
  memory_.emplace_back(static_cast<size_t>(std::max<int64_t>(1, count(view))) * size_of(wide_));
  strides_.push_back(std::make_unique<tenon_sdk::DenseStrides>(view));
  view.data = memory_.back().data();
  view.strides = strides_.back()->values;
  view.strides_class = TENON_STRIDES_DENSE;
  view.content = 0;
  view.dtype = wide_;
}

void WideLaunch::widen(tenon_view& view) {
  const tenon_view from = view;
  const int64_t n = count(view);
  allocate(view);
  if (n == 0) return;
  dispatch_bits(narrow_, [&]<class U>(Type<U>) {
    std::vector<U> dense(static_cast<size_t>(n));
    pack(data<const U>(from), axes_of(from), 0, n, dense.data());
    convert_elements(narrow_, dense.data(), wide_, view.data, n);
  });
}

}  // namespace tenon_simd
