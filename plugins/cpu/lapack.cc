#include "plugins/simd/kernels/lapack.h"

#if defined(TENON_SIMD_LAPACK)

#include "plugins/cpu/blas_buffer.h"

// As in cblas.h and lapack.h, whose location differs between distributions. After its arguments, a
// Fortran function takes the lengths of its strings.
#define TENON_LAPACK(T, prefix)                                                                    \
  extern "C" {                                                                                     \
  void cblas_##prefix##trsm(int order, int side, int triangle, int transpose, int diagonal, int m, \
                            int n, T alpha, const T* a, int a_row, T* b, int b_row);               \
  void prefix##potrf_(const char* triangle, const int* n, T* a, const int* a_row, int* info,       \
                      size_t);                                                                     \
  void prefix##getrf_(const int* m, const int* n, T* a, const int* a_row, int* swaps, int* info);  \
  void prefix##gesv_(const int* n, const int* n_sides, T* a, const int* a_row, int* swaps, T* b,   \
                     const int* b_row, int* info);                                                 \
  void prefix##geqrf_(const int* m, const int* n, T* a, const int* a_row, T* tau, T* work,         \
                      const int* n_work, int* info);                                               \
  void prefix##orgqr_(const int* m, const int* n, const int* k, T* a, const int* a_row,            \
                      const T* tau, T* work, const int* n_work, int* info);                        \
  void prefix##gebrd_(const int* m, const int* n, T* a, const int* a_row, T* diagonal, T* beside,  \
                      T* tau_left, T* tau_right, T* work, const int* n_work, int* info);           \
  void prefix##orgbr_(const char* which, const int* m, const int* n, const int* k, T* a,           \
                      const int* a_row, const T* tau, T* work, const int* n_work, int* info,       \
                      size_t);                                                                     \
  void prefix##bdsqr_(const char* triangle, const int* n, const int* right_columns,                \
                      const int* left_rows, const int* other_columns, T* diagonal, T* beside,      \
                      T* right, const int* right_row, T* left, const int* left_row, T* other,      \
                      const int* other_row, T* work, int* info, size_t);                           \
  void prefix##syev_(const char* vectors, const char* triangle, const int* n, T* a,                \
                     const int* a_row, T* values, T* work, const int* n_work, int* info, size_t,   \
                     size_t);                                                                      \
  }                                                                                                \
  namespace tenon_simd {                                                                            \
  namespace {                                                                                      \
  template <>                                                                                      \
  struct Functions<T> {                                                                            \
    static constexpr auto trsm = cblas_##prefix##trsm;                                             \
    static constexpr auto potrf = prefix##potrf_;                                                  \
    static constexpr auto getrf = prefix##getrf_;                                                  \
    static constexpr auto gesv = prefix##gesv_;                                                    \
    static constexpr auto geqrf = prefix##geqrf_;                                                  \
    static constexpr auto orgqr = prefix##orgqr_;                                                  \
    static constexpr auto gebrd = prefix##gebrd_;                                                  \
    static constexpr auto orgbr = prefix##orgbr_;                                                  \
    static constexpr auto bdsqr = prefix##bdsqr_;                                                  \
    static constexpr auto syev = prefix##syev_;                                                    \
  };                                                                                               \
  }                                                                                                \
  }

namespace tenon_simd {
namespace {
template <class T>
struct Functions;
}
}  // namespace tenon_simd
TENON_LAPACK(float, s)
TENON_LAPACK(double, d)
#undef TENON_LAPACK

namespace tenon_simd {
namespace {

constexpr int kRowMajor = 101, kNoTranspose = 111, kUpper = 121, kLower = 122, kNonUnit = 131,
              kUnit = 132, kLeft = 141;

// A side of a matrix. LAPACK requires rows of length 1 at least.
int as_int(int64_t n) { return static_cast<int>(n); }
int row_of(int64_t n) { return static_cast<int>(std::max<int64_t>(1, n)); }

// Work memory of a factorisation of rank k: its sides times the block size.
template <class T>
struct Work {
  std::vector<T> memory;
  int size;

