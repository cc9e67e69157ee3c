// Tests the oracle's linear algebra by the properties that define its results: products of the
// factors equal the input, vectors are orthonormal, solutions satisfy the equations. Values are
// compared by the cases of each op (core/ops/linalg).

#include <algorithm>
#include <random>

#include "plugins/ref/ref_testing.h"
#include "plugins/sdk/matrix.h"

namespace {

using namespace tenon_ref_testing;

using Matrix = tenon_sdk::DenseMatrix<double>;

Matrix random_matrix(int64_t rows, int64_t columns, double size = 1) {
  std::mt19937_64 generator(static_cast<uint64_t>(rows * 100 + columns));
  std::uniform_real_distribution<double> uniform(-size, size);
  Matrix result(rows, columns);
  for (int64_t i = 0; i < rows * columns; ++i) result.data()[i] = uniform(generator);
  return result;
}

Tensor tensor_of(const Matrix& matrix) {
  Tensor made = f64({matrix.rows(), matrix.columns()}, {});
  if (!made.bytes.empty()) std::memcpy(made.bytes.data(), matrix.data(), made.bytes.size());
  return made;
}

Matrix matrix_of(const Tensor& tensor) {
  const Numbers numbers = tensor.numbers();
  Matrix result(tensor.sizes[0], tensor.sizes[1]);
  std::copy(numbers.begin(), numbers.end(), result.data());
  return result;
}

Matrix diagonal(const Tensor& vector) {
  const Numbers numbers = vector.numbers();
  Matrix result(vector.sizes[0], vector.sizes[0]);
  for (int64_t i = 0; i < vector.sizes[0]; ++i) result(i, i) = numbers[static_cast<size_t>(i)];
  return result;
}

Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix result(a.rows(), b.columns());
  for (int64_t i = 0; i < a.rows(); ++i) {
    for (int64_t j = 0; j < b.columns(); ++j) {
      for (int64_t k = 0; k < a.columns(); ++k) result(i, j) += a(i, k) * b(k, j);
    }
  }
  return result;
}

// The largest difference between elements of two matrices, relative to the largest element.
double distance(const Matrix& a, const Matrix& b) {
  double most = 0;
  for (int64_t i = 0; i < a.rows() * a.columns(); ++i) {
    most = std::max(most, std::abs(a.data()[i] - b.data()[i]));
  }
  return most / std::max(1e-300, b.largest());
}

Matrix identity(int64_t n) {
  Matrix result(n, n);
  result.set_identity();
  return result;
}

struct Svd {
  Matrix u, s, vh;
  explicit Svd(const Matrix& x) : u(0, 0), s(0, 0), vh(0, 0) {
    const int64_t m = x.rows(), n = x.columns(), k = std::min(m, n);
    const Launched y =
        run(TENON_OP_svd, {tensor_of(x)}, {f64({m, k}, {}), f64(List{k}, {}), f64({k, n}, {})});
    u = matrix_of(y[0]);
    s = diagonal(y[1]);
    vh = matrix_of(y[2]);
  }
};

constexpr double kBound = 1e-15;
const List kShapes[] = {{1, 1}, {2, 2}, {5, 3}, {3, 5}, {8, 8}, {1, 6}, {6, 1}, {20, 30}, {33, 17}};

void expect_svd(const Matrix& x) {
  const Svd y(x);
  const int64_t k = std::min(x.rows(), x.columns());
  EXPECT_LT(distance(y.u * y.s * y.vh, x), 30 * kBound);
  EXPECT_LT(distance(y.u.transposed() * y.u, identity(k)), 30 * kBound);
  EXPECT_LT(distance(y.vh * y.vh.transposed(), identity(k)), 30 * kBound);
  for (int64_t i = 0; i < k; ++i) {
    EXPECT_GE(y.s(i, i), i + 1 < k ? y.s(i + 1, i + 1) : 0);
  }
}

TEST(RefLinalg, SvdFactorsReproduceTheMatrix) {
  for (const List& shape : kShapes) expect_svd(random_matrix(shape[0], shape[1]));
}

TEST(RefLinalg, SvdVectorsAreOrthonormalForZeroOrEqualSingularValues) {
  expect_svd(Matrix(4, 3));
  expect_svd(identity(3));
  for (const List& shape : kShapes) {
    Matrix x = random_matrix(shape[0], shape[1]);
    for (int64_t i = 0; i < x.rows(); ++i) {
      for (int64_t j = 1; j < x.columns(); j += 2) x(i, j) = -2 * x(i, j - 1);
    }
    expect_svd(x);
  }
}

