#include "rows.h"

static void push_axis(plain_rows* rows, int64_t size, const int64_t* step) {
  if (rows->rank > 0) {
    bool merges = true;
    int64_t* before = rows->steps[rows->rank - 1];
    for (size_t k = 0; k < rows->operands; ++k) merges = merges && before[k] == step[k] * size;
    if (merges) {
      rows->sizes[rows->rank - 1] *= size;
      memcpy(before, step, sizeof rows->steps[0]);
      return;
    }
  }
  rows->sizes[rows->rank] = size;
  memcpy(rows->steps[rows->rank++], step, sizeof rows->steps[0]);
}

void plain_rows_begin(plain_rows* rows, size_t rank, const int64_t* sizes, size_t operands,
                      const int64_t* const* strides) {
  memset(rows, 0, sizeof *rows);
  rows->operands = operands;
  for (size_t axis = 0; axis < rank; ++axis) {
    int64_t step[kMaxOperands] = {0};
    if (sizes[axis] == 0) rows->done = true;
    if (sizes[axis] == 1) continue;
    for (size_t k = 0; k < operands; ++k) step[k] = strides[k] ? strides[k][axis] : 0;
    push_axis(rows, sizes[axis], step);
  }
  rows->n = 1;
  if (rows->rank == 0) return; /* The operands have a single element. */
  /* The last of the merged axes is the row; plain_rows_next() iterates over the other axes. */
  --rows->rank;
  rows->n = rows->sizes[rows->rank];
  memcpy(rows->step, rows->steps[rows->rank], sizeof rows->step);
}

void plain_rows_next(plain_rows* rows) {
  for (size_t axis = rows->rank; axis-- > 0;) {
    const int64_t* step = rows->steps[axis];
    for (size_t k = 0; k < rows->operands; ++k) rows->offset[k] += step[k];
    if (++rows->at[axis] < rows->sizes[axis]) return;
    for (size_t k = 0; k < rows->operands; ++k) rows->offset[k] -= step[k] * rows->sizes[axis];
    rows->at[axis] = 0;
  }
  rows->done = true;
}
