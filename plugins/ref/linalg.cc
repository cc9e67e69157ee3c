// Linear algebra ops, one matrix at a time. The loops are in plugins/sdk/factorize.h and compute in
// the next wider type.

#include "plugins/ref/kernels.h"
#include "plugins/ref/scalar.h"
#include "plugins/sdk/matrix_kernels.h"

namespace tenon_ref {
namespace {

// Prepares a kernel that calls body(kernels, launch, i) for each matrix i of the first operand.
template <class Body>
Prepared for_each_matrix(const Request& request, const Body& body) {
  return tenon_sdk::dispatch<tenon_sdk::WideFloats>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(kTraits, [body](const tenon_launch& launch) {
      const tenon_sdk::MatrixKernels<T, tenon_sdk::Loops<Wide<T>>> kernels;
      const int64_t n = tenon_sdk::count_matrices(launch.inputs[0]);
      for (int64_t i = 0; i < n; ++i) body(kernels, launch, i);
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

}  // namespace tenon_ref
