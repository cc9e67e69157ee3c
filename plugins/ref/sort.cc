// sort, argsort, top_k, searchsorted and unique.

#include <algorithm>
#include <numeric>
#include <vector>

#include "plugins/ref/kernels.h"
#include "plugins/ref/scalar.h"
#include "plugins/sdk/view.h"

namespace tenon_ref {
namespace {

using tenon_sdk::data;
using tenon_sdk::strides_of;
using tenon_sdk::Walk;

// Whether `a` comes before `b` in sorted order. NaN comes last, also in descending order. Returns
// false for equal elements.
template <class T>
bool precedes(T a, T b, bool descending) {
  const auto x = widen<Exact<T>>(a), y = widen<Exact<T>>(b);
  if (y != y) return x == x;
  return descending ? y < x : x < y;  // False if x is NaN.
}

// Returns the indices of n elements in sorted order. The sort is stable.
template <class T>
std::vector<int64_t> sorted_indices(const T* x, int64_t n, int64_t stride, bool descending) {
  std::vector<int64_t> places(static_cast<size_t>(n));
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(), [&](int64_t a, int64_t b) {
    return precedes(x[a * stride], x[b * stride], descending);
  });
  return places;
}

struct Order {
  size_t axis;
  bool descending;
  bool sorted = true;  // Whether results are in sorted order; false: in index order.
};

// Sorts each line along the axis and stores as many of its first elements as the output has: their
// values, their indices, or both. `values` or `indices` is NULL if it is not an output.
template <class T>
void store_first_sorted(const tenon_launch& launch, Order order, T* values, int64_t* indices) {
  const tenon_view& in = launch.inputs[0];
  const tenon_view& out = launch.outputs[0];
  if (tenon_sdk::count(out) == 0) return;
  const int64_t stride = in.strides[order.axis], step = out.strides[order.axis];
  int64_t starts[TENON_MAX_RANK];  // The sizes of x, but 1 along the axis: one index per line.
  for (size_t i = 0; i < in.rank; ++i) starts[i] = i == order.axis ? 1 : in.sizes[i];
  const Walk<2> lines(in.rank, starts, {in.strides, out.strides});
  lines.elements([&](const auto& at) {
    const T* x = data<const T>(in) + at[0];
    auto places = sorted_indices(x, in.sizes[order.axis], stride, order.descending);
    places.resize(static_cast<size_t>(out.sizes[order.axis]));
    if (!order.sorted) std::sort(places.begin(), places.end());
    int64_t to = at[1];
    for (const int64_t place : places) {
      if (values != nullptr) values[to] = x[place * stride];
      if (indices != nullptr) indices[to] = place;
      to += step;
    }
  });
}

}  // namespace

Prepared prepare_sort(const Request& request) {
  const auto attrs = request.attrs<tenon_sort_attrs>();
  const Order order = {tenon_sdk::from_front(attrs.axis, request.input(0).rank), attrs.descending};
  return tenon_sdk::dispatch<tenon_sdk::Any>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(kTraits, [order](const tenon_launch& launch) {
      store_first_sorted<T>(launch, order, data<T>(launch.outputs[0]), nullptr);
    });
  });
}

Prepared prepare_argsort(const Request& request) {
  const auto attrs = request.attrs<tenon_argsort_attrs>();
  const Order order = {tenon_sdk::from_front(attrs.axis, request.input(0).rank), attrs.descending};
  return tenon_sdk::dispatch<tenon_sdk::Any>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(kTraits, [order](const tenon_launch& launch) {
      store_first_sorted<T>(launch, order, nullptr, data<int64_t>(launch.outputs[0]));
    });
  });
}

Prepared prepare_top_k(const Request& request) {
  const auto attrs = request.attrs<tenon_top_k_attrs>();
  const Order order = {tenon_sdk::from_front(attrs.axis, request.input(0).rank), attrs.largest,
                       attrs.sorted};
  return tenon_sdk::dispatch<tenon_sdk::Any>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(kTraits, [order](const tenon_launch& launch) {
      store_first_sorted<T>(launch, order, data<T>(launch.outputs[0]),
                            data<int64_t>(launch.outputs[1]));
    });
  });
}

// Returns where each value would be inserted: after all elements that precede it and, if the side
// is RIGHT, also after those that equal it.
Prepared prepare_searchsorted(const Request& request) {
  const bool right =
      request.attrs<tenon_searchsorted_attrs>().side == TENON_SEARCHSORTED_SIDE_RIGHT;
  return tenon_sdk::dispatch<tenon_sdk::Any>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(kTraits, [right](const tenon_launch& launch) {
      const tenon_view& sequence = launch.inputs[0];
      const tenon_view& in = launch.inputs[1];
      const T* s = data<const T>(sequence);
      const T* x = data<const T>(in);
      // The output is dense, so it is written sequentially.
      int64_t* y = data<int64_t>(launch.outputs[0]);
      const Walk<1> walk(in.rank, in.sizes, {strides_of(in)});
      walk.elements([&](const auto& at) {
        const T value = x[at[0]];
        int64_t place = 0;
        while (place < sequence.sizes[0]) {
          const T element = s[place * sequence.strides[0]];
          const bool is_before =
              right ? !precedes(value, element, false) : precedes(element, value, false);
          if (!is_before) break;
          ++place;
        }
        *y++ = place;
      });
    });
  });
}

Prepared prepare_unique(const Request& request) {
  const auto attrs = request.attrs<tenon_unique_attrs>();
  if (attrs.size < 0) return refuse_unsized();
  return tenon_sdk::dispatch<tenon_sdk::Any>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(kTraits, [attrs](const tenon_launch& launch) {
      const tenon_view& in = launch.inputs[0];
      std::vector<T> x;
      const Walk<1> walk(in.rank, in.sizes, {strides_of(in)});
      walk.elements([&](const auto& at) { x.push_back(data<const T>(in)[at[0]]); });
      const auto value = [&](int64_t place) {
        return widen<Exact<T>>(x[static_cast<size_t>(place)]);
      };

      // The indices of each distinct value, in order of occurrence. Each NaN is a value of its own.
      std::vector<std::vector<int64_t>> groups;
      for (const int64_t place :
           sorted_indices(x.data(), static_cast<int64_t>(x.size()), 1, false)) {
        if (groups.empty() || value(groups.back()[0]) != value(place)) groups.emplace_back();
        groups.back().push_back(place);
      }
      if (!attrs.sorted) std::sort(groups.begin(), groups.end());

      T* values = data<T>(launch.outputs[0]);
      int64_t* indices = data<int64_t>(launch.outputs[1]);
      int64_t* inverse = data<int64_t>(launch.outputs[2]);
      int64_t* counts = data<int64_t>(launch.outputs[3]);
      const auto n_found = static_cast<int64_t>(groups.size());
      for (int64_t i = 0; i < n_found; ++i) {
        for (const int64_t place : groups[static_cast<size_t>(i)]) inverse[place] = i;
      }
      for (int64_t i = 0; i < attrs.size; ++i) {
        const bool is_found = i < n_found;
        const auto& group = is_found ? groups[static_cast<size_t>(i)] : std::vector<int64_t>();
        indices[i] = is_found ? group[0] : 0;
        values[i] = is_found ? x[static_cast<size_t>(group[0])] : narrow<T>(attrs.fill);
        counts[i] = static_cast<int64_t>(group.size());
      }
      *data<int64_t>(launch.outputs[4]) = n_found;
    });
  });
}

}  // namespace tenon_ref
