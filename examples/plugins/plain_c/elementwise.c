/* Functions of one to three elements. The host passes operands that are dense or uniform (one
 * element is broadcast); the sizes are those of the output. */

#include <math.h>

#include "plain.h"
#include "rows.h"

static int64_t step_of(const tenon_view* view) {
  return view->strides_class == TENON_STRIDES_UNIFORM ? 0 : 1;
}

#define UNARY(name, type, expression)                                        \
  static void name(const tenon_kernel_p* self, const tenon_launch* launch) { \
    const type* px = launch->inputs[0].data;                                 \
    type* y = launch->outputs[0].data;                                       \
    const int64_t n = plain_count(&launch->outputs[0]);                      \
    const int64_t step = step_of(&launch->inputs[0]);                        \
    (void)self;                                                              \
    for (int64_t i = 0; i < n; ++i) {                                        \
      const type x = px[i * step];                                           \
      y[i] = expression;                                                     \
    }                                                                        \
  }

/* Defines a binary kernel. Dense operands have a separate loop, which compilers vectorise. */
#define BINARY(name, type, result, expression)                               \
  static void name(const tenon_kernel_p* self, const tenon_launch* launch) { \
    const type *pa = launch->inputs[0].data, *pb = launch->inputs[1].data;   \
    result* y = launch->outputs[0].data;                                     \
    const int64_t n = plain_count(&launch->outputs[0]);                      \
    const int64_t step_a = step_of(&launch->inputs[0]);                      \
    const int64_t step_b = step_of(&launch->inputs[1]);                      \
    (void)self;                                                              \
    if (step_a && step_b) {                                                  \
      for (int64_t i = 0; i < n; ++i) {                                      \
        const type a = pa[i], b = pb[i];                                     \
        y[i] = expression;                                                   \
      }                                                                      \
      return;                                                                \
    }                                                                        \
    for (int64_t i = 0; i < n; ++i) {                                        \
      const type a = pa[i * step_a], b = pb[i * step_b];                     \
      y[i] = expression;                                                     \
    }                                                                        \
  }

#define WHERE(name, type)                                                                       \
  static void name(const tenon_kernel_p* self, const tenon_launch* launch) {                    \
    const tenon_view* in = launch->inputs;                                                      \
    const uint8_t* condition = in[0].data;                                                      \
    const type *a = in[1].data, *b = in[2].data;                                                \
    type* y = launch->outputs[0].data;                                                          \
    const int64_t n = plain_count(&launch->outputs[0]);                                         \
    const int64_t step = step_of(&in[0]), step_a = step_of(&in[1]), step_b = step_of(&in[2]);   \
    (void)self;                                                                                 \
    for (int64_t i = 0; i < n; ++i) y[i] = condition[i * step] ? a[i * step_a] : b[i * step_b]; \
  }

UNARY(run_neg, float, -x)
UNARY(run_exp, float, expf(x))
UNARY(run_expm1, float, expm1f(x))
UNARY(run_log, float, logf(x))
UNARY(run_sqrt, float, sqrtf(x))
UNARY(run_sin, float, sinf(x))
UNARY(run_cos, float, cosf(x))

BINARY(run_add, float, float, a + b)
BINARY(run_sub, float, float, a - b)
BINARY(run_mul, float, float, a* b)
BINARY(run_div, float, float, a / b)
/* Propagates a NaN of either operand. */
BINARY(run_maximum, float, float, isnan(a) || b < a ? a : b)
BINARY(run_equal, float, uint8_t, a == b)
BINARY(run_less, float, uint8_t, a < b)
BINARY(run_greater, float, uint8_t, a > b)

/* Adds as unsigned integers, which wrap; overflow of signed integers is undefined in C. */
BINARY(run_add_i64, uint64_t, uint64_t, a + b)
BINARY(run_equal_i64, int64_t, uint8_t, a == b)
BINARY(run_less_i64, int64_t, uint8_t, a < b)
/* A shift distance of 32 or more gives 0. */
BINARY(run_shift_right_u32, uint32_t, uint32_t, b < 32 ? a >> b : 0)

WHERE(run_where, float)
WHERE(run_where_i64, int64_t)

static const struct {
  uint32_t op;
  tenon_dtype dtype; /* The dtype of the last input, by which `run` is selected. */
  void (*run)(const tenon_kernel_p*, const tenon_launch*);
} functions[] = {
    {TENON_OP_neg, TENON_FLOAT32, run_neg},
    {TENON_OP_exp, TENON_FLOAT32, run_exp},
    {TENON_OP_expm1, TENON_FLOAT32, run_expm1},
    {TENON_OP_log, TENON_FLOAT32, run_log},
    {TENON_OP_sqrt, TENON_FLOAT32, run_sqrt},
    {TENON_OP_sin, TENON_FLOAT32, run_sin},
    {TENON_OP_cos, TENON_FLOAT32, run_cos},
    {TENON_OP_add, TENON_FLOAT32, run_add},
    {TENON_OP_add, TENON_INT64, run_add_i64},
    {TENON_OP_sub, TENON_FLOAT32, run_sub},
    {TENON_OP_mul, TENON_FLOAT32, run_mul},
    {TENON_OP_div, TENON_FLOAT32, run_div},
    {TENON_OP_maximum, TENON_FLOAT32, run_maximum},
    {TENON_OP_equal, TENON_FLOAT32, run_equal},
    {TENON_OP_equal, TENON_INT64, run_equal_i64},
    {TENON_OP_less, TENON_FLOAT32, run_less},
    {TENON_OP_less, TENON_INT64, run_less_i64},
    {TENON_OP_greater, TENON_FLOAT32, run_greater},
    {TENON_OP_shift_right, TENON_UINT32, run_shift_right_u32},
    {TENON_OP_where, TENON_FLOAT32, run_where},
    {TENON_OP_where, TENON_INT64, run_where_i64},
};

/* Prepares an elementwise kernel. Its output may alias an input, because element i is read before
 * it is written, and not again. */
PLAIN_PREPARE(plain_prepare_elementwise) {
  const tenon_dtype dtype = request->inputs[request->n_inputs - 1].dtype;
  tenon_kernel_p made = {.run = NULL};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
    const bool found = functions[i].op == request->line->op && functions[i].dtype == dtype;
    if (found) made.run = functions[i].run;
  }
  if (!made.run) {
    *out_reason = tenon_str("does not support this dtype");
    return NULL;
  }
  return plain_make_kernel(device, &made, TENON_KERNEL_MAY_ALIAS | TENON_KERNEL_DETERMINISTIC,
                           out_kernel, out_traits);
}
