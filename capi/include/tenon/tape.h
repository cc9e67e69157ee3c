/* tenon/tape.h - gradient tapes.
 *
 * From its creation on, a tape records the calls of its scope that depend on a watched value: a
 * trainable variable that was read, or a value passed to tenon_tape_watch(). Calls made before, or
 * in another scope, are not recorded. Tapes nest: the gradient computation of one tape is recorded
 * by the outer tapes.
 *
 * Threads: any thread, but only one thread at a time may use a scope and its tapes. A call that
 * takes only a tape uses the tape's scope. A list of variables and gradients is immutable.
 *
 * Errors: in addition to the errors that each function lists, any call can return those in
 * tenon/error.h. A call that takes a scope or changes a tape returns TENON_FAILED_PRECONDITION if
 * another thread is using that scope.
 */

#ifndef TENON_TAPE_H_
#define TENON_TAPE_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

/* ---- creation and ownership --------------------------------------------- */

/* Options of a tape. Start from TENON_TAPE_OPTIONS_DEFAULT. */
typedef struct tenon_tape_options {
  uint32_t struct_size;
  bool persistent;      /* Whether gradients can be computed more than once; otherwise the first
                           computation consumes the tape. */
  bool watch_trainable; /* Whether the tape watches trainable variables when they are read. */
} tenon_tape_options;

#define TENON_TAPE_OPTIONS_DEFAULT \
  { sizeof(tenon_tape_options), false, true }

/**
 * Creates a tape, which starts recording as the innermost tape of its scope.
 *
 * @param scope     The scope to record, which the tape keeps alive.
 * @param options   Options; NULL for the defaults: consumed by its first gradient, watches
 *                  trainable variables automatically.
 * @param out_tape  Receives the tape.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `scope` is not a scope or `out_tape` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tape_create(
    tenon_scope* scope TENON_THREADS(one_at_a_time),
    const tenon_tape_options* options TENON_NULLABLE, tenon_tape** out_tape TENON_OWNED);

/**
 * Adds a reference to a tape. Any thread, at any time.
 *
 * @param tape  The tape; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_tape_retain(tenon_tape* tape TENON_NULLABLE TENON_THREADS(any));

/**
 * Releases a reference to a tape. The last one removes the tape from its scope, at any nesting
 * level, and frees everything that it saved; no other thread may use that scope at that time.
 *
 * @param tape  The tape; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_tape_release(tenon_tape* tape TENON_NULLABLE TENON_THREADS(one_at_a_time));

/* ---- recording ---------------------------------------------------------- */

/**
 * Watches a value: later calls that depend on it are recorded.
 *
 * @param tape   The tape.
 * @param value  A floating tensor or variable, trainable or not.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type, the value is not floating, or it
 *     belongs to another context.
 *   - TENON_FAILED_PRECONDITION if the tape is consumed.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tape_watch(tenon_tape* tape TENON_THREADS(one_at_a_time),
                                                    tenon_value* value);

/**
 * Pauses recording until tenon_tape_resume(). Recorded calls are kept.
 *
 * @param tape  The tape.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `tape` is not a tape.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tape_pause(tenon_tape* tape TENON_THREADS(one_at_a_time));

/**
 * Resumes recording after tenon_tape_pause().
 *
 * @param tape  The tape.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `tape` is not a tape.
 *   - TENON_FAILED_PRECONDITION if the tape is consumed.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tape_resume(tenon_tape* tape TENON_THREADS(one_at_a_time));

/**
 * Clears all recorded calls and watched values, and starts recording again, even if the tape is
 * consumed.
 *
 * @param tape  The tape.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `tape` is not a tape.
 *   - TENON_FAILED_PRECONDITION if the tape is computing gradients: a derivative cannot reset it.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tape_reset(tenon_tape* tape TENON_THREADS(one_at_a_time));

/**
 * Returns whether a tape is recording.
 *
 * @param tape  The tape.
 *
 * @return False if it is paused, consumed, or not a tape.
 *
 * @since 0.1, unstable
 */
TENON_API bool tenon_tape_is_recording(const tenon_tape* tape TENON_THREADS(one_at_a_time));

/**
 * Counts the values that a tape watches.
 *
 * @param tape  The tape.
 *
 * @return The number; 0 if `tape` is not a tape.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_tape_count_watched(const tenon_tape* tape TENON_THREADS(one_at_a_time));

/**
 * Gets a watched value by index: first the tensors passed to tenon_tape_watch(), then the
 * variables, each in the order in which they were first watched.
 *
 * @param tape       The tape.
 * @param index      Its index, less than tenon_tape_count_watched().
 * @param out_value  Receives the value.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_OUT_OF_RANGE if `index` is too large.
 *   - TENON_INVALID_ARGUMENT if `tape` is not a tape or `out_value` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tape_get_watched(
    tenon_tape* tape TENON_THREADS(one_at_a_time), size_t index,
    tenon_value** out_value TENON_OWNED);

/* ---- gradients ---------------------------------------------------------- */

