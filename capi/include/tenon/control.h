/* tenon/control.h - branches and loops that choose by values.
 *
 * Called as it stands, each of these runs the blocks that it chooses, as an `if` or a `while` of
 * the host language would. Inside of a function's callback, where tensors have no values, each
 * block runs once, under trace, and becomes a part of the trace that runs as often as its values
 * say. So the same code serves both. Gradients of any order pass through, nested as deep as one
 * likes.
 *
 * Blocks may use what they find around them: tensors, and variables and generators, which they may
 * assign and draw from. Inside of a function they may not make variables or generators that stay.
 *
 * Inline scalars that go into a loop or come out of a branch become tensors: float32, int64 or
 * bool.
 *
 * Threads: any, but one at a time for one scope.
 *
 * Errors: besides what each function lists, those of every call (tenon/error.h): of one that
 * takes a scope above all TENON_FAILED_PRECONDITION if another thread is inside of it.
 */

#ifndef TENON_CONTROL_H_
#define TENON_CONTROL_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

/* The code of a branch or of a loop. Runs on the calling thread while the call lasts, in the scope
 * that it receives. It fills the first of `out_outputs`, which are NULL before, with tensors that
 * the caller then owns, as many as it gives; or returns an error. */
typedef struct tenon_block {
  tenon_error* (*function)(void* payload, tenon_scope* scope TENON_THREADS(one_at_a_time),
                           tenon_tensor* const* inputs TENON_BORROWED TENON_COUNT(n_inputs),
                           size_t n_inputs,
                           tenon_tensor** out_outputs TENON_OWNED TENON_COUNT(max_outputs),
                           size_t max_outputs);
  void* payload TENON_BORROWED; /* Lives longer than the call. */
} tenon_block;

/* How the gradient of a loop inside of a function finds what it needs of each trip. Eager loops are
 * recorded call by call, whatever is said here. */
enum {
  TENON_LOOP_STACK = 0, /* Each trip leaves it. */
  /* Each trip leaves what it began with, and the way back runs it once more: less memory where a
   * body makes much of little, for about half as much time again. */
  TENON_LOOP_RECOMPUTE = 1,
  TENON_LOOP_BOUNDED = 2 /* As STACK, in memory for all trips that is there from the start. */
};

/* How a while loop goes. Start from TENON_WHILE_OPTIONS_DEFAULT. */
typedef struct tenon_while_options {
  uint32_t struct_size;
  int32_t policy;    /* TENON_LOOP_*. */
  int64_t max_trips; /* More are an error; 0: as many as there are. BOUNDED must say. */
} tenon_while_options;

#define TENON_WHILE_OPTIONS_DEFAULT \
  { sizeof(tenon_while_options), TENON_LOOP_STACK, 0 }

/* How a scan goes. Start from TENON_SCAN_OPTIONS_DEFAULT. */
typedef struct tenon_scan_options {
  uint32_t struct_size;
  bool reverse;   /* From the last element to the first. */
  int32_t policy; /* TENON_LOOP_*. BOUNDED: by the length; what is stacked lies there, too. */
} tenon_scan_options;

#define TENON_SCAN_OPTIONS_DEFAULT \
  { sizeof(tenon_scan_options), false, TENON_LOOP_STACK }

/**
 * Runs one of two blocks.
 *
 * Where the predicate is an inline scalar, the choice is made now, under trace too.
 *
 * @param scope        Where.
 * @param predicate    A bool of rank 0.
 * @param then_block   Runs if it is true. Takes no inputs.
 * @param else_block   Runs if it is false. Inside of a function it gives as many outputs as the
 *                     other, of the same types.
 * @param out_outputs  Receives the outputs; all NULL if the call fails.
 * @param n_outputs    How many there is room for.
 * @param out_count    Receives how many there are; NULL: they are exactly `n_outputs`.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind or of another context, the predicate is
 *     no bool of rank 0, a block has no function or gives more outputs than there is room for, or
 *     fewer where they are to be exactly as many, or the two give different types.
 *   - What a block returned.
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
 * @param scope        Where.
 * @param index        An int64 of rank 0: which block; where there is none, the last.
 * @param blocks       `n_blocks` blocks, which take no inputs and give alike.
 * @param n_blocks     How many; at least one.
 * @param out_outputs  Receives the outputs; all NULL if the call fails.
 * @param n_outputs    How many there is room for.
 * @param out_count    Receives how many there are; NULL: they are exactly `n_outputs`.
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
 * Runs a block as long as a condition holds.
 *
 * Inside of a function the condition is traced twice: for the start, and for what the body gives.
 *
 * @param scope        Where.
 * @param condition    Takes what is carried; gives one output, a bool of rank 0.
 * @param body         Takes what is carried; gives what is carried on, of the same dtypes and
 *                     shapes.
 * @param initial      `n_values` tensors: what is carried at first.
 * @param n_values     How many.
 * @param options      How; NULL for the defaults: any number of trips, each of which leaves what a
 *                     gradient needs.
 * @param out_values   Receives `n_values` tensors: what is carried when the condition fails; all
 *                     NULL if the call fails.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind or of another context, a block has no
 *     function, the condition gives anything but one bool of rank 0, the body gives another
 *     number of outputs or another type than is carried, the policy is none or is BOUNDED without
 *     `max_trips`, or the loop goes on after so many.
 *   - TENON_CANCELLED if the scope or its context was cancelled.
 *   - What a block returned.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_while_loop(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_block condition, tenon_block body,
    tenon_tensor* const* initial TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_values),
    size_t n_values, const tenon_while_options* options TENON_NULLABLE,
    tenon_tensor** out_values TENON_OWNED TENON_NULLABLE TENON_COUNT(n_values));

/**
 * Runs a block for each element of tensors, along their first axis.
 *
 * @param scope        Where.
 * @param body         Takes what is carried, and behind it an element of each of `xs`; gives what
 *                     is carried on, of the same types, and behind it what is stacked.
 * @param initial      `n_carried` tensors: what is carried at first.
 * @param n_carried    How many.
 * @param xs           `n_xs` tensors of the same length along their first axis.
 * @param n_xs         How many; at least one.
 * @param options      How; NULL for the defaults: from the first element to the last.
 * @param out_carried  Receives `n_carried` tensors: what is carried at the end; all NULL if the
 *                     call fails.
 * @param out_stacked  Receives what the body gave beside, along a new first axis, at the place of
 *                     its element; all NULL if the call fails.
 * @param n_stacked    How many there is room for.
 * @param out_count    Receives how many there are; NULL: they are exactly `n_stacked`.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind or of another context, the block has no
 *     function, there are no `xs`, one has rank 0 or another length, the body gives another
 *     number of outputs or another type than is carried, or the policy is none.
 *   - TENON_CANCELLED if the scope or its context was cancelled.
 *   - What the block returned.
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
 * Gives the sizes of a tensor as a tensor, to compute with, and to loop by.
 *
 * Inside of a function the sizes may be unknown; then they are those of each call.
 *
 * @param scope      Where: on its device.
 * @param tensor     Any tensor.
 * @param out_shape  Receives an int64 of one axis, as long as `tensor` has axes.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind or of another context, the tensor was
 *     donated, or `out_shape` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_shape(tenon_scope* scope TENON_THREADS(one_at_a_time),
                                               const tenon_tensor* tensor,
                                               tenon_tensor** out_shape TENON_OWNED);

TENON_END_DECLS

#endif /* TENON_CONTROL_H_ */
