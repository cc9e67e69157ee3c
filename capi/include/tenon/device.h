/* tenon/device.h - a device: what it is, what its memory holds.
 *
 * Devices are got from a context by name or place.
 *
 * Threads: any may call each function here, several at once too.
 *
 * Errors: besides what each function lists, those of every call (tenon/error.h).
 */

#ifndef TENON_DEVICE_H_
#define TENON_DEVICE_H_

#include <tenon/features.h>
#include <tenon/types.h>

TENON_BEGIN_DECLS

/* What a device is. The caller sets struct_size; texts live as long as the device. */
typedef struct tenon_device_info {
  uint32_t struct_size;
  int32_t kind;              /* TENON_DEVICE_*. */
  tenon_string name;         /* "cpu:0". */
  tenon_string description;  /* What a person calls it: the processor's or board's name. */
  tenon_string vendor;       /* May be empty. */
  tenon_string driver;       /* The driver or library with its version; may be empty. */
  tenon_string plugin;       /* The plugin's version. */
  tenon_features features;   /* TENON_FEATURE_*. */
  uint64_t memory_bytes;     /* 0: unknown. */
  uint64_t max_buffer_bytes; /* 0: no limit but memory. */
  uint32_t compute_units;    /* Cores, multiprocessors; 0: unknown. */
  uint32_t vector_bits;      /* Of the SIMD unit in use; 0: does not apply. */
  uint8_t uuid[16];          /* Zeros: none. */
} tenon_device_info;

/* What a device's memory holds for this context. The caller sets struct_size. */
typedef struct tenon_memory_info {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t live_bytes;   /* Held by tensors. */
  uint64_t peak_bytes;   /* The most that live_bytes ever was. */
  uint64_t held_bytes;   /* Taken from the device: live, or kept for the next tensor. */
  uint64_t live_buffers; /* How many the live bytes are. */
  uint64_t allocations;  /* How often the device itself was asked for memory. */
  uint64_t limit_bytes;  /* What the context allows; 0: no limit. */
} tenon_memory_info;

/**
 * Adds an owner to a device.
 *
 * @param device  The device; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_device_retain(tenon_device* device TENON_NULLABLE TENON_THREADS(any));

/**
 * Takes an owner away from a device. It stays open until its context is gone.
 *
 * @param device  The device; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_device_release(tenon_device* device TENON_NULLABLE TENON_THREADS(any));

/**
 * Gives the name by which a device is asked for.
 *
 * @param device  The device.
 *
 * @return Text like "cpu:0" that lives as long as the device; empty if `device` is not a device.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_device_name(const tenon_device* device);

/**
 * Tells what a device is.
 *
 * @param device    The device.
 * @param out_info  Filled up to its `struct_size`, which the caller sets and this call sets to what
 *                  it wrote.
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
 * Tells what a device's memory holds for this context.
 *
 * @param device    The device.
 * @param out_info  Filled up to its `struct_size`, which the caller sets and this call sets to what
 *                  it wrote.
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
 * Lets `peak_bytes` start anew from what is live now.
 *
 * @param device  The device; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_device_reset_peak(tenon_device* device TENON_NULLABLE TENON_THREADS(any));

/**
 * Gives the memory that is kept for later tensors back to the device.
 *
 * @param device           The device.
 * @param out_freed_bytes  Receives how much that was; NULL if it does not matter.
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
