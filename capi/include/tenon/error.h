/* tenon/error.h - the errors that failed calls return.
 *
 * A call that can fail returns a `tenon_error*`: NULL for success, or an error that the caller
 * releases. The outputs of a failed call are NULL or zero. No call aborts, exits or throws.
 *
 * Each function lists its errors. In addition, any call may return:
 *   - TENON_OUT_OF_MEMORY if host memory is exhausted.
 *   - TENON_INTERNAL for a defect of Tenon or of a plugin. A plugin may return any code.
 * A call that takes a scope, or a tape of a scope, may also return:
 *   - TENON_FAILED_PRECONDITION if another thread is using the scope.
 *   - TENON_DEVICE_LOST if a device that it uses is lost, until another context opens it.
 *   - TENON_CANCELLED if it computes or moves elements and the scope or its context is cancelled
 *     during the call.
 *   - On an asynchronous device: the error of an earlier call that computes one of its tensors.
 *
 * Threads: every function here may be called from any thread; an error is immutable.
 */

#ifndef TENON_ERROR_H_
#define TENON_ERROR_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

/**
 * Creates an error for a callback to return.
 *
 * @param code     The error code; TENON_OK and unknown codes become TENON_INTERNAL.
 * @param message  The message, which is copied. It should name the op, the rule and the values.
 *
 * @return The error, never NULL. If host memory is exhausted, an error that reports that.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_error_create(tenon_code code, tenon_string message);

/**
 * Adds a reference to an error. Any thread.
 *
 * @param error  The error; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_error_retain(tenon_error* error TENON_NULLABLE TENON_THREADS(any));

/**
 * Releases a reference to an error; the last one frees it. Any thread.
 *
 * @param error  The error; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_error_release(tenon_error* error TENON_NULLABLE TENON_THREADS(any));

/**
 * Returns the code of an error. Any thread.
 *
 * @param error  The error; NULL stands for success.
 *
 * @return The code; TENON_OK for NULL.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_code tenon_error_code(const tenon_error* error TENON_NULLABLE);

/**
 * Returns the message of an error: the op, the rule and the values. Any thread.
 *
 * @param error  The error; NULL stands for success.
 *
 * @return Text that stays valid as long as the error; empty for NULL.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_error_message(const tenon_error* error TENON_NULLABLE);

/**
 * Returns the name of the op that failed. Any thread.
 *
 * @param error  The error; NULL stands for success.
 *
 * @return Text that stays valid as long as the error; empty if no op was called.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_error_op(const tenon_error* error TENON_NULLABLE);

/**
 * Returns the name of the invalid parameter. Any thread.
 *
 * @param error  The error; NULL stands for success.
 *
 * @return Text that stays valid as long as the error; empty if the error does not concern a single
 *         parameter.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_error_argument(const tenon_error* error TENON_NULLABLE);

/**
 * Returns the name of the device involved. Any thread.
 *
 * @param error  The error; NULL stands for success.
 *
 * @return Text like "cpu:0", valid as long as the error; empty if no device was involved.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_error_device(const tenon_error* error TENON_NULLABLE);

/**
 * Returns the user's source line as set by tenon_scope_set_location(). Any thread.
 *
 * @param error  The error; NULL stands for success.
 *
 * @return Text that stays valid as long as the error; empty if none was set.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_error_location(const tenon_error* error TENON_NULLABLE);

/**
 * Returns the error that caused this one. Any thread.
 *
 * @param error  The error; NULL stands for success.
 *
 * @return An error that stays valid as long as `error` and must not be released; NULL if there is
 * no cause.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED const tenon_error* tenon_error_cause(
    const tenon_error* error TENON_NULLABLE);

/**
 * Returns the name of a code. Any thread.
 *
 * @param code  The code.
 *
 * @return Static text like "INVALID_ARGUMENT"; "INTERNAL" for an unknown code.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_code_name(tenon_code code);

/**
 * Frees text that a function returned for its caller to own. Any thread. Text from getters must not
 * be freed.
 *
 * @param text  The text, exactly as received; empty text with NULL data does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_string_release(tenon_string text);

TENON_END_DECLS

#endif /* TENON_ERROR_H_ */
