/* tenon/profiler.h - measures where a program spends its time.
 *
 * While a profiler runs, it records a span for each op, each fused loop of a function, each call of
 * a function and each copy between host and device. The table has one row for all spans with the
 * same name, input types and device. The trace has one event for each span and can be viewed in
 * Perfetto (https://ui.perfetto.dev):
 *
 *   tenon_profiler_start(context, NULL, &profiler);
 *   ...                                                calls in any scope, on any thread
 *   tenon_profiler_stop(profiler);
 *   tenon_profiler_table(profiler, &text);
 *   tenon_profiler_write_trace(profiler, tenon_str("trace.json"));
 *
 * A profiler belongs to a context and records all its scopes. If no profiler runs, calls have no
 * overhead.
 *
 * Spans nest like calls. A failed call has no span. A call that is only traced has no span, either,
 * but tracing a function is a span.
 *
 * Device time: a launch on a synchronous device returns when its work is done, so the launch itself
 * is timed. An asynchronous device with a clock reads it before and after each launch, and launches
 * then do not overlap. Without a device clock the host's clock is used: from the time when a launch
 * could start (it was enqueued and the preceding work had finished) until the host is notified of
 * its completion. Launches that overlap others then appear longer. Each row reports the clock used.
 *
 * Threads: any thread. A stopped profiler is immutable.
 *
 * Errors: in addition to the errors that each function lists, any call can return those in
 * tenon/error.h.
 */

#ifndef TENON_PROFILER_H_
#define TENON_PROFILER_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

typedef struct tenon_profiler tenon_profiler;

/* Options of a profiler. Start from TENON_PROFILER_OPTIONS_DEFAULT. */
typedef struct tenon_profiler_options {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t max_events; /* Maximum number of events kept for the trace, 40 bytes each. */
} tenon_profiler_options;

#define TENON_PROFILER_OPTIONS_DEFAULT \
  { sizeof(tenon_profiler_options), 0, 1000000 }

/* Kinds of spans. */
enum {
  TENON_SPAN_OP = 0,       /* An op, called eagerly or launched by a function. */
  TENON_SPAN_FUSED = 1,    /* Ops that a function launched as one kernel: "fused(mul, add)". */
  TENON_SPAN_FUNCTION = 2, /* A call of a function, including everything inside it. */
  TENON_SPAN_TRACING = 3,  /* Tracing a function. */
  TENON_SPAN_COPY = 4      /* A copy, named "from_host", "to_host" or "to_device". */
};

/* How device times were measured. A row whose launches were measured in different ways reports
 * TENON_DEVICE_CLOCK_COMPLETION, the least precise one. */
enum {
  TENON_DEVICE_CLOCK_NONE = 0,       /* No device times: nothing was launched. */
  TENON_DEVICE_CLOCK_LAUNCH = 1,     /* The host timed each launch of a synchronous device. */
  TENON_DEVICE_CLOCK_COMPLETION = 2, /* The host timed each launch up to its completion. */
  TENON_DEVICE_CLOCK_DEVICE = 3      /* The device's own clock timed each launch. */
};

/* One row of the table. Times are in nanoseconds. The caller sets struct_size. Strings stay valid
 * as long as the profiler. */
typedef struct tenon_profiler_row {
  uint32_t struct_size;
  int32_t kind;         /* A TENON_SPAN_* constant. */
  tenon_string name;    /* The name of the op or the function. */
  tenon_string inputs;  /* Input types, such as "f32[2,3], f32[3]"; "scalar" is an inline scalar. */
  tenon_string device;  /* The device that ran it; empty for a function. */
  int32_t device_clock; /* A TENON_DEVICE_CLOCK_* constant. */
  int32_t reserved;
  uint64_t count; /* Number of spans. */
  /* Host time from a span's start to its end, including nested spans. */
  uint64_t host_total, host_min, host_max;
  /* Self time: host time without nested spans. */
  uint64_t own_total, own_min, own_max;
  /* Number of launches (a span may have none or several), and their device times. */
  uint64_t launches;
  uint64_t device_total, device_min, device_max;
  uint64_t bytes; /* Bytes that launches read and wrote, or that were copied. */
  uint64_t flops; /* Floating-point operations of matrix products and convolutions; 0 if unknown. */
} tenon_profiler_row;

