// Decompositions by LAPACK. LAPACK is column-major and the matrices are row-major, so LAPACK
// operates on their transposes.

#include "plugins/simd/kernels/lapack.h"

namespace tenon_simd {
namespace {

// Minimum sides for which LAPACK is used. For float64 matrices of 256 rows, OpenBLAS 0.3.21 takes
// 0.85 of the time of Tenon's own code for Cholesky factors, and 0.6 for eigenvalues and singular
// values. Above kMaxSide, the size of the work memory would exceed LAPACK's 32-bit sizes.
constexpr int64_t kMinCholesky = 256, kMinValues = 64, kMaxSide = 1 << 14;

// Returns the BLAS if the shorter side is at least `least` and LAPACK supports the longer side;
// otherwise NULL.
const Blas* blas_for_sides(const Instance& instance, int64_t shorter, int64_t longer,
                           int64_t least) {
  return shorter >= least && longer <= kMaxSide ? instance.blas() : nullptr;
}

// Calls body(memory, size) twice: first with size -1, for which a LAPACK function returns the size
// that it needs in memory[0], then with memory of that size.
template <class T, class Body>
void with_workspace(const Body& body) {
  T wanted = 0;
  body(&wanted, -1);
  // Adds a margin, because the size may have been rounded down to a float.
  std::vector<T> memory(static_cast<size_t>(wanted * T(1.001)) + 64);
  body(memory.data(), static_cast<int>(memory.size()));
}

}  // namespace

template <class T>
bool Decompositions<T>::cholesky(Matrix& a) const {
  const int64_t side = a.rows();
  const Blas* blas = blas_for_sides(*instance, side, side, kMinCholesky);
  if (blas == nullptr) return Blocked<T>::cholesky(a);
  const BlasCalls calls(*blas);
  calls.require();
  const int n = static_cast<int>(side);
  int info = 0;
  blas->functions<T>().potrf("U", &n, a.data(), &n, &info, 1);
  for (int64_t i = 0; i < side; ++i) {
    if (!(a(i, i) > 0)) return false;  // An intermediate value overflowed or is NaN.
  }
  return info == 0;
}

// Because LAPACK decomposes the transpose, its left factor is v and its right factor is u^T.
template <class T>
bool Decompositions<T>::svd(Matrix& x, Matrix& u, std::vector<T>& s, Matrix& vh) const {
  const int64_t shorter = std::min(x.rows(), x.columns());
  const Blas* blas =
      blas_for_sides(*instance, shorter, std::max(x.rows(), x.columns()), kMinValues);
  if (blas == nullptr) return Blocked<T>::svd(x, u, s, vh);
  const BlasCalls calls(*blas);
  calls.require();
  const int m = static_cast<int>(x.columns()), n = static_cast<int>(x.rows()), k = std::min(m, n);
  s.resize(static_cast<size_t>(k));
  std::vector<int> int_work(static_cast<size_t>(8 * k));
  int info = 0;
  with_workspace<T>([&](T* work, int size) {
    blas->functions<T>().gesdd("S", &m, &n, x.data(), &m, s.data(), vh.data(), &m, u.data(), &k,
                               work, &size, int_work.data(), &info, 1);
  });
  return info == 0;
}

template <class T>
bool Decompositions<T>::eigh(Matrix& x, std::vector<T>& w, Matrix& v) const {
  const Blas* blas = blas_for_sides(*instance, x.rows(), x.rows(), kMinValues);
  if (blas == nullptr) return Blocked<T>::eigh(x, w, v);
  const BlasCalls calls(*blas);
  calls.require();
  const int n = static_cast<int>(x.rows()), n_int_work = 3 + 5 * n;
  w.resize(static_cast<size_t>(n));
  std::vector<int> int_work(static_cast<size_t>(n_int_work));
  int info = 0;
  with_workspace<T>([&](T* work, int size) {
    // A query for the size of `work` must also query the size of `int_work`.
    const int n_int = size < 0 ? -1 : n_int_work;
    blas->functions<T>().syevd("V", "U", &n, x.data(), &n, w.data(), work, &size, int_work.data(),
                               &n_int, &info, 1, 1);
  });
  v = x.transposed();  // LAPACK's columns are our rows.
  return info == 0;
}

template struct Decompositions<float>;
template struct Decompositions<double>;

}  // namespace tenon_simd
