/* tenon/context.h - the context: devices, plugins and defaults of one program or library.
 *
 * There are no globals. Two contexts in one process share nothing; a call that mixes tensors of
 * both fails.
 *
 * Threads: every function here may be called from any thread, also concurrently.
 *
 * Errors: in addition to the errors that each function lists, any call can return those in
 * tenon/error.h.
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

/* The version as one number, which is larger for later releases. */
#define TENON_VERSION_NUMBER \
  (TENON_VERSION_MAJOR * 1000000 + TENON_VERSION_MINOR * 1000 + TENON_VERSION_PATCH)

/**
 * Returns the version of the loaded library, which may be newer than its headers. Any thread.
 *
 * @return Static text like "0.1.0".
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_version(void);

/**
 * Returns the version of the loaded library as one number. Any thread.
 *
 * @return Major * 1000000 + minor * 1000 + patch, comparable with TENON_VERSION_NUMBER.
 *
 * @since 0.1, unstable
 */
TENON_API uint32_t tenon_version_number(void);

/* ---- options ------------------------------------------------------------ */

/* Receives log lines. May be called from any thread, also concurrently. */
typedef struct tenon_log_callback {
  /* The function to call; if it is NULL, messages are printed to stderr. */
  void (*function)(void* payload, int32_t level, tenon_string message) TENON_NULLABLE;
  void* payload;
  void (*destroy)(void* payload) TENON_NULLABLE;
} tenon_log_callback;

/* One option for one plugin; the plugin's documentation lists the keys. Frozen. */
typedef struct tenon_plugin_option {
  tenon_string plugin;
  tenon_string key;
  tenon_string value;
} tenon_plugin_option;

enum {
  /* Results are bitwise determined by values, shapes, dtypes and attributes. */
  TENON_NUMERIC_STRICT = 0,
  TENON_NUMERIC_FAST = 1 /* Faster kernels may return results that differ in rounding. */
};

enum {
  /* Ops that a device cannot run fall back to the CPU, with one warning for each op. */
  TENON_FALLBACK_WARN = 0,
  TENON_FALLBACK_STRICT = 1, /* An op that the device cannot run is an error. */
  TENON_FALLBACK_AUTO = 2    /* Falls back to the CPU silently. */
};

/* Options of a context. Start from TENON_CONTEXT_OPTIONS_DEFAULT. */
typedef struct tenon_context_options {
  uint32_t struct_size;
  int32_t log_level;      /* Minimum TENON_LOG_* level that is logged. */
  tenon_log_callback log; /* Receives log lines; destroyed with the context. */
  /* Plugin files, or folders of files libtenon_<name>.so, that are searched before all others. */
  const tenon_string* plugin_paths TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_plugin_paths);
  size_t n_plugin_paths;
  const tenon_plugin_option* plugin_options TENON_BORROWED TENON_NULLABLE
      TENON_COUNT(n_plugin_options);
  size_t n_plugin_options;
  uint64_t memory_limit_bytes; /* Memory limit of each device in bytes; 0: no limit. */
  uint32_t threads;        /* Threads of each device that computes on the host; 0: one per core. */
  int32_t numeric_policy;  /* A TENON_NUMERIC_* constant. */
  int32_t fallback_policy; /* A TENON_FALLBACK_* constant. */
  bool deterministic;      /* Whether results repeat bitwise even with TENON_NUMERIC_FAST. */
} tenon_context_options;

#define TENON_CONTEXT_OPTIONS_DEFAULT                                                             \
  {                                                                                               \
    sizeof(tenon_context_options), TENON_LOG_WARNING, {NULL, NULL, NULL}, NULL, 0, NULL, 0, 0, 0, \
        TENON_NUMERIC_STRICT, TENON_FALLBACK_WARN, false                                          \
  }

/* ---- creation and references -------------------------------------------- */

/**
 * Creates a context. Plugins are loaded and devices are opened on first use.
 *
 * @param options      Options; NULL for the defaults. Copied. The context takes ownership of
 *                     `options->log`: its destructor runs exactly once, when the context is
 *                     destroyed or when this call fails.
 * @param out_context  Receives the context.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a policy or the log level is unknown, an array is NULL with a count
 *     above zero, the options have no struct_size or set fields that only a newer version supports,
 *     or `out_context` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_context_create(
    const tenon_context_options* options TENON_NULLABLE, tenon_context** out_context TENON_OWNED);

/**
 * Adds a reference to a context.
 *
 * @param context  The context; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_context_retain(tenon_context* context TENON_NULLABLE TENON_THREADS(any));

/**
 * Releases a reference to a context. Its scopes, tensors and devices keep it alive. Releasing
 * the last reference waits for running work and its callbacks, and closes the devices.
 *
 * @param context  The context; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_context_release(tenon_context* context TENON_NULLABLE TENON_THREADS(any));

/**
 * Returns the context's default scope, for programs that need only one.
 *
 * @param context  The context.
 *
 * @return A scope that stays valid as long as the context and must not be released; NULL if
 *         `context` is not a context. Only one thread at a time may use it.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED tenon_scope* tenon_context_default_scope(
    tenon_context* context TENON_THREADS(any));

/**
 * Cancels running calls: calls in any scope of this context return TENON_CANCELLED at their next
 * check. Calls that start later are not affected.
 *
 * @param context  The context; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_context_cancel(tenon_context* context TENON_NULLABLE TENON_THREADS(any));

/* ---- devices ------------------------------------------------------------ */

