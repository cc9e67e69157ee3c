/* tenon/device.h - devices: their properties and memory statistics.
 *
 * tenon_context_find_device() and tenon_context_get_device() return devices by name and index.
 *
 * Threads: every function here may be called from any thread, also concurrently.
 *
 * Errors: in addition to the errors that each function lists, any call can return those in
 * tenon/error.h.
 */

#ifndef TENON_DEVICE_H_
#define TENON_DEVICE_H_

#include <tenon/features.h>
#include <tenon/types.h>

TENON_BEGIN_DECLS

/* Properties of a device. The caller sets struct_size. Strings stay valid as long as the device. */
typedef struct tenon_device_info {
  uint32_t struct_size;
  int32_t kind;              /* A TENON_DEVICE_* constant. */
  tenon_string name;         /* The name, for example "cpu:0". */
  tenon_string description;  /* Human-readable: the name of the processor or board. */
  tenon_string vendor;       /* The vendor; may be empty. */
  tenon_string driver;       /* The driver or library with its version; may be empty. */
  tenon_string plugin;       /* The plugin's version. */
  tenon_features features;   /* A bit set of TENON_FEATURE_*. */
  uint64_t memory_bytes;     /* Size of the device's memory in bytes; 0: unknown. */
  uint64_t max_buffer_bytes; /* Maximum size of a buffer in bytes; 0: no limit. */
  uint32_t compute_units;    /* Number of cores or multiprocessors; 0: unknown. */
  uint32_t vector_bits;      /* Width of the SIMD unit in use, in bits; 0: none. */
  uint8_t uuid[16];          /* UUID of the device; all zeros: none. */
} tenon_device_info;

/* Memory statistics of a device for this context. The caller sets struct_size. */
typedef struct tenon_memory_info {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t live_bytes;   /* Bytes in use by tensors. */
  uint64_t peak_bytes;   /* Maximum of live_bytes so far. */
  uint64_t held_bytes;   /* Bytes allocated from the device: live, or cached for later tensors. */
  uint64_t live_buffers; /* Number of buffers in use by tensors. */
  uint64_t allocations;  /* Number of allocations from the device, excluding reuse of the cache. */
  uint64_t limit_bytes;  /* The context's memory limit in bytes; 0: no limit. */
} tenon_memory_info;

/**
 * Adds a reference to a device.
 *
 * @param device  The device; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_device_retain(tenon_device* device TENON_NULLABLE TENON_THREADS(any));

/**
 * Releases a reference to a device. The device stays open until its context is destroyed.
 *
 * @param device  The device; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_device_release(tenon_device* device TENON_NULLABLE TENON_THREADS(any));

/**
 * Returns the name by which a device is requested.
 *
 * @param device  The device.
 *
 * @return Text like "cpu:0", valid as long as the device; empty if `device` is not a device.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_device_name(const tenon_device* device);

/**
 * Gets the properties of a device.
 *
 * @param device    The device.
 * @param out_info  Filled up to its `struct_size`, which the caller sets. The call sets it to the
 *                  number of bytes written.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `device` is not a device, or `out_info` is NULL or has a
 *     struct_size below 8.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_device_describe(
    const tenon_device* device TENON_THREADS(any), tenon_device_info* out_info);

/**
 * Gets the memory statistics of a device for this context.
 *
 * @param device    The device.
 * @param out_info  Filled up to its `struct_size`, which the caller sets. The call sets it to the
 *                  number of bytes written.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `device` is not a device, or `out_info` is NULL or has a
 *     struct_size below 8.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_device_describe_memory(
    tenon_device* device TENON_THREADS(any), tenon_memory_info* out_info);

/**
 * Resets `peak_bytes` to the current `live_bytes`.
 *
 * @param device  The device; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_device_reset_peak(tenon_device* device TENON_NULLABLE TENON_THREADS(any));

/**
 * Returns cached memory to the device.
 *
 * @param device           The device.
 * @param out_freed_bytes  Receives the number of bytes freed; may be NULL.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `device` is not a device.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_device_trim(tenon_device* device TENON_THREADS(any),
                                                     uint64_t* out_freed_bytes TENON_NULLABLE);

TENON_END_DECLS

#endif /* TENON_DEVICE_H_ */
