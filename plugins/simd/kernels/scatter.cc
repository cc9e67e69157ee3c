// scatter_elements and scatter_nd: copy x and apply the updates in order, so that the last of
// several updates of an element remains. An update with an index out of range is dropped and
// reported. Sums of half types are computed in float32 and rounded once. Sums of many updates are
// split into chains (pairwise.h).

#include <optional>

#include "plugins/simd/kernels/dense_input.h"
#include "plugins/simd/kernels/pairwise.h"
#include "plugins/simd/kernels/through_float.h"

namespace tenon_simd {
namespace {

using tenon_sdk::IndexReader;
using tenon_sdk::Walk;

// Returns the index, counted from the front. If the index is out of range, reports it and returns
// -1.
int64_t checked_index(const tenon_launch& launch, int64_t index, int64_t bound) {
  const int64_t found = tenon_sdk::wrap(index, bound);
  if (found < 0) tenon_sdk::report_value_error(launch, index, bound);
  return found;
}

// Combines the element at `to` with an update.
using Update = void (*)(void* to, const void* update);

// The type in which updates of T are combined: float32 for half types, and a type in which
// arithmetic wraps for integers.
template <class T>
using Wide = std::conditional_t<std::is_integral_v<T>, uint64_t,
                                std::conditional_t<std::is_same_v<T, double>, double, float>>;

// Returns an update that replaces an element by Function{}(element, update).
template <class T, class Function>
Update update_by(Function) {
  return [](void* to, const void* update) {
    T& element = *static_cast<T*>(to);
    element = Function{}(element, *static_cast<const T*>(update));
  };
}
// Returns the function that combines an update with the old value, or NULL if bool does not support
// the reduction. Propagates NaN.
template <class T>
Update update_function(int32_t reduction) {
  if (reduction == TENON_SCATTER_REDUCTION_NONE) return update_by<T>([](T, T u) { return u; });
  if constexpr (!std::is_same_v<T, Bool>) {
    using W = Wide<T>;
    using Compared = std::conditional_t<std::is_integral_v<T>, T, W>;
    switch (reduction) {
      case TENON_SCATTER_REDUCTION_ADD:
        return update_by<T>(
            [](T a, T b) { return static_cast<T>(static_cast<W>(a) + static_cast<W>(b)); });
      case TENON_SCATTER_REDUCTION_MUL:
        return update_by<T>(
            [](T a, T b) { return static_cast<T>(static_cast<W>(a) * static_cast<W>(b)); });
      case TENON_SCATTER_REDUCTION_MIN:
        return update_by<T>([](T a, T b) {
          const Compared x = a, y = b;
          return x != x || x < y ? a : b;
        });
      case TENON_SCATTER_REDUCTION_MAX:
        return update_by<T>([](T a, T b) {
          const Compared x = a, y = b;
          return x != x || y < x ? a : b;
        });
    }
  }
  return nullptr;
}

// Copies x to the output, before updates are applied.
template <class T>
void copy_input_to_output(const tenon_launch& launch) {
  const tenon_view& x = launch.inputs[0];
  pack(data<const T>(x), axes_of(x), 0, count(x), data<T>(launch.outputs[0]));
}

// Applies each update by calling a function. T is an unsigned integer type with the size of y's
// elements.
template <class T>
struct ByFunction {
  Update update;

  void begin(int64_t) const {}
  void meet(T& to, const T& u) const { update(&to, &u); }
};
// Replaces elements by their updates.
template <class T>
struct ByReplacement {
  void begin(int64_t) const {}
  void meet(T& to, const T& u) const { to = u; }
};
// Adds updates to integers, which wrap. T is unsigned.
template <class T>
struct ByWrappingSum {
  void begin(int64_t) const {}
  void meet(T& to, const T& u) const { to = static_cast<T>(to + u); }
};
// Applies updates by adding them to y, in chains if `sums` is not NULL.
template <class T>
struct BySum {
  T* y;
  ScatteredSums<T>* sums;  // NULL if no sum has more than kLongestChain terms.

