#include "plugins/simd/kernels/blas.h"

#include <atomic>
#include <new>

namespace tenon_simd {
namespace {

constexpr int kRowMajor = 101, kNoTranspose = 111;

// Returns the operand if its rows are contiguous, otherwise a copy in `memory`.
template <class T>
Matrix<T> dense_rows(const Matrix<T>& from, int64_t rows, int64_t columns, std::vector<T>& memory) {
  if (from.column == 1 && from.row >= columns) return from;
  memory.resize(static_cast<size_t>(rows * columns));
  if (from.row == 1 && from.column >= rows) {
    multiply_tiles<T>().transpose(from.data, from.column, memory.data(), columns, columns, rows);
  } else {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        memory[static_cast<size_t>(i * columns + j)] = from.data[i * from.row + j * from.column];
      }
    }
  }
  return {memory.data(), columns, 1};
}

// Computes c = left right by the BLAS, in tasks on the threads of the pool.
template <class T>
void multiply_on_threads(const Blas& blas, const Pool& pool, int64_t m, int64_t n, int64_t k,
                         const Matrix<T>& left, const Matrix<T>& right, T* c) {
  std::vector<T> a_memory, b_memory;
  const Matrix<T> a = dense_rows(left, m, k, a_memory);
  const Matrix<T> b = dense_rows(right, k, n, b_memory);
  // Splits the longer side of c into tasks of kPart rows or columns. This size does not depend on
  // the number of threads.
  constexpr int64_t kPart = 512;
  const bool cuts_rows = m >= n;
  const int64_t side = cuts_rows ? m : n;
  std::atomic<bool> is_out_of_memory{false};
  pool.parallel_for((side + kPart - 1) / kPart, [&](int64_t part) {
    const BlasCalls calls(blas);
    if (!calls) {
      is_out_of_memory = true;
      return;
    }
    const int64_t begin = part * kPart, size = std::min(kPart, side - begin);
    const T* from_a = cuts_rows ? a.data + begin * a.row : a.data;
    const T* from_b = cuts_rows ? b.data : b.data + begin;
    T* to = cuts_rows ? c + begin * n : c + begin;
    const int64_t rows = cuts_rows ? size : m, columns = cuts_rows ? n : size;
    // A BLAS accumulates its blocks of k serially in c, so it gets at most kLongestChain terms at a
    // time.
    const auto chain = [&](int64_t i, T* sums, int64_t sums_row) {
      const int64_t first = i * kLongestChain;
      blas.functions<T>().gemm(kRowMajor, kNoTranspose, kNoTranspose, static_cast<int>(rows),
                               static_cast<int>(columns),
                               static_cast<int>(std::min(kLongestChain, k - first)), 1,
                               from_a + first, static_cast<int>(a.row), from_b + first * b.row,
                               static_cast<int>(b.row), 0, sums, static_cast<int>(sums_row));
    };
    if (k <= kLongestChain) return chain(0, to, n);
    std::vector<T> sums(static_cast<size_t>(rows * columns));
    sum_parts(int64_t{0}, (k + kLongestChain - 1) / kLongestChain, rows * columns, sums.data(),
              [&](int64_t i, T* partial) { chain(i, partial, columns); });
    for (int64_t i = 0; i < rows; ++i) {
      std::copy_n(sums.data() + i * columns, columns, to + i * n);
    }
  });
  if (is_out_of_memory) throw std::bad_alloc();
}

}  // namespace

void blas_multiply(const Blas& blas, const Pool& pool, int64_t m, int64_t n, int64_t k,
                   const Matrix<float>& a, const Matrix<float>& b, float* c) {
  multiply_on_threads(blas, pool, m, n, k, a, b, c);
}
void blas_multiply(const Blas& blas, const Pool& pool, int64_t m, int64_t n, int64_t k,
                   const Matrix<double>& a, const Matrix<double>& b, double* c) {
  multiply_on_threads(blas, pool, m, n, k, a, b, c);
}

}  // namespace tenon_simd