/**
 * Counts the available devices. The first call loads every plugin that is found, so it may take a
 * while.
 *
 * @param context    The context.
 * @param out_count  Receives the number. 0 is not an error.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `context` is not a context or `out_count` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_context_count_devices(
    tenon_context* context TENON_THREADS(any), size_t* out_count);

/**
 * Gets a device by its index in the list of devices. The CPU devices come first; the others are
 * sorted by name.
 *
 * @param context     The context.
 * @param index       The index, less than the result of tenon_context_count_devices().
 * @param out_device  Receives the device.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_OUT_OF_RANGE if `index` is too large.
 *   - TENON_INVALID_ARGUMENT if `context` is not a context or `out_device` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_context_get_device(
    tenon_context* context TENON_THREADS(any), size_t index, tenon_device** out_device TENON_OWNED);

/**
 * Gets a device by name. Loads the plugin of that name if necessary, and no other plugin.
 *
 * @param context     The context.
 * @param name        "cpu:1"; "cpu" for cpu:0; "best" for the first device that is not a CPU, or
 *                    cpu:0 if there is none.
 * @param out_device  Receives the device.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_NOT_FOUND if there is no such device; the message lists the available devices.
 *   - TENON_INVALID_ARGUMENT if `context` is not a context or `out_device` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_context_find_device(
    tenon_context* context TENON_THREADS(any), tenon_string name,
    tenon_device** out_device TENON_OWNED);

/* ---- plugins ------------------------------------------------------------
 * Plugins are searched in the paths of the options, then in the paths of the environment variable
 * TENON_PLUGIN_PATH (absolute paths separated by colons; ignored in a privileged process), then in
 * tenon/plugins next to the library. The working directory is never searched. */

enum {
  TENON_PLUGIN_NOT_TRIED = 0, /* Not loaded yet: no device of its name was requested. */
  TENON_PLUGIN_LOADED = 1,
  TENON_PLUGIN_REFUSED = 2 /* Loading failed; `reason` states why. */
};

/* A plugin that was found. The caller sets struct_size. Strings stay valid as long as the
 * context. */
typedef struct tenon_plugin_candidate {
  uint32_t struct_size;
  int32_t state;        /* A TENON_PLUGIN_* constant. */
  tenon_code code;      /* The error code if loading failed; TENON_OK otherwise. */
  uint32_t reserved;    /* Always zero. */
  tenon_string path;    /* Path of the file; empty if the plugin is statically linked. */
  tenon_string name;    /* Name of the plugin; its devices are NAME:0, NAME:1, ... */
  tenon_string version; /* The plugin's version; empty until it is loaded. */
  tenon_string reason;  /* Why the plugin was refused; empty otherwise. */
} tenon_plugin_candidate;

/**
 * Loads a plugin from a file and opens its devices.
 *
 * @param context  The context.
 * @param path     The file. A relative path is relative to the working directory.
 *
 * @return NULL, or an error for the caller to free. The candidate's `reason` then holds the cause:
 *   - TENON_NOT_FOUND if there is no such file.
 *   - TENON_DATA_LOSS if the file is truncated.
 *   - TENON_INVALID_ARGUMENT if the file is not a shared object, is for another architecture, is
 *     not a plugin or has an invalid descriptor, or if `context` is not a context.
 *   - TENON_UNAVAILABLE if the plugin has a different ABI epoch, if it does not provide a feature
 *     that the host requires or requires one that the host does not provide, or if it reports that
 *     it does not support this machine.
 *   - TENON_UNIMPLEMENTED if this build cannot load plugins because its plugins are statically
 *     linked.
 *   - Any error that the plugin's own functions return.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_context_load_plugin(
    tenon_context* context TENON_THREADS(any), tenon_string path);

/**
 * Counts the plugins that were found, loaded or not. Does not load any.
 *
 * @param context  The context.
 *
 * @return The number; 0 if `context` is not a context.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_context_count_candidates(tenon_context* context TENON_THREADS(any));

/**
 * Describes a plugin that was found. Does not load it.
 *
 * @param context        The context.
 * @param index          Its index, in the order in which plugins are searched.
 * @param out_candidate  Filled up to its `struct_size`, which the caller sets.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_OUT_OF_RANGE if `index` is too large.
 *   - TENON_INVALID_ARGUMENT if `context` is not a context, or `out_candidate` is NULL or has a
 *     struct_size below 8.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_context_get_candidate(
    tenon_context* context TENON_THREADS(any), size_t index, tenon_plugin_candidate* out_candidate);

TENON_END_DECLS

#endif /* TENON_CONTEXT_H_ */
