// concat, pad, dynamic_slice and dynamic_update_slice: kernels that move elements without
// computing.

#include "plugins/simd/kernels/axes.h"
#include "plugins/simd/kernels/transposed.h"

namespace tenon_simd {
namespace {

using tenon_sdk::Walk;

// Copies a matrix whose rows are columns in memory, in blocks.
template <class T>
void copy_transposed_matrix(const T* from, int64_t stride, T* to, int64_t pitch, int64_t rows,
                            int64_t columns) {
  constexpr int64_t kRows = 32, kColumns = 64;
  for (int64_t i = 0; i < rows; i += kRows) {
    for (int64_t j = 0; j < columns; j += kColumns) {
      copy_transposed_elements(from + i + j * stride, stride, to + i * pitch + j, pitch,
                               std::min(kRows, rows - i), std::min(kColumns, columns - j));
    }
  }
}

// Copies a block of these sizes between strided operands. Copies whole rows if both operands are
// dense.
template <class T>
void copy_block(const T* from, const int64_t* from_strides, T* to, const int64_t* to_strides,
                size_t rank, const int64_t* sizes) {
  const size_t last = rank - 1, row = rank - 2;
  if (rank >= 2 && from_strides[row] == 1 && from_strides[last] > 1 && to_strides[last] == 1 &&
      sizes[row] >= 8 && sizes[last] >= 8) {
    const Walk<2> matrices(row, sizes, {from_strides, to_strides});
    matrices.elements([&](const auto& offsets) {
      copy_transposed_matrix(from + offsets[0], from_strides[last], to + offsets[1],
                             to_strides[row], sizes[row], sizes[last]);
    });
    return;
  }
  const Walk<2> walk(rank, sizes, {from_strides, to_strides});
  walk.rows([&](int64_t n, const auto& offsets, const auto& steps) {
    const T* source = from + offsets[0];
    T* target = to + offsets[1];
    if (steps[0] == 1 && steps[1] == 1) {
      std::memcpy(static_cast<void*>(target), source, static_cast<size_t>(n) * sizeof(T));
    } else {
      for (int64_t i = 0; i < n; ++i) target[i * steps[1]] = source[i * steps[0]];
    }
  });
}

struct Strides {
  int64_t values[TENON_MAX_RANK] = {};
  explicit Strides(const tenon_view& view) {
    for (size_t axis = 0; axis < view.rank; ++axis) values[axis] = stride_of(view, axis);
  }
};

constexpr int64_t kGrain = 64 * 1024;  // Minimum bytes that a task moves.

// Copies a block of these sizes from a view to contiguous memory.
template <class T>
void copy_dense(const Pool& pool, const T* from, const tenon_view& view, const int64_t* sizes,
                T* to) {
  LoopAxes axes;
  for (size_t axis = 0; axis < view.rank; ++axis) axes.push(sizes[axis], stride_of(view, axis));
  pool.parallel_ranges(
      axes.count(), kGrain / static_cast<int64_t>(sizeof(T)),
      [&](int64_t begin, int64_t end) { pack(from, axes, begin, end, to + begin); });
}

// Returns the offset, in elements, of the slice with these sizes and starts in `view`.
int64_t slice_offset(const tenon_view& view, const tenon_view& starts, const int64_t* sizes) {
  const tenon_sdk::IndexReader start(starts);
  int64_t offset = 0;
  for (size_t axis = 0; axis < view.rank; ++axis) {
    const int64_t given = start[static_cast<int64_t>(axis) * stride_of(starts, 0)];
    offset += tenon_sdk::wrap_start(given, view.sizes[axis], sizes[axis]) * stride_of(view, axis);
  }
  return offset;
}

}  // namespace

Prepared prepare_concat(const Request& request) {
  const size_t axis =
      tenon_sdk::from_front(request.attrs<tenon_concat_attrs>().axis, request.output(0).rank);
  return dispatch_bits(request.output(0).dtype, [&]<class T>(Type<T>) {
    return kernel(kTraits, [axis](const tenon_launch& launch) {
      const tenon_view& out = launch.outputs[0];
      T* to = data<T>(out);
      for (uint32_t i = 0; i < launch.n_inputs; ++i) {
        const tenon_view& in = launch.inputs[i];
        if (count(in) == 0) continue;
        copy_block(data<const T>(in), Strides(in).values, to, out.strides, in.rank, in.sizes);
        to += in.sizes[axis] * out.strides[axis];
      }
    });
  });
}

namespace {

// The padding of a dense result, which is written in order. The sizes are those of the part of the
// input that the result contains.
template <class T>
struct Padding {
  size_t rank;
  const int64_t* pads;  // Elements before each axis.
  const int64_t* sizes;
  const int64_t* strides;  // Of the input.
  const tenon_view& out;
  T value;

