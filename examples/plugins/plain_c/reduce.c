/* sum and max of float32, over any set of axes. */

#include <math.h>

#include "plain.h"
#include "rows.h"

/* The axes of x, divided into kept axes and reduced axes. */
typedef struct axes {
  size_t rank;
  int64_t sizes[TENON_MAX_RANK];
  int64_t strides[TENON_MAX_RANK];
} axes;

static void divide(const tenon_view* x, uint32_t mask, axes* kept, axes* gone) {
  const int64_t* strides = plain_strides(x);
  kept->rank = gone->rank = 0;
  for (size_t axis = 0; axis < x->rank; ++axis) {
    axes* part = mask >> axis & 1 ? gone : kept;
    part->sizes[part->rank] = x->sizes[axis];
    part->strides[part->rank++] = strides ? strides[axis] : 0;
  }
}

static void begin(plain_rows* rows, const axes* part) {
  const int64_t* strides[] = {part->strides};
  plain_rows_begin(rows, part->rank, part->sizes, 1, strides);
}

/* Returns a sum, accumulated in double to keep the rounding error small. */
static float sum_of(const float* x, const axes* part) {
  double sum = 0;
  plain_rows rows;
  for (begin(&rows, part); !rows.done; plain_rows_next(&rows)) {
    const float* row = x + rows.offset[0];
    for (int64_t i = 0; i < rows.n; ++i) sum += row[i * rows.step[0]];
  }
  return (float)sum;
}

/* Returns the maximum; propagates NaN. */
static float max_of(const float* x, const axes* part) {
  float max = -INFINITY;
  plain_rows rows;
  for (begin(&rows, part); !rows.done; plain_rows_next(&rows)) {
    const float* row = x + rows.offset[0];
    for (int64_t i = 0; i < rows.n; ++i) {
      const float element = row[i * rows.step[0]];
      if (!isnan(max) && !(element <= max)) max = element;
    }
  }
  return max;
}

static void reduce(const tenon_kernel_p* self, const tenon_launch* launch,
                   float (*join)(const float*, const axes*)) {
  const tenon_view* x = &launch->inputs[0];
  float* y = launch->outputs[0].data; /* The output is dense, in the order of the kept axes. */
  axes kept, gone;
  plain_rows rows;
  divide(x, self->axes, &kept, &gone);
  for (begin(&rows, &kept); !rows.done; plain_rows_next(&rows)) {
    for (int64_t i = 0; i < rows.n; ++i) {
      *y++ = join((const float*)x->data + rows.offset[0] + i * rows.step[0], &gone);
    }
  }
}

static void run_sum(const tenon_kernel_p* self, const tenon_launch* launch) {
  reduce(self, launch, sum_of);
}
static void run_max(const tenon_kernel_p* self, const tenon_launch* launch) {
  reduce(self, launch, max_of);
}

/* Returns a bit mask of the axes in a list. An empty list means all axes. */
static uint32_t mask_of(const int64_t* list, size_t n, size_t rank) {
  uint32_t mask = 0;
  if (n == 0) return (1u << rank) - 1;
  for (size_t i = 0; i < n; ++i) mask |= 1u << plain_axis(list[i], rank);
  return mask;
}

PLAIN_PREPARE(plain_prepare_sum) {
  tenon_sum_attrs attrs = TENON_SUM_ATTRS_DEFAULT;
  tenon_kernel_p made = {.run = run_sum};
  (void)out_reason;
  plain_read_attrs(request, &attrs, sizeof attrs);
  made.axes = mask_of(attrs.axes, attrs.n_axes, request->inputs[0].rank);
  return plain_make_kernel(device, &made, TENON_KERNEL_DETERMINISTIC, out_kernel, out_traits);
}

PLAIN_PREPARE(plain_prepare_max) {
  tenon_max_attrs attrs = TENON_MAX_ATTRS_DEFAULT;
  tenon_kernel_p made = {.run = run_max};
  (void)out_reason;
  plain_read_attrs(request, &attrs, sizeof attrs);
  made.axes = mask_of(attrs.axes, attrs.n_axes, request->inputs[0].rank);
  return plain_make_kernel(device, &made, TENON_KERNEL_DETERMINISTIC, out_kernel, out_traits);
}
