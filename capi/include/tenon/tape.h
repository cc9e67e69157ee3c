/* tenon/tape.h - gradients.
 *
 * A tape records the calls of its scope from its making on, as far as they depend on something that
 * it watches: the trainable variables that are read, and what it is asked to watch. What ran before
 * it, or in another scope, is not recorded. Tapes nest: what one tape computes for a gradient is
 * recorded by those further out.
 *
 * Threads: any, but one at a time for one scope and its tapes. What takes a tape alone is inside of
 * the tape's scope. A list of variables and gradients does not change.
 *
 * Errors: besides what each function lists, those of every call (tenon/error.h): of one that
 * takes a scope or changes a tape above all TENON_FAILED_PRECONDITION if another thread is
 * inside of that scope.
 */

#ifndef TENON_TAPE_H_
#define TENON_TAPE_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

/* ---- life --------------------------------------------------------------- */

/* How a tape is made. Start from TENON_TAPE_OPTIONS_DEFAULT. */
typedef struct tenon_tape_options {
  uint32_t struct_size;
  bool persistent;      /* It may give gradients more than once; else the first uses it up. */
  bool watch_trainable; /* It watches trainable variables when they are read. */
} tenon_tape_options;

#define TENON_TAPE_OPTIONS_DEFAULT \
  { sizeof(tenon_tape_options), false, true }

/**
 * Makes a tape, which starts recording on its scope, innermost.
 *
 * @param scope     Where it records; kept alive by it.
 * @param options   How; NULL for the defaults: used up by its first gradient, watches trainable
 *                  variables by itself.
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
 * Adds an owner to a tape. Any thread, at any time.
 *
 * @param tape  The tape; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_tape_retain(tenon_tape* tape TENON_NULLABLE TENON_THREADS(any));

/**
 * Takes an owner away from a tape. The last one takes it off its scope, wherever it stands there,
 * and frees all that it kept; no other thread may be inside of that scope then.
 *
 * @param tape  The tape; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_tape_release(tenon_tape* tape TENON_NULLABLE TENON_THREADS(one_at_a_time));

/* ---- recording ---------------------------------------------------------- */

/**
 * Watches a value: what depends on it from now on is recorded.
 *
 * @param tape   The tape.
 * @param value  A floating tensor or variable. A variable that is not trainable is watched too.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind, the value is not floating, or it is of
 *     another context.
 *   - TENON_FAILED_PRECONDITION if the tape is used up.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tape_watch(tenon_tape* tape TENON_THREADS(one_at_a_time),
                                                    tenon_value* value);

/**
 * Stops recording until tenon_tape_resume(). What was recorded stays.
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
 * Records again after tenon_tape_pause().
 *
 * @param tape  The tape.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `tape` is not a tape.
 *   - TENON_FAILED_PRECONDITION if the tape is used up.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tape_resume(tenon_tape* tape TENON_THREADS(one_at_a_time));

/**
 * Forgets all that was recorded and watched, and records anew, also after the tape was used up.
 *
 * @param tape  The tape.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `tape` is not a tape.
 *   - TENON_FAILED_PRECONDITION if the tape is giving gradients: a derivative cannot reset it.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tape_reset(tenon_tape* tape TENON_THREADS(one_at_a_time));

/**
 * Tells whether a tape records now.
 *
 * @param tape  The tape.
 *
 * @return False if it is paused, used up, or not a tape.
 *
 * @since 0.1, unstable
 */
TENON_API bool tenon_tape_is_recording(const tenon_tape* tape TENON_THREADS(one_at_a_time));

/**
 * Counts what a tape watches.
 *
 * @param tape  The tape.
 *
 * @return The number; 0 if `tape` is not a tape.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_tape_count_watched(const tenon_tape* tape TENON_THREADS(one_at_a_time));

/**
 * Gives one of the values that a tape watches: the tensors that it was asked to watch, then the
 * variables, each in the order in which they came.
 *
 * @param tape       The tape.
 * @param index      Its place, below what tenon_tape_count_watched() gave.
 * @param out_value  Receives the value.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_OUT_OF_RANGE if there are not so many.
 *   - TENON_INVALID_ARGUMENT if `tape` is not a tape or `out_value` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tape_get_watched(
    tenon_tape* tape TENON_THREADS(one_at_a_time), size_t index,
    tenon_value** out_value TENON_OWNED);

/* ---- gradients ---------------------------------------------------------- */

