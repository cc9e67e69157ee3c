// scatter_elements and scatter_nd: a copy of x into which updates go one after another, so that the
// last of several wins. An index outside of its axis drops its update and is reported.

#include "plugins/cpu/kernels/dense_input.h"

namespace tenon_cpu {
namespace {

using tenon_sdk::IndexReader;
using tenon_sdk::Walk;

int64_t checked(const tenon_launch& launch, int64_t index, int64_t bound) {
  const int64_t found = tenon_sdk::wrap(index, bound);
  if (found < 0) tenon_sdk::report_value_error(launch, index, bound);
  return found;
}

template <class T>
using Update = T (*)(T old, T update);

// The type in which updates meet what is there: halves in float32, integers so that they wrap.
template <class T>
using Wide = std::conditional_t<std::is_integral_v<T>, uint64_t,
                                std::conditional_t<std::is_same_v<T, double>, double, float>>;

// How an update meets what is there; NULL for what bool does not have. NaN stays.
template <class T>
Update<T> update_function(int32_t reduction) {
  if (reduction == TENON_SCATTER_REDUCTION_NONE) return [](T, T update) { return update; };
  if constexpr (!std::is_same_v<T, Bool>) {
    using W = Wide<T>;
    using Compared = std::conditional_t<std::is_integral_v<T>, T, W>;
    switch (reduction) {
      case TENON_SCATTER_REDUCTION_ADD:
        return [](T a, T b) { return static_cast<T>(static_cast<W>(a) + static_cast<W>(b)); };
      case TENON_SCATTER_REDUCTION_MUL:
        return [](T a, T b) { return static_cast<T>(static_cast<W>(a) * static_cast<W>(b)); };
      case TENON_SCATTER_REDUCTION_MIN:
        return [](T a, T b) {
          const Compared x = a, y = b;
          return x != x || x < y ? a : b;
        };
      case TENON_SCATTER_REDUCTION_MAX:
        return [](T a, T b) {
          const Compared x = a, y = b;
          return x != x || y < x ? a : b;
        };
    }
  }
  return nullptr;
}

// Calls make(update) with the function for the reduction, for the C++ type of `dtype`.
template <class Make>
Prepared scatter_kernel(tenon_dtype dtype, int32_t reduction, const Make& make) {
  return dispatch<tenon_sdk::Any>(dtype, [&]<class T>(Type<T>) -> Prepared {
    const Update<T> update = update_function<T>(reduction);
    if (update == nullptr) return refuse("no such reduction for this dtype");
    return make(update);
  });
}

template <class T>
void copy_first(const tenon_launch& launch) {
  const DenseInput<T> x(launch.inputs[0]);
  std::copy_n(x.data(), count(launch.outputs[0]), data<T>(launch.outputs[0]));
}

}  // namespace

Prepared prepare_scatter_elements(const Request& request) {
  const auto attrs = request.attrs<tenon_scatter_elements_attrs>();
  const size_t axis = tenon_sdk::from_front(attrs.axis, request.input(0).rank);
  return scatter_kernel(request.input(0).dtype, attrs.reduction, [axis]<class T>(Update<T> update) {
    return kernel(kTraits, [axis, update](const tenon_launch& launch) {
      copy_first<T>(launch);
      const tenon_view &indices = launch.inputs[1], &updates = launch.inputs[2];
      const tenon_view& out = launch.outputs[0];
      const T* const from = data<const T>(updates);
      T* const y = data<T>(out);
      const IndexReader index(indices);
      int64_t index_strides[TENON_MAX_RANK], update_strides[TENON_MAX_RANK];
      int64_t others[TENON_MAX_RANK];
      for (size_t i = 0; i < out.rank; ++i) {
        index_strides[i] = stride_of(indices, i);
        update_strides[i] = stride_of(updates, i);
        others[i] = i == axis ? 0 : out.strides[i];
      }
      const Walk<3> walk(indices.rank, indices.sizes, {index_strides, update_strides, others});
      walk.elements([&](const auto& at) {
        const int64_t i = checked(launch, index[at[0]], out.sizes[axis]);
        if (i < 0) return;
        T& to = y[at[2] + i * out.strides[axis]];
        to = update(to, from[at[1]]);
      });
    });
  });
}

Prepared prepare_scatter_nd(const Request& request) {
  const int32_t reduction = request.attrs<tenon_scatter_nd_attrs>().reduction;
  return scatter_kernel(request.input(0).dtype, reduction, []<class T>(Update<T> update) {
    return kernel(kTraits, [update](const tenon_launch& launch) {
      copy_first<T>(launch);
      const tenon_view &indices = launch.inputs[1], &updates = launch.inputs[2];
      const tenon_view& out = launch.outputs[0];
      if (count(updates) == 0) return;
      const size_t last = indices.rank - 1u;
      const auto tuple_size = static_cast<size_t>(indices.sizes[last]);
      const T* const from = data<const T>(updates);
      T* const y = data<T>(out);
      const IndexReader index(indices);
      int64_t index_strides[TENON_MAX_RANK], update_strides[TENON_MAX_RANK];
      for (size_t i = 0; i < last; ++i) index_strides[i] = stride_of(indices, i);
      for (size_t i = 0; i < updates.rank; ++i) update_strides[i] = stride_of(updates, i);
      const Walk<2> tuples(last, indices.sizes, {index_strides, update_strides});
      const Walk<2> rest(out.rank - tuple_size, out.sizes + tuple_size,
                         {update_strides + last, out.strides + tuple_size});
      tuples.elements([&](const auto& at) {
        int64_t to = 0;
        for (size_t j = 0; j < tuple_size; ++j) {
          const int64_t step = stride_of(indices, last) * static_cast<int64_t>(j);
          const int64_t i = checked(launch, index[at[0] + step], out.sizes[j]);
          if (i < 0) return;
          to += i * out.strides[j];
        }
        rest.elements([&](const auto& offset) {
          T& target = y[to + offset[1]];
          target = update(target, from[at[1] + offset[0]]);
        });
      });
    });
  });
}

}  // namespace tenon_cpu
