// Reductions over any set of axes; argmax and argmin along one axis.

#include <cmath>
#include <limits>

#include "plugins/ref/kernels.h"
#include "plugins/ref/scalar.h"
#include "plugins/sdk/view.h"

namespace tenon_ref {
namespace {

using tenon_sdk::data;
using tenon_sdk::Walk;

// The axes of a view, divided into kept and reduced axes.
struct Parts {
  struct Axes {
    size_t rank = 0;
    int64_t sizes[TENON_MAX_RANK] = {};
    int64_t strides[TENON_MAX_RANK] = {};
    Walk<1> walk() const { return Walk<1>(rank, sizes, {strides}); }
  };
  Axes kept;
  Axes reduced;

  Parts(const tenon_view& x, uint32_t mask) {
    for (size_t axis = 0; axis < x.rank; ++axis) {
      Axes& part = (mask >> axis & 1) != 0 ? reduced : kept;
      part.sizes[part.rank] = x.sizes[axis];
      part.strides[part.rank++] = x.strides[axis];
    }
  }
};

// Returns the bit mask of the axes. An empty list stands for all axes.
uint32_t mask_of(const int64_t* axes, size_t n_axes, size_t rank) {
  if (n_axes == 0) return (1u << rank) - 1;
  uint32_t mask = 0;
  for (size_t i = 0; i < n_axes; ++i) mask |= 1u << tenon_sdk::from_front(axes[i], rank);
  return mask;
}

template <class W>
struct Reduction {
  W identity;
  W (*join)(W, W);
};

// The reduction for max or min. Its result is NaN if any element is NaN.
template <class T>
Reduction<Exact<T>> max_or_min(bool is_max) {
  using W = Exact<T>;
  using Limits = std::numeric_limits<std::conditional_t<kIsFloat<T>, double, T>>;
  const W low =
      kIsFloat<T> ? -static_cast<W>(Limits::infinity()) : static_cast<W>(Limits::lowest());
  const W high = kIsFloat<T> ? static_cast<W>(Limits::infinity()) : static_cast<W>(Limits::max());
  if (is_max) return {low, [](W a, W b) { return a != a || b < a ? a : b; }};
  return {high, [](W a, W b) { return a != a || a < b ? a : b; }};
}

// Prepares a reduction of the axes of `mask`.
template <class T, class W>
Prepared reduce_kernel(uint32_t mask, Reduction<W> reduction) {
  return tenon_sdk::kernel(kTraits, [mask, reduction](const tenon_launch& launch) {
    const tenon_view& in = launch.inputs[0];
    const T* x = data<const T>(in);
    T* y = data<T>(launch.outputs[0]);  // The output is dense with the kept axes in order.
    const Parts parts(in, mask);
    const Walk<1> reduced = parts.reduced.walk();
    parts.kept.walk().elements([&](const auto& kept) {
      W result = reduction.identity;
      reduced.elements(
          [&](const auto& at) { result = reduction.join(result, widen<W>(x[kept[0] + at[0]])); });
      *y++ = narrow<T>(result);
    });
  });
}

// Prepares argmax or argmin. The result is the index of the first NaN or, without NaN, of the first
// extreme element.
template <class T>
Prepared arg_kernel(size_t axis, bool is_max) {
  using W = Exact<T>;
  return tenon_sdk::kernel(kTraits, [axis, is_max](const tenon_launch& launch) {
    const tenon_view& in = launch.inputs[0];
    const T* x = data<const T>(in);
    int64_t* y = data<int64_t>(launch.outputs[0]);
    const Parts parts(in, 1u << axis);
    parts.kept.walk().elements([&](const auto& kept) {
      int64_t best = 0;
      for (int64_t i = 0; i < in.sizes[axis]; ++i) {
        const W candidate = widen<W>(x[kept[0] + i * in.strides[axis]]);
        const W leader = widen<W>(x[kept[0] + best * in.strides[axis]]);
        if (leader != leader) break;
        if (candidate != candidate || (is_max ? leader < candidate : candidate < leader)) best = i;
      }
      *y++ = best;
    });
  });
}

}  // namespace

// sum, prod, max and min use one attribute struct.
Prepared prepare_reduce(const Request& request) {
  const uint32_t op = request.op();
  const auto attrs = request.attrs<tenon_sum_attrs>();
  const uint32_t mask = mask_of(attrs.axes, attrs.n_axes, request.input(0).rank);
  return tenon_sdk::dispatch<tenon_sdk::Numbers>(request.input(0).dtype, [&]<class T>(Type<T>) {
    using W = Wide<T>;
    if (op == TENON_OP_sum) {
      return reduce_kernel<T, W>(mask, {0, [](W a, W b) { return a + b; }});
    }
    if (op == TENON_OP_prod) {
      return reduce_kernel<T, W>(mask, {1, [](W a, W b) { return a * b; }});
    }
    return reduce_kernel<T>(mask, max_or_min<T>(op == TENON_OP_max));
  });
}

Prepared prepare_arg_reduce(const Request& request) {
  const bool is_max = request.op() == TENON_OP_argmax;
  const auto attrs = request.attrs<tenon_argmax_attrs>();
  const size_t axis = tenon_sdk::from_front(attrs.axis, request.input(0).rank);
  return tenon_sdk::dispatch<tenon_sdk::Numbers>(
      request.input(0).dtype, [&]<class T>(Type<T>) { return arg_kernel<T>(axis, is_max); });
}

}  // namespace tenon_ref