enum {
  TENON_UNREACHED_ZEROS = 0, /* A source that the targets do not reach gets zeros. */
  TENON_UNREACHED_NULL = 1   /* It gets NULL. */
};

/* What gradients are like. Start from TENON_GRADIENT_OPTIONS_DEFAULT. */
typedef struct tenon_gradient_options {
  uint32_t struct_size;
  int32_t unreached; /* TENON_UNREACHED_*. */
} tenon_gradient_options;

#define TENON_GRADIENT_OPTIONS_DEFAULT \
  { sizeof(tenon_gradient_options), TENON_UNREACHED_ZEROS }

/**
 * Computes the gradients of some tensors with respect to others.
 *
 * Walks the tape back from the targets to every source and returns, for each source, the sum over
 * the targets of their cotangents times the derivative. Recording on this tape pauses meanwhile
 * unless the tape is persistent; tapes further out record, which is how second derivatives are had.
 * A tape that is not persistent is used up by this call. A call that fails once the way back has
 * begun uses it up too; one whose arguments are refused leaves it as it was.
 *
 * @param scope       Where the derivatives are computed: the scope on which the tape records.
 * @param tape        The tape that was recording when the targets were computed.
 * @param targets     `n_targets` floating tensors of any shape.
 * @param n_targets   How many.
 * @param cotangents  NULL for ones, or `n_targets` tensors of the targets' types; an entry may be
 *                    NULL for ones.
 * @param sources     `n_sources` tensors or variables, values computed on the way included. A
 *                    variable's gradient sums over all its reads.
 * @param n_sources   How many.
 * @param options     NULL for the defaults: a source that the targets do not reach gets zeros.
 * @param out_grads   Receives `n_sources` tensors, each of its source's type; NULL for a source
 *                    that the targets do not reach, watched or not, if the options ask for that.
 *                    All NULL if the call fails.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind, a target or cotangent was donated or
 *     is of another context, a target or source is not floating, a target is a list of tensors
 *     (tenon/list.h) and no cotangent is given for it, a cotangent's type differs from
 *     its target's, the tape records on another scope, a list is NULL with a count above zero, or
 *     an option is unknown.
 *   - TENON_FAILED_PRECONDITION if the tape is used up, or the scope is in use on another thread.
 *   - TENON_UNIMPLEMENTED if an op on the way has no derivative; the message names it.
 *   - TENON_CANCELLED if somebody cancelled the scope or its context meanwhile: it is looked at
 *     before each derivative.
 *   - TENON_OUT_OF_MEMORY if the device's memory or its limit is used up.
 *   - TENON_DEVICE_LOST if the device is lost.
 *   - What else tenon_call() gives for the ops of a derivative, and what a custom one returned.
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
 * Computes Jacobians: the derivative of every element of a target by every element of a source.
 *
 * Uses the tape up, unless it is persistent. A call that fails once the way back has begun uses it
 * up too; one whose arguments are refused leaves it as it was.
 *
 * @param scope          Where: the scope on which the tape records.
 * @param tape           The tape that was recording when the target was computed.
 * @param target         A floating tensor of any shape.
 * @param sources        `n_sources` tensors or variables.
 * @param n_sources      How many.
 * @param options        NULL for the defaults: a source that the target does not reach gets zeros.
 * @param out_jacobians  Receives `n_sources` tensors, of the target's sizes followed by the
 *                       source's sizes and the source's dtype; NULL as for tenon_tape_gradient().
 *
 * @return NULL, or an error for the caller to free: TENON_INVALID_ARGUMENT if the target or a
 *         source is a list of tensors (tenon/list.h), and what tenon_tape_gradient() gives,
 *         TENON_CANCELLED, TENON_OUT_OF_MEMORY and TENON_DEVICE_LOST among it.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tape_jacobian(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_tape* tape, tenon_tensor* target,
    tenon_value* const* sources TENON_BORROWED TENON_COUNT(n_sources), size_t n_sources,
    const tenon_gradient_options* options TENON_NULLABLE,
    tenon_tensor** out_jacobians TENON_OWNED TENON_COUNT(n_sources));

/* ---- gradients of a callback -------------------------------------------- */

