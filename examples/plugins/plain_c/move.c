/* copy, fill, concat and iota. All but iota only move elements. */

#include "plain.h"
#include "rows.h"

/* Copies x to y; the sizes are those of x. */
static void copy_elements(const tenon_view* x, const tenon_view* y, int64_t y_offset) {
  const int64_t* strides[] = {plain_strides(x), y->strides};
  plain_rows rows;
  PLAIN_FOR_SIZE(
      PLAIN_BYTES(x->dtype), const element* from = x->data;
      element* to = (element*)y->data + y_offset;
      for (plain_rows_begin(&rows, x->rank, x->sizes, 2, strides); !rows.done;
           plain_rows_next(&rows)) {
        const element* a = from + rows.offset[0];
        element* b = to + rows.offset[1];
        if (rows.step[0] == 1 && rows.step[1] == 1) {
          memcpy(b, a, (size_t)rows.n * sizeof *a);
          continue;
        }
        for (int64_t i = 0; i < rows.n; ++i) b[i * rows.step[1]] = a[i * rows.step[0]];
      })
}

static void run_copy(const tenon_kernel_p* self, const tenon_launch* launch) {
  (void)self;
  copy_elements(&launch->inputs[0], &launch->outputs[0], 0);
}

/* Prepares `copy`. It accepts inputs of any strides, because the host uses it to make tensors
 * dense. */
PLAIN_PREPARE(plain_prepare_copy) {
  const tenon_kernel_p made = {.run = run_copy};
  (void)request;
  (void)out_reason;
  return plain_make_kernel(device, &made, TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC,
                           out_kernel, out_traits);
}

/* Fills the output with a value. The value is a tensor with one element or is passed by value;
 * `data` points to it in both cases. */
static void run_fill(const tenon_kernel_p* self, const tenon_launch* launch) {
  const tenon_view* y = &launch->outputs[0];
  const int64_t n = plain_count(y);
  (void)self;
  PLAIN_FOR_SIZE(PLAIN_BYTES(y->dtype),
                 const element value = *(const element*)launch->inputs[0].data;
                 element* to = y->data; for (int64_t i = 0; i < n; ++i) to[i] = value;)
}

PLAIN_PREPARE(plain_prepare_fill) {
  const tenon_kernel_p made = {.run = run_fill};
  (void)request;
  (void)out_reason;
  return plain_make_kernel(device, &made, TENON_KERNEL_DETERMINISTIC, out_kernel, out_traits);
}

static void run_concat(const tenon_kernel_p* self, const tenon_launch* launch) {
  const tenon_view* y = &launch->outputs[0];
  int64_t offset = 0;
  for (uint32_t i = 0; i < launch->n_inputs; ++i) {
    const tenon_view* x = &launch->inputs[i];
    if (plain_count(x) == 0) continue;
    copy_elements(x, y, offset);
    offset += x->sizes[self->axis] * y->strides[self->axis];
  }
}

PLAIN_PREPARE_ALONG_AXIS(plain_prepare_concat, tenon_concat_attrs, TENON_CONCAT_ATTRS_DEFAULT,
                         run_concat, outputs[0])

/* Sets each element to its index along the axis. Integers that do not fit the dtype wrap. */
static void run_iota(const tenon_kernel_p* self, const tenon_launch* launch) {
  const tenon_view* y = &launch->outputs[0];
  const int64_t n = plain_count(y), size = y->sizes[self->axis];
  const int64_t stride = plain_product(y->rank - self->axis - 1, y->sizes + self->axis + 1);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t index = i / stride % size;
    switch (y->dtype) {
      case TENON_FLOAT32:
        ((float*)y->data)[i] = (float)index;
        break;
      case TENON_INT32:
        ((int32_t*)y->data)[i] = (int32_t)index;
        break;
      default:
        ((int64_t*)y->data)[i] = index;
        break;
    }
  }
}

PLAIN_PREPARE_ALONG_AXIS(plain_prepare_iota, tenon_iota_attrs, TENON_IOTA_ATTRS_DEFAULT, run_iota,
                         outputs[0])
