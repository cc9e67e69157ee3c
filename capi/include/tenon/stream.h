/* tenon/stream.h - streams: independent sequences of work on one device, and events on streams.
 *
 * An asynchronous device has a default stream, on which all scopes run their calls. Work on
 * different streams may run at the same time:
 *
 *   tenon_stream_open(device, &stream);
 *   tenon_scope_set_stream(scope, stream);         later calls of the scope run on this stream
 *   tenon_matmul(scope, x, w, NULL, &y);
 *   tenon_add(other_scope, y, z, &sum);            on another stream; it follows the matmul
 *
 * A stream runs its work in the order in which it was enqueued. Programs need no events for correct
 * results: if a call uses a tensor that was computed on another stream, its work follows the work
 * that computes the tensor. The reuse of freed memory is ordered in the same manner. Events serve
 * to wait for a point in a stream, and to order streams for other reasons, such as measurements.
 *
 * On a synchronous device, calls have finished when they return, so streams and events have no
 * effect and are accepted.
 *
 * Threads: every function here may be called from any thread, also concurrently.
 *
 * Errors: in addition to the errors that each function lists, any call can return those in
 * tenon/error.h.
 */

#ifndef TENON_STREAM_H_
#define TENON_STREAM_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

/**
 * Opens a stream of a device. Its work follows the work that is on the default stream now. Any
 * thread.
 *
 * @param device      The device, which the stream keeps alive.
 * @param out_stream  Receives the stream.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_FAILED_PRECONDITION if 31 streams of an asynchronous device are open.
 *   - TENON_DEVICE_LOST if the device is lost.
 *   - TENON_INVALID_ARGUMENT if `device` is not a device or `out_stream` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_stream_open(tenon_device* device TENON_THREADS(any),
                                                     tenon_stream** out_stream TENON_OWNED);

/**
 * Adds a reference to a stream. Any thread.
 *
 * @param stream  The stream; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_stream_retain(tenon_stream* stream TENON_NULLABLE TENON_THREADS(any));

/**
 * Releases a reference to a stream. Does not wait for its work. When neither a handle nor a scope
 * uses the stream any more, tenon_stream_open() may return it again. Any thread.
 *
 * @param stream  The stream; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_stream_release(tenon_stream* stream TENON_NULLABLE TENON_THREADS(any));

/**
 * Makes later work on a stream follow an event. Does not block. Any thread.
 *
 * @param stream  The stream.
 * @param event   An event on any stream of the same device.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_DEVICE_LOST if the device is lost.
 *   - TENON_INVALID_ARGUMENT if `stream` is not a stream, `event` is not an event, or they belong
 *     to different devices.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_stream_wait_event(tenon_stream* stream TENON_THREADS(any),
                                                           const tenon_event* event);

/**
 * Records an event at the current end of a stream. The device reaches the event when it has
 * finished all work that is on the stream now. Any thread.
 *
 * @param stream     The stream.
 * @param out_event  Receives the event.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_DEVICE_LOST if the device is lost.
 *   - TENON_INVALID_ARGUMENT if `stream` is not a stream or `out_event` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_event_record(tenon_stream* stream TENON_THREADS(any),
                                                      tenon_event** out_event TENON_OWNED);

/**
 * Adds a reference to an event. Any thread.
 *
 * @param event  The event; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_event_retain(tenon_event* event TENON_NULLABLE TENON_THREADS(any));

/**
 * Releases a reference to an event. Streams that wait for the event still do so. Any thread.
 *
 * @param event  The event; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_event_release(tenon_event* event TENON_NULLABLE TENON_THREADS(any));

/**
 * Reports whether the device has reached an event. Does not block. Any thread.
 *
 * @param event  The event.
 *
 * @return True if the device has reached the event; false if it has not, or if `event` is not an
 *         event.
 *
 * @since 0.1, unstable
 */
TENON_API bool tenon_event_is_reached(const tenon_event* event TENON_NULLABLE TENON_THREADS(any));

/**
 * Blocks until the device has reached an event. Errors of the work before the event are reported by
 * the calls that use its results, and by tenon_scope_wait(). Any thread.
 *
 * @param event  The event.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_UNIMPLEMENTED if neither the device nor this build can block (a browser's main thread);
 *     use tenon_event_wait_async().
 *   - TENON_DEVICE_LOST if the device is lost.
 *   - TENON_INVALID_ARGUMENT if `event` is not an event.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_event_wait(const tenon_event* event TENON_THREADS(any));

/**
 * Runs a callback when the device has reached an event. Any thread.
 *
 * @param event  The event.
 * @param done   Runs once, on the context's callback thread, with NULL. Its destructor also runs
 *               when this call fails.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `event` is not an event or `done` has no function.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_event_wait_async(
    const tenon_event* event TENON_THREADS(any), tenon_done_callback done);

TENON_END_DECLS

#endif /* TENON_STREAM_H_ */
