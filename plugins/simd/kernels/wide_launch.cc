#include "plugins/simd/kernels/wide_launch.h"

#include <array>
#include <bit>

namespace tenon_simd {
namespace {

// Number of elements in a band. Their copies take 64 kB for each operand.
constexpr int64_t kBandElements = 16 * 1024;
// Minimum number of rows in a band, unless a row has more elements than this.
constexpr int64_t kMinBandRows = 32, kMaxBandRow = 8 * 1024;

// Returns the views, reduced along the axis to `n` indices from `begin` on if their bits in `mask`
// are set. `sizes` keeps the new sizes.
std::vector<tenon_view> views_of_band(const tenon_view* views, size_t n_views, uint32_t mask,
                                      size_t axis, int64_t begin, int64_t n,
                                      std::vector<std::array<int64_t, TENON_MAX_RANK>>& sizes) {
  std::vector<tenon_view> result(views, views + n_views);
  for (size_t i = 0; i < n_views; ++i) {
    tenon_view& view = result[i];
    if ((mask >> i & 1) == 0 || !is_present(view)) continue;
    std::array<int64_t, TENON_MAX_RANK>& of_view = sizes.emplace_back();
    std::copy_n(view.sizes, view.rank, of_view.begin());
    of_view[axis] = n;
    view.sizes = of_view.data();
    view.data = data<std::byte>(view) +
                begin * stride_of(view, axis) * static_cast<int64_t>(size_of(view.dtype));
    view.content = 0;
  }
  return result;
}

}  // namespace

void for_each_band(const Pool& pool, const tenon_launch& launch, const RowOperands& rows,
                   const std::function<void(const tenon_launch&)>& run) {
  const tenon_view& x = launch.inputs[std::countr_zero(rows.inputs)];
  // Dense operands stay dense if the axes before this axis have size 1.
  size_t axis = 0;
  while (axis < rows.n_axes && x.sizes[axis] == 1) ++axis;
  const int64_t n = axis < rows.n_axes ? x.sizes[axis] : 1;
  const int64_t row = n == 0 ? 0 : count(x) / n;
  // Fewer rows would not be transposed in blocks.
  const int64_t least = row <= kMaxBandRow ? kMinBandRows : 1;
  const int64_t band = std::max(least, kBandElements / std::max<int64_t>(1, row));
  if (n <= band) return run(launch);
  pool.parallel_for((n + band - 1) / band, [&](int64_t i) {
    std::vector<std::array<int64_t, TENON_MAX_RANK>> sizes;
    sizes.reserve(launch.n_inputs + launch.n_outputs);
    const int64_t begin = i * band, length = std::min(band, n - begin);
    const auto views = [&](const tenon_view* all, size_t n_views, uint32_t mask) {
      return views_of_band(all, n_views, mask, axis, begin, length, sizes);
    };
    const std::vector<tenon_view> inputs = views(launch.inputs, launch.n_inputs, rows.inputs);
    const std::vector<tenon_view> outputs = views(launch.outputs, launch.n_outputs, rows.outputs);
    tenon_launch some = launch;
    some.inputs = inputs.data();
    some.outputs = outputs.data();
    run(some);
  });
}

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

bool has_transposed_input(const tenon_launch& launch, const RowOperands& rows) {
  for (size_t i = 0; rows.n_axes != 0 && i < launch.n_inputs; ++i) {
    const tenon_view& x = launch.inputs[i];
    if ((rows.inputs >> i & 1) == 0 || x.strides_class != TENON_STRIDES_STRIDED) continue;
    if (has_transposed_rows(axes_of(x))) return true;
  }
  return false;
}

WideLaunch::WideLaunch(const tenon_launch& launch, tenon_dtype dtype, const RowOperands& rows)
    : launch_(launch),
      narrow_(dtype),
      wide_(dtype),
      inputs_(launch.inputs, launch.inputs + launch.n_inputs) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    tenon_view& view = inputs_[i];
    if ((rows.inputs >> i & 1) == 0 || view.dtype != dtype) continue;
    if (view.strides_class == TENON_STRIDES_STRIDED) widen(view);
  }
  launch_.inputs = inputs_.data();
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
  memory_.emplace_back(
      new std::byte[static_cast<size_t>(std::max<int64_t>(1, count(view))) * size_of(wide_)]);
  strides_.push_back(std::make_unique<tenon_sdk::DenseStrides>(view));
  view.data = memory_.back().get();
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
  if (narrow_ == wide_) {
    dispatch_bits(wide_, [&]<class U>(Type<U>) {
      pack(data<const U>(from), axes_of(from), 0, n, data<U>(view));
    });
    return;
  }
  if (from.strides_class == TENON_STRIDES_DENSE) {
    return convert_elements(narrow_, from.data, wide_, view.data, n);
  }
  dispatch_bits(narrow_, [&]<class U>(Type<U>) {
    const std::unique_ptr<U[]> dense(new U[static_cast<size_t>(n)]);
    pack(data<const U>(from), axes_of(from), 0, n, dense.get());
    convert_elements(narrow_, dense.get(), wide_, view.data, n);
  });
}

}  // namespace tenon_simd
