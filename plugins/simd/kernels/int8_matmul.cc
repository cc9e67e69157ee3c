// int8_matmul: products of 8-bit integers with 32-bit sums.
//
// Integers wrap, so the order of summation does not matter. There are two algorithms:
//
//   quads   For processors with AVX512-VNNI. `a` is stored as signed bytes and `b` as panels of
//           quads of unsigned bytes. The tile (vectors/vnni.cc) computes the sums of products, and
//           then subtracts the terms of the zero points.
//   pairs   For all others. The elements of both operands are converted to 16 bits, and their zero
//           points are subtracted. `a` is stored as rows, and `b` as panels of pairs, so that the
//           tile (vectors/bytes.cc) reads both sequentially and needs no zero points.

#include "plugins/simd/kernels/axes.h"
#include "plugins/simd/kernels/multiply.h"
#include "plugins/simd/vectors/bytes.h"
#include "plugins/simd/vectors/vnni.h"

namespace tenon_simd {
namespace {

constexpr int64_t kGrain = 1 << 16;  // Minimum products per task.

constexpr int64_t kMaxColumns = 64;  // Maximum number of columns of a panel.

// The lines of a matrix (rows of `a` or columns of `b`) and their zero points.
template <class T>
struct Lines {
  const T* data;
  int64_t between, along;  // Strides between lines, and within a line.
  const T* zero = nullptr;
  int64_t zero_stride = 0;

  int zero_point(int64_t line) const { return zero == nullptr ? 0 : zero[line * zero_stride]; }

  // Converts a line to 16 bits, padded with zeros to `padded` elements.
  void widen(int64_t line, int64_t size, int64_t padded, int16_t* to) const {
    const T* const from = data + line * between;
    const int point = zero_point(line);
    if (along == 1) {
      for (int64_t i = 0; i < size; ++i) to[i] = static_cast<int16_t>(from[i] - point);
    } else {
      for (int64_t i = 0; i < size; ++i) to[i] = static_cast<int16_t>(from[i * along] - point);
    }
    std::fill(to + size, to + padded, int16_t{0});
  }

  // Converts lines [first, first + n) to the columns of a panel of `columns` columns.
  void pack(int64_t first, int64_t n, int64_t size, int64_t columns, int16_t* to) const {
    int16_t points[kMaxColumns];
    for (int64_t j = 0; j < n; ++j) points[j] = static_cast<int16_t>(zero_point(first + j));
    const T* const from = data + first * between;
    if (n < columns || size % 2 != 0) std::fill_n(to, (size + 1) / 2 * 2 * columns, int16_t{0});
    for (int64_t i = 0; i < size; ++i) {
      int16_t* const row = to + i / 2 * 2 * columns + i % 2;
      const T* const elements = from + i * along;
      for (int64_t j = 0; j < n; ++j) {
        row[2 * j] = static_cast<int16_t>(elements[j * between] - points[j]);
      }
    }
  }

