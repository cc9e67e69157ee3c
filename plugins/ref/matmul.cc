// matmul: multiplies [..., m, k] by [..., k, n]. The batch axes of both operands are broadcast to
// those of the output.

#include "plugins/ref/kernels.h"
#include "plugins/ref/scalar.h"
#include "plugins/sdk/view.h"

namespace tenon_ref {
namespace {

// The last two axes of an operand, swapped if transpose_a or transpose_b is set for it.
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
    return tenon_sdk::refuse("matmul: operands and result must have the same rank, at least 2");
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
      T* y = tenon_sdk::data<T>(out);  // The output is dense, so it is written sequentially.
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

// The zero points of a have shape [..., m, 1], one per row. Those of b have shape [..., 1, n], one
// per column. Both have the batch axes of the output.
Prepared prepare_int8_matmul(const Request&) {
  return tenon_sdk::kernel(kTraits, [](const tenon_launch& launch) {
    const tenon_view& out = launch.outputs[0];
    const Matrix matrix_a(launch.inputs[0], false), matrix_b(launch.inputs[1], false);
    const size_t batch = out.rank - size_t{2};
    const auto element = [&](size_t i, int64_t offset) -> int64_t {
      if (i >= launch.n_inputs || !tenon_sdk::is_present(launch.inputs[i])) return 0;
      const tenon_view& view = launch.inputs[i];
      return view.dtype == TENON_INT8 ? tenon_sdk::data<const int8_t>(view)[offset]
                                      : tenon_sdk::data<const uint8_t>(view)[offset];
    };
    const auto strides = [&](size_t i) -> const int64_t* {
      if (i >= launch.n_inputs || !tenon_sdk::is_present(launch.inputs[i])) return nullptr;
      return tenon_sdk::strides_of(launch.inputs[i]);
    };
    const int64_t row_stride = strides(2) ? strides(2)[batch] : 0;
    const int64_t column_stride = strides(3) ? strides(3)[batch + 1] : 0;
    int32_t* y = tenon_sdk::data<int32_t>(out);
    const tenon_sdk::Walk<4> matrices(batch, out.sizes,
                                      {strides(0), strides(1), strides(2), strides(3)});
    if (tenon_sdk::count(out) == 0) return;
    matrices.elements([&](const auto& at) {
      for (int64_t row = 0; row < out.sizes[batch]; ++row) {
        const int64_t zero_a = element(2, at[2] + row * row_stride);
        for (int64_t column = 0; column < out.sizes[batch + 1]; ++column) {
          const int64_t zero_b = element(3, at[3] + column * column_stride);
          int64_t sum = 0;
          for (int64_t k = 0; k < matrix_a.columns; ++k) {
            const int64_t left = at[0] + row * matrix_a.row_stride + k * matrix_a.column_stride;
            const int64_t right = at[1] + k * matrix_b.row_stride + column * matrix_b.column_stride;
            sum += (element(0, left) - zero_a) * (element(1, right) - zero_b);
          }
          *y++ = static_cast<int32_t>(sum);
        }
      }
    });
  });
}

}  // namespace tenon_ref
