/* tenon/control.h - branches and loops that depend on tensor values.
 *
 * Called eagerly, each function runs the blocks that it selects, like an `if` or a `while` of the
 * host language. Inside a function's callback, where tensors have no values, each block is traced
 * once and becomes a region of the trace. The region runs as often as the values require. Thus the
 * same code works in both modes. Gradients of any order are supported, at any nesting depth.
 *
 * Blocks may capture tensors, variables and generators; they may assign the variables and draw from
 * the generators. Inside a function they must not create variables or generators that outlive the
 * block.
 *
 * Inline scalars that enter a loop or leave a branch become tensors of dtype float32, int64 or
 * bool.
 *
 * Threads: any thread, but only one thread at a time may use a scope.
 *
 * Errors: in addition to the errors that each function lists, any call can return those in
 * tenon/error.h. A call that takes a scope returns TENON_FAILED_PRECONDITION if another thread is
 * using that scope.
 */

#ifndef TENON_CONTROL_H_
#define TENON_CONTROL_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

/* The body of a branch or of a loop. Runs on the calling thread during the call, in the scope that
 * it receives. It stores its outputs in the first entries of `out_outputs`, which are initially
 * NULL, and the caller owns them; or it returns an error. */
typedef struct tenon_block {
  tenon_error* (*function)(void* payload, tenon_scope* scope TENON_THREADS(one_at_a_time),
                           tenon_tensor* const* inputs TENON_BORROWED TENON_COUNT(n_inputs),
                           size_t n_inputs,
                           tenon_tensor** out_outputs TENON_OWNED TENON_COUNT(max_outputs),
                           size_t max_outputs);
  void* payload TENON_BORROWED; /* First argument of `function`; must outlive the call. */
} tenon_block;

/* How the gradient of a loop inside a function obtains the residuals of each iteration. Eager loops
 * ignore this policy: tapes record them call by call. */
enum {
  TENON_LOOP_STACK = 0, /* Each iteration saves its residuals. */
  /* Each iteration saves only its inputs, and the backward pass runs it again. Saves memory if the
   * body's intermediate values are much larger than its inputs, for about 50 % more time. */
  TENON_LOOP_RECOMPUTE = 1,
  TENON_LOOP_BOUNDED = 2 /* Like TENON_LOOP_STACK, but memory for all iterations is preallocated. */
};

/* Options of a while loop. Start from TENON_WHILE_OPTIONS_DEFAULT. */
typedef struct tenon_while_options {
  uint32_t struct_size;
  int32_t policy;    /* A TENON_LOOP_* constant. */
  int64_t max_trips; /* Maximum number of iterations; exceeding it is an error. 0: no limit.
                        TENON_LOOP_BOUNDED requires a limit. */
} tenon_while_options;

#define TENON_WHILE_OPTIONS_DEFAULT \
  { sizeof(tenon_while_options), TENON_LOOP_STACK, 0 }

/* Options of a scan. Start from TENON_SCAN_OPTIONS_DEFAULT. */
typedef struct tenon_scan_options {
  uint32_t struct_size;
  bool reverse;   /* Whether to iterate from the last element to the first. */
  int32_t policy; /* A TENON_LOOP_* constant. TENON_LOOP_BOUNDED preallocates the memory for the
                     residuals and the stacked outputs of all elements of `xs`. */
} tenon_scan_options;

#define TENON_SCAN_OPTIONS_DEFAULT \
  { sizeof(tenon_scan_options), false, TENON_LOOP_STACK }