TEST(RefLinalg, SvdOfVeryLargeAndSmallMatricesIsAccurate) {
  for (const double size : {1e-300, 1e-160, 1e160, 1e300}) expect_svd(random_matrix(4, 3, size));
}

TEST(RefLinalg, QrFactorsReproduceTheMatrix) {
  for (const List& shape : kShapes) {
    for (const double size : {1e-300, 1.0, 1e300}) {
      const Matrix x = random_matrix(shape[0], shape[1], size);
      const int64_t m = x.rows(), n = x.columns(), k = std::min(m, n);
      const Launched y = run(TENON_OP_qr, {tensor_of(x)}, {f64({m, k}, {}), f64({k, n}, {})});
      const Matrix q = matrix_of(y[0]), r = matrix_of(y[1]);
      EXPECT_LT(distance(q * r, x), 10 * kBound);
      EXPECT_LT(distance(q.transposed() * q, identity(k)), 10 * kBound);
      for (int64_t i = 0; i < k; ++i) {
        EXPECT_GE(r(i, i), 0);
        for (int64_t j = 0; j < i; ++j) EXPECT_EQ(r(i, j), 0);
      }
    }
  }
}

TEST(RefLinalg, EighFactorsReproduceTheMatrix) {
  for (const int64_t n : {1, 2, 3, 8, 25}) {
    for (const double size : {1e-300, 1.0, 1e300}) {
      Matrix x = random_matrix(n, n, size);
      if (n == 8) x = identity(n);
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = i + 1; j < n; ++j) x(i, j) = x(j, i);
      }
      const Launched y = run(TENON_OP_eigh, {tensor_of(x)}, {f64(List{n}, {}), f64({n, n}, {})});
      const Matrix w = diagonal(y[0]), v = matrix_of(y[1]);
      EXPECT_LT(distance(v * w * v.transposed(), x), 30 * kBound);
      EXPECT_LT(distance(v.transposed() * v, identity(n)), 30 * kBound);
      for (int64_t i = 1; i < n; ++i) EXPECT_LE(w(i - 1, i - 1), w(i, i));
    }
  }
}

TEST(RefLinalg, CholeskyRecoversTheTriangularFactor) {
  for (const int64_t n : {1, 2, 5, 17}) {
    Matrix l = random_matrix(n, n);
    l.clear_above();
    for (int64_t i = 0; i < n; ++i) l(i, i) = 1 + std::abs(l(i, i));
    const Tensor x = tensor_of(l * l.transposed()), out = f64({n, n}, {});
    auto attrs = make_attrs<tenon_cholesky_attrs>();
    EXPECT_LT(distance(matrix_of(call(TENON_OP_cholesky, {x}, out, &attrs)), l), 1e-12);
    attrs.upper = true;
    const Matrix upper = matrix_of(call(TENON_OP_cholesky, {x}, out, &attrs));
    EXPECT_LT(distance(upper, l.transposed()), 1e-12);
  }
}

TEST(RefLinalg, SolutionsSatisfyTheEquationAndSlogdetMatchesDet) {
  for (const int64_t n : {1, 2, 5, 17}) {
    const Matrix a = random_matrix(n, n), x = random_matrix(n, 3);
    const Tensor y = call(TENON_OP_solve, {tensor_of(a), tensor_of(a * x)}, f64({n, 3}, {}));
    EXPECT_LT(distance(matrix_of(y), x), 1e-11);
    const double det = call(TENON_OP_det, {tensor_of(a)}, f64(List{}, {})).numbers()[0];
    const Launched parts =
        run(TENON_OP_slogdet, {tensor_of(a)}, {f64(List{}, {}), f64(List{}, {})});
    EXPECT_EQ(parts[0].numbers()[0], det < 0 ? -1 : 1);
    EXPECT_NEAR(parts[1].numbers()[0], std::log(std::abs(det)), 1e-12);
  }
}

TEST(RefLinalg, SupportsAnyStrides) {
  const Tensor x = f64({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 9});
  const Tensor out = f64({2}, {});
  EXPECT_NUMBERS(call(TENON_OP_det, {x.as({2, 2, 2}, {1, 2, 4})}, out), -8, -6);
}

}  // namespace
