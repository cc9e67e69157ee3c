// Kernels for linear algebra. Each thread processes whole matrices of a batch.

#include <algorithm>

#include "plugins/sdk/matrix_kernels.h"
#include "plugins/simd/kernels.h"
#include "plugins/simd/kernels/lapack.h"

namespace tenon_simd {
namespace {

// Returns the longest side of a launch's matrices.
int64_t longest_side(const tenon_launch& launch) {
  int64_t longest = 0;
  for (size_t i = 0; i < launch.n_inputs; ++i) {
    const tenon_view& view = launch.inputs[i];
    longest = std::max({longest, view.sizes[view.rank - 1], view.sizes[view.rank - 2]});
  }
  return longest;
}

// Prepares a kernel that calls body(kernels, launch, i) for each matrix i of the first operand.
template <class Body>
Prepared for_each_matrix(const Request& request, const Body& body) {
  using Dtypes = tenon_sdk::Types<float, double>;
  return dispatch<Dtypes>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return kernel(kTraits, [body, instance = &instance_of(request)](const tenon_launch& launch) {
      const tenon_sdk::MatrixKernels<T, Decompositions<T>> kernels{{instance}};
      const int64_t n = tenon_sdk::count_matrices(launch.inputs[0]);
      const int64_t side = std::min<int64_t>(longest_side(launch), 64);
      const int64_t grain = 1 + (1 << 15) / (1 + side * side * side);
      instance->pool.parallel_tasks(n, grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) body(kernels, launch, i);
      });
    });
  });
}

}  // namespace

Prepared prepare_cholesky(const Request& request) {
  const bool upper = request.attrs<tenon_cholesky_attrs>().upper;
  return for_each_matrix(request, [=](auto kernels, const tenon_launch& launch, int64_t i) {
    kernels.cholesky(launch, i, upper);
  });
}

Prepared prepare_triangular_solve(const Request& request) {
  const auto attrs =
      request.attrs<tenon_triangular_solve_attrs>(TENON_TRIANGULAR_SOLVE_ATTRS_DEFAULT);
  return for_each_matrix(request, [=](auto kernels, const tenon_launch& launch, int64_t i) {
    kernels.triangular_solve(launch, i, attrs.lower, attrs.transpose, attrs.unit_diagonal,
                             attrs.left);
  });
}

Prepared prepare_solve(const Request& request) {
  return for_each_matrix(request, [](auto kernels, const tenon_launch& launch, int64_t i) {
    kernels.solve(launch, i);
  });
}

Prepared prepare_det(const Request& request) {
  return for_each_matrix(
      request, [](auto kernels, const tenon_launch& launch, int64_t i) { kernels.det(launch, i); });
}

Prepared prepare_slogdet(const Request& request) {
  return for_each_matrix(request, [](auto kernels, const tenon_launch& launch, int64_t i) {
    kernels.slogdet(launch, i);
  });
}

Prepared prepare_qr(const Request& request) {
  return for_each_matrix(
      request, [](auto kernels, const tenon_launch& launch, int64_t i) { kernels.qr(launch, i); });
}

Prepared prepare_svd(const Request& request) {
  return for_each_matrix(
      request, [](auto kernels, const tenon_launch& launch, int64_t i) { kernels.svd(launch, i); });
}

Prepared prepare_eigh(const Request& request) {
  return for_each_matrix(request, [](auto kernels, const tenon_launch& launch, int64_t i) {
    kernels.eigh(launch, i);
  });
}

}  // namespace tenon_simd
