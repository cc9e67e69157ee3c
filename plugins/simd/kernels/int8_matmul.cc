// int8_matmul: products of 8-bit integers with 32-bit sums.
//
// Both operands are widened to 16 bits with their zero points subtracted. Rows of a and columns of
// b are contiguous, so that the inner loop (simd/bytes.cc) reads both in order and needs no zero
// points. Integers wrap, so the order of summation does not matter.

#include <vector>

#include "plugins/simd/kernels/axes.h"
#include "plugins/simd/vectors/bytes.h"

namespace tenon_simd {
namespace {

constexpr int64_t kGrain = 1 << 16;       // Minimum products per task.
constexpr int64_t kRowsAtOnce = 48;       // Rows of a that stay in the cache for a block of b.
constexpr int64_t kBlockBytes = 1 << 17;  // Bytes of b's columns in the cache meanwhile.

// The lines of a matrix (rows of a or columns of b), with the zero point of each.
template <class T>
struct Lines {
  const T* data;
  int64_t between, along;  // Strides between lines, and within a line.
  const T* zero = nullptr;
  int64_t zero_stride = 0;

  // Widens `n` lines from `first` on, each to `padded` elements.
  void widen(int64_t first, int64_t n, int64_t size, int64_t padded, int16_t* to) const {
    for (int64_t line = first; line < first + n; ++line, to += padded) {
      const T* const from = data + line * between;
      const int zero_point = zero == nullptr ? 0 : zero[line * zero_stride];
      if (along == 1) {
        for (int64_t i = 0; i < size; ++i) to[i] = static_cast<int16_t>(from[i] - zero_point);
      } else {
        for (int64_t i = 0; i < size; ++i) {
          to[i] = static_cast<int16_t>(from[i * along] - zero_point);
        }
      }
      std::fill(to + size, to + padded, int16_t{0});
    }
  }
  friend bool operator==(const Lines&, const Lines&) = default;
};

// The offset of the matrix of a batch.
int64_t batch_offset(const tenon_view& view, const tenon_view& out, int64_t batch) {
  int64_t offset = 0;
  for (size_t axis = out.rank - size_t{2}; axis-- > 0; batch /= out.sizes[axis]) {
    offset += batch % out.sizes[axis] * stride_of(view, axis);
  }
  return offset;
}

// The rows of operand 0 or the columns of operand 1. The zero point of operand i is operand i + 2.
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

template <class A, class B>
void multiply_bytes(const Pool& pool, const tenon_launch& launch) {
  const tenon_view& out = launch.outputs[0];
  const int64_t m = out.sizes[out.rank - 2], n = out.sizes[out.rank - 1];
  const int64_t k = launch.inputs[0].sizes[out.rank - 1];
  const int64_t padded = (k + kPairStep - 1) / kPairStep * kPairStep;
  if (count(out) == 0) return;
  std::vector<int16_t> columns(static_cast<size_t>(n * padded));
  const int64_t row_grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, n * k));
  const int64_t column_grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, k));
  const int64_t block = std::max<int64_t>(4, kBlockBytes / 2 / std::max<int64_t>(1, padded));
  Lines<B> widened{};
  for (int64_t batch = 0; batch < count(out.rank - size_t{2}, out.sizes); ++batch) {
    const Lines<A> a = lines_of<A>(launch, 0, batch);
    const Lines<B> b = lines_of<B>(launch, 1, batch);
    if (batch == 0 || !(b == widened)) {
      pool.parallel_tasks(n, column_grain, [&](int64_t begin, int64_t end) {
        b.widen(begin, end - begin, k, padded, columns.data() + begin * padded);
      });
      widened = b;
    }
    int32_t* const y = data<int32_t>(out) + batch * m * n;
    pool.parallel_tasks(m, row_grain, [&](int64_t begin, int64_t end) {
      std::vector<int16_t> rows(static_cast<size_t>(std::min(end - begin, kRowsAtOnce) * padded));
      for (int64_t row = begin; row < end; row += kRowsAtOnce) {
        const int64_t n_rows = std::min(end - row, kRowsAtOnce);
        a.widen(row, n_rows, k, padded, rows.data());
        for (int64_t column = 0; column < n; column += block) {
          multiply_pairs(rows.data(), columns.data() + column * padded, n_rows,
                         std::min(n - column, block), padded, y + row * n + column, n);
        }
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
