// tril, triu, eye and one_hot: matrices that consist mostly of zeros or of a copy.

#include <algorithm>

#include "plugins/simd/kernels/dense_input.h"

namespace tenon_simd {
namespace {

constexpr int64_t kGrain = 64 * 1024;       // Minimum bytes that a task writes.
constexpr int64_t kFar = int64_t{1} << 61;  // A diagonal outside every matrix.

// Returns the bits of 1 in a dtype. U is the unsigned integer of the size of its elements.
template <class U>
U bits_of_one(tenon_dtype dtype) {
  return dispatch<tenon_sdk::Any>(dtype, []<class T>(Type<T>) {
    const T one = static_cast<T>(1);
    U bits{};
    std::memcpy(&bits, &one, std::min(sizeof bits, sizeof one));
    return bits;
  });
}

}  // namespace

// tril and triu.
Prepared prepare_triangle(const Request& request) {
  const bool is_lower = request.op() == TENON_OP_tril;
  const int64_t k = std::clamp(request.attrs<tenon_tril_attrs>().k, -kFar, kFar);
  return dispatch_bits(request.output(0).dtype, [&]<class T>(Type<T>) {
    return kernel(kTraits, [=, pool = &pool_of(request)](const tenon_launch& launch) {
      const tenon_view& out = launch.outputs[0];
      if (count(out) == 0) return;
      const int64_t rows = out.sizes[out.rank - 2], columns = out.sizes[out.rank - 1];
      const DenseInput<T> x(launch.inputs[0]);
      const int64_t grain = kGrain / static_cast<int64_t>(sizeof(T)) / columns;
      pool->parallel_tasks(
          count(out) / columns, std::max<int64_t>(1, grain), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
              const T* const from = x.data() + i * columns;
              T* const to = data<T>(out) + i * columns;
              // The first column after the diagonal of a lower triangle; that of an upper one.
              const int64_t split =
                  std::clamp<int64_t>(i % rows + k + (is_lower ? 1 : 0), 0, columns);
              const int64_t first = is_lower ? 0 : split, last = is_lower ? split : columns;
              std::fill(to, to + first, T{});
              std::copy(from + first, from + last, to + first);
              std::fill(to + last, to + columns, T{});
            }
          });
    });
  });
}

Prepared prepare_eye(const Request& request) {
  const int64_t k = std::clamp(request.attrs<tenon_eye_attrs>().k, -kFar, kFar);
  const tenon_dtype dtype = request.output(0).dtype;
  return dispatch_bits(dtype, [&]<class T>(Type<T>) {
    return kernel(kTraits, [k, one = bits_of_one<T>(dtype)](const tenon_launch& launch) {
      const tenon_view& out = launch.outputs[0];
      const int64_t rows = out.sizes[0], columns = out.sizes[1];
      T* const to = data<T>(out);
      std::fill_n(to, rows * columns, T{});
      for (int64_t i = std::max<int64_t>(0, -k); i < std::min(rows, columns - k); ++i) {
        to[i * columns + i + k] = one;
      }
    });
  });
}

// A row of zeros stands for an index out of range.
Prepared prepare_one_hot(const Request& request) {
  const tenon_dtype dtype = request.output(0).dtype;
  const size_t axis = tenon_sdk::from_front(request.attrs<tenon_one_hot_attrs>({.axis = -1}).axis,
                                            request.output(0).rank);
  return dispatch_bits(dtype, [&]<class T>(Type<T>) {
    return kernel(kTraits, [axis, one = bits_of_one<T>(dtype)](const tenon_launch& launch) {
      const tenon_view &indices = launch.inputs[0], &out = launch.outputs[0];
      const int64_t depth = out.sizes[axis];
      const int64_t inner = count(out.rank - axis - 1, out.sizes + axis + 1);
      T* const to = data<T>(out);
      std::fill_n(to, count(out), T{});
      dispatch<tenon_sdk::Ints>(indices.dtype, [&]<class I>(Type<I>) {
        const DenseInput<I> index(indices);
        const int64_t n = depth == 0 ? 0 : count(indices);
        for (int64_t i = 0; i < n; ++i) {
          const int64_t at = tenon_sdk::wrap(static_cast<int64_t>(index[i]), depth);
          if (at >= 0) to[(i / inner * depth + at) * inner + i % inner] = one;
        }
        return 0;
      });
    });
  });
}

}  // namespace tenon_simd