  // Must be called before an update of the target whose elements begin at index `to`.
  void begin(int64_t to) const {
    if (sums != nullptr) sums->begin_term(y, to);
  }
  void meet(T& to, const T& u) const { to += u; }
};

// Prepares a scatter. The kernel calls scatter(launch, way), where `way` is one of the structs
// above, for the reduction. `updates_of(launch)` returns the maximum number of updates of a target
// and the number of elements of a target.
template <class Scatter, class UpdatesOf>
Prepared scatter_kernel(const Request& request, int32_t reduction, const UpdatesOf& updates_of,
                        const Scatter& scatter) {
  const tenon_dtype dtype = request.input(0).dtype;
  if (reduction == TENON_SCATTER_REDUCTION_ADD && is_float(dtype)) {
    return through_float(request, [=]<class T>(Type<T>, const tenon_launch& launch) {
      copy_input_to_output<T>(launch);
      const tenon_view& out = launch.outputs[0];
      T* const y = data<T>(out);
      const auto [n_updates, width] = updates_of(launch);
      if (n_updates <= kLongestChain || width == 0) return scatter(launch, BySum<T>{y, nullptr});
      ScatteredSums<T> sums(count(out) / width, width);
      scatter(launch, BySum<T>{y, &sums});
      sums.finish(y);
    });
  }
  const Update update = dispatch<tenon_sdk::Any>(
      dtype, [&]<class T>(Type<T>) { return update_function<T>(reduction); });
  if (update == nullptr) return refuse("does not support this reduction for this dtype");
  return dispatch_bits(dtype, [&]<class U>(Type<U>) -> Prepared {
    return kernel(kTraits, [=](const tenon_launch& launch) {
      copy_input_to_output<U>(launch);
      if (reduction == TENON_SCATTER_REDUCTION_NONE) return scatter(launch, ByReplacement<U>());
      if (reduction == TENON_SCATTER_REDUCTION_ADD) return scatter(launch, ByWrappingSum<U>());
      scatter(launch, ByFunction<U>{update});
    });
  });
}

struct UpdatesOf {
  int64_t n_updates, width;
};

}  // namespace

Prepared prepare_scatter_elements(const Request& request) {
  const auto attrs = request.attrs<tenon_scatter_elements_attrs>();
  const size_t axis = tenon_sdk::from_front(attrs.axis, request.input(0).rank);
  const auto updates_of = [axis](const tenon_launch& launch) {
    return UpdatesOf{launch.inputs[1].sizes[axis], 1};
  };
  const auto scatter = [axis]<template <class> class Way, class T>(const tenon_launch& launch,
                                                                   const Way<T>& way) {
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
    const int64_t bound = out.sizes[axis], stride = out.strides[axis];
    walk.rows([&](int64_t n, auto at, auto steps) {
      for (int64_t j = 0; j < n; ++j) {
        const int64_t i = checked_index(launch, index[at[0] + j * steps[0]], bound);
        if (i < 0) continue;
        const int64_t to = at[2] + j * steps[2] + i * stride;
        way.begin(to);
        way.meet(y[to], from[at[1] + j * steps[1]]);
      }
    });
  };
  return scatter_kernel(request, attrs.reduction, updates_of, scatter);
}

Prepared prepare_scatter_nd(const Request& request) {
  const auto updates_of = [](const tenon_launch& launch) {
    const tenon_view &indices = launch.inputs[1], &out = launch.outputs[0];
    const size_t last = indices.rank - 1u;
    const auto whole = static_cast<size_t>(indices.sizes[last]);
    return UpdatesOf{count(last, indices.sizes), count(out.rank - whole, out.sizes + whole)};
  };
  const auto scatter = []<template <class> class Way, class T>(const tenon_launch& launch,
                                                               const Way<T>& way) {
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
        const int64_t i = checked_index(launch, index[at[0] + step], out.sizes[j]);
        if (i < 0) return;
        to += i * out.strides[j];
      }
      way.begin(to);
      rest.rows([&](int64_t n, const auto& offset, const auto& steps) {
        T* const target = y + to + offset[1];
        const T* const update = from + at[1] + offset[0];
        if (steps[0] == 1 && steps[1] == 1) {
          if constexpr (std::is_same_v<Way<T>, ByReplacement<T>>) {
            std::copy_n(update, n, target);
          } else {  // The compiler vectorises this loop.
            for (int64_t j = 0; j < n; ++j) way.meet(target[j], update[j]);
          }
        } else {
          for (int64_t j = 0; j < n; ++j) way.meet(target[j * steps[1]], update[j * steps[0]]);
        }
      });
    });
  };
  const int32_t reduction = request.attrs<tenon_scatter_nd_attrs>().reduction;
  return scatter_kernel(request, reduction, updates_of, scatter);
}

}  // namespace tenon_simd
