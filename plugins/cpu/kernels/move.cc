// concat and pad: elements move, nothing is computed.

#include "plugins/cpu/kernels/axes.h"

namespace tenon_cpu {
namespace {

using tenon_sdk::Walk;

// Copies a block of these sizes from strides to strides, by whole rows where both are dense.
template <class T>
void copy_block(const T* from, const int64_t* from_strides, T* to, const int64_t* to_strides,
                size_t rank, const int64_t* sizes) {
  const Walk<2> walk(rank, sizes, {from_strides, to_strides});
  walk.rows([&](int64_t n, const auto& offsets, const auto& steps) {
    const T* source = from + offsets[0];
    T* target = to + offsets[1];
    if (steps[0] == 1 && steps[1] == 1) {
      std::memcpy(static_cast<void*>(target), source, static_cast<size_t>(n) * sizeof(T));
    } else {
      for (int64_t i = 0; i < n; ++i) target[i * steps[1]] = source[i * steps[0]];
    }
  });
}

struct Strides {
  int64_t values[TENON_MAX_RANK] = {};
  explicit Strides(const tenon_view& view) {
    for (size_t axis = 0; axis < view.rank; ++axis) values[axis] = stride_of(view, axis);
  }
};

}  // namespace

Prepared prepare_concat(const Request& request) {
  const size_t axis =
      tenon_sdk::from_front(request.attrs<tenon_concat_attrs>().axis, request.output(0).rank);
  return dispatch_size(request.output(0).dtype, [&]<class T>(Type<T>) {
    return kernel(kTraits, [axis](const tenon_launch& launch) {
      const tenon_view& out = launch.outputs[0];
      T* to = data<T>(out);
      for (uint32_t i = 0; i < launch.n_inputs; ++i) {
        const tenon_view& in = launch.inputs[i];
        if (count(in) == 0) continue;
        copy_block(data<const T>(in), Strides(in).values, to, out.strides, in.rank, in.sizes);
        to += in.sizes[axis] * out.strides[axis];
      }
    });
  });
}

// A negative pad takes elements away. Without a value the padding is zero.
Prepared prepare_pad(const Request& request) {
  const auto attrs = request.attrs<tenon_pad_attrs>();
  if (attrs.mode != TENON_PAD_MODE_CONSTANT) return refuse("only constant padding");
  const List pads = list(attrs.pads, attrs.n_pads);
  return dispatch_size(request.output(0).dtype, [&]<class T>(Type<T>) {
    return kernel(kTraits, [pads](const tenon_launch& launch) {
      const tenon_view &in = launch.inputs[0], &out = launch.outputs[0];
      T* const y = data<T>(out);
      std::fill_n(y, count(out), has_input(launch, 1) ? *data<const T>(launch.inputs[1]) : T{});

      // What remains of x: along each axis the elements from `first` on, which y holds from
      // first + before on.
      const Strides strides(in);
      int64_t sizes[TENON_MAX_RANK];
      int64_t from = 0, to = 0;
      for (size_t axis = 0; axis < in.rank; ++axis) {
        const int64_t before = pads[axis];
        const int64_t first = std::max<int64_t>(0, -before);
        const int64_t end = std::min(in.sizes[axis], out.sizes[axis] - before);
        sizes[axis] = std::max<int64_t>(0, end - first);
        from += first * strides.values[axis];
        to += (first + before) * out.strides[axis];
      }
      if (count(in.rank, sizes) == 0) return;
      copy_block(data<const T>(in) + from, strides.values, y + to, out.strides, in.rank, sizes);
    });
  });
}

}  // namespace tenon_cpu
