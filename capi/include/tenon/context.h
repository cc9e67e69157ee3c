/* tenon/context.h - the context: devices, plugins and defaults of one program or library.
 *
 * There are no globals. Two contexts in one process do not touch each other, and a tensor of one is
 * refused by the other.
 *
 * Threads: any may call each function here, several at once too.
 *
 * Errors: besides what each function lists, those of every call (tenon/error.h).
 */

#ifndef TENON_CONTEXT_H_
#define TENON_CONTEXT_H_

#include <tenon/features.h>
#include <tenon/types.h>

TENON_BEGIN_DECLS

/* ---- version ------------------------------------------------------------ */

#define TENON_VERSION_MAJOR 0
#define TENON_VERSION_MINOR 1
#define TENON_VERSION_PATCH 0

/* One number that grows with every release. */
#define TENON_VERSION_NUMBER \
  (TENON_VERSION_MAJOR * 1000000 + TENON_VERSION_MINOR * 1000 + TENON_VERSION_PATCH)

/**
 * Gives the version of the library that runs, which may be newer than its headers. Any thread.
 *
 * @return Static text like "0.1.0".
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_version(void);

/**
 * Gives the version of the library that runs as one number. Any thread.
 *
 * @return Major * 1000000 + minor * 1000 + patch, to be compared with TENON_VERSION_NUMBER.
 *
 * @since 0.1, unstable
 */
TENON_API uint32_t tenon_version_number(void);

/* ---- options ------------------------------------------------------------ */

/* Receives lines of the log, from any thread and several at a time. */
typedef struct tenon_log_callback {
  /* NULL: to stderr. */
  void (*function)(void* payload, int32_t level, tenon_string message) TENON_NULLABLE;
  void* payload;
  void (*destroy)(void* payload) TENON_NULLABLE;
} tenon_log_callback;

/* One option for one plugin, as its documents name it. Frozen. */
typedef struct tenon_plugin_option {
  tenon_string plugin;
  tenon_string key;
  tenon_string value;
} tenon_plugin_option;

enum {
  TENON_NUMERIC_STRICT = 0, /* The bits depend on values, shapes, dtypes and attributes only. */
  TENON_NUMERIC_FAST = 1    /* A device may use what is faster. */
};

enum {
  TENON_FALLBACK_WARN = 0,   /* What a device cannot run, the CPU does; said once for each op. */
  TENON_FALLBACK_STRICT = 1, /* It is an error. */
  TENON_FALLBACK_AUTO = 2    /* The CPU does, silently. */
};

/* How a context is made. Start from TENON_CONTEXT_OPTIONS_DEFAULT. */
typedef struct tenon_context_options {
  uint32_t struct_size;
  int32_t log_level;      /* The least TENON_LOG_* that is passed on. */
  tenon_log_callback log; /* Destroyed with the context. */
  /* Plugin files, or folders of files libtenon_<name>.so, that go before all others. */
  const tenon_string* plugin_paths TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_plugin_paths);
  size_t n_plugin_paths;
  const tenon_plugin_option* plugin_options TENON_BORROWED TENON_NULLABLE
      TENON_COUNT(n_plugin_options);
  size_t n_plugin_options;
  uint64_t memory_limit_bytes; /* For each device; 0 for none. */
  uint32_t threads;            /* Of each device that computes on the host; 0 for all cores. */
  int32_t numeric_policy;      /* TENON_NUMERIC_*. */
  int32_t fallback_policy;     /* TENON_FALLBACK_*. */
  bool deterministic;          /* Two runs give the same bits, also where the policy is FAST. */
} tenon_context_options;

#define TENON_CONTEXT_OPTIONS_DEFAULT                                                             \
  {                                                                                               \
    sizeof(tenon_context_options), TENON_LOG_WARNING, {NULL, NULL, NULL}, NULL, 0, NULL, 0, 0, 0, \
        TENON_NUMERIC_STRICT, TENON_FALLBACK_WARN, false                                          \
  }

/* ---- life --------------------------------------------------------------- */

/**
 * Makes a context. No plugin is loaded and no device is opened before one is needed.
 *
 * @param options      How; NULL for the defaults. Copied. `options->log` is taken over: its
 *                     destructor runs once, with the context or when this call fails.
 * @param out_context  Receives the context.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a policy or the log level is unknown, a list is NULL with a count
 *     above zero, the options have no struct_size or ask for what only a newer version knows, or
 *     `out_context` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_context_create(
    const tenon_context_options* options TENON_NULLABLE, tenon_context** out_context TENON_OWNED);

/**
 * Adds an owner to a context.
 *
 * @param context  The context; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_context_retain(tenon_context* context TENON_NULLABLE TENON_THREADS(any));

/**
 * Takes an owner away from a context. Scopes, tensors and devices made from it keep it alive; the
 * last of them waits for what is under way and for its callbacks, and closes the devices.
 *
 * @param context  The context; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_context_release(tenon_context* context TENON_NULLABLE TENON_THREADS(any));

/**
 * Gives the context's own scope, for programs that need no other.
 *
 * @param context  The context.
 *
 * @return A scope that lives as long as the context and is not released; NULL if `context` is not a
 *         context. One thread at a time uses it.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED tenon_scope* tenon_context_default_scope(
    tenon_context* context TENON_THREADS(any));

/**
 * Cancels what is under way: calls in any scope of this context return TENON_CANCELLED at their
 * next check. Calls that begin later run.
 *
 * @param context  The context; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_context_cancel(tenon_context* context TENON_NULLABLE TENON_THREADS(any));

/* ---- devices ------------------------------------------------------------ */