  // Like pack(), for a whole panel of lines that are adjacent in memory (`between` is 1). Converts
  // two elements of each line at a time, so `size` must be even.
  void pack_pairs(int64_t first, int64_t size, int64_t columns, int16_t* to) const {
    int16_t points[kMaxColumns];
    for (int64_t j = 0; j < columns; ++j) points[j] = static_cast<int16_t>(zero_point(first + j));
    const T* from = data + first;
    for (int64_t i = 0; i < size; i += 2, from += 2 * along, to += 2 * columns) {
      for (int64_t j = 0; j < columns; ++j) {
        to[2 * j] = static_cast<int16_t>(from[j] - points[j]);
        to[2 * j + 1] = static_cast<int16_t>(from[along + j] - points[j]);
      }
    }
  }
};

// Returns the offset in elements of the matrix with this batch index, which is row-major over the
// batch axes of `out`.
int64_t batch_offset(const tenon_view& view, const tenon_view& out, int64_t batch) {
  int64_t offset = 0;
  for (size_t axis = out.rank - size_t{2}; axis-- > 0; batch /= out.sizes[axis]) {
    offset += batch % out.sizes[axis] * stride_of(view, axis);
  }
  return offset;
}

// Returns the rows of operand 0 or the columns of operand 1. Operand i + 2 is the zero point of
// operand i.
template <class T>
Lines<T> lines_of(const tenon_launch& launch, size_t operand, int64_t batch) {
  const tenon_view &view = launch.inputs[operand], &out = launch.outputs[0];
  const size_t row = out.rank - size_t{2}, column = out.rank - size_t{1};
  const size_t across = operand == 0 ? row : column, along = operand == 0 ? column : row;
  Lines<T> lines{data<const T>(view) + batch_offset(view, out, batch), stride_of(view, across),
                 stride_of(view, along)};
  if (has_input(launch, operand + 2)) {
    const tenon_view& zero = launch.inputs[operand + 2];
    lines.zero = data<const T>(zero) + batch_offset(zero, out, batch);
    lines.zero_stride = stride_of(zero, across);
  }
  return lines;
}

// Moves numbers of type T into the range of Byte, the other type of 8 bits or T itself: Byte(x ^
// kFlip<T, Byte>) is x + kMove<T, Byte>.
template <class T, class Byte>
constexpr uint8_t kFlip = std::is_same_v<T, Byte> ? 0 : 128;
template <class T, class Byte>
constexpr int kMove = std::is_same_v<T, Byte> ? 0
                      : std::is_signed_v<T>   ? 128
                                              : -128;

// The rows of `a`, moved into the range of int8_t.
struct QuadRows {
  int8_t* data;
  int32_t *zero, *sum;  // For each row, the zero point and the sum of all elements - zero point.

  // Moves row `line` and pads it with zeros.
  template <class T>
  void move(const Lines<T>& a, int64_t line, int64_t size, int64_t padded) const {
    const T* const from = a.data + line * a.between;
    int8_t* const to = data + line * padded;
    constexpr uint8_t kBits = kFlip<T, int8_t>;
    if (a.along == 1) {
      for (int64_t i = 0; i < size; ++i) to[i] = static_cast<int8_t>(from[i] ^ kBits);
    } else {
      for (int64_t i = 0; i < size; ++i) to[i] = static_cast<int8_t>(from[i * a.along] ^ kBits);
    }
    std::fill(to + size, to + padded, int8_t{0});
    int64_t total = 0;
    for (int64_t i = 0; i < size; ++i) total += to[i];
    zero[line] = a.zero_point(line) + kMove<T, int8_t>;
    sum[line] = static_cast<int32_t>(total - size * zero[line]);
  }
};

// A panel of columns of `b`, moved into the range of uint8_t.
struct QuadPanel {
  uint8_t* data;
  int32_t zero[kQuadColumns], sum[kQuadColumns];  // The zero point and the sum of each column.

  // Packs columns [first, first + n).
  template <class T>
  void pack(const Lines<T>& b, int64_t first, int64_t n, int64_t size) {
    constexpr uint8_t kBits = kFlip<T, uint8_t>;
    for (int64_t j = 0; j < kQuadColumns; ++j) {
      zero[j] = j < n ? b.zero_point(first + j) + kMove<T, uint8_t> : 0;
    }
    const T* const from = b.data + first * b.between;
    const bool is_whole = b.between == 1 && n == kQuadColumns;
    const int64_t packed = is_whole ? size / 4 * 4 : 0, quads = (size + 3) / 4;
    if (packed > 0) pack_quads(from, b.along, packed, kBits, data);
    std::fill(data + packed * kQuadColumns, data + quads * 4 * kQuadColumns, uint8_t{0});
    for (int64_t j = 0; j < n; ++j) {
      const T* const column = from + j * b.between;
      int64_t l = packed;
      for (; b.along == 1 && l + 4 <= size; l += 4) {
        uint32_t quad;
        std::memcpy(&quad, column + l, sizeof quad);
        quad ^= kBits * 0x01010101U;
        std::memcpy(data + (l * kQuadColumns + 4 * j), &quad, sizeof quad);
      }
      for (; l < size; ++l) {
        data[(l / 4 * kQuadColumns + j) * 4 + l % 4] =
            static_cast<uint8_t>(column[l * b.along] ^ kBits);
      }
    }
    sum_quads(data, quads, sum);
  }
};

// Computes the product of two matrices by the algorithm `quads`.
template <class A, class B>
void multiply_by_quads(const Pool& pool, const Lines<A>& a, const Lines<B>& b, int64_t m, int64_t n,
                       int64_t k, int32_t* y) {
  const int64_t quads = (k + 3) / 4, panels = (n + kQuadColumns - 1) / kQuadColumns;
  auto* const numbers = scratch_of<int32_t>(kScratchImage, m * (quads + 2));
  const QuadRows rows{reinterpret_cast<int8_t*>(numbers + 2 * m), numbers, numbers + m};
  const int64_t row_grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, k));
  pool.parallel_tasks(m, row_grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) rows.move(a, i, k, 4 * quads);
  });
  const int64_t panel_grain = kGrain / std::max<int64_t>(1, m * k * kQuadColumns) + 1;
  pool.parallel_tasks(panels, panel_grain, [&](int64_t begin, int64_t end) {
    QuadPanel panel{.data = scratch_of<uint8_t>(kScratchB, 4 * quads * kQuadColumns)};
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i * kQuadColumns, used = std::min(kQuadColumns, n - first);
      panel.pack(b, first, used, k);
      multiply_quads({.a = rows.data,
                      .a_zero = rows.zero,
                      .a_sum = rows.sum,
                      .panel = panel.data,
                      .b_zero = panel.zero,
                      .b_sum = panel.sum,
                      .m = m,
                      .n = used,
                      .quads = quads,
                      .y = y + first,
                      .y_row = n});
    }
  });
}

