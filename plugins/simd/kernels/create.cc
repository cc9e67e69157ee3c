// fill and iota.

#include <limits>

#include "plugins/simd/kernels/axes.h"

namespace tenon_simd {
namespace {

constexpr int64_t kGrain = 256 * 1024;

// Stores to[i] = i for i in [begin, end). Numbers of 32 bits are converted faster than those of 64.
template <class T>
void count_up(T* to, int64_t begin, int64_t end) {
  if (end > std::numeric_limits<int32_t>::max()) {
    for (int64_t i = begin; i < end; ++i) to[i] = static_cast<T>(i);
    return;
  }
  const auto last = static_cast<int32_t>(end);
  for (auto i = static_cast<int32_t>(begin); i < last; ++i) {
    to[i] = static_cast<T>(i);
  }
}

}  // namespace

Prepared prepare_fill(const Request& request) {
  return dispatch_bits(request.output(0).dtype, [&]<class T>(Type<T>) {
    return kernel(kTraits, [pool = &pool_of(request)](const tenon_launch& launch) {
      const T value = *data<const T>(launch.inputs[0]);
      T* to = data<T>(launch.outputs[0]);
      pool->parallel_ranges(count(launch.outputs[0]), kGrain, [&](int64_t begin, int64_t end) {
        repeat(value, end - begin, to + begin);
      });
    });
  });
}

Prepared prepare_iota(const Request& request) {
  const int64_t axis = request.attrs<tenon_iota_attrs>().axis;
  return dispatch<tenon_sdk::Numbers>(request.output(0).dtype, [&]<class T>(Type<T>) {
    return kernel(kTraits, [axis, pool = &pool_of(request)](const tenon_launch& launch) {
      const tenon_view& out = launch.outputs[0];
      const size_t at = tenon_sdk::from_front(axis, out.rank);
      const int64_t size = out.sizes[at];
      const int64_t inner = count(out.rank - at - 1, out.sizes + at + 1);
      const int64_t n = count(out);
      T* to = data<T>(out);
      if (inner == 1) {
        for (int64_t line = 0; line < n; line += size) {
          pool->parallel_ranges(
              size, kGrain, [&](int64_t begin, int64_t end) { count_up(to + line, begin, end); });
        }
        return;
      }
      for (int64_t i = 0; i < n; i += inner) {
        std::fill_n(to + i, inner, static_cast<T>(i / inner % size));
      }
    });
  });
}

}  // namespace tenon_simd
