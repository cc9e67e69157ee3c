/* gather, gather_elements and scatter_elements. For an index out of range, they read zero or write
 * nothing, and report it. A negative index counts from the end. */

#include <math.h>

#include "plain.h"
#include "rows.h"

static int64_t index_at(const tenon_view* view, int64_t offset) {
  return view->dtype == TENON_INT64 ? ((const int64_t*)view->data)[offset]
                                    : ((const int32_t*)view->data)[offset];
}

/* Returns the index counted from the front. If it is out of range, returns -1 and writes the
 * launch's error record, unless that already contains an error. */
static int64_t checked(const tenon_launch* launch, int64_t index, int64_t bound) {
  const int64_t found = index < 0 ? index + bound : index;
  uint32_t untouched = 0;
  tenon_error_record* record = launch->record;
  if (found >= 0 && found < bound) return found;
  if (record && __atomic_compare_exchange_n(&record->state, &untouched, 1, false, __ATOMIC_ACQ_REL,
                                            __ATOMIC_RELAXED)) {
    record->site = launch->site;
    record->index = index;
    record->bound = bound;
  }
  return -1;
}

/* Copies for each index the block of elements along the axes after the indexed axis. x is dense or
 * uniform. */
static void run_gather(const tenon_kernel_p* self, const tenon_launch* launch) {
  const tenon_view *x = &launch->inputs[0], *indices = &launch->inputs[1];
  const tenon_view* y = &launch->outputs[0];
  const size_t axis = self->axis;
  const int64_t outer = plain_product(axis, x->sizes), bound = x->sizes[axis];
  const int64_t block = plain_product(x->rank - axis - 1, x->sizes + axis + 1);
  const int64_t picks = plain_count(indices), step = plain_strides(indices) ? 1 : 0;
  const bool uniform = !plain_strides(x);
  if (plain_count(y) == 0) return;
  PLAIN_FOR_SIZE(
      PLAIN_BYTES(x->dtype), const element* from = x->data; element* to = y->data;
      for (int64_t o = 0; o < outer; ++o) {
        for (int64_t p = 0; p < picks; ++p) {
          const int64_t i = checked(launch, index_at(indices, p * step), bound);
          if (i < 0) {
            memset(to, 0, (size_t)block * sizeof *to);
          } else if (uniform) {
            for (int64_t k = 0; k < block; ++k) to[k] = *from;
          } else {
            memcpy(to, from + (o * bound + i) * block, (size_t)block * sizeof *to);
          }
          to += block;
        }
      })
}

/* Stores the strides of a view in `to`, with 0 along the indexed axis. */
static void other_strides(const tenon_view* view, size_t axis, int64_t* to) {
  const int64_t* strides = plain_strides(view);
  for (size_t i = 0; i < view->rank; ++i) to[i] = strides && i != axis ? strides[i] : 0;
}

static void run_gather_elements(const tenon_kernel_p* self, const tenon_launch* launch) {
  const tenon_view *x = &launch->inputs[0], *indices = &launch->inputs[1];
  const int64_t bound = x->sizes[self->axis];
  const int64_t stride = plain_strides(x) ? x->strides[self->axis] : 0;
  const float* from = x->data;
  float* y = launch->outputs[0].data;
  int64_t others[TENON_MAX_RANK];
  const int64_t* strides[] = {plain_strides(indices), others};
  plain_rows rows;
  other_strides(x, self->axis, others);
  for (plain_rows_begin(&rows, indices->rank, indices->sizes, 2, strides); !rows.done;
       plain_rows_next(&rows)) {
    for (int64_t k = 0; k < rows.n; ++k) {
      const int64_t given = index_at(indices, rows.offset[0] + k * rows.step[0]);
      const int64_t i = checked(launch, given, bound);
      *y++ = i < 0 ? 0 : from[rows.offset[1] + k * rows.step[1] + i * stride];
    }
  }
}

/* Combines an element with an update by the reduction. A NaN is preserved. */
static float updated(int32_t reduction, float old, float update) {
  switch (reduction) {
    case TENON_SCATTER_REDUCTION_MUL:
      return old * update;
    case TENON_SCATTER_REDUCTION_MIN:
      return isnan(old) || old < update ? old : update;
    case TENON_SCATTER_REDUCTION_MAX:
      return isnan(old) || update < old ? old : update;
    default:
      return update;
  }
}

/* Returns the workspace size for sums. Updates are added in float64, so that the rounding error of
 * many additions to one element stays small. */
static uint64_t sums_workspace(const tenon_launch* launch) {
  return (uint64_t)plain_count(&launch->outputs[0]) * sizeof(double);
}

static void run_scatter_elements(const tenon_kernel_p* self, const tenon_launch* launch) {
  const tenon_view *x = &launch->inputs[0], *indices = &launch->inputs[1];
  const tenon_view *updates = &launch->inputs[2], *y = &launch->outputs[0];
  const int64_t n = plain_count(y), step = plain_strides(x) ? 1 : 0;
  const float *from = x->data, *update = updates->data;
  double* sums = self->workspace ? launch->workspace.data : NULL;
  float* to = y->data;
  int64_t others[TENON_MAX_RANK];
  const int64_t* strides[] = {plain_strides(indices), plain_strides(updates), others};
  plain_rows rows;
  for (int64_t i = 0; i < n; ++i) to[i] = from[i * step];
  for (int64_t i = 0; sums && i < n; ++i) sums[i] = to[i];
  other_strides(y, self->axis, others);
  for (plain_rows_begin(&rows, indices->rank, indices->sizes, 3, strides); !rows.done;
       plain_rows_next(&rows)) {
    for (int64_t k = 0; k < rows.n; ++k) {
      const int64_t given = index_at(indices, rows.offset[0] + k * rows.step[0]);
      const int64_t i = checked(launch, given, y->sizes[self->axis]);
      if (i < 0) continue;
      const int64_t at = rows.offset[2] + k * rows.step[2] + i * y->strides[self->axis];
      const float next = update[rows.offset[1] + k * rows.step[1]];
      if (sums) {
        sums[at] += next;
      } else {
        to[at] = updated(self->reduction, to[at], next);
      }
    }
  }
  for (int64_t i = 0; sums && i < n; ++i) to[i] = (float)sums[i];
}

PLAIN_PREPARE_ALONG_AXIS(plain_prepare_gather, tenon_gather_attrs, TENON_GATHER_ATTRS_DEFAULT,
                         run_gather, inputs[0])

PLAIN_PREPARE_ALONG_AXIS(plain_prepare_gather_elements, tenon_gather_elements_attrs,
                         TENON_GATHER_ELEMENTS_ATTRS_DEFAULT, run_gather_elements, inputs[0])

PLAIN_PREPARE(plain_prepare_scatter_elements) {
  tenon_scatter_elements_attrs attrs = TENON_SCATTER_ELEMENTS_ATTRS_DEFAULT;
  tenon_kernel_p made = {.run = run_scatter_elements};
  (void)out_reason;
  plain_read_attrs(request, &attrs, sizeof attrs);
  made.axis = plain_axis(attrs.axis, request->inputs[0].rank);
  made.reduction = attrs.reduction;
  if (attrs.reduction != TENON_SCATTER_REDUCTION_ADD) {
    return plain_make_kernel(device, &made, TENON_KERNEL_DETERMINISTIC, out_kernel, out_traits);
  }
  made.workspace = sums_workspace;
  return plain_make_kernel(device, &made, TENON_KERNEL_WORKSPACE | TENON_KERNEL_DETERMINISTIC,
                           out_kernel, out_traits);
}
