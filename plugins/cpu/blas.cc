#include "plugins/simd/kernels/blas.h"

#include "plugins/cpu/blas_buffer.h"
#include "plugins/simd/vectors/dispatch.h"

#if defined(TENON_SIMD_LAPACK)

#include <atomic>
#include <new>

// As in cblas.h, whose location differs between distributions.
extern "C" {
void cblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                 const float* a, int a_row, const float* b, int b_row, float beta, float* c,
                 int c_row);
void cblas_dgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, double alpha,
                 const double* a, int a_row, const double* b, int b_row, double beta, double* c,
                 int c_row);
char* openblas_get_corename();
}

namespace tenon_simd {
namespace {

constexpr int kRowMajor = 101, kNoTranspose = 111;

void product(int m, int n, int k, const float* a, int a_row, const float* b, int b_row, float* c,
             int c_row) {
  cblas_sgemm(kRowMajor, kNoTranspose, kNoTranspose, m, n, k, 1, a, a_row, b, b_row, 0, c, c_row);
}
void product(int m, int n, int k, const double* a, int a_row, const double* b, int b_row, double* c,
             int c_row) {
  cblas_dgemm(kRowMajor, kNoTranspose, kNoTranspose, m, n, k, 1, a, a_row, b, b_row, 0, c, c_row);
}

// On an unknown processor OpenBLAS falls back to a much older one, which is several times slower
// than our tiles.
bool openblas_supports_cpu() {
  static const bool knows = [] {
    const std::string core = openblas_get_corename();
#if defined(__x86_64__)
    if (has_avx512()) return core == "SkylakeX" || core == "Cooperlake" || core == "SapphireRapids";
    return core == "Haswell" || core == "Zen";
#else
    return core != "ARMV8";  // ARMV8 is the generic core.
#endif
  }();
  return knows;
}

// An operand with contiguous rows: itself, or a copy in `memory`.
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

template <class T>
void multiply_large(const Pool& pool, int64_t m, int64_t n, int64_t k, const Matrix<T>& left,
                    const Matrix<T>& right, T* c) {
  std::vector<T> a_memory, b_memory;
  const Matrix<T> a = dense_rows(left, m, k, a_memory);
  const Matrix<T> b = dense_rows(right, k, n, b_memory);
  // Splits the longer side into parts whose size does not depend on the number of threads.
  constexpr int64_t kPart = 512;
  const bool cuts_rows = m >= n;
  std::atomic<bool> is_out_of_memory{false};
  const int64_t side = cuts_rows ? m : n;
  pool.parallel_for((side + kPart - 1) / kPart, [&](int64_t part) {
    const BlasBuffer buffer;
    if (!buffer) {
      is_out_of_memory = true;
      return;
    }
    const int64_t begin = part * kPart, size = std::min(kPart, side - begin);
    const T* from_a = cuts_rows ? a.data + begin * a.row : a.data;
    const T* from_b = cuts_rows ? b.data : b.data + begin;
    T* to = cuts_rows ? c + begin * n : c + begin;
    const int64_t rows = cuts_rows ? size : m, columns = cuts_rows ? n : size;
    // OpenBLAS accumulates its blocks of k serially in c, so it gets at most kLongestChain terms at
    // a time.
    const auto chain = [&](int64_t i, T* sums, int64_t sums_row) {
      const int64_t first = i * kLongestChain;
      product(static_cast<int>(rows), static_cast<int>(columns),
              static_cast<int>(std::min(kLongestChain, k - first)), from_a + first,
              static_cast<int>(a.row), from_b + first * b.row, static_cast<int>(b.row), sums,
              static_cast<int>(sums_row));
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

bool blas_takes(int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kMinSize = 768, kMaxSize = 1 << 24;
  return m >= kMinSize && n >= kMinSize && k >= kMinSize && std::max({m, n, k}) <= kMaxSize &&
         openblas_supports_cpu();
}

void blas_multiply(const Pool& pool, int64_t m, int64_t n, int64_t k, const Matrix<float>& a,
                   const Matrix<float>& b, float* c) {
  multiply_large(pool, m, n, k, a, b, c);
}
void blas_multiply(const Pool& pool, int64_t m, int64_t n, int64_t k, const Matrix<double>& a,
                   const Matrix<double>& b, double* c) {
  multiply_large(pool, m, n, k, a, b, c);
}

}  // namespace tenon_simd

#else

namespace tenon_simd {

bool blas_takes(int64_t, int64_t, int64_t) { return false; }
void blas_multiply(const Pool&, int64_t, int64_t, int64_t, const Matrix<float>&,
                   const Matrix<float>&, float*) {}
void blas_multiply(const Pool&, int64_t, int64_t, int64_t, const Matrix<double>&,
                   const Matrix<double>&, double*) {}

}  // namespace tenon_simd

#endif
