// matmul: batched matrix products of any layout.

#include "plugins/simd/kernels/blas.h"
#include "plugins/simd/kernels/through_float.h"

namespace tenon_simd {
namespace {

// The shape of a launch: the last two axes of each operand, and the batch axes before them.
struct Product {
  int64_t batches, m, n, k;

  Product(const tenon_launch& launch, bool transpose_a) {
    const tenon_view& a = launch.inputs[0];
    const tenon_view& out = launch.outputs[0];
    const size_t rank = out.rank;
    m = out.sizes[rank - 2];
    n = out.sizes[rank - 1];
    k = a.sizes[transpose_a ? rank - 2 : rank - 1];
    batches = count(rank - 2, out.sizes);
  }
};

// Returns the matrix with this batch index. An axis of size 1 may have any stride, so it gets a
// stride for which no packing is needed.
template <class T>
Matrix<T> matrix_of(const tenon_view& view, bool transposed, const tenon_view& out, int64_t batch) {
  const size_t rank = view.rank;
  const T* from = data<const T>(view);
  for (size_t axis = rank - 2; axis-- > 0; batch /= out.sizes[axis]) {
    from += batch % out.sizes[axis] * stride_of(view, axis);
  }
  Matrix<T> matrix{from, stride_of(view, rank - 2), stride_of(view, rank - 1)};
  int64_t columns = view.sizes[rank - 1];
  if (transposed) {
    std::swap(matrix.row, matrix.column);
    columns = view.sizes[rank - 2];
  }
  if (columns == 1) matrix.column = 1;
  return matrix;
}

// Returns the right operand in packed form if it is one matrix, and if its packed form is kept
// between launches. Otherwise returns NULL.
template <class T>
PackedOperands::Memory kept_columns(const Instance& instance, const tenon_launch& launch,
                                    bool transposed, const Product& product) {
  const tenon_view& view = launch.inputs[1];
  // Smaller matrices are packed in less time than it takes to find them, and single rows are
  // multiplied without packing.
  constexpr int64_t kMinSize = 2048;
  bool is_matrix = true;
  for (size_t axis = 0; axis + 2 < view.rank; ++axis) {
    is_matrix = is_matrix && (view.sizes[axis] == 1 || stride_of(view, axis) == 0);
  }
  if (view.content == 0 || !is_matrix || product.m < 2 || product.n * product.k < kMinSize ||
      is_blas_product<T>(product.m, product.n, product.k)) {
    return nullptr;
  }
  const MultiplyTiles<T>& tiles = multiply_tiles<T>();
  const Matrix<T> b = matrix_of<T>(view, transposed, launch.outputs[0], 0);
  const int64_t padded = (product.n + tiles.columns - 1) / tiles.columns * tiles.columns;
  const auto pack = [&](std::byte* to) {
    for (int64_t k = 0; k < product.k; k += kBlockK) {
      b.pack(tiles, k, std::min(k + kBlockK, product.k), 0, product.n,
             reinterpret_cast<T*>(to) + k * padded);
    }
  };
  return instance.packed().find(
      {view.content, b.data, {kPackedColumns, sizeof(T), product.n, product.k, b.row, b.column}},
      static_cast<size_t>(padded * product.k) * sizeof(T), pack);
}

// Computes the product with this batch index. `is_cut`: whether the threads of the pool share the
// product. `columns`: the right operand in packed form, or NULL.
template <class T>
void multiply_batch(const Instance& instance, const tenon_launch& launch,
                    const tenon_matmul_attrs& attrs, int64_t batch, bool is_cut, const T* columns) {
  const tenon_view& out = launch.outputs[0];
  const auto [batches, m, n, k] = Product(launch, attrs.transpose_a);
  const Matrix<T> a = matrix_of<T>(launch.inputs[0], attrs.transpose_a, out, batch);
  const Matrix<T> b = matrix_of<T>(launch.inputs[1], attrs.transpose_b, out, batch);
  T* c = data<T>(out) + batch * m * n;
  const int64_t nr = multiply_tiles<T>().columns;
  const PackedPair<T> ready{.a = {}, .b = {columns, (n + nr - 1) / nr * nr}};
  const Blas* blas = is_blas_product<T>(m, n, k) ? instance.blas() : nullptr;
  if (blas != nullptr && blas->multiplies) {
    blas_multiply(*blas, instance.pool, m, n, k, a, b, c);
  } else if (is_cut) {
    multiply(instance.pool, m, n, k, a, b, c, n, false, ready);
  } else if (k == 0) {
    std::fill_n(c, m * n, T{0});
  } else if (m != 0 && n != 0) {
    multiply_part(int64_t{0}, m, int64_t{0}, n, k, a, b, c, n, false, ready);
  }
}

template <class T>
void float_matmul(const Instance& instance, const tenon_launch& launch,
                  const tenon_matmul_attrs& attrs) {
  const Product product(launch, attrs.transpose_a);
  // If there are many products, each runs on one thread. If there are few, each is split among the
  // threads.
  const bool is_cut = product.batches < 2 * static_cast<int64_t>(instance.pool.threads());
  const int64_t size = std::max<int64_t>(1, product.m * product.n * product.k);
  const int64_t grain = is_cut ? product.batches : std::max<int64_t>(1, (1 << 19) / size);
  const PackedOperands::Memory kept = kept_columns<T>(instance, launch, attrs.transpose_b, product);
  const T* const columns = reinterpret_cast<const T*>(kept.get());
  instance.pool.parallel_tasks(product.batches, grain, [&](int64_t begin, int64_t end) {
    for (int64_t batch = begin; batch < end; ++batch) {
      multiply_batch<T>(instance, launch, attrs, batch, is_cut, columns);
    }
  });
}

// Products of integers. Sums wrap, so they do not depend on the order, and signed and unsigned
// integers use the same code.
template <class T>
void int_matmul(const Pool& pool, const tenon_launch& launch, bool transpose_a, bool transpose_b) {
  const Product product(launch, transpose_a);
  const auto [batches, m, n, k] = product;
  const tenon_view& out = launch.outputs[0];
  const int64_t grain = std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(1, n * k));
  const int64_t rows = m, columns = n, depth = k;
  pool.parallel_tasks(batches * m, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const Matrix<T> a = matrix_of<T>(launch.inputs[0], transpose_a, out, row / rows);
      const Matrix<T> b = matrix_of<T>(launch.inputs[1], transpose_b, out, row / rows);
      T* to = data<T>(out) + row * columns;
      std::fill_n(to, columns, T{0});
      for (int64_t i = 0; i < depth; ++i) {
        const uint64_t left = a.data[row % rows * a.row + i * a.column];
        for (int64_t j = 0; j < columns; ++j) {
          to[j] = static_cast<T>(to[j] + left * b.data[i * b.row + j * b.column]);
        }
      }
    }
  });
}

}  // namespace

Prepared prepare_matmul(const Request& request) {
  const auto attrs = request.attrs<tenon_matmul_attrs>();
  const Instance* instance = &instance_of(request);
  const tenon_dtype dtype = request.input(0).dtype;
  if (is_float(dtype)) {
    return through_float(request, [=]<class T>(Type<T>, const tenon_launch& launch) {
      float_matmul<T>(*instance, launch, attrs);
    });
  }
  const auto of_size = [&]<class T>(Type<T>) {
    return kernel(kTraits, [=](const tenon_launch& launch) {
      int_matmul<T>(instance->pool, launch, attrs.transpose_a, attrs.transpose_b);
    });
  };
  switch (size_of(dtype)) {
    case 1:
      return of_size(Type<uint8_t>());
    case 2:
      return of_size(Type<uint16_t>());
    case 4:
      return of_size(Type<uint32_t>());
    default:
      return of_size(Type<uint64_t>());
  }
}

}  // namespace tenon_simd