  Work(int64_t sides, int64_t k)
      : memory(static_cast<size_t>(std::max<int64_t>(1, sides) * std::clamp<int64_t>(k, 4, 64))),
        size(as_int(static_cast<int64_t>(memory.size()))) {}
};

template <class T>
std::vector<T> numbers(int64_t n) {
  return std::vector<T>(static_cast<size_t>(std::max<int64_t>(1, n)));
}

}  // namespace

template <class T>
bool Lapack<T>::cholesky(Matrix& a) {
  const BlasBuffer buffer;
  buffer.require();
  const int n = as_int(a.rows()), row = row_of(n);
  int info = 0;
  Functions<T>::potrf("U", &n, a.data(), &row, &info, 1);
  for (int64_t i = 0; i < n; ++i) {
    if (!(a(i, i) > 0)) return false;  // An intermediate overflow.
  }
  return info == 0;
}

template <class T>
void Lapack<T>::substitute(const Matrix& a, bool lower, bool unit_diagonal, Matrix& b) {
  const BlasBuffer buffer;
  buffer.require();
  if (b.rows() == 0 || b.columns() == 0) return;
  Functions<T>::trsm(kRowMajor, kLeft, lower ? kLower : kUpper, kNoTranspose,
                     unit_diagonal ? kUnit : kNonUnit, as_int(b.rows()), as_int(b.columns()), 1,
                     a.data(), as_int(a.columns()), b.data(), as_int(b.columns()));
}

template <class T>
bool Lapack<T>::eliminate(Matrix& a) {
  const BlasBuffer buffer;
  buffer.require();
  const int n = as_int(a.rows()), row = row_of(n);
  std::vector<int> swaps = numbers<int>(n);
  int info = 0;
  a = a.transposed();
  Functions<T>::getrf(&n, &n, a.data(), &row, swaps.data(), &info);
  bool is_odd = false;
  for (int i = 0; i < n; ++i) is_odd = is_odd != (swaps[static_cast<size_t>(i)] != i + 1);
  return is_odd;
}

template <class T>
bool Lapack<T>::solve(Matrix& a, Matrix& b) {
  const BlasBuffer buffer;
  buffer.require();
  const int n = as_int(a.rows()), n_sides = as_int(b.columns()), row = row_of(n);
  std::vector<int> swaps = numbers<int>(n);
  int info = 0;
  Matrix columns = a.transposed(), sides = b.transposed();
  Functions<T>::gesv(&n, &n_sides, columns.data(), &row, swaps.data(), sides.data(), &row, &info);
  b = sides.transposed();
  return info == 0;
}

template <class T>
void Lapack<T>::qr(Matrix& a, Matrix& q, Matrix& r) {
  const BlasBuffer buffer;
  buffer.require();
  const int m = as_int(a.rows()), n = as_int(a.columns()), k = as_int(r.rows()), row = row_of(m);
  Matrix columns = a.transposed();
  std::vector<T> tau = numbers<T>(k);
  Work<T> work(n, k);
  int info = 0;
  Functions<T>::geqrf(&m, &n, columns.data(), &row, tau.data(), work.memory.data(), &work.size,
                      &info);
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t j = 0; j < n; ++j) r(i, j) = j < i ? T{0} : columns(j, i);
  }
  Functions<T>::orgqr(&m, &k, &k, columns.data(), &row, tau.data(), work.memory.data(), &work.size,
                      &info);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < k; ++j) q(i, j) = columns(j, i);
  }
}

// By bidiagonalisation. LAPACK sees the transpose of x: its left factor is v, and its right one is
// u^T.
template <class T>
bool Lapack<T>::svd(Matrix& x, Matrix& u, std::vector<T>& s, Matrix& vh) {
  const BlasBuffer buffer;
  buffer.require();
  const int m = as_int(x.columns()), n = as_int(x.rows()), k = std::min(m, n);
  // The iteration below may leave an error of 90 ulp. Rotations are more accurate, but slow for
  // large matrices.
  constexpr int kFew = 32;
  if (k <= kFew) return tenon_sdk::Loops<T>::svd(x, u, s, vh);
  const int row = row_of(m), u_row = row_of(k), none = 0, one = 1;
  std::vector<T> beside = numbers<T>(k), tau_left = numbers<T>(k), tau_right = numbers<T>(k);
  s.resize(static_cast<size_t>(k));
  Work<T> work(x.rows() + x.columns(), k);
  int info = 0;
  Functions<T>::gebrd(&m, &n, x.data(), &row, s.data(), beside.data(), tau_left.data(),
                      tau_right.data(), work.memory.data(), &work.size, &info);
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t j = 0; j < m; ++j) vh(i, j) = x(i, j);
    for (int64_t j = 0; j < n; ++j) u(j, i) = x(j, i);
  }
  Functions<T>::orgbr("Q", &m, &k, &n, vh.data(), &row, tau_left.data(), work.memory.data(),
                      &work.size, &info, 1);
  Functions<T>::orgbr("P", &k, &n, &m, u.data(), &u_row, tau_right.data(), work.memory.data(),
                      &work.size, &info, 1);
  Functions<T>::bdsqr(m >= n ? "U" : "L", &k, &n, &m, &none, s.data(), beside.data(), u.data(),
                      &u_row, vh.data(), &row, nullptr, &one, work.memory.data(), &info, 1);
  return info == 0;
}

template <class T>
bool Lapack<T>::eigh(Matrix& x, std::vector<T>& w, Matrix& v) {
  const BlasBuffer buffer;
  buffer.require();
  const int n = as_int(x.rows()), row = row_of(n);
  w.resize(static_cast<size_t>(n));
  if (n == 0) return true;
  Work<T> work(x.rows() + 2, n);
  int info = 0;
  Functions<T>::syev("V", "U", &n, x.data(), &row, w.data(), work.memory.data(), &work.size, &info,
                     1, 1);
  v = x.transposed();  // LAPACK's columns are our rows.
  return info == 0;
}

template struct Lapack<float>;
template struct Lapack<double>;

}  // namespace tenon_simd

#endif