  // Writes the elements of the result along `axis` and the following axes to `to`. Returns the end.
  T* write(size_t axis, const T* from, T* to) const {
    const int64_t inner = out.strides[axis];
    const int64_t before = std::max<int64_t>(0, pads[axis]) * inner;
    const int64_t after = out.sizes[axis] * inner - before - sizes[axis] * inner;
    to = std::fill_n(to, before, value);
    if (axis + 1 == rank) {
      to = std::copy_n(from, sizes[axis], to);
    } else {
      for (int64_t i = 0; i < sizes[axis]; ++i) {
        to = write(axis + 1, from + i * strides[axis], to);
      }
    }
    return std::fill_n(to, after, value);
  }
};

}  // namespace

// A negative pad removes elements. Without a value, the padding is zero.
Prepared prepare_pad(const Request& request) {
  const auto attrs = request.attrs<tenon_pad_attrs>();
  if (attrs.mode != TENON_PAD_MODE_CONSTANT || attrs.n_axes > 0) {
    return refuse("supports only constant padding of all axes");
  }
  const List pads = list(attrs.pads, attrs.n_pads);
  return dispatch_bits(request.output(0).dtype, [&]<class T>(Type<T>) {
    return kernel(kTraits, [pads](const tenon_launch& launch) {
      const tenon_view &in = launch.inputs[0], &out = launch.outputs[0];
      T* const y = data<T>(out);
      const T value = has_input(launch, 1) ? *data<const T>(launch.inputs[1]) : T{};

      // Copies the part of x that is in the result. Along each axis, the element at `first` is
      // copied to first + before.
      const Strides strides(in);
      int64_t sizes[TENON_MAX_RANK];
      int64_t from = 0, to = 0;
      for (size_t axis = 0; axis < in.rank; ++axis) {
        const int64_t before = pads[axis];
        const int64_t first = std::max<int64_t>(0, -before);
        const int64_t end = std::min(in.sizes[axis], out.sizes[axis] - before);
        sizes[axis] = std::max<int64_t>(0, end - first);
        from += first * strides.values[axis];
        to += (first + before) * out.strides[axis];
      }
      if (in.rank > 0 && count(in.rank, sizes) > 0 && strides.values[in.rank - 1] == 1) {
        const Padding<T> padding{in.rank, pads.data(), sizes, strides.values, out, value};
        padding.write(0, data<const T>(in) + from, y);
        return;
      }
      std::fill_n(y, count(out), value);
      if (count(in.rank, sizes) == 0) return;
      copy_block(data<const T>(in) + from, strides.values, y + to, out.strides, in.rank, sizes);
    });
  });
}

Prepared prepare_dynamic_slice(const Request& request) {
  return dispatch_bits(request.output(0).dtype, [&]<class T>(Type<T>) {
    return kernel(kTraits, [pool = &pool_of(request)](const tenon_launch& launch) {
      const tenon_view &in = launch.inputs[0], &out = launch.outputs[0];
      if (count(out) == 0) return;
      const T* const from = data<const T>(in) + slice_offset(in, launch.inputs[1], out.sizes);
      copy_dense(*pool, from, in, out.sizes, data<T>(out));
    });
  });
}

// dynamic_update_slice. The result may alias x, for example a growing cache. It may alias the
// update if the update covers the whole result.
Prepared prepare_dynamic_update_slice(const Request& request) {
  return dispatch_bits(request.output(0).dtype, [&]<class T>(Type<T>) {
    const uint32_t traits = kTraits | TENON_KERNEL_MAY_ALIAS;
    return kernel(traits, [pool = &pool_of(request)](const tenon_launch& launch) {
      const tenon_view &in = launch.inputs[0], &update = launch.inputs[1];
      const tenon_view& out = launch.outputs[0];
      const bool is_whole = count(update) == count(out);
      if (!is_whole && in.data != out.data) {
        copy_dense(*pool, data<const T>(in), in, in.sizes, data<T>(out));
      }
      if (count(update) == 0 || update.data == out.data) return;
      T* const to = data<T>(out) + slice_offset(out, launch.inputs[2], update.sizes);
      copy_block(data<const T>(update), Strides(update).values, to, out.strides, out.rank,
                 update.sizes);
    });
  });
}

}  // namespace tenon_simd
