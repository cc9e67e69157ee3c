// nonzero and searchsorted.

#include "plugins/simd/kernels/dense_input.h"
#include "plugins/simd/kernels/wide_launch.h"

namespace tenon_simd {
namespace {

constexpr int64_t kChunk = 32 * 1024;       // Elements per task of nonzero.
constexpr int64_t kSearchGrain = 1 * 1024;  // Values per task of searchsorted.

// Calls found(numbers, n) with the row-major indices of nonzero elements in [begin, end), several
// at a time. The loop has no branches, because they would be unpredictable.
template <class T, class Found>
void find_nonzero(const T* x, T mask, const LoopAxes& axes, int64_t begin, int64_t end,
                  const Found& found) {
  constexpr int64_t kBlock = 512;
  int64_t numbers[kBlock];
  int64_t number = begin;
  const int64_t stride = axes.inner_stride();
  axes.runs(begin, end, [&](int64_t offset, int64_t n) {
    for (int64_t first = 0; first < n; first += kBlock) {
      const int64_t last = std::min(n, first + kBlock);
      int64_t n_found = 0;
      for (int64_t i = first; i < last; ++i) {
        numbers[n_found] = number + i;
        n_found += (x[offset + i * stride] & mask) != 0 ? 1 : 0;
      }
      found(numbers, n_found);
    }
    number += n;
  });
}

// Finds nonzero elements in two passes over chunks. The first pass counts them, which determines
// the columns that each chunk writes in the second pass. An element is zero if its bits in `mask`
// are all zero.
template <class T>
void nonzero(const Pool& pool, const tenon_launch& launch, T mask, int64_t room, int64_t fill) {
  const tenon_view& in = launch.inputs[0];
  int64_t* const indices = data<int64_t>(launch.outputs[0]);  // One row for each axis.
  const LoopAxes axes = axes_of(in);
  const int64_t n = count(in), n_chunks = (n + kChunk - 1) / kChunk;
  std::vector<int64_t> columns(static_cast<size_t>(n_chunks) + 1);
  const auto search = [&](int64_t chunk, const auto& found) {
    const int64_t end = std::min(n, (chunk + 1) * kChunk);
    find_nonzero(data<const T>(in), mask, axes, chunk * kChunk, end, found);
  };

  pool.parallel_for(n_chunks, [&](int64_t chunk) {
    int64_t n_found = 0;
    search(chunk, [&](const int64_t*, int64_t found) { n_found += found; });
    columns[static_cast<size_t>(chunk) + 1] = n_found;
  });
  for (size_t i = 1; i < columns.size(); ++i) columns[i] += columns[i - 1];
  pool.parallel_for(n_chunks, [&](int64_t chunk) {
    int64_t column = columns[static_cast<size_t>(chunk)];
    search(chunk, [&](int64_t* numbers, int64_t found) {
      found = std::min(found, std::max<int64_t>(0, room - column));
      for (size_t axis = in.rank; axis-- > 1;) {
        int64_t* const row = indices + static_cast<int64_t>(axis) * room + column;
        for (int64_t i = 0; i < found; ++i) {
          row[i] = numbers[i] % in.sizes[axis];
          numbers[i] /= in.sizes[axis];
        }
      }
      if (in.rank > 0) std::copy_n(numbers, found, indices + column);
      column += found;
    });
  });
  const int64_t n_found = columns.back();
  for (int64_t row = 0; n_found < room && row < in.rank; ++row) {
    std::fill(indices + row * room + n_found, indices + (row + 1) * room, fill);
  }
  *data<int64_t>(launch.outputs[1]) = n_found;
}

// Whether `a` precedes `b` in the order of sort, in which NaN is last.
template <class T>
bool precedes(T a, T b) {
  return b != b ? a == a : a < b;
}

// Returns the number of elements of a sorted sequence that precede the value. With `right`, also
// counts the elements that are equal to the value.
using Search = int64_t (*)(const void* sorted, int64_t n, const void* value, bool right);
// Implements Search for elements of type T.
template <class T>
int64_t search(const void* sorted, int64_t n, const void* value, bool right) {
  const T *const first = static_cast<const T*>(sorted), x = *static_cast<const T*>(value);
  return (right ? std::upper_bound(first, first + n, x, precedes<T>)
                : std::lower_bound(first, first + n, x, precedes<T>)) -
         first;
}

// Calls `search` for each value of input 1 in the sorted sequence of input 0.
template <class U>
void search_all(const Pool& pool, const tenon_launch& launch, Search search, bool right) {
  const tenon_view &sequence = launch.inputs[0], &in = launch.inputs[1];
  const DenseInput<U> sorted(sequence);
  const int64_t length = sequence.sizes[0];
  const LoopAxes axes = axes_of(in);
  const int64_t stride = axes.inner_stride();
  pool.parallel_ranges(count(in), kSearchGrain, [&](int64_t begin, int64_t end) {
    int64_t* y = data<int64_t>(launch.outputs[0]) + begin;
    axes.runs(begin, end, [&](int64_t offset, int64_t n) {
      const U* const from = data<const U>(in) + offset;
      for (int64_t i = 0; i < n; ++i)
        *y++ = search(sorted.data(), length, from + i * stride, right);
    });
  });
}

}  // namespace

Prepared prepare_nonzero(const Request& request) {
  const auto attrs = request.attrs<tenon_nonzero_attrs>();
  if (attrs.size < 0) return refuse_unsized();
  const tenon_dtype dtype = request.input(0).dtype;
  return dispatch_bits(dtype, [&]<class U>(Type<U>) {
    // For floats, ignores the sign bit, because -0 is zero.
    const U mask = static_cast<U>(is_float(dtype) ? static_cast<U>(~U{0}) >> 1 : ~U{0});
    const Pool* pool = &pool_of(request);
    return kernel(kTraits, [=](const tenon_launch& launch) {
      nonzero<U>(*pool, launch, mask, attrs.size, attrs.fill);
    });
  });
}

Prepared prepare_searchsorted(const Request& request) {
  const bool right =
      request.attrs<tenon_searchsorted_attrs>().side == TENON_SEARCHSORTED_SIDE_RIGHT;
  const tenon_dtype dtype = request.input(0).dtype;
  const Pool* pool = &pool_of(request);
  if constexpr (kIsCompact) {
    return through_wide<float, double, int64_t, uint64_t>(
        dtype, [=]<class T>(Type<T>, const tenon_launch& launch) {
          search_all<T>(*pool, launch, search<T>, right);
        });
  } else {
    const Search one =
        dispatch<tenon_sdk::Any>(dtype, [&]<class T>(Type<T>) -> Search { return search<T>; });
    return dispatch_bits(dtype, [&]<class U>(Type<U>) {
      return kernel(kTraits,
                    [=](const tenon_launch& launch) { search_all<U>(*pool, launch, one, right); });
    });
  }
}

}  // namespace tenon_simd
