// matmul: [..., m, k] times [..., k, n]. The batch axes of both come broadcast to those of the
// output.

#include "plugins/ref/kernels.h"
#include "plugins/ref/scalar.h"
#include "plugins/sdk/view.h"

namespace tenon_ref {
namespace {

// The last two axes of an operand, swapped if its attribute says so.
struct Matrix {
  int64_t columns;
  int64_t row_stride;
  int64_t column_stride;

  Matrix(const tenon_view& view, bool transposed) {
    const size_t row = view.rank - (transposed ? 1 : 2), column = view.rank - (transposed ? 2 : 1);
    columns = view.sizes[column];
    row_stride = view.strides[row];
    column_stride = view.strides[column];
  }
};

}  // namespace

Prepared prepare_matmul(const Request& request) {
  const auto attrs = request.attrs<tenon_matmul_attrs>();
  const uint16_t rank = request.output(0).rank;
  if (rank < 2 || request.input(0).rank != rank || request.input(1).rank != rank) {
    return tenon_sdk::refuse("matmul: operands and result must have one rank, two or more");
  }
  const bool transpose_a = attrs.transpose_a, transpose_b = attrs.transpose_b;
  return tenon_sdk::dispatch<tenon_sdk::Numbers>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(kTraits, [transpose_a, transpose_b](const tenon_launch& launch) {
      const tenon_view& out = launch.outputs[0];
      const Matrix matrix_a(launch.inputs[0], transpose_a);
      const Matrix matrix_b(launch.inputs[1], transpose_b);
      const T* a = tenon_sdk::data<const T>(launch.inputs[0]);
      const T* b = tenon_sdk::data<const T>(launch.inputs[1]);
      const size_t batch = out.rank - size_t{2};
      const int64_t rows = out.sizes[batch], columns = out.sizes[batch + 1];
      if (tenon_sdk::count(out) == 0) return;
      T* y = tenon_sdk::data<T>(out);  // Dense, and written in order.
      const tenon_sdk::Walk<2> matrices(batch, out.sizes,
                                        {launch.inputs[0].strides, launch.inputs[1].strides});
      matrices.elements([&](const auto& at) {
        for (int64_t row = 0; row < rows; ++row) {
          for (int64_t column = 0; column < columns; ++column) {
            const int64_t left = at[0] + row * matrix_a.row_stride;
            const int64_t right = at[1] + column * matrix_b.column_stride;
            Wide<T> sum = 0;
            for (int64_t k = 0; k < matrix_a.columns; ++k) {
              sum += widen<Wide<T>>(a[left + k * matrix_a.column_stride]) *
                     widen<Wide<T>>(b[right + k * matrix_b.row_stride]);
            }
            *y++ = narrow<T>(sum);
          }
        }
      });
    });
  });
}

}  // namespace tenon_ref
