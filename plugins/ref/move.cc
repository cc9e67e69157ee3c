// concat, pad, dynamic_slice and dynamic_update_slice: ops that move elements without computing.

#include "plugins/ref/kernels.h"
#include "plugins/sdk/view.h"

namespace tenon_ref {
namespace {

using tenon_sdk::data;
using tenon_sdk::is_present;
using tenon_sdk::Type;
using tenon_sdk::Walk;

// Returns the offset, in elements, of the slice of `view` with these starts and sizes.
int64_t slice_offset(const tenon_view& view, const tenon_view& starts, const int64_t* sizes) {
  const tenon_sdk::IndexReader start(starts);
  int64_t offset = 0;
  for (size_t axis = 0; axis < view.rank; ++axis) {
    const int64_t given = start[static_cast<int64_t>(axis) * starts.strides[0]];
    offset += tenon_sdk::wrap_start(given, view.sizes[axis], sizes[axis]) * view.strides[axis];
  }
  return offset;
}

}  // namespace

Prepared prepare_concat(const Request& request) {
  const auto rank = request.output(0).rank;
  const size_t axis = tenon_sdk::from_front(request.attrs<tenon_concat_attrs>().axis, rank);
  return tenon_sdk::dispatch_size(request.output(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(kTraits, [axis](const tenon_launch& launch) {
      const tenon_view& out = launch.outputs[0];
      T* y = data<T>(out);
      for (uint32_t i = 0; i < launch.n_inputs; ++i) {
        const tenon_view& in = launch.inputs[i];
        const T* x = data<const T>(in);
        const Walk<2> walk(in.rank, in.sizes, {tenon_sdk::strides_of(in), out.strides});
        walk.elements([&](const auto& at) { y[at[1]] = x[at[0]]; });
        if (tenon_sdk::count(in) > 0) y += in.sizes[axis] * out.strides[axis];
      }
    });
  });
}

// Constant padding; zero if no value is given. A negative pad removes elements.
Prepared prepare_pad(const Request& request) {
  const auto attrs = request.attrs<tenon_pad_attrs>();
  if (attrs.mode != TENON_PAD_MODE_CONSTANT || attrs.n_axes > 0) {
    return tenon_sdk::refuse("supports only constant padding of all axes");
  }
  const tenon_sdk::List pads = tenon_sdk::list(attrs.pads, attrs.n_pads);
  return tenon_sdk::dispatch_size(request.output(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(kTraits, [pads](const tenon_launch& launch) {
      const tenon_view& in = launch.inputs[0];
      const tenon_view& out = launch.outputs[0];
      const bool has_value = launch.n_inputs > 1 && is_present(launch.inputs[1]);
      const T value = has_value ? *data<const T>(launch.inputs[1]) : T{};
      T* y = data<T>(out);
      const int64_t n = tenon_sdk::count(out);
      for (int64_t i = 0; i < n; ++i) y[i] = value;

      // Copy the elements of x that are not removed. Along each axis, these begin at index `first`
      // of x and at index first + before of y.
      int64_t sizes[TENON_MAX_RANK];
      int64_t from = 0, to = 0;
      for (size_t axis = 0; axis < in.rank; ++axis) {
        const int64_t before = pads[axis];
        const int64_t first = std::max<int64_t>(0, -before);
        const int64_t end = std::min(in.sizes[axis], out.sizes[axis] - before);
        sizes[axis] = std::max<int64_t>(0, end - first);
        from += first * in.strides[axis];
        to += (first + before) * out.strides[axis];
      }
      if (tenon_sdk::count(in.rank, sizes) == 0) return;
      const T* x = data<const T>(in) + from;
      y += to;
      const Walk<2> walk(in.rank, sizes, {tenon_sdk::strides_of(in), out.strides});
      walk.elements([&](const auto& at) { y[at[1]] = x[at[0]]; });
    });
  });
}

Prepared prepare_dynamic_slice(const Request& request) {
  return tenon_sdk::dispatch_size(request.output(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(kTraits, [](const tenon_launch& launch) {
      const tenon_view& in = launch.inputs[0];
      const tenon_view& out = launch.outputs[0];
      const T* x = data<const T>(in);
      T* y = data<T>(out);
      if (tenon_sdk::count(out) == 0) return;
      x += slice_offset(in, launch.inputs[1], out.sizes);
      const Walk<2> walk(out.rank, out.sizes, {tenon_sdk::strides_of(in), out.strides});
      walk.elements([&](const auto& at) { y[at[1]] = x[at[0]]; });
    });
  });
}

Prepared prepare_dynamic_update_slice(const Request& request) {
  return tenon_sdk::dispatch_size(request.output(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(kTraits, [](const tenon_launch& launch) {
      const tenon_view& in = launch.inputs[0];
      const tenon_view& update = launch.inputs[1];
      const tenon_view& out = launch.outputs[0];
      const T* x = data<const T>(in);
      const T* u = data<const T>(update);
      T* y = data<T>(out);
      const Walk<2> all(out.rank, out.sizes, {tenon_sdk::strides_of(in), out.strides});
      all.elements([&](const auto& at) { y[at[1]] = x[at[0]]; });
      if (tenon_sdk::count(update) == 0) return;
      y += slice_offset(out, launch.inputs[2], update.sizes);
      const Walk<2> part(update.rank, update.sizes, {tenon_sdk::strides_of(update), out.strides});
      part.elements([&](const auto& at) { y[at[1]] = u[at[0]]; });
    });
  });
}

}  // namespace tenon_ref
