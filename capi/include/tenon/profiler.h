/* tenon/profiler.h - where the time of a program goes.
 *
 * While a profiler runs, each op, each fused loop of a function, each call of a function and each
 * copy between host and device is a span. Spans with the same name, the same types of inputs and
 * the same device are one row of a table; each by itself is an event of a trace, which Perfetto
 * (https://ui.perfetto.dev) draws:
 *
 *   tenon_profiler_start(context, NULL, &profiler);
 *   ...                                                calls in any scope, on any thread
 *   tenon_profiler_stop(profiler);
 *   tenon_profiler_table(profiler, &text);
 *   tenon_profiler_write_trace(profiler, tenon_str("trace.json"));
 *
 * A profiler belongs to a context and sees all its scopes. Where none runs, calls cost what they
 * always do.
 *
 * Spans nest as calls do. Of what fails there is no span, nor of code that is traced and not run;
 * tracing itself is a span.
 *
 * Device time: a launch on a synchronous device returns when its work is done, and the time of that
 * is taken. An asynchronous device that has a clock reads it before and behind each launch, which
 * then runs by itself. One without is watched by the host's clock: from when it could begin, which
 * is when a launch was enqueued and what was before it had finished, until the host is told that it
 * has finished. So launches that others run at the same time seem longer. A row says which it is.
 *
 * Threads: any. A profiler that was stopped does not change.
 *
 * Errors: besides what each function lists, those of every call (tenon/error.h).
 */

#ifndef TENON_PROFILER_H_
#define TENON_PROFILER_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

typedef struct tenon_profiler tenon_profiler;

/* How a profiler works. Start from TENON_PROFILER_OPTIONS_DEFAULT. */
typedef struct tenon_profiler_options {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t max_events; /* So many at most are kept for the trace, 40 bytes each. */
} tenon_profiler_options;

#define TENON_PROFILER_OPTIONS_DEFAULT \
  { sizeof(tenon_profiler_options), 0, 1000000 }

/* What a span is. */
enum {
  TENON_SPAN_OP = 0,       /* An op that was called, or that a function launched. */
  TENON_SPAN_FUSED = 1,    /* Ops that a function launched as one: "fused(mul, add)". */
  TENON_SPAN_FUNCTION = 2, /* A call of a function, with all that runs inside of it. */
  TENON_SPAN_TRACING = 3,  /* Writing a function down. */
  TENON_SPAN_COPY = 4      /* "from_host", "to_host", "to_device". */
};

/* How device times were found. Of a row with several the least exact: COMPLETION. */
enum {
  TENON_DEVICE_CLOCK_NONE = 0,       /* There are none: nothing was launched. */
  TENON_DEVICE_CLOCK_LAUNCH = 1,     /* Around each launch of a synchronous device. */
  TENON_DEVICE_CLOCK_COMPLETION = 2, /* Until the host was told that a launch had finished. */
  TENON_DEVICE_CLOCK_DEVICE = 3      /* By the device's own clock, around each launch. */
};

/* Times in nanoseconds. The caller sets struct_size. Strings live as long as the profiler. */
typedef struct tenon_profiler_row {
  uint32_t struct_size;
  int32_t kind;         /* TENON_SPAN_*. */
  tenon_string name;    /* Of the op or the function. */
  tenon_string inputs;  /* Their types, such as "f32[2,3], f32[3]"; "scalar" is one by value. */
  tenon_string device;  /* Where it ran; empty for a function. */
  int32_t device_clock; /* TENON_DEVICE_CLOCK_*. */
  int32_t reserved;
  uint64_t count; /* Of spans. */
  /* From a span's begin to its end, with what runs inside of it. */
  uint64_t host_total, host_min, host_max;
  /* The part of that which is of no span inside of it. */
  uint64_t own_total, own_min, own_max;
  /* Of launches, of which a span may have none or several. */
  uint64_t launches;
  uint64_t device_total, device_min, device_max;
  uint64_t bytes; /* That launches read and wrote, or that were copied. */
  uint64_t flops; /* Of products and convolutions; 0 where it is not known. */
} tenon_profiler_row;

