// Eigenvalues of symmetric matrices, and singular values. blocked.h describes the algorithms.

#include <cmath>
#include <limits>
#include <numeric>

#include "plugins/simd/kernels/blocked.h"
#include "plugins/simd/kernels/reflections.h"
#include "plugins/simd/vectors/dense_steps.h"

namespace tenon_simd {
namespace {

// Maximum side of matrices whose singular values are computed by the SDK's Jacobi rotations. They
// compute small singular values more accurately, but are slow for large matrices.
constexpr int64_t kFew = 32;
// Maximum number of sweeps per eigenvalue or singular value. Two sweeps are typical.
constexpr int64_t kMaxSweeps = 60;

// Collects sweeps of rotations of the rows of a matrix and applies several sweeps at once.
template <class T>
class Rotations {
 public:
  explicit Rotations(tenon_sdk::DenseMatrix<T>& rows) : rows_(rows) {}

  void begin_sweep(int64_t first, bool descends) {
    // Applies the collected sweeps before they exceed the L1 cache together with a strip of rows.
    if (sweeps_.size() >= kMaxSweepsTogether) flush();
    sweeps_.push_back({first, rotations_.size(), 0, descends});
  }
  void add(double c, double s) {
    rotations_.push_back({static_cast<T>(c), static_cast<T>(s)});
    ++sweeps_.back().count;
  }
  void flush() {
    dense_steps<T>().rotate(sweeps_.data(), sweeps_.size(), rotations_.data(), rows_.data(),
                            rows_.columns(), rows_.columns());
    sweeps_.clear();
    rotations_.clear();
  }

 private:
  static constexpr size_t kMaxSweepsTogether = 32;

  tenon_sdk::DenseMatrix<T>& rows_;
  std::vector<RotationSweep> sweeps_;
  std::vector<Rotation<T>> rotations_;
};

// The rotation that maps (f, g) to (r, 0).
struct Plane {
  double c, s, r;