/**
 * Starts a profiler. Releasing it also stops it. Any thread.
 *
 * @param context       The context to profile, which the profiler keeps alive.
 * @param options       Options; NULL for the defaults. Copied.
 * @param out_profiler  Receives the profiler.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_FAILED_PRECONDITION if another profiler runs in the context.
 *   - TENON_INVALID_ARGUMENT if `context` is not a context, the options have no struct_size or set
 *     fields that only a newer version supports, or `out_profiler` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_profiler_start(
    tenon_context* context TENON_THREADS(any), const tenon_profiler_options* options TENON_NULLABLE,
    tenon_profiler** out_profiler TENON_OWNED);

/**
 * Stops a profiler, and waits for the launches of asynchronous devices that it has recorded. Calls
 * that are still running, on other threads or around this call, are not recorded. Any thread.
 *
 * @param profiler  The profiler.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_FAILED_PRECONDITION if it is already stopped.
 *   - TENON_INVALID_ARGUMENT if `profiler` is not a profiler.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_profiler_stop(tenon_profiler* profiler TENON_THREADS(any));

/**
 * Adds a reference to a profiler. Any thread.
 *
 * @param profiler  The profiler; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_profiler_retain(tenon_profiler* profiler TENON_NULLABLE TENON_THREADS(any));

/**
 * Releases a reference to a profiler; the last one stops it. Any thread.
 *
 * @param profiler  The profiler; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_profiler_release(tenon_profiler* profiler TENON_NULLABLE TENON_THREADS(any));

/**
 * Formats the results as a human-readable table, sorted by total time in descending order. Each row
 * has the number of calls, the total, mean, minimum and maximum time, the share of all time, and
 * the throughput. Times are device times if anything was launched, or else the host's self times.
 * Any thread.
 *
 * @param profiler  The profiler, stopped.
 * @param out_text  Receives the text, for tenon_string_release().
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_FAILED_PRECONDITION if it is still running.
 *   - TENON_INVALID_ARGUMENT if `profiler` is not a profiler or `out_text` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_profiler_table(
    const tenon_profiler* profiler TENON_THREADS(any), tenon_string* out_text TENON_OWNED);

/**
 * Writes the events to a file in Chrome's JSON trace format, which Perfetto opens. Each thread and
 * each asynchronous device is a track. Any thread.
 *
 * @param profiler  The profiler, stopped.
 * @param path      The file; an existing file is replaced.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_FAILED_PRECONDITION if it is still running.
 *   - TENON_NOT_FOUND if the folder does not exist.
 *   - TENON_UNAVAILABLE if the file cannot be written; the message states the reason.
 *   - TENON_INVALID_ARGUMENT if `profiler` is not a profiler or `path` is malformed.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_profiler_write_trace(
    const tenon_profiler* profiler TENON_THREADS(any), tenon_string path);

/**
 * Counts the rows of the table. Any thread.
 *
 * @param profiler  The profiler.
 *
 * @return The number; 0 while the profiler runs, or if `profiler` is not a profiler.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_profiler_count_rows(const tenon_profiler* profiler TENON_THREADS(any));

/**
 * Gets a row by index, in the order of the table. Any thread.
 *
 * @param profiler  The profiler, stopped.
 * @param index     The row's index.
 * @param out_row   Filled up to its `struct_size`, which the caller sets.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_FAILED_PRECONDITION if it is still running.
 *   - TENON_OUT_OF_RANGE if `index` is too large.
 *   - TENON_INVALID_ARGUMENT if `profiler` is not a profiler, or `out_row` is NULL or has no
 *     struct_size.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_profiler_describe_row(
    const tenon_profiler* profiler TENON_THREADS(any), size_t index, tenon_profiler_row* out_row);

/**
 * Counts the events that the trace lacks because of `max_events`; the table includes them. Any
 * thread.
 *
 * @param profiler  The profiler.
 *
 * @return The number; 0 while the profiler runs, or if `profiler` is not a profiler.
 *
 * @since 0.1, unstable
 */
TENON_API uint64_t
tenon_profiler_count_dropped_events(const tenon_profiler* profiler TENON_THREADS(any));

TENON_END_DECLS

#endif /* TENON_PROFILER_H_ */
