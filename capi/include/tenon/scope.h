/* tenon/scope.h - scopes: the execution context of calls.
 *
 * A scope holds the current device and the active tapes. It is the first argument of every call
 * that computes. Only one thread at a time may use a scope, so concurrent threads use separate
 * scopes. Callbacks receive the scope that they run in.
 *
 * Threads: any thread, but only one thread at a time may use a scope that is marked
 * TENON_THREADS(one_at_a_time).
 *
 * Errors: in addition to the errors that each function lists, any call can return those in
 * tenon/error.h. A call that takes a scope returns TENON_FAILED_PRECONDITION if another thread is
 * using that scope.
 */

#ifndef TENON_SCOPE_H_
#define TENON_SCOPE_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

/**
 * Creates a scope without tapes. Any thread.
 *
 * @param context    The context of the scope, which keeps it alive.
 * @param device     The name of its device, as for tenon_scope_set_device(); empty for "cpu", which
 *                   is opened on first use.
 * @param out_scope  Receives the scope.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_NOT_FOUND if there is no such device; the message lists the available devices.
 *   - TENON_INVALID_ARGUMENT if `context` is not a context or `out_scope` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_scope_create(tenon_context* context TENON_THREADS(any),
                                                      tenon_string device,
                                                      tenon_scope** out_scope TENON_OWNED);

/**
 * Adds a reference to a scope. Any thread.
 *
 * @param scope  The scope; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_scope_retain(tenon_scope* scope TENON_NULLABLE TENON_THREADS(any));

/**
 * Releases a reference to a scope. Any thread.
 *
 * @param scope  The scope; NULL does nothing. The default scope of a context is released with the
 *               context.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_scope_release(tenon_scope* scope TENON_NULLABLE TENON_THREADS(any));

/**
 * Returns the context of a scope. Any thread.
 *
 * @param scope  The scope.
 *
 * @return A context that stays valid as long as the scope; NULL if `scope` is not a scope.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED tenon_context* tenon_scope_context(const tenon_scope* scope);

/**
 * Sets the device for new tensors and for calls without input tensors.
 *
 * @param scope  The scope.
 * @param name   "cpu:1"; "cpu" for cpu:0; "best" for the first device that is not a CPU, or cpu:0
 *               if there is none.
 *
 * @return NULL, or an error for the caller to free; the device is then unchanged:
 *   - TENON_NOT_FOUND if there is no such device; the message lists the available devices.
 *   - TENON_INVALID_ARGUMENT if `scope` is not a scope.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_scope_set_device(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_string name);

/**
 * Gets the current device, and opens it if necessary.
 *
 * @param scope       The scope.
 * @param out_device  Receives the device.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_NOT_FOUND if no device was set and there is no CPU device.
 *   - TENON_INVALID_ARGUMENT if `scope` is not a scope or `out_device` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_scope_get_device(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_device** out_device TENON_OWNED);

/**
 * Sets the stream on which later calls of a scope run on the stream's device. Tensors may be used
 * on any stream: see tenon/stream.h.
 *
 * @param scope   The scope. It keeps the stream in use until another stream is set or the scope is
 *                destroyed.
 * @param stream  The stream; NULL for the default streams of all devices.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `scope` is not a scope, `stream` is not a stream, or its device
 *     belongs to another context.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_scope_set_stream(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_stream* stream TENON_NULLABLE);

/**
 * Gets the stream on which calls of a scope run on the current device, and opens this device if
 * necessary.
 *
 * @param scope       The scope.
 * @param out_stream  Receives the stream. It may be the default stream of the device.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_NOT_FOUND if no device was set and there is no CPU device.
 *   - TENON_INVALID_ARGUMENT if `scope` is not a scope or `out_stream` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_scope_get_stream(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_stream** out_stream TENON_OWNED);

/**
 * Blocks until all work that was started in a scope has finished.
 *
 * @param scope  The scope.
 *
 * @return NULL, or an error for the caller to free:
 *   - The first error of that work that no call has returned yet: TENON_OUT_OF_RANGE for an index,
 *     TENON_DEVICE_LOST, or any error of the device's plugin.
 *   - TENON_UNIMPLEMENTED if neither the device nor this build can block (a browser's main thread);
 *     use tenon_scope_wait_async().
 *   - TENON_INVALID_ARGUMENT if `scope` is not a scope.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_scope_wait(
    tenon_scope* scope TENON_THREADS(one_at_a_time));

/**
 * Runs a callback when all work that was started in a scope has finished.
 *
 * @param scope  The scope.
 * @param done   Runs once, on the context's callback thread, with the error that tenon_scope_wait()
 *               would have returned, or NULL. Its destructor also runs when this call fails.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `scope` is not a scope or `done` has no function.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_scope_wait_async(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_done_callback done);

/**
 * Cancels running calls of a scope: they return TENON_CANCELLED at their next check. Calls that
 * start later are not affected. Any thread.
 *
 * @param scope  The scope; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_scope_cancel(tenon_scope* scope TENON_NULLABLE TENON_THREADS(any));

/**
 * Sets the source location that errors of later calls report. For language bindings.
 *
 * @param scope     The scope.
 * @param location  Text like "train.py:12", which is copied; empty for none.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `scope` is not a scope.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_scope_set_location(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_string location);

TENON_END_DECLS

#endif /* TENON_SCOPE_H_ */