enum {
  TENON_UNREACHED_ZEROS = 0, /* The gradient is zeros if no target depends on the source. */
  TENON_UNREACHED_NULL = 1   /* The gradient is NULL if no target depends on the source. */
};

/* Options of gradients. Start from TENON_GRADIENT_OPTIONS_DEFAULT. */
typedef struct tenon_gradient_options {
  uint32_t struct_size;
  int32_t unreached; /* A TENON_UNREACHED_* constant. */
} tenon_gradient_options;

#define TENON_GRADIENT_OPTIONS_DEFAULT \
  { sizeof(tenon_gradient_options), TENON_UNREACHED_ZEROS }

/**
 * Computes the gradients of some tensors with respect to others.
 *
 * Runs the backward pass from the targets to every source and returns, for each source, the sum
 * over the targets of their cotangents times the derivative. Recording on this tape pauses during
 * the call unless the tape is persistent. Outer tapes record the backward pass, which gives second
 * derivatives. The call consumes a tape that is not persistent, even if it fails after the backward
 * pass has started. If it fails because of its arguments, the tape is unchanged.
 *
 * @param scope       The scope in which the derivatives are computed: the scope that the tape
 *                    records.
 * @param tape        The tape that was recording when the targets were computed.
 * @param targets     `n_targets` floating tensors of any shape.
 * @param n_targets   Number of targets.
 * @param cotangents  NULL for ones, or `n_targets` tensors of the targets' types; an entry may be
 *                    NULL for ones.
 * @param sources     `n_sources` tensors or variables, including intermediate values. A variable's
 *                    gradient is the sum over all its reads.
 * @param n_sources   Number of sources.
 * @param options     Options; NULL for the defaults: the gradient is zeros if no target depends on
 *                    the source.
 * @param out_grads   Receives `n_sources` tensors, each of its source's type. With
 *                    TENON_UNREACHED_NULL, receives NULL for a source on which no target depends,
 *                    watched or not. All NULL if the call fails.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type, a target or cotangent was donated or
 *     belongs to another context, a target or source is not floating, a target is a list of tensors
 *     (tenon/list.h) and no cotangent is given for it, a cotangent's type differs from its
 *     target's, the tape records another scope, an array is NULL with a count above zero, or an
 *     option is unknown.
 *   - TENON_FAILED_PRECONDITION if the tape is consumed, or the scope is in use on another thread.
 *   - TENON_UNIMPLEMENTED if a recorded op has no derivative; the message names it.
 *   - TENON_CANCELLED if the scope or its context was cancelled during the call; this is checked
 *     before each derivative.
 *   - TENON_OUT_OF_MEMORY if the device's memory or the memory limit is exhausted.
 *   - TENON_DEVICE_LOST if the device is lost.
 *   - Any other error of tenon_call() for the ops of a derivative, and any error of a custom
 *     derivative.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tape_gradient(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_tape* tape,
    tenon_tensor* const* targets TENON_BORROWED TENON_COUNT(n_targets), size_t n_targets,
    tenon_tensor* const* cotangents TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_targets),
    tenon_value* const* sources TENON_BORROWED TENON_COUNT(n_sources), size_t n_sources,
    const tenon_gradient_options* options TENON_NULLABLE,
    tenon_tensor** out_grads TENON_OWNED TENON_COUNT(n_sources));

/**
 * Computes Jacobians: the derivative of every element of a target with respect to every element of
 * a source.
 *
 * Consumes the tape as tenon_tape_gradient() does.
 *
 * @param scope          The scope that the tape records.
 * @param tape           The tape that was recording when the target was computed.
 * @param target         A floating tensor of any shape.
 * @param sources        `n_sources` tensors or variables.
 * @param n_sources      Number of sources.
 * @param options        Options; NULL for the defaults: the Jacobian is zeros if the target does
 *                       not depend on the source.
 * @param out_jacobians  Receives `n_sources` tensors. The shape of each is the target's sizes
 *                       followed by the source's sizes; its dtype is the source's. NULL as in
 *                       tenon_tape_gradient().
 *
 * @return NULL, or an error for the caller to free: TENON_INVALID_ARGUMENT if the target or a
 *         source is a list of tensors (tenon/list.h), or any error of tenon_tape_gradient(),
 *         including TENON_CANCELLED, TENON_OUT_OF_MEMORY and TENON_DEVICE_LOST.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tape_jacobian(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_tape* tape, tenon_tensor* target,
    tenon_value* const* sources TENON_BORROWED TENON_COUNT(n_sources), size_t n_sources,
    const tenon_gradient_options* options TENON_NULLABLE,
    tenon_tensor** out_jacobians TENON_OWNED TENON_COUNT(n_sources));

/* ---- gradients of a callback -------------------------------------------- */