/**
 * Starts a profiler. Any thread. Releasing it stops it, too.
 *
 * @param context       What is profiled; kept alive by the profiler.
 * @param options       How; NULL for the defaults. Copied.
 * @param out_profiler  Receives the profiler.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_FAILED_PRECONDITION if another profiler runs in the context.
 *   - TENON_INVALID_ARGUMENT if `context` is not a context, the options have no struct_size or ask
 *     for what only a newer version knows, or `out_profiler` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_profiler_start(
    tenon_context* context TENON_THREADS(any), const tenon_profiler_options* options TENON_NULLABLE,
    tenon_profiler** out_profiler TENON_OWNED);

/**
 * Stops a profiler, and waits for launches of asynchronous devices that it has seen. Calls that are
 * under way, on other threads or around this one, are left out. Any thread.
 *
 * @param profiler  The profiler.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_FAILED_PRECONDITION if it was stopped before.
 *   - TENON_INVALID_ARGUMENT if `profiler` is not a profiler.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_profiler_stop(tenon_profiler* profiler TENON_THREADS(any));

/**
 * Adds an owner to a profiler. Any thread.
 *
 * @param profiler  The profiler; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_profiler_retain(tenon_profiler* profiler TENON_NULLABLE TENON_THREADS(any));

/**
 * Takes an owner away from a profiler; the last one ends it. Any thread.
 *
 * @param profiler  The profiler; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_profiler_release(tenon_profiler* profiler TENON_NULLABLE TENON_THREADS(any));

/**
 * Gives what was found as a table for people: a line for each row, those first that took most time,
 * with the number of calls, the time in all, its mean, least and most, its share of all time, and
 * how fast that is. The time is a device's where something was launched, else the host's own.
 * Any thread.
 *
 * @param profiler  The profiler, stopped.
 * @param out_text  Receives the text, for tenon_string_release().
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_FAILED_PRECONDITION if it still runs.
 *   - TENON_INVALID_ARGUMENT if `profiler` is not a profiler or `out_text` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_profiler_table(
    const tenon_profiler* profiler TENON_THREADS(any), tenon_string* out_text TENON_OWNED);

/**
 * Writes the events into a file in the JSON format of Chrome's traces, which Perfetto opens: each
 * thread is a track, and so is each asynchronous device. Any thread.
 *
 * @param profiler  The profiler, stopped.
 * @param path      The file; one that is there is replaced.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_FAILED_PRECONDITION if it still runs.
 *   - TENON_NOT_FOUND if the folder does not exist.
 *   - TENON_UNAVAILABLE if the file cannot be written; the message says why.
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
 * @return The number; 0 while it runs, or if `profiler` is not a profiler.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_profiler_count_rows(const tenon_profiler* profiler TENON_THREADS(any));

/**
 * Tells what a row says. They stand in the order of the table. Any thread.
 *
 * @param profiler  The profiler, stopped.
 * @param index     The row's place.
 * @param out_row   Filled in up to the struct_size that it has.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_FAILED_PRECONDITION if it still runs.
 *   - TENON_OUT_OF_RANGE if there are not so many.
 *   - TENON_INVALID_ARGUMENT if `profiler` is not a profiler, or `out_row` is NULL or has no
 *     struct_size.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_profiler_describe_row(
    const tenon_profiler* profiler TENON_THREADS(any), size_t index, tenon_profiler_row* out_row);

/**
 * Counts the events that the trace lacks, for want of room (`max_events`); the table has them. Any
 * thread.
 *
 * @param profiler  The profiler.
 *
 * @return The number; 0 while it runs, or if `profiler` is not a profiler.
 *
 * @since 0.1, unstable
 */
TENON_API uint64_t
tenon_profiler_count_dropped_events(const tenon_profiler* profiler TENON_THREADS(any));

TENON_END_DECLS

#endif /* TENON_PROFILER_H_ */