/**
 * Runs one of two blocks.
 *
 * If the predicate is an inline scalar, the block is selected immediately, even while tracing.
 *
 * @param scope        The scope in which the call runs.
 * @param predicate    A bool of rank 0.
 * @param then_block   Runs if it is true. Takes no inputs.
 * @param else_block   Runs if it is false. Inside a function both blocks must return the same
 *                     number of outputs with the same types.
 * @param out_outputs  Receives the outputs; all NULL if the call fails.
 * @param n_outputs    Capacity of `out_outputs`.
 * @param out_count    Receives the number of outputs; NULL if it must equal `n_outputs`.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type or belongs to another context, the
 *     predicate is not a bool of rank 0, a block has no function, a block returns more outputs than
 *     fit (or, without `out_count`, not exactly `n_outputs`), or the outputs of the two blocks have
 *     different types.
 *   - Any error that a block returns.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_cond(
    tenon_scope* scope TENON_THREADS(one_at_a_time), const tenon_tensor* predicate,
    tenon_block then_block, tenon_block else_block,
    tenon_tensor** out_outputs TENON_OWNED TENON_NULLABLE TENON_COUNT(n_outputs), size_t n_outputs,
    size_t* out_count TENON_NULLABLE);

/**
 * Runs one of several blocks.
 *
 * @param scope        The scope in which the call runs.
 * @param index        An int64 of rank 0 that selects the block. An index out of range selects the
 *                     last block.
 * @param blocks       `n_blocks` blocks, which take no inputs and return outputs of the same types.
 * @param n_blocks     Number of blocks; at least 1.
 * @param out_outputs  Receives the outputs; all NULL if the call fails.
 * @param n_outputs    Capacity of `out_outputs`.
 * @param out_count    Receives the number of outputs; NULL if it must equal `n_outputs`.
 *
 * @return NULL, or an error for the caller to free: as tenon_cond().
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_case(
    tenon_scope* scope TENON_THREADS(one_at_a_time), const tenon_tensor* index,
    const tenon_block* blocks TENON_BORROWED TENON_COUNT(n_blocks), size_t n_blocks,
    tenon_tensor** out_outputs TENON_OWNED TENON_NULLABLE TENON_COUNT(n_outputs), size_t n_outputs,
    size_t* out_count TENON_NULLABLE);

/**
 * Runs a block while a condition holds.
 *
 * Inside a function the condition is traced twice: on the initial values and on the outputs of the
 * body.
 *
 * @param scope        The scope in which the call runs.
 * @param condition    Takes the carried values; returns one output, a bool of rank 0.
 * @param body         Takes the carried values; returns their next values, with the same dtypes and
 *                     shapes.
 * @param initial      `n_values` tensors: the initial carried values.
 * @param n_values     Number of values.
 * @param options      Options; NULL for the defaults: any number of iterations, each of which saves
 *                     its residuals.
 * @param out_values   Receives `n_values` tensors: the carried values when the condition becomes
 *                     false; all NULL if the call fails.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type or belongs to another context, a block
 *     has no function, the condition does not return exactly one bool of rank 0, the outputs of the
 *     body differ from the carried values in number or type, the policy is unknown or is BOUNDED
 *     without `max_trips`, or the loop exceeds `max_trips`.
 *   - TENON_CANCELLED if the scope or its context was cancelled.
 *   - Any error that a block returns.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_while_loop(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_block condition, tenon_block body,
    tenon_tensor* const* initial TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_values),
    size_t n_values, const tenon_while_options* options TENON_NULLABLE,
    tenon_tensor** out_values TENON_OWNED TENON_NULLABLE TENON_COUNT(n_values));

/**
 * Runs a block for each slice of tensors along their first axis.
 *
 * @param scope        The scope in which the call runs.
 * @param body         Takes the carried values, followed by one slice of each of `xs`. Returns the
 *                     next carried values, with the same types, followed by the outputs to be
 *                     stacked.
 * @param initial      `n_carried` tensors: the initial carried values.
 * @param n_carried    Number of carried values.
 * @param xs           `n_xs` tensors of the same length along their first axis.
 * @param n_xs         Number of tensors in `xs`; at least 1.
 * @param options      Options; NULL for the defaults: from the first element to the last.
 * @param out_carried  Receives `n_carried` tensors: the final carried values; all NULL if the call
 *                     fails.
 * @param out_stacked  Receives the other outputs of the body, stacked along a new first axis: the
 *                     outputs for slice i of `xs` are at index i. All NULL if the call fails.
 * @param n_stacked    Capacity of `out_stacked`.
 * @param out_count    Receives the number of outputs; NULL if it must equal `n_stacked`.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type or belongs to another context, the
 *     block has no function, `xs` is empty, one of its tensors has rank 0 or a different length,
 *     the outputs of the body differ from the carried values in number or type, or the policy is
 *     unknown.
 *   - TENON_CANCELLED if the scope or its context was cancelled.
 *   - Any error that the block returns.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_scan(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_block body,
    tenon_tensor* const* initial TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_carried),
    size_t n_carried, tenon_tensor* const* xs TENON_BORROWED TENON_COUNT(n_xs), size_t n_xs,
    const tenon_scan_options* options TENON_NULLABLE,
    tenon_tensor** out_carried TENON_OWNED TENON_NULLABLE TENON_COUNT(n_carried),
    tenon_tensor** out_stacked TENON_OWNED TENON_NULLABLE TENON_COUNT(n_stacked), size_t n_stacked,
    size_t* out_count TENON_NULLABLE);

/**
 * Gets the sizes of a tensor as a tensor, for computations and loop bounds.
 *
 * Inside a function the sizes may be dynamic; the tensor then holds the sizes of each call.
 *
 * @param scope      The scope; the result is placed on its device.
 * @param tensor     Any tensor.
 * @param out_shape  Receives an int64 tensor of shape [rank of `tensor`].
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type or belongs to another context, the
 *     tensor was donated, or `out_shape` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_shape(tenon_scope* scope TENON_THREADS(one_at_a_time),
                                               const tenon_tensor* tensor,
                                               tenon_tensor** out_shape TENON_OWNED);

TENON_END_DECLS

#endif /* TENON_CONTROL_H_ */