/* A user callback on tensors. Runs on the thread that made the call. It fills `out_outputs`, which
 * are initially NULL, with tensors that the caller owns, or returns an error. */
typedef struct tenon_tensor_function {
  tenon_error* (*function)(void* payload, tenon_scope* scope TENON_THREADS(one_at_a_time),
                           tenon_tensor* const* inputs TENON_BORROWED TENON_COUNT(n_inputs),
                           size_t n_inputs,
                           tenon_tensor** out_outputs TENON_OWNED TENON_COUNT(n_outputs),
                           size_t n_outputs);
  void* payload;
  void (*destroy)(void* payload) TENON_NULLABLE;
} tenon_tensor_function;

/* A list of the variables that a callback read, with the gradients with respect to them. */
typedef struct tenon_variable_gradients tenon_variable_gradients;

/**
 * Calls a function and returns its outputs and the gradients of its first output with respect to
 * its arguments and to every trainable variable that it read. May be nested, inside the callback
 * and under tapes.
 *
 * @param scope          The scope in which the call runs; it is passed to the callback.
 * @param function       The function. Its destructor runs before this call returns.
 * @param inputs         `n_inputs` arguments. Floating arguments get a gradient. The function
 *                       receives new handles: a tensor that occurs twice has a separate gradient
 *                       for each occurrence, and a tensor that the function captures has none.
 * @param n_inputs       Number of inputs.
 * @param options        Options; NULL for the defaults: the gradient is zeros if the output does
 *                       not depend on an argument.
 * @param out_outputs    Receives `n_outputs` tensors. The sum of the first one's elements is
 *                       differentiated; the others are only returned.
 * @param n_outputs      Number of outputs; at least 1.
 * @param out_grads      Receives `n_inputs` tensors, each of its argument's type; NULL for an
 *                       argument that is not floating, and as the options specify. May be NULL if
 *                       not needed.
 * @param out_variables  Receives the variables and their gradients; may be NULL if not needed.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type, an argument was donated or belongs to
 *     another context, the function is NULL or left an output NULL, the first output is not
 *     floating, or an option is unknown.
 *   - TENON_UNIMPLEMENTED if a recorded op has no derivative; the message names it.
 *   - TENON_CANCELLED, TENON_OUT_OF_MEMORY, TENON_DEVICE_LOST and any other error of
 *     tenon_tape_gradient().
 *   - Any error that the function returns.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_gradients(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_tensor_function function,
    tenon_tensor* const* inputs TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_inputs),
    size_t n_inputs, const tenon_gradient_options* options TENON_NULLABLE,
    tenon_tensor** out_outputs TENON_OWNED TENON_COUNT(n_outputs), size_t n_outputs,
    tenon_tensor** out_grads TENON_OWNED TENON_NULLABLE TENON_COUNT(n_inputs),
    tenon_variable_gradients** out_variables TENON_OWNED TENON_NULLABLE);

/**
 * Counts the variables in a list. Any thread.
 *
 * @param list  The list.
 *
 * @return The number; 0 if `list` is not a list of variables and gradients.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_variable_gradients_count(const tenon_variable_gradients* list);

/**
 * Returns a variable of a list by index, in the order of first reads. Any thread.
 *
 * @param list   The list.
 * @param index  Its index.
 *
 * @return A variable that stays valid as long as the list and must not be released; NULL if `index`
 *         is out of range.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED tenon_variable* tenon_variable_gradients_variable(
    const tenon_variable_gradients* list, size_t index);

/**
 * Returns the gradient with respect to a variable of a list. Any thread.
 *
 * @param list   The list.
 * @param index  The variable's index.
 *
 * @return A tensor of the variable's type that stays valid as long as the list and must not be
 *         released; NULL if `index` is out of range, or, with TENON_UNREACHED_NULL, if the output
 *         does not depend on the variable.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED tenon_tensor* tenon_variable_gradients_gradient(
    const tenon_variable_gradients* list, size_t index);

/**
 * Adds a reference to a list. Any thread.
 *
 * @param list  The list; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_variable_gradients_retain(
    tenon_variable_gradients* list TENON_NULLABLE TENON_THREADS(any));

/**
 * Releases a reference to a list. Any thread.
 *
 * @param list  The list; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_variable_gradients_release(
    tenon_variable_gradients* list TENON_NULLABLE TENON_THREADS(any));

TENON_END_DECLS

#endif /* TENON_TAPE_H_ */