/**
 * Counts the devices that there are. Loads every plugin that is found, so it may take a while the
 * first time.
 *
 * @param context    The context.
 * @param out_count  Receives the number; 0 if there is none, which is no error.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `context` is not a context or `out_count` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_context_count_devices(
    tenon_context* context TENON_THREADS(any), size_t* out_count);

/**
 * Gives a device by its place in the list: cpu first, then by name.
 *
 * @param context     The context.
 * @param index       The place, below what tenon_context_count_devices() gave.
 * @param out_device  Receives the device.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_OUT_OF_RANGE if there are not so many.
 *   - TENON_INVALID_ARGUMENT if `context` is not a context or `out_device` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_context_get_device(
    tenon_context* context TENON_THREADS(any), size_t index, tenon_device** out_device TENON_OWNED);

/**
 * Gives a device by name and loads the plugin of that name, and no other, if need be.
 *
 * @param context     The context.
 * @param name        "cpu:1"; "cpu" for cpu:0; "best" for the first that is no CPU, else cpu:0.
 * @param out_device  Receives the device.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_NOT_FOUND if there is no such device; the message lists those that there are.
 *   - TENON_INVALID_ARGUMENT if `context` is not a context or `out_device` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_context_find_device(
    tenon_context* context TENON_THREADS(any), tenon_string name,
    tenon_device** out_device TENON_OWNED);

/* ---- plugins ------------------------------------------------------------
 * Plugins are looked for at the paths that the options name, then at those of the environment's
 * TENON_PLUGIN_PATH (absolute ones, parted by colons; ignored in a privileged process), then in
 * tenon/plugins beside the library. Never in the working directory. */

enum {
  TENON_PLUGIN_NOT_TRIED = 0, /* Nobody asked for a device of its name. */
  TENON_PLUGIN_LOADED = 1,
  TENON_PLUGIN_REFUSED = 2 /* Not loaded; `reason` says why. */
};

/* A plugin that was found. The caller sets struct_size; texts live as long as the context. */
typedef struct tenon_plugin_candidate {
  uint32_t struct_size;
  int32_t state;        /* TENON_PLUGIN_*. */
  tenon_code code;      /* Of the refusal; TENON_OK otherwise. */
  uint32_t reserved;    /* Zero. */
  tenon_string path;    /* Its file; empty if it is linked in. */
  tenon_string name;    /* What its devices are called. */
  tenon_string version; /* Empty until it is loaded. */
  tenon_string reason;  /* Empty unless it was refused. */
} tenon_plugin_candidate;

/**
 * Loads one more plugin and opens its devices.
 *
 * @param context  The context.
 * @param path     The file. A relative path counts from the working directory.
 *
 * @return NULL, or an error for the caller to free, whose reason is also listed with the
 * candidates:
 *   - TENON_NOT_FOUND if there is no such file.
 *   - TENON_DATA_LOSS if the file is truncated.
 *   - TENON_INVALID_ARGUMENT if it is no shared object, is for another machine, is no plugin or
 *     describes itself wrongly, or if `context` is not a context.
 *   - TENON_UNAVAILABLE if it is of another epoch, lacks a feature or needs one that is missing, or
 *     says that it does not fit this machine.
 *   - TENON_UNIMPLEMENTED if this build loads no plugins, since it holds those that it was built
 *     with.
 *   - What the plugin's own functions gave.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_context_load_plugin(
    tenon_context* context TENON_THREADS(any), tenon_string path);

/**
 * Counts the plugins that were found, tried or not. Loads none.
 *
 * @param context  The context.
 *
 * @return The number; 0 if `context` is not a context.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_context_count_candidates(tenon_context* context TENON_THREADS(any));

/**
 * Tells what came of a plugin that was found. Loads none.
 *
 * @param context        The context.
 * @param index          Its place, in the order in which plugins are tried.
 * @param out_candidate  Filled up to its `struct_size`, which the caller sets.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_OUT_OF_RANGE if there are not so many.
 *   - TENON_INVALID_ARGUMENT if `context` is not a context, or `out_candidate` is NULL or has a
 *     struct_size below 8.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_context_get_candidate(
    tenon_context* context TENON_THREADS(any), size_t index, tenon_plugin_candidate* out_candidate);

TENON_END_DECLS

#endif /* TENON_CONTEXT_H_ */
