/* tenon/effects.h - side effects: printing, assertions and host calls.
 *
 * Called eagerly, an effect happens immediately. Inside a function's callback it becomes part of
 * the trace and happens each time the trace runs: in program order, exactly as often as in eager
 * code, even if its outputs are unused. This also holds in branches and loops, and if the function
 * is differentiated: the backward pass never repeats an effect. tenon_check_numerics() and custom
 * ops that compute in host memory behave likewise.
 *
 * A failed assertion, check or host call stops the function. Assignments that were made before it
 * remain in effect.
 *
 * Threads: any thread, but only one thread at a time may use a scope.
 *
 * Errors: in addition to the errors that each function lists, any call can return those in
 * tenon/error.h. A call that takes a scope returns TENON_FAILED_PRECONDITION if another thread is
 * using that scope.
 */

#ifndef TENON_EFFECTS_H_
#define TENON_EFFECTS_H_

#include <tenon/tape.h>
#include <tenon/tensor.h>
#include <tenon/types.h>

TENON_BEGIN_DECLS

/* Receives printed text as complete lines, each with its line end. May be called from any thread,
 * also concurrently. */
typedef struct tenon_print_callback {
  /* The function to call; if it is NULL, the text is printed to stdout. */
  void (*function)(void* payload, tenon_string text) TENON_NULLABLE;
  void* payload;
  void (*destroy)(void* payload) TENON_NULLABLE;
} tenon_print_callback;

/**
 * Sets the callback that receives the output of tenon_print(). Any thread.
 *
 * @param context   The context.
 * @param callback  Receives the text. Its destructor runs once: when the callback was replaced and
 *                  no print is running, when the context is destroyed, or when this call fails.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `context` is not a context.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_context_set_print(
    tenon_context* context TENON_THREADS(any), tenon_print_callback callback);

/**
 * Prints a line of text and values. Waits until the values are computed.
 *
 * @param scope     The scope in which the call runs.
 * @param format    The line, in which {} stands for the next value, and {{ and }} for braces. If
 *                  empty, the values are printed with a blank between them.
 * @param values    `n_values` tensors, printed as tenon_tensor_format() does.
 * @param n_values  Number of values.
 * @param options   Options; NULL for the defaults.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type or belongs to another context, the
 *     number of {} in the format differs from the number of values, the format has an unmatched
 *     brace, or an option is negative.
 *   - Any error from computing a value. Inside a function, the function's call returns it.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_print(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_string format,
    tenon_tensor* const* values TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_values),
    size_t n_values, const tenon_format_options* options TENON_NULLABLE);

/**
 * Fails unless a condition holds. Waits until the condition is computed.
 *
 * @param scope      The scope in which the call runs.
 * @param condition  A bool of any shape: all elements must be true.
 * @param message    The error message, in which {} stands for the next value, as in tenon_print().
 *                   If empty, the message lists the values or, without values, reports that the
 *                   condition does not hold.
 * @param values     `n_values` tensors to show in the message.
 * @param n_values   Number of values.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_FAILED_PRECONDITION with the message if an element is false. Inside a function, the
 *     function's call returns it, with the source line of this call.
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type or belongs to another context,
 *     `condition` is not a bool, or the number of {} in the message differs from the number of
 *     values.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_assert(tenon_scope* scope TENON_THREADS(one_at_a_time),
                                                const tenon_tensor* condition, tenon_string message,
                                                tenon_tensor* const* values TENON_BORROWED
                                                    TENON_NULLABLE TENON_COUNT(n_values),
                                                size_t n_values);

/**
 * Calls a host callback, which runs eagerly even inside a function. It may read values and branch
 * on them, use tapes and functions, and read and assign variables. It reads the values that the
 * function assigned before; the function reads what the callback assigns.
 *
 * Tapes record the call as a single op on its inputs. Its gradient is the gradient of the calls
 * that it made: a differentiated call runs in its own scope under a tape, which later computes the
 * gradient without running the callback again. For a gradient with respect to a variable, read the
 * variable outside and pass the value as an input. For a different derivative, wrap the call in
 * tenon_custom_gradient().
 *
 * @param scope        The scope in which the call runs.
 * @param function     The callback; it receives a scope, which may differ from `scope`. Its
 *                     destructor runs when no trace needs it any more, or when this call fails.
 * @param inputs       `n_inputs` tensors that are passed to the callback.
 * @param n_inputs     Number of inputs.
 * @param like         `n_outputs` tensors with the dtypes and shapes of the outputs; an inline
 *                     scalar stands for a tensor of rank 0. Inside a function their sizes may be
 *                     dynamic. Only their types are used.
 * @param out_outputs  Receives `n_outputs` tensors, all of them new handles.
 * @param n_outputs    Number of outputs.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type, an input was donated or belongs to
 *     another context, a required function or array is NULL, or the callback left an output NULL or
 *     returned one with another type or on another device than the inputs. Inside a function, the
 *     function's call returns the callback's errors.
 *   - Any error that the callback returns.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_host_call(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_tensor_function function,
    tenon_tensor* const* inputs TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_inputs),
    size_t n_inputs, tenon_tensor* const* like TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_outputs),
    tenon_tensor** out_outputs TENON_OWNED TENON_NULLABLE TENON_COUNT(n_outputs), size_t n_outputs);

TENON_END_DECLS

#endif /* TENON_EFFECTS_H_ */
