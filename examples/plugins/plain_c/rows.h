/* Iterates over the elements of operands with any strides. */

#ifndef PLAIN_ROWS_H_
#define PLAIN_ROWS_H_

#include <tenon/plugin.h>

enum { kMaxOperands = 3 };

/* Iterates over up to kMaxOperands operands of one shape, row by row in row-major order.
 * Adjacent axes are merged if all operands cross them without a gap, so dense operands are a
 * single row. */
typedef struct plain_rows {
  bool done;
  int64_t n;                    /* Number of elements per row. */
  int64_t offset[kMaxOperands]; /* Offset of the first element of the current row. */
  int64_t step[kMaxOperands];   /* Distance between neighbours in a row, in elements. */
  size_t operands;
  size_t rank;
  int64_t at[TENON_MAX_RANK];
  int64_t sizes[TENON_MAX_RANK];
  int64_t steps[TENON_MAX_RANK][kMaxOperands];
} plain_rows;

/* Begins an iteration. `strides` has one pointer for each operand; NULL: all its strides are 0.
 *
 *   plain_rows rows;
 *   for (plain_rows_begin(&rows, ...); !rows.done; plain_rows_next(&rows)) ...
 */
void plain_rows_begin(plain_rows* rows, size_t rank, const int64_t* sizes, size_t operands,
                      const int64_t* const* strides);
void plain_rows_next(plain_rows* rows);

/* Returns the product of n sizes. */
static inline int64_t plain_product(size_t n, const int64_t* sizes) {
  int64_t product = 1;
  for (size_t i = 0; i < n; ++i) product *= sizes[i];
  return product;
}
/* Returns the number of elements of a view. */
static inline int64_t plain_count(const tenon_view* view) {
  return plain_product(view->rank, view->sizes);
}

/* Returns the strides of a view; NULL if it is uniform. */
static inline const int64_t* plain_strides(const tenon_view* view) {
  return view->strides_class == TENON_STRIDES_UNIFORM ? NULL : view->strides;
}

/* Whether an optional operand is present. */
static inline bool plain_is_present(const tenon_view* view) {
  return view->dtype != TENON_DTYPE_NONE;
}

/* Runs the statements with `element` as an unsigned integer type of `size` bytes. These four types
 * can move values of every dtype. */
#define PLAIN_FOR_SIZE(size, ...) \
  switch (size) {                 \
    case 1: {                     \
      typedef uint8_t element;    \
      __VA_ARGS__                 \
    } break;                      \
    case 2: {                     \
      typedef uint16_t element;   \
      __VA_ARGS__                 \
    } break;                      \
    case 4: {                     \
      typedef uint32_t element;   \
      __VA_ARGS__                 \
    } break;                      \
    default: {                    \
      typedef uint64_t element;   \
      __VA_ARGS__                 \
    } break;                      \
  }
#define PLAIN_BYTES(dtype) (TENON_DTYPE_BITS(dtype) / 8)

#endif /* PLAIN_ROWS_H_ */