/* A function of tensors, written in the user's language. Runs on the thread that made the call. It
 * fills `out_outputs`, which are NULL before, with tensors that the caller then owns, or returns an
 * error. */
typedef struct tenon_tensor_function {
  tenon_error* (*function)(void* payload, tenon_scope* scope TENON_THREADS(one_at_a_time),
                           tenon_tensor* const* inputs TENON_BORROWED TENON_COUNT(n_inputs),
                           size_t n_inputs,
                           tenon_tensor** out_outputs TENON_OWNED TENON_COUNT(n_outputs),
                           size_t n_outputs);
  void* payload;
  void (*destroy)(void* payload) TENON_NULLABLE;
} tenon_tensor_function;

/* The variables that a callback read and the gradients by them: a list that is released once. */
typedef struct tenon_variable_gradients tenon_variable_gradients;

/**
 * Calls a function and gives its outputs, the gradients of its first output by its arguments, and
 * those by every trainable variable that it read. Nests: inside of the callback, and under tapes.
 *
 * @param scope          Where it runs; the callback receives it.
 * @param function       The function. Its destructor runs before this call returns.
 * @param inputs         `n_inputs` arguments. They are differentiated by where they are floating.
 *                       The function receives handles of its own: a tensor that occurs twice has
 *                       a gradient for each, and one that the function captured has none.
 * @param n_inputs       How many.
 * @param options        NULL for the defaults: an argument that the output does not reach gets
 *                       zeros.
 * @param out_outputs    Receives `n_outputs` tensors. The first one is differentiated, summed over
 *                       its elements; the others are handed through.
 * @param n_outputs      How many, at least 1.
 * @param out_grads      Receives `n_inputs` tensors, each of its argument's type; NULL for an
 *                       argument that is not floating, and as the options say. NULL if nobody wants
 *                       them.
 * @param out_variables  Receives the variables and their gradients; NULL if nobody wants them.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind, an argument was donated or is of
 *     another context, the function is NULL or left an output NULL, the first output is not
 *     floating, or an option is unknown.
 *   - TENON_UNIMPLEMENTED if an op on the way has no derivative; the message names it.
 *   - TENON_CANCELLED, TENON_OUT_OF_MEMORY, TENON_DEVICE_LOST and what else tenon_tape_gradient()
 *     gives.
 *   - What the function returned.
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
 * @return The number; 0 if `list` is not such a list.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_variable_gradients_count(const tenon_variable_gradients* list);

/**
 * Gives a variable of a list, in the order in which they were first read. Any thread.
 *
 * @param list   The list.
 * @param index  Its place.
 *
 * @return A variable that lives as long as the list and is not released; NULL if there are not so
 *         many.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED tenon_variable* tenon_variable_gradients_variable(
    const tenon_variable_gradients* list, size_t index);

/**
 * Gives the gradient by a variable of a list. Any thread.
 *
 * @param list   The list.
 * @param index  The variable's place.
 *
 * @return A tensor of the variable's type that lives as long as the list and is not released; NULL
 *         if there are not so many, or for a variable that was not reached, if the options asked
 *         for that.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED tenon_tensor* tenon_variable_gradients_gradient(
    const tenon_variable_gradients* list, size_t index);

/**
 * Adds an owner to a list. Any thread.
 *
 * @param list  The list; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_variable_gradients_retain(
    tenon_variable_gradients* list TENON_NULLABLE TENON_THREADS(any));

/**
 * Takes an owner away from a list. Any thread.
 *
 * @param list  The list; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_variable_gradients_release(
    tenon_variable_gradients* list TENON_NULLABLE TENON_THREADS(any));

TENON_END_DECLS

#endif /* TENON_TAPE_H_ */
