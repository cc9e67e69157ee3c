/* tenon/scope.h - a scope: where calls happen.
 *
 * A scope holds the current device and the tapes that record. It is the first argument of every
 * call that computes. One thread at a time may be inside of a scope, so threads that compute at
 * once have one each; callbacks receive the scope that they run in.
 *
 * Threads: any, but one at a time for one scope where it is marked TENON_THREADS(one_at_a_time).
 *
 * Errors: besides what each function lists, those of every call (tenon/error.h): of one that
 * takes a scope above all TENON_FAILED_PRECONDITION if another thread is inside of it.
 */

#ifndef TENON_SCOPE_H_
#define TENON_SCOPE_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

/**
 * Makes a scope without tapes. Any thread.
 *
 * @param context    Where it belongs; kept alive by it.
 * @param device     The name of its device, as for tenon_scope_set_device(); empty for "cpu", which
 *                   is then opened when it is first needed.
 * @param out_scope  Receives the scope.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_NOT_FOUND if there is no such device; the message lists those that there are.
 *   - TENON_INVALID_ARGUMENT if `context` is not a context or `out_scope` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_scope_create(tenon_context* context TENON_THREADS(any),
                                                      tenon_string device,
                                                      tenon_scope** out_scope TENON_OWNED);

/**
 * Adds an owner to a scope. Any thread.
 *
 * @param scope  The scope; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_scope_retain(tenon_scope* scope TENON_NULLABLE TENON_THREADS(any));

/**
 * Takes an owner away from a scope. Any thread.
 *
 * @param scope  The scope; NULL does nothing. A context's default scope is released with it.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_scope_release(tenon_scope* scope TENON_NULLABLE TENON_THREADS(any));

/**
 * Gives the context of a scope. Any thread.
 *
 * @param scope  The scope.
 *
 * @return A context that lives as long as the scope; NULL if `scope` is not a scope.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED tenon_context* tenon_scope_context(const tenon_scope* scope);

/**
 * Sets the device on which calls without tensors, and new tensors, are placed.
 *
 * @param scope  The scope.
 * @param name   "cpu:1"; "cpu" for cpu:0; "best" for the first that is no CPU, else cpu:0.
 *
 * @return NULL, or an error for the caller to free; the device is then what it was:
 *   - TENON_NOT_FOUND if there is no such device; the message lists those that there are.
 *   - TENON_INVALID_ARGUMENT if `scope` is not a scope.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_scope_set_device(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_string name);

/**
 * Gives the current device, which is opened if it was not yet.
 *
 * @param scope       The scope.
 * @param out_device  Receives the device.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_NOT_FOUND if there is no CPU device and no other was set.
 *   - TENON_INVALID_ARGUMENT if `scope` is not a scope or `out_device` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_scope_get_device(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_device** out_device TENON_OWNED);

/**
 * Waits until all work that was started in a scope has finished.
 *
 * @param scope  The scope.
 *
 * @return NULL, or an error for the caller to free:
 *   - The first error of that work which no call returned yet: TENON_OUT_OF_RANGE for an index,
 *     TENON_DEVICE_LOST, or whatever the device's plugin gave.
 *   - TENON_UNIMPLEMENTED where neither the device nor this build can block (a browser's main
 *     thread); use tenon_scope_wait_async().
 *   - TENON_INVALID_ARGUMENT if `scope` is not a scope.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_scope_wait(
    tenon_scope* scope TENON_THREADS(one_at_a_time));

/**
 * Calls back when all work that was started in a scope has finished.
 *
 * @param scope  The scope.
 * @param done   Runs once, on the context's callback thread, with the error that tenon_scope_wait()
 *               would have given, or NULL. Its destructor also runs when this call fails.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `scope` is not a scope or `done` has no function.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_scope_wait_async(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_done_callback done);

/**
 * Cancels what is under way in a scope: its calls return TENON_CANCELLED at their next check. Calls
 * that begin later run. Any thread.
 *
 * @param scope  The scope; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_scope_cancel(tenon_scope* scope TENON_NULLABLE TENON_THREADS(any));

/**
 * Tells the source line that the next calls come from, for their errors. For bindings.
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
