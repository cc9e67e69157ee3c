// sort, argsort and top_k. They output the first elements of each line in sorted order.
//
// Short lines are sorted in parallel. A long line is sorted by a parallel algorithm.

#include <optional>

#include "plugins/simd/kernels/lines.h"
#include "plugins/simd/kernels/order.h"
#include "plugins/simd/kernels/transposed.h"

namespace tenon_simd {
namespace {

constexpr int64_t kLongLine = 128 * 1024;
constexpr int64_t kGrain = 8 * 1024;  // Minimum elements per task.

struct Order {
  KeyRule rule;
  size_t axis;
  bool descending;
  // Whether the results are in sorted order; otherwise in order of their indices.
  bool sorted = true;
};

// Stores the elements of each line in sorted order.
template <class T>
void store_sorted(const Pool& pool, const tenon_launch& launch, const Order& order, T* values) {
  const Lines in(launch.inputs[0], order.axis), out(launch.outputs[0], order.axis);
  const T* const x = data<const T>(launch.inputs[0]);
  pool.parallel_tasks(in.others.count(), std::max<int64_t>(1, kGrain / in.n),
                      [&](int64_t begin, int64_t end) {
                        KeySort<T> keys(in.n, order.rule, order.descending);
                        std::optional<Ranking<uint64_t>> ranking;
                        for_each_line(x, in, begin, end, [&](int64_t line, const T* from) {
                          T* const to = values + out.others.offset(line);
                          if (keys.load(from)) return keys.sort_to(to, out.stride);
                          if (!ranking) ranking.emplace(in.n);
                          ranking->load(nullptr, from, 1, order.rule, order.descending);
                          ranking->sort(nullptr);
                          for (int64_t i = 0; i < in.n; ++i) {
                            to[i * out.stride] = from[static_cast<int64_t>((*ranking)[i].place)];
                          }
                        });
                      });
}

// Stores the first elements of each line in sorted order, as many as the output holds. `values` or
// `indices` is NULL if it is not an output.
template <class T>
void store_first_sorted(const Pool& pool, const tenon_launch& launch, const Order& order, T* values,
                        int64_t* indices) {
  if (count(launch.outputs[0]) == 0) return;
  const Lines in(launch.inputs[0], order.axis), out(launch.outputs[0], order.axis);
  const T* const data_in = data<const T>(launch.inputs[0]);
  const int64_t n = in.n, k = out.n;
  if (indices == nullptr && n < kLongLine) return store_sorted(pool, launch, order, values);

  with_word<T>(n, [&]<class Word>(Type<Word>) {
    const auto sort_line = [&](Ranking<Word>& ranking, const Pool* inside, int64_t line, const T* x,
                               int64_t stride) {
      const int64_t to = out.others.offset(line);
      ranking.load(inside, x, stride, order.rule, order.descending);
      ranking.sort_first(inside, k);
      if (!order.sorted) ranking.sort_by_index(k);
      ranking.for_each_range(inside, k, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const auto place = static_cast<int64_t>(ranking[i].place);
          if (values != nullptr) values[to + i * out.stride] = x[place * stride];
          if (indices != nullptr) indices[to + i * out.stride] = place;
        }
      });
    };
    if (n >= kLongLine) {
      Ranking<Word> ranking(n);
      for (int64_t line = 0; line < in.others.count(); ++line) {
        sort_line(ranking, &pool, line, data_in + in.others.offset(line), in.stride);
      }
      return;
    }
    pool.parallel_tasks(
        in.others.count(), std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
          Ranking<Word> ranking(n);
          for_each_line(data_in, in, begin, end,
                        [&](int64_t line, const T* x) { sort_line(ranking, nullptr, line, x, 1); });
        });
  });
}

// Prepares a kernel that outputs the sorted values, their indices, or both.
Prepared prepare_sort_kernel(const Request& request, const Order& order, bool has_values,
                             bool has_indices) {
  const auto run = [=, pool = &pool_of(request)]<class T>(Type<T>, const tenon_launch& launch) {
    using U = BitsOfSize<sizeof(T)>;
    U* const values = has_values ? data<U>(launch.outputs[0]) : nullptr;
    store_first_sorted<U>(
        *pool, launch, order, values,
        has_indices ? data<int64_t>(launch.outputs[has_values ? 1 : 0]) : nullptr);
  };
  const tenon_dtype dtype = request.input(0).dtype;
  if constexpr (kIsCompact) {
    return through_sort_dtype(dtype, run);
  } else {
    return dispatch_bits(dtype, [&]<class U>(Type<U>) {
      return kernel(kTraits, [=](const tenon_launch& launch) { run(Type<U>(), launch); });
    });
  }
}

// Returns the Order that a request and its attributes specify.
Order order_of(const Request& request, int64_t axis, bool descending, bool sorted = true) {
  const tenon_operand& x = request.input(0);
  return {KeyRule(sort_dtype(x.dtype)), tenon_sdk::from_front(axis, x.rank), descending, sorted};
}

}  // namespace

Prepared prepare_sort(const Request& request) {
  const auto attrs = request.attrs<tenon_sort_attrs>();
  return prepare_sort_kernel(request, order_of(request, attrs.axis, attrs.descending), true, false);
}

Prepared prepare_argsort(const Request& request) {
  const auto attrs = request.attrs<tenon_argsort_attrs>();
  return prepare_sort_kernel(request, order_of(request, attrs.axis, attrs.descending), false, true);
}

Prepared prepare_top_k(const Request& request) {
  const auto attrs = request.attrs<tenon_top_k_attrs>();
  return prepare_sort_kernel(request, order_of(request, attrs.axis, attrs.largest, attrs.sorted),
                             true, true);
}

}  // namespace tenon_simd