  Plane(double f, double g) {
    if (g == 0) {
      c = 1, s = 0, r = f;
    } else {
      r = std::copysign(std::sqrt(f * f + g * g), f);
      c = f / r;
      s = g / r;
    }
  }
};

// Diagonal and off-diagonal elements in double precision. An off-diagonal element counts as zero if
// it is negligible at the precision of T.
using Values = std::vector<double>;
double& at(Values& values, int64_t i) { return values[static_cast<size_t>(i)]; }

// Returns the largest magnitude in a tridiagonal or bidiagonal matrix with diagonal `d` and
// off-diagonal `e`.
double largest(const Values& d, const Values& e) {
  double most = 0;
  for (const double value : d) most = std::max(most, std::abs(value));
  for (const double value : e) most = std::max(most, std::abs(value));
  return most;
}

// Reduces the symmetric matrix `x` to tridiagonal form and returns the reflections. `diagonal` and
// `beside` receive its elements on and beside the diagonal. Overwrites `x`. Each step passes over
// the matrix once: it applies the previous reflection to a row and multiplies the row by the vector
// of the current reflection.
template <class T>
Reflections<T> make_tridiagonal(tenon_sdk::DenseMatrix<T>& x, Values& diagonal, Values& beside) {
  const int64_t n = x.rows();
  const auto& steps = dense_steps<T>();
  Reflections<T> reflections(std::max<int64_t>(0, n - 2), n);
  // The pending update is x -= v w^T + w v^T.
  const std::vector<T> zeros(static_cast<size_t>(n));
  std::vector<T> w(static_cast<size_t>(n)), next(static_cast<size_t>(n));
  const T* v = zeros.data();
  for (int64_t k = 0; k < n; ++k) {
    T* const row = x.data() + k * n;
    steps.add_scaled(-v[k], w.data() + k, row + k, n - k);
    steps.add_scaled(-w[static_cast<size_t>(k)], v + k, row + k, n - k);
    at(diagonal, k) = row[k];
    if (k + 1 == n) break;
    if (k + 2 == n) {
      at(beside, k) = row[k + 1];
      continue;
    }
    at(beside, k) = reflections.make(k, k + 1, row + k + 1);
    const T* const u = reflections.at(k);
    const T tau = reflections.tau[static_cast<size_t>(k)];
    const int64_t first = k + 1, size = n - first;
    for (int64_t i = first; i < n; ++i) {
      next[static_cast<size_t>(i)] =
          tau * steps.add_two_dot(-v[i], w.data() + first, -w[static_cast<size_t>(i)], v + first,
                                  x.data() + i * n + first, u + first, size);
    }
    const T half = tau / 2 * steps.dot(next.data() + first, u + first, size);
    steps.add_scaled(-half, u + first, next.data() + first, size);
    std::swap(w, next);
    v = u;
  }
  return reflections;
}

// QL iteration: rotates a tridiagonal matrix until it is diagonal. Returns false if the iteration
// does not converge.
template <class T>
bool make_diagonal(Values& d, Values& e, Rotations<T>& rotations) {
  const int64_t n = static_cast<int64_t>(d.size());
  const double negligible = std::numeric_limits<T>::epsilon() / 2;
  const double least = negligible * negligible * largest(d, e);
  for (int64_t low = 0; low < n; ++low) {
    for (int64_t sweep = 0;; ++sweep) {
      int64_t high = low;
      for (; high + 1 < n; ++high) {
        const double off = std::abs(at(e, high));
        if (off <= negligible * (std::abs(at(d, high)) + std::abs(at(d, high + 1))) ||
            off <= least) {
          break;
        }
      }
      if (high == low) break;
      if (sweep == kMaxSweeps) return false;
      // Wilkinson's shift.
      double g = (at(d, low + 1) - at(d, low)) / (2 * at(e, low));
      const double root = std::sqrt(g * g + 1);
      g = at(d, high) - at(d, low) + at(e, low) / (g + std::copysign(root, g));
      double s = 1, c = 1, p = 0;
      rotations.begin_sweep(high - 1, true);
      int64_t i = high - 1;
      for (; i >= low; --i) {
        const double f = s * at(e, i), b = c * at(e, i);
        const double r = std::sqrt(f * f + g * g);
        if (i + 1 < high) at(e, i + 1) = r;
        if (r == 0) {  // The matrix splits into two blocks here.
          at(d, i + 1) -= p;
          break;
        }
        s = f / r;
        c = g / r;
        g = at(d, i + 1) - p;
        const double t = (at(d, i) - g) * s + 2 * c * b;
        p = s * t;
        at(d, i + 1) = g + p;
        g = c * t - b;
        rotations.add(c, -s);
      }
      if (i >= low) {
        at(e, high) = 0;
        continue;
      }
      at(d, low) -= p;
      at(e, low) = g;
    }
  }
  rotations.flush();
  return true;
}

// Reduces `x` to upper bidiagonal form by reflections from the left and from the right, and
// overwrites it. `diagonal` and `beside` receive the elements on and above the diagonal. `x` has at
// least as many rows as columns. Each step passes over the matrix twice.
template <class T>
void make_bidiagonal(tenon_sdk::DenseMatrix<T>& x, Values& diagonal, Values& beside,
                     Reflections<T>& left, Reflections<T>& right) {
  const int64_t m = x.rows(), n = x.columns();
  const auto& steps = dense_steps<T>();
  // The pending update is x -= z v^T.
  const std::vector<T> zeros(static_cast<size_t>(n));
  std::vector<T> z(static_cast<size_t>(m)), column(z), sums(zeros);
  const T* v = zeros.data();
  for (int64_t k = 0; k < n; ++k) {
    for (int64_t i = k; i < m; ++i) {
      column[static_cast<size_t>(i)] = x(i, k) - z[static_cast<size_t>(i)] * v[k];
    }
    at(diagonal, k) = left.make(k, k, column.data() + k);
    const T* const u = left.at(k);
    const T u_tau = left.tau[static_cast<size_t>(k)];
    const int64_t first = k + 1, size = n - first;
    if (size == 0) break;
    std::fill(sums.begin(), sums.end(), T{0});
    for (int64_t i = k; i < m; ++i) {
      steps.add_sum(-z[static_cast<size_t>(i)], v + first, x.data() + i * n + first, u[i],
                    sums.data() + first, size);
    }
    T* const row = x.data() + k * n + first;
    steps.add_scaled(-u_tau, sums.data() + first, row, size);
    if (size == 1) {
      at(beside, k) = *row;
      for (int64_t i = first; i < m; ++i) {
        steps.add_scaled(-u_tau * u[i], sums.data() + first, x.data() + i * n + first, size);
        z[static_cast<size_t>(i)] = 0;
      }
      continue;
    }
    at(beside, k) = right.make(k, first, row);
    v = right.at(k);
    const T v_tau = right.tau[static_cast<size_t>(k)];
    for (int64_t i = first; i < m; ++i) {
      z[static_cast<size_t>(i)] = v_tau * steps.add_dot(-u_tau * u[i], sums.data() + first,
                                                        x.data() + i * n + first, v + first, size);
    }
  }
}

// A QR sweep with a shift over rows `low` to `high` of the bidiagonal matrix.
template <class T>
void sweep_shifted(Values& d, Values& e, int64_t low, int64_t high, double shift,
                   Rotations<T>& left, Rotations<T>& right) {
  double f = (std::abs(at(d, low)) - shift) * (std::copysign(1.0, at(d, low)) + shift / at(d, low));
  double g = at(e, low);
  for (int64_t i = low; i < high; ++i) {
    const Plane by(f, g);
    if (i > low) at(e, i - 1) = by.r;
    f = by.c * at(d, i) + by.s * at(e, i);
    at(e, i) = by.c * at(e, i) - by.s * at(d, i);
    g = by.s * at(d, i + 1);
    at(d, i + 1) *= by.c;
    right.add(by.c, by.s);
    const Plane back(f, g);
    at(d, i) = back.r;
    f = back.c * at(e, i) + back.s * at(d, i + 1);
    at(d, i + 1) = back.c * at(d, i + 1) - back.s * at(e, i);
    if (i + 1 < high) {
      g = back.s * at(e, i + 1);
      at(e, i + 1) *= back.c;
    }
    left.add(back.c, back.s);
  }
  at(e, high - 1) = f;
}

// A QR sweep without a shift, which computes tiny and zero singular values accurately.
template <class T>
void sweep_unshifted(Values& d, Values& e, int64_t low, int64_t high, Rotations<T>& left,
                     Rotations<T>& right) {
  double c = 1, old_c = 1, old_s = 0;
  for (int64_t i = low; i < high; ++i) {
    const Plane by(at(d, i) * c, at(e, i));
    if (i > low) at(e, i - 1) = old_s * by.r;
    const Plane back(old_c * by.r, at(d, i + 1) * by.s);
    at(d, i) = back.r;
    c = by.c;
    old_c = back.c;
    old_s = back.s;
    right.add(by.c, by.s);
    left.add(back.c, back.s);
  }
  const double last = at(d, high) * c;
  at(d, high) = last * old_c;
  at(e, high - 1) = last * old_s;
}

// Returns the smaller singular value of the matrix [[f, g], [0, h]].
double smaller_value(double f, double g, double h) {
  f = std::abs(f), g = std::abs(g), h = std::abs(h);
  const double least = std::min(f, h), most = std::max(f, h);
  if (least == 0) return 0;
  const double sum = std::hypot(most + least, g), difference = std::hypot(most - least, g);
  return 2 * least * (most / (sum + difference));
}

// QR iteration: rotates a bidiagonal matrix until it is diagonal. Returns false if the iteration
// does not converge.
template <class T>
bool make_diagonal(Values& d, Values& e, Rotations<T>& left, Rotations<T>& right) {
  const double negligible = std::numeric_limits<T>::epsilon() / 2;
  const double least = negligible * negligible * largest(d, e);
  int64_t high = static_cast<int64_t>(d.size()) - 1;
  for (int64_t sweep = 0; high > 0;) {
    int64_t low = high;
    for (; low > 0; --low) {
      double& off = at(e, low - 1);
      if (std::abs(off) <= negligible * (std::abs(at(d, low - 1)) + std::abs(at(d, low))) ||
          std::abs(off) <= least) {
        off = 0;
        break;
      }
    }
    if (low == high) {
      --high;
      sweep = 0;
      continue;
    }
    if (++sweep > kMaxSweeps) return false;
    left.begin_sweep(low, false);
    right.begin_sweep(low, false);
    double shift = smaller_value(at(d, high - 1), at(e, high - 1), at(d, high));
    double smallest = std::abs(at(d, low));
    for (int64_t i = low; i <= high; ++i) smallest = std::min(smallest, std::abs(at(d, i)));
    const double ratio = shift / std::abs(at(d, low));
    if (smallest <= least || ratio * ratio < negligible * negligible) shift = 0;
    if (shift == 0) {
      sweep_unshifted(d, e, low, high, left, right);
    } else {
      sweep_shifted(d, e, low, high, shift, left, right);
    }
  }
  left.flush();
  right.flush();
  return true;
}

// Returns the indices of the values, from the smallest value to the largest.
std::vector<int64_t> ascending_order(const Values& values) {
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return values[static_cast<size_t>(a)] < values[static_cast<size_t>(b)];
  });
  return order;
}

}  // namespace