template <class A, class B>
void multiply_bytes(const Pool& pool, const tenon_launch& launch) {
  const tenon_view& out = launch.outputs[0];
  const int64_t m = out.sizes[out.rank - 2], n = out.sizes[out.rank - 1];
  const int64_t k = launch.inputs[0].sizes[out.rank - 1];
  const int64_t pairs = (k + 1) / 2, columns = pair_panel_columns();
  const int64_t panels = (n + columns - 1) / columns;
  if (count(out) == 0) return;
  const int64_t row_grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, k));
  const int64_t panel_grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, m * k * columns));
  int16_t* const rows = has_vnni() ? nullptr : scratch_of<int16_t>(kScratchImage, m * 2 * pairs);
  for (int64_t batch = 0; batch < count(out.rank - size_t{2}, out.sizes); ++batch) {
    const Lines<A> a = lines_of<A>(launch, 0, batch);
    const Lines<B> b = lines_of<B>(launch, 1, batch);
    int32_t* const y = data<int32_t>(out) + batch * m * n;
    if (has_vnni()) {
      multiply_by_quads(pool, a, b, m, n, k, y);
      continue;
    }
    pool.parallel_tasks(m, row_grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) a.widen(i, k, 2 * pairs, rows + i * 2 * pairs);
    });
    pool.parallel_tasks(panels, panel_grain, [&](int64_t begin, int64_t end) {
      int16_t* const panel = scratch_of<int16_t>(kScratchB, columns * 2 * pairs);
      for (int64_t first = begin * columns; first < std::min(end * columns, n); first += columns) {
        const int64_t used = std::min(columns, n - first);
        if (b.between == 1 && used == columns && k % 2 == 0) {
          b.pack_pairs(first, k, columns, panel);
        } else {
          b.pack(first, used, k, columns, panel);
        }
        multiply_pairs(rows, panel, m, used, pairs, y + first, n);
      }
    });
  }
}

}  // namespace

Prepared prepare_int8_matmul(const Request& request) {
  const Pool* pool = &pool_of(request);
  const bool signed_a = request.input(0).dtype == TENON_INT8;
  const bool signed_b = request.input(1).dtype == TENON_INT8;
  const auto of_types = [&]<class A, class B>(Type<A>, Type<B>) {
    return kernel(kTraits,
                  [=](const tenon_launch& launch) { multiply_bytes<A, B>(*pool, launch); });
  };
  if (signed_a) {
    return signed_b ? of_types(Type<int8_t>(), Type<int8_t>())
                    : of_types(Type<int8_t>(), Type<uint8_t>());
  }
  return signed_b ? of_types(Type<uint8_t>(), Type<int8_t>())
                  : of_types(Type<uint8_t>(), Type<uint8_t>());
}

}  // namespace tenon_simd
