/* tenon/effects.h - what code does beside giving values: it prints, checks, and calls the host.
 *
 * Called as it stands, each of these happens at once. Inside of a function's callback it becomes
 * part of the trace, and happens whenever that runs: in the order in which it was written, once for
 * each time that eager code would do it, whether or not somebody needs what it gives. That holds in
 * branches and loops, and where the function is differentiated: a way back never repeats it. The
 * same is true of tenon_check_numerics() and of custom ops that compute in host memory.
 *
 * A function ends where an assertion, a check or a host call fails. Its variables and generators
 * then hold what it assigned before.
 *
 * Threads: any, but one at a time for one scope.
 *
 * Errors: besides what each function lists, those of every call (tenon/error.h): of one that
 * takes a scope above all TENON_FAILED_PRECONDITION if another thread is inside of it.
 */

#ifndef TENON_EFFECTS_H_
#define TENON_EFFECTS_H_

#include <tenon/tape.h>
#include <tenon/tensor.h>
#include <tenon/types.h>

TENON_BEGIN_DECLS

/* Receives what programs print, from any thread and several at a time: whole lines, each with its
 * end. */
typedef struct tenon_print_callback {
  /* NULL: to stdout. */
  void (*function)(void* payload, tenon_string text) TENON_NULLABLE;
  void* payload;
  void (*destroy)(void* payload) TENON_NULLABLE;
} tenon_print_callback;

/**
 * Says where the text goes that tenon_print() makes. Any thread.
 *
 * @param context   The context.
 * @param callback  Receives the text. Its destructor runs when another one takes its place and no
 *                  print is under way, with the context, or when this call fails.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `context` is not a context.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_context_set_print(
    tenon_context* context TENON_THREADS(any), tenon_print_callback callback);

/**
 * Prints a line of text and values. It waits for the values.
 *
 * @param scope     Where.
 * @param format    The line, in which {} stands for the next value, and {{ and }} for braces.
 * Empty: the values, a blank between them.
 * @param values    `n_values` tensors, printed as tenon_tensor_format() does.
 * @param n_values  How many.
 * @param options   How; NULL for the defaults.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind or of another context, the format has
 *     another number of places than there are values, or a brace alone, or an option is negative.
 *   - What computing a value gave. Inside of a function this comes out of its call.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_print(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_string format,
    tenon_tensor* const* values TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_values),
    size_t n_values, const tenon_format_options* options TENON_NULLABLE);

/**
 * Fails unless a condition holds. It waits for the answer.
 *
 * @param scope      Where.
 * @param condition  A bool of any shape: all elements must be true.
 * @param message    What the error says, in which {} stands for the next value, as in
 *                   tenon_print(). Empty: the values, or that the condition does not hold.
 * @param values     `n_values` tensors that the message shows.
 * @param n_values   How many.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_FAILED_PRECONDITION with the message if an element is false. Inside of a function this
 *     comes out of its call, with the line at which this call stands.
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind or of another context, `condition` is
 *     no bool, or the message has another number of places than there are values.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_assert(tenon_scope* scope TENON_THREADS(one_at_a_time),
                                                const tenon_tensor* condition, tenon_string message,
                                                tenon_tensor* const* values TENON_BORROWED
                                                    TENON_NULLABLE TENON_COUNT(n_values),
                                                size_t n_values);

/**
 * Calls code of the host, which runs eagerly also inside of a function: it may read values, choose
 * by them, use tapes and functions, and read and assign variables, which hold what the function
 * assigned before. What it assigns, the function finds there.
 *
 * Tapes record the call as one, by its inputs. Its gradient is that of the calls that it made: a
 * differentiated call runs in a scope of its own under a tape, which gives the gradient later,
 * without running the code again. For a gradient by a variable, read that outside and give the
 * value as an input. For another derivative, put the call into tenon_custom_gradient().
 *
 * @param scope        Where.
 * @param function     The code; it receives a scope, which need not be this one. Its destructor
 * runs when no trace needs it any more, or when this call fails.
 * @param inputs       `n_inputs` tensors that it is given.
 * @param n_inputs     How many.
 * @param like         `n_outputs` tensors, of whose dtypes and shapes its outputs are; an inline
 *                     scalar stands for a tensor of rank 0. Inside of a function they may have
 *                     sizes that are unknown. Nothing else is done with them.
 * @param out_outputs  Receives `n_outputs` tensors, each another than any that the code knows.
 * @param n_outputs    How many.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind, an input was donated or is of another
 *     context, a function or a list that it needs is NULL, or the code left an output NULL or gave
 *     one of another type, or on another device than its inputs. Inside of a function, what the
 *     code does wrong comes out of the function's call.
 *   - What the code returned.
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
