// gather, gather_elements and gather_nd. For an index out of range, the result is zero and the
// index is reported.

#include "plugins/simd/kernels/dense_input.h"
#include "plugins/simd/kernels/indices.h"
#include "plugins/simd/kernels/multiply.h"

namespace tenon_simd {
namespace {

using tenon_sdk::IndexReader;
using tenon_sdk::Walk;

constexpr int64_t kGrain = 64 * 1024;  // Minimum bytes that a task moves.

// As read_indices(), for a type of indices. A sign bit of `outside` is set for an index out of
// range.
template <class I>
bool convert_indices(const I* from, int64_t step, int64_t bound, int64_t n, int64_t* to) {
  int64_t outside = 0;
  const auto convert = [&](int64_t j, int64_t index) {
    to[j] = index < 0 ? index + bound : index;
    outside |= to[j] | (bound - 1 - to[j]);
  };
  if (step == 1) {
    for (int64_t j = 0; j < n; ++j) convert(j, from[j]);
  } else {
    for (int64_t j = 0; j < n; ++j) convert(j, from[j * step]);
  }
  return outside >= 0;
}

// Copies the slice that an index selects: `size` elements with the axes `rest`. Writes zeros if the
// index is out of range.
template <class T>
void copy_slice_or_zeros(const T* from, bool is_inside, const LoopAxes& rest, int64_t size, T* to) {
  if (!is_inside) {
    std::memset(static_cast<void*>(to), 0, static_cast<size_t>(size) * sizeof(T));
  } else if (size == 1) {
    *to = *from;
  } else {
    pack(from, rest, 0, size, to);
  }
}

}  // namespace

bool read_indices(const tenon_launch& launch, const tenon_view& indices, int64_t offset,
                  int64_t step, int64_t bound, int64_t n, int64_t* to) {
  const bool all_inside =
      indices.dtype == TENON_INT64
          ? convert_indices(data<const int64_t>(indices) + offset, step, bound, n, to)
          : convert_indices(data<const int32_t>(indices) + offset, step, bound, n, to);
  if (all_inside) return true;
  const IndexReader index(indices);
  for (int64_t j = 0; j < n; ++j) {
    to[j] = checked_index(launch, index[offset + j * step], bound);
  }
  return false;
}

Prepared prepare_gather(const Request& request) {
  const size_t axis =
      tenon_sdk::from_front(request.attrs<tenon_gather_attrs>().axis, request.input(0).rank);
  const Pool* pool = &pool_of(request);
  return dispatch_bits(request.input(0).dtype, [&]<class T>(Type<T>) {
    return kernel(kTraits, [=](const tenon_launch& launch) {
      const tenon_view &in = launch.inputs[0], &indices = launch.inputs[1];
      if (count(launch.outputs[0]) == 0) return;
      const LoopAxes outer = axes_of(in, 0, axis), rest = axes_of(in, axis + 1, in.rank);
      const LoopAxes picks = axes_of(indices, 0, indices.rank);
      const IndexReader index(indices);
      const int64_t n_picks = picks.count(), size = rest.count();
      const int64_t bytes = size * static_cast<int64_t>(sizeof(T));
      // The indices, counted from the front; -1 if an index is out of range.
      int64_t* const offsets = scratch_of<int64_t>(kScratchImage, n_picks);
      bool all_inside = true;
      for (int64_t i = 0; i < n_picks; ++i) {
        const int64_t found = checked_index(launch, index[picks.offset(i)], in.sizes[axis]);
        offsets[i] = found < 0 ? -1 : found;
        all_inside = all_inside && found >= 0;
      }
      const int64_t stride = stride_of(in, axis);
      pool->parallel_tasks(
          outer.count() * n_picks, std::max<int64_t>(1, kGrain / bytes),
          [&](int64_t begin, int64_t end) {
            while (begin < end) {
              const int64_t first = begin % n_picks, last = std::min(n_picks, first + end - begin);
              const T* const from = data<const T>(in) + outer.offset(begin / n_picks);
              T* to = data<T>(launch.outputs[0]) + begin * size;
              if (size == 1 && all_inside) {
                const int64_t* const at = offsets + first;
                for (int64_t i = 0; i < last - first; ++i) to[i] = from[at[i] * stride];
              } else if (size == 1) {
                for (int64_t i = first; i < last; ++i) {
                  *to++ = offsets[i] < 0 ? T{} : from[offsets[i] * stride];
                }
              } else {
                for (int64_t i = first; i < last; ++i, to += size) {
                  const bool is_inside = offsets[i] >= 0;
                  copy_slice_or_zeros(is_inside ? from + offsets[i] * stride : from, is_inside,
                                      rest, size, to);
                }
              }
              begin += last - first;
            }
          });
    });
  });
}

Prepared prepare_gather_elements(const Request& request) {
  const size_t axis = tenon_sdk::from_front(request.attrs<tenon_gather_elements_attrs>().axis,
                                            request.input(0).rank);
  return dispatch_bits(request.input(0).dtype, [&]<class T>(Type<T>) {
    return kernel(kTraits, [axis](const tenon_launch& launch) {
      const tenon_view &in = launch.inputs[0], &indices = launch.inputs[1];
      const T* const x = data<const T>(in);
      T* y = data<T>(launch.outputs[0]);
      int64_t index_strides[TENON_MAX_RANK], others[TENON_MAX_RANK];
      for (size_t i = 0; i < in.rank; ++i) {
        index_strides[i] = stride_of(indices, i);
        others[i] = i == axis ? 0 : stride_of(in, i);
      }
      const Walk<2> walk(indices.rank, indices.sizes, {index_strides, others});
      const int64_t bound = in.sizes[axis], stride = stride_of(in, axis);
      walk.rows([&](int64_t n, auto at, auto steps) {
        for_index_runs(launch, indices, at[0], steps[0], bound, n,
                       [&](int64_t first, int64_t size, const int64_t* found, bool all_inside) {
                         const T* const from = x + at[1] + first * steps[1];
                         const int64_t step = steps[1];
                         if (all_inside && stride == 1 && step == 0) {
                           for (int64_t j = 0; j < size; ++j) y[j] = from[found[j]];
                         } else {
                           for (int64_t j = 0; j < size; ++j) {
                             y[j] = found[j] < 0 ? T{} : from[j * step + found[j] * stride];
                           }
                         }
                         y += size;
                       });
      });
    });
  });
}

Prepared prepare_gather_nd(const Request& request) {
  const auto batch = static_cast<size_t>(request.attrs<tenon_gather_nd_attrs>().batch_dims);
  return dispatch_bits(request.input(0).dtype, [&]<class T>(Type<T>) {
    return kernel(kTraits, [batch](const tenon_launch& launch) {
      const tenon_view &in = launch.inputs[0], &indices = launch.inputs[1];
      if (count(launch.outputs[0]) == 0) return;
      const size_t last = indices.rank - 1u;
      const auto tuple_size = static_cast<size_t>(indices.sizes[last]);
      const LoopAxes rest = axes_of(in, batch + tuple_size, in.rank);
      const int64_t size = rest.count();
      T* y = data<T>(launch.outputs[0]);
      const IndexReader index(indices);
      int64_t index_strides[TENON_MAX_RANK], batch_strides[TENON_MAX_RANK];
      for (size_t i = 0; i < last; ++i) {
        index_strides[i] = stride_of(indices, i);
        batch_strides[i] = i < batch ? stride_of(in, i) : 0;
      }
      int64_t bounds[TENON_MAX_RANK], steps[TENON_MAX_RANK];
      for (size_t j = 0; j < tuple_size; ++j) {
        bounds[j] = in.sizes[batch + j];
        steps[j] = stride_of(in, batch + j);
      }
      const int64_t next = stride_of(indices, last);
      const Walk<2> tuples(last, indices.sizes, {index_strides, batch_strides});
      tuples.elements([&](const auto& at) {
        const T* from = data<const T>(in) + at[1];
        bool is_inside = true;
        int64_t place = at[0];
        for (size_t j = 0; j < tuple_size && is_inside; ++j, place += next) {
          const int64_t i = checked_index(launch, index[place], bounds[j]);
          is_inside = i >= 0;
          if (is_inside) from += i * steps[j];
        }
        copy_slice_or_zeros(from, is_inside, rest, size, y);
        y += size;
      });
    });
  });
}

}  // namespace tenon_simd
