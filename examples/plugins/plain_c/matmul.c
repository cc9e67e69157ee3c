/* matmul of float32: [..., m, k] times [..., k, n], with the batch axes of the output. */

#include "plain.h"
#include "rows.h"

/* Whether a matrix must be copied to the workspace first, because it is transposed or uniform. One
 * loop then serves all layouts, and the order of summation is always the same. */
static bool needs_packing(const tenon_view* view, bool transposed) {
  return transposed || !plain_strides(view);
}

static int64_t matrix_size(const tenon_view* view) {
  return view->sizes[view->rank - 1] * view->sizes[view->rank - 2];
}

enum { kTransposeA = 1, kTransposeB = 2 }; /* Flags in the field `axes` of the kernel. */

static uint64_t workspace(const tenon_launch* launch) {
  /* Room to copy both matrices. A launch that copies only one does not use the rest. */
  const int64_t n = matrix_size(&launch->inputs[0]) + matrix_size(&launch->inputs[1]);
  return (uint64_t)n * sizeof(float);
}

/* Returns matrix `i` of the view in row-major order: in place, or copied to `to`. */
static const float* matrix(const tenon_view* view, bool transposed, int64_t i, float* to) {
  const int64_t rows = view->sizes[view->rank - 2], columns = view->sizes[view->rank - 1];
  const float* from = view->data;
  if (!plain_strides(view)) {
    for (int64_t k = 0; k < rows * columns; ++k) to[k] = *from;
    return to;
  }
  from += i * rows * columns;
  if (!transposed) return from;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) to[c * rows + r] = from[r * columns + c];
  }
  return to;
}

/* Sums at most kDepth products in a row before they are added to y, so that the rounding error of a
 * long sum stays small. The inner loop runs along rows of b, which compilers vectorise, and takes
 * four rows of b at a time. */
void plain_multiply_add(const float* a, const float* b, float* y, int64_t m, int64_t k, int64_t n) {
  enum { kDepth = 1024, kColumns = 128 };
  for (int64_t row = 0; row < m; ++row, a += k, y += n) {
    for (int64_t first = 0; first < k; first += kDepth) {
      const int64_t end = first + kDepth < k ? first + kDepth : k;
      for (int64_t column = 0; column < n; column += kColumns) {
        const int64_t width = column + kColumns < n ? kColumns : n - column;
        float sums[kColumns] = {0};
        int64_t i = first;
        for (; i + 4 <= end; i += 4) {
          const float a0 = a[i], a1 = a[i + 1], a2 = a[i + 2], a3 = a[i + 3];
          const float *b0 = b + i * n + column, *b1 = b0 + n, *b2 = b1 + n, *b3 = b2 + n;
          for (int64_t j = 0; j < width; ++j) {
            sums[j] += a0 * b0[j] + a1 * b1[j] + (a2 * b2[j] + a3 * b3[j]);
          }
        }
        for (; i < end; ++i) {
          for (int64_t j = 0; j < width; ++j) sums[j] += a[i] * b[i * n + column + j];
        }
        for (int64_t j = 0; j < width; ++j) y[column + j] += sums[j];
      }
    }
  }
}

static void run(const tenon_kernel_p* self, const tenon_launch* launch) {
  const tenon_view *a = &launch->inputs[0], *b = &launch->inputs[1], *y = &launch->outputs[0];
  const bool transpose_a = self->axes & kTransposeA, transpose_b = self->axes & kTransposeB;
  const size_t batch = y->rank - (size_t)2;
  const int64_t m = y->sizes[batch], n = y->sizes[batch + 1];
  const int64_t k = a->sizes[transpose_a ? batch : batch + 1];
  const int64_t count = plain_product(batch, y->sizes);
  float* room_a = launch->workspace.data;
  float* room_b = room_a + (needs_packing(a, transpose_a) ? m * k : 0);
  if (plain_count(y) == 0) return;
  memset(y->data, 0, (size_t)plain_count(y) * sizeof(float));
  for (int64_t i = 0; i < count; ++i) {
    plain_multiply_add(matrix(a, transpose_a, i, room_a), matrix(b, transpose_b, i, room_b),
                       (float*)y->data + i * m * n, m, k, n);
  }
}

PLAIN_PREPARE(plain_prepare_matmul) {
  tenon_matmul_attrs attrs = TENON_MATMUL_ATTRS_DEFAULT;
  tenon_kernel_p made = {.run = run, .workspace = workspace};
  (void)out_reason;
  plain_read_attrs(request, &attrs, sizeof attrs);
  made.axes = (attrs.transpose_a ? kTransposeA : 0) | (attrs.transpose_b ? kTransposeB : 0);
  return plain_make_kernel(device, &made, TENON_KERNEL_WORKSPACE | TENON_KERNEL_DETERMINISTIC,
                           out_kernel, out_traits);
}
