// copy: converts any layout to dense.

#include "plugins/simd/kernels/axes.h"
#include "plugins/simd/kernels/gather_tiles.h"
#include "plugins/simd/kernels/loops.h"
#include "plugins/simd/kernels/transposed.h"

namespace tenon_simd {
namespace {

// Rows per task. The elements of one column fill at least a cache line of 64 bytes. More lines in a
// run help if a column of the input is in memory pages of its own.
constexpr int64_t kBand = 64;

// Copies a band of rows. Collects blocks in the L1 cache and then copies their rows. In the output,
// the rows of a block may have addresses of which the L1 cache can hold only a few. Compilers
// expand copies of 256 bytes in place. A call of memcpy() for each row would take half of the time.
template <class T>
void copy_band_of(const T* from, int64_t stride, T* to, int64_t rows, int64_t columns) {
  constexpr auto kColumns = static_cast<int64_t>(256 / sizeof(T));
  alignas(64) T block[kBand * kColumns];
  for (int64_t column = 0; column < columns; column += kColumns) {
    const int64_t n = std::min(kColumns, columns - column);
    copy_transposed(from + column * stride, stride, block, kColumns, rows, n);
    T* const y = to + column;
    if (n == kColumns) {
      for (int64_t i = 0; i < rows; ++i) std::memcpy(y + i * columns, block + i * kColumns, 256);
    } else {
      for (int64_t i = 0; i < rows; ++i) std::copy_n(block + i * kColumns, n, y + i * columns);
    }
  }
}

// Whether the last two axes are transposed in memory and large enough for copy_transposed().
bool is_transposed(const tenon_view& in) {
  if (in.rank < 2 || in.strides_class != TENON_STRIDES_STRIDED) return false;
  const int64_t rows = in.sizes[in.rank - 2], columns = in.sizes[in.rank - 1];
  return in.strides[in.rank - 2] == 1 && in.strides[in.rank - 1] >= rows && rows > 8 && columns > 8;
}

template <class T>
class Copy final : public tenon_sdk::Kernel {
 public:
  Copy(const Request& request, tenon_sdk::KernelPtr general)
      : pool_(pool_of(request)), general_(std::move(general)) {}

  tenon_error* launch(tenon_stream_p* stream, const tenon_launch& launch) const override {
    const tenon_view& in = launch.inputs[0];
    if (!is_transposed(in)) return general_->launch(stream, launch);
    const int64_t rows = in.sizes[in.rank - 2], columns = in.sizes[in.rank - 1];
    const int64_t bands = (rows + kBand - 1) / kBand;
    const int64_t matrices = count(in.rank - 2u, in.sizes);
    const auto copy_band = [&](int64_t task) {
      int64_t rest = task / bands;
      int64_t offset = 0;
      for (size_t axis = in.rank - 2u; axis-- > 0; rest /= in.sizes[axis]) {
        offset += rest % in.sizes[axis] * in.strides[axis];
      }
      const int64_t row = task % bands * kBand;
      T* to = data<T>(launch.outputs[0]) + (task / bands * rows + row) * columns;
      copy_band_of(data<const T>(in) + offset + row, in.strides[in.rank - 1], to,
                   std::min(kBand, rows - row), columns);
    };
    const int64_t band_size = kBand * columns;
    pool_.parallel_tasks(matrices * bands, std::max<int64_t>(1, 128 * 1024 / band_size),
                         [&](int64_t begin, int64_t end) {
                           for (int64_t task = begin; task < end; ++task) copy_band(task);
                         });
    return nullptr;
  }

 private:
  const Pool& pool_;
  tenon_sdk::KernelPtr general_;
};

// Prepares a copy of elements of the size of T.
template <class T>
Prepared prepare_copy_of_size(const Request& request) {
  const Span span = [](const void* const* in, const size_t* step, void* out, size_t n,
                       const SpanParams&) {
    if (step[0] == 0) {
      std::fill_n(static_cast<T*>(out), n, *static_cast<const T*>(in[0]));
    } else {
      std::memmove(out, in[0], n * sizeof(T));
    }
  };
  Prepared prepared = make_without_conversion(request, span);
  if (request.input(0).strides == TENON_STRIDES_STRIDED) {
    prepared.kernel = std::make_unique<Copy<T>>(request, std::move(prepared.kernel));
    prepared.traits = kTraits;
  }
  return prepared;
}

}  // namespace

void pack_transposed(size_t size, const void* from, const LoopAxes& axes, int64_t begin,
                     int64_t end, void* to) {
  const int last = axes.rank - 1;
  const int64_t columns = axes.sizes[last], stride = axes.strides[last];
  with_unsigned_of_size(size, [&]<class T>(Type<T>) {
    T* y = static_cast<T*>(to);
    while (begin < end) {
      const T* const x = static_cast<const T*>(from) + axes.offset(begin);
      const int64_t column = begin % columns, row = begin / columns % axes.sizes[last - 1];
      int64_t n = std::min(columns - column, end - begin);
      if (n == columns) {
        const int64_t rows = std::min({kBand, axes.sizes[last - 1] - row, (end - begin) / columns});
        copy_band_of(x, stride, y, rows, columns);
        n = rows * columns;
      } else {
        for (int64_t i = 0; i < n; ++i) y[i] = x[i * stride];
      }
      y += n;
      begin += n;
    }
  });
}

Prepared prepare_copy(const Request& request) {
  switch (size_of(request.input(0).dtype)) {
    case 1:
      return prepare_copy_of_size<uint8_t>(request);
    case 2:
      return prepare_copy_of_size<uint16_t>(request);
    case 4:
      return prepare_copy_of_size<uint32_t>(request);
    default:
      return prepare_copy_of_size<uint64_t>(request);
  }
}

}  // namespace tenon_simd