template <class T>
bool Blocked<T>::eigh(Matrix& x, std::vector<T>& w, Matrix& v) {
  const int64_t n = x.rows();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i + 1; j < n; ++j) x(i, j) = x(j, i);
  }
  Values diagonal(static_cast<size_t>(n)), beside(static_cast<size_t>(n));
  Matrix rows = make_tridiagonal(x, diagonal, beside).product(n, 1).transposed();
  Rotations<T> rotations(rows);
  if (!make_diagonal(diagonal, beside, rotations)) return false;
  const std::vector<int64_t> order = ascending_order(diagonal);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t from = order[static_cast<size_t>(i)];
    w.push_back(static_cast<T>(at(diagonal, from)));
    for (int64_t j = 0; j < n; ++j) v(j, i) = rows(from, j);
  }
  return true;
}

template <class T>
bool Blocked<T>::svd(Matrix& x, Matrix& u, std::vector<T>& s, Matrix& vh) {
  const int64_t m = x.rows(), n = x.columns();
  if (std::min(m, n) <= kFew) return tenon_sdk::Loops<T>::svd(x, u, s, vh);
  if (m < n) {
    Matrix turned = x.transposed(), v(n, m), uh(m, m);
    const bool found = svd(turned, v, s, uh);
    u = uh.transposed();
    vh = v.transposed();
    return found;
  }
  if (m > n + n / 2) {
    Matrix q(m, n), r(n, n), inner(n, n);
    qr(x, q, r);
    const bool found = svd(r, inner, s, vh);
    if (found) {
      multiply_dense(m, n, n, tenon_simd::Matrix<T>{q.data(), n, 1},
                     tenon_simd::Matrix<T>{inner.data(), n, 1}, u.data(), n, false);
    }
    return found;
  }
  Values diagonal(static_cast<size_t>(n)), beside(static_cast<size_t>(n));
  Reflections<T> left(n, m), right(std::max<int64_t>(0, n - 2), n);
  make_bidiagonal(x, diagonal, beside, left, right);
  Matrix u_rows = left.product(n, 0).transposed(), v_rows = right.product(n, 1).transposed();
  Rotations<T> u_rotations(u_rows), v_rotations(v_rows);
  if (!make_diagonal(diagonal, beside, u_rotations, v_rotations)) return false;
  Values sizes(diagonal);
  for (double& size : sizes) size = -std::abs(size);
  const std::vector<int64_t> order = ascending_order(sizes);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t from = order[static_cast<size_t>(i)];
    const bool is_negative = std::signbit(at(diagonal, from));
    s.push_back(static_cast<T>(std::abs(at(diagonal, from))));
    for (int64_t j = 0; j < m; ++j) u(j, i) = u_rows(from, j);
    for (int64_t j = 0; j < n; ++j) vh(i, j) = is_negative ? 0 - v_rows(from, j) : v_rows(from, j);
  }
  return true;
}

template bool Blocked<float>::svd(Matrix& x, Matrix& u, std::vector<float>& s, Matrix& vh);
template bool Blocked<double>::svd(Matrix& x, Matrix& u, std::vector<double>& s, Matrix& vh);
template bool Blocked<float>::eigh(Matrix& x, std::vector<float>& w, Matrix& v);
template bool Blocked<double>::eigh(Matrix& x, std::vector<double>& w, Matrix& v);

}  // namespace tenon_simd
