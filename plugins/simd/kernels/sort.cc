// sort, argsort and top_k: the first elements of each line in sorted order.
//
// Many short lines are sorted in parallel; a long line is sorted by parallel steps.

#include "plugins/simd/kernels/order.h"

namespace tenon_simd {
namespace {

constexpr int64_t kLongLine = 128 * 1024;
constexpr int64_t kGrain = 8 * 1024;  // Minimum elements per task.

struct Order {
  size_t axis;
  bool descending;
  bool sorted = true;  // Whether the result stays sorted, or is put back in index order.
};

// Keeps as many elements of each line as the output holds: their values, their indices, or both. A
// pointer is NULL if that output is not needed.
template <class T>
void keep_first(const Pool& pool, const tenon_launch& launch, Order order, T* values,
                int64_t* indices) {
  const tenon_view &in = launch.inputs[0], &out = launch.outputs[0];
  if (count(out) == 0) return;
  LoopAxes in_lines, out_lines;
  for (size_t i = 0; i < in.rank; ++i) {
    if (i == order.axis) continue;
    in_lines.push(in.sizes[i], stride_of(in, i));
    out_lines.push(out.sizes[i], out.strides[i]);
  }
  const int64_t n = in.sizes[order.axis], k = out.sizes[order.axis];
  const int64_t stride = stride_of(in, order.axis), step = out.strides[order.axis];

  with_word<T>(n, [&]<class Word>(Type<Word>) {
    const auto sort_lines = [&](const Pool* inside, int64_t begin, int64_t end) {
      Ranking<Word> ranking(n);
      for (int64_t line = begin; line < end; ++line) {
        const T* const x = data<const T>(in) + in_lines.offset(line);
        const int64_t to = out_lines.offset(line);
        ranking.load(inside, x, stride, order.descending);
        ranking.sort_first(inside, k);
        if (!order.sorted) ranking.sort_places(k);
        ranking.over_ranges(inside, k, [&](int64_t first, int64_t last) {
          for (int64_t i = first; i < last; ++i) {
            const auto place = static_cast<int64_t>(ranking[i].place);
            if (values != nullptr) values[to + i * step] = x[place * stride];
            if (indices != nullptr) indices[to + i * step] = place;
          }
        });
      }
    };
    if (n >= kLongLine) {
      sort_lines(&pool, 0, in_lines.count());
    } else {
      pool.parallel_tasks(in_lines.count(), std::max<int64_t>(1, kGrain / n),
                          [&](int64_t begin, int64_t end) { sort_lines(nullptr, begin, end); });
    }
  });
}

}  // namespace

Prepared prepare_sort(const Request& request) {
  const auto attrs = request.attrs<tenon_sort_attrs>();
  const Order order = {tenon_sdk::from_front(attrs.axis, request.input(0).rank), attrs.descending};
  return dispatch<tenon_sdk::Any>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return kernel(kTraits, [order, pool = &pool_of(request)](const tenon_launch& launch) {
      keep_first<T>(*pool, launch, order, data<T>(launch.outputs[0]), nullptr);
    });
  });
}

Prepared prepare_argsort(const Request& request) {
  const auto attrs = request.attrs<tenon_argsort_attrs>();
  const Order order = {tenon_sdk::from_front(attrs.axis, request.input(0).rank), attrs.descending};
  return dispatch<tenon_sdk::Any>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return kernel(kTraits, [order, pool = &pool_of(request)](const tenon_launch& launch) {
      keep_first<T>(*pool, launch, order, nullptr, data<int64_t>(launch.outputs[0]));
    });
  });
}

Prepared prepare_top_k(const Request& request) {
  const auto attrs = request.attrs<tenon_top_k_attrs>();
  const Order order = {tenon_sdk::from_front(attrs.axis, request.input(0).rank), attrs.largest,
                       attrs.sorted};
  return dispatch<tenon_sdk::Any>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return kernel(kTraits, [order, pool = &pool_of(request)](const tenon_launch& launch) {
      keep_first<T>(*pool, launch, order, data<T>(launch.outputs[0]),
                    data<int64_t>(launch.outputs[1]));
    });
  });
}

}  // namespace tenon_simd
