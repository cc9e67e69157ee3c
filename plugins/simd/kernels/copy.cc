// copy: converts any layout to dense.

#include "plugins/simd/kernels/loops.h"

namespace tenon_simd {
namespace {

// Side of a square tile. The rows of a tile in the input and in the output are in 2 * kSquare cache
// lines, which fit into the L1 cache.
constexpr int64_t kSquare = 32;

// Copies an input whose last two axes are transposed. Copies square tiles, so that each cache line
// is fully used while it is in the cache.
template <class T>
void copy_transposed(const T* from, int64_t stride, T* to, int64_t rows, int64_t columns) {
  for (int64_t row = 0; row < rows; row += kSquare) {
    const int64_t row_end = std::min(row + kSquare, rows);
    for (int64_t column = 0; column < columns; column += kSquare) {
      const int64_t column_end = std::min(column + kSquare, columns);
      for (int64_t i = row; i < row_end; ++i) {
        for (int64_t j = column; j < column_end; ++j) {
          to[i * columns + j] = from[i + j * stride];
        }
      }
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
    const int64_t bands = (rows + kSquare - 1) / kSquare;
    const int64_t matrices = count(in.rank - 2u, in.sizes);
    const auto copy_band = [&](int64_t task) {
      int64_t rest = task / bands;
      int64_t offset = 0;
      for (size_t axis = in.rank - 2u; axis-- > 0; rest /= in.sizes[axis]) {
        offset += rest % in.sizes[axis] * in.strides[axis];
      }
      const int64_t row = task % bands * kSquare;
      T* to = data<T>(launch.outputs[0]) + (task / bands * rows + row) * columns;
      copy_transposed(data<const T>(in) + offset + row, in.strides[in.rank - 1], to,
                      std::min(kSquare, rows - row), columns);
    };
    const int64_t band_size = kSquare * columns;
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
