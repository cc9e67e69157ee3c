/* tenon/error.h - what a failed call tells.
 *
 * A call that can fail returns a `tenon_error*`: NULL is success, anything else is the caller's to
 * release. The outputs of a failed call are NULL or zero. No call aborts, exits or throws.
 *
 * Each function lists its errors. What every call may give is said here once:
 *   - TENON_OUT_OF_MEMORY if the host's memory is used up.
 *   - TENON_INTERNAL for a defect of Tenon or of a plugin; and a plugin may give any code.
 * and of those that take a scope, or a tape, which has one:
 *   - TENON_FAILED_PRECONDITION if another thread is inside of the scope.
 *   - TENON_DEVICE_LOST if a device that it uses is lost, until another context opens it.
 *   - TENON_CANCELLED if it computes or moves elements, and somebody cancels the scope or its
 *     context meanwhile.
 *   - What went wrong with a tensor that it uses while that was computed, on a device that works on
 *     after a call has returned.
 *
 * Threads: any may call each function here; an error does not change.
 */

#ifndef TENON_ERROR_H_
#define TENON_ERROR_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

/**
 * Makes an error, for a callback to return.
 *
 * @param code     What kind of error; TENON_OK and codes that are unknown here become INTERNAL.
 * @param message  The message, which is copied. Names the op, the rule and the values.
 *
 * @return The error. Where memory ran out, an error that says so; never NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_error_create(tenon_code code, tenon_string message);

/**
 * Adds an owner to an error. Any thread.
 *
 * @param error  The error; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_error_retain(tenon_error* error TENON_NULLABLE TENON_THREADS(any));

/**
 * Takes an owner away from an error and frees it with its last one. Any thread.
 *
 * @param error  The error; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_error_release(tenon_error* error TENON_NULLABLE TENON_THREADS(any));

/**
 * Gives the code of an error. Any thread.
 *
 * @param error  The error; NULL stands for success.
 *
 * @return The code; TENON_OK for NULL.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_code tenon_error_code(const tenon_error* error TENON_NULLABLE);

/**
 * Gives the message of an error: the op, the rule and the values. Any thread.
 *
 * @param error  The error; NULL stands for success.
 *
 * @return Text that lives as long as the error; empty for NULL.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_error_message(const tenon_error* error TENON_NULLABLE);

/**
 * Gives the name of the op that failed. Any thread.
 *
 * @param error  The error; NULL stands for success.
 *
 * @return Text that lives as long as the error; empty if no op was called.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_error_op(const tenon_error* error TENON_NULLABLE);

/**
 * Gives the name of the parameter at fault. Any thread.
 *
 * @param error  The error; NULL stands for success.
 *
 * @return Text that lives as long as the error; empty if it is not one parameter's fault.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_error_argument(const tenon_error* error TENON_NULLABLE);

/**
 * Gives the name of the device that took part. Any thread.
 *
 * @param error  The error; NULL stands for success.
 *
 * @return Text like "cpu:0" that lives as long as the error; empty if none took part.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_error_device(const tenon_error* error TENON_NULLABLE);

/**
 * Gives the user's source line, as tenon_scope_set_location() was told it. Any thread.
 *
 * @param error  The error; NULL stands for success.
 *
 * @return Text that lives as long as the error; empty if nobody told it.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_error_location(const tenon_error* error TENON_NULLABLE);

/**
 * Gives the error that led to this one. Any thread.
 *
 * @param error  The error; NULL stands for success.
 *
 * @return An error that lives as long as `error` and is not released; NULL if there is no cause.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED const tenon_error* tenon_error_cause(
    const tenon_error* error TENON_NULLABLE);

/**
 * Gives the name of a code. Any thread.
 *
 * @param code  The code.
 *
 * @return Static text like "INVALID_ARGUMENT"; "INTERNAL" for a code that is unknown here.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_code_name(tenon_code code);

/**
 * Frees text that a function gave to its caller. Any thread. Text from getters is not freed.
 *
 * @param text  The text, as it was received; empty text with NULL data does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_string_release(tenon_string text);

TENON_END_DECLS

#endif /* TENON_ERROR_H_ */
