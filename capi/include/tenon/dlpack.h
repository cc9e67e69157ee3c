/* tenon/dlpack.h - zero-copy exchange of tensors with other libraries in the format of DLPack 1.x.
 *
 * The structs have the layout of DLPack version 1, but Tenon's names. Thus a program may also
 * include dlpack.h and cast pointers between the two.
 *
 * Threads: any thread, but only one thread at a time may use a scope.
 *
 * Errors: in addition to the errors that each function lists, any call can return those in
 * tenon/error.h. A call that takes a scope returns TENON_FAILED_PRECONDITION if another thread is
 * using that scope.
 */

#ifndef TENON_DLPACK_H_
#define TENON_DLPACK_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

#define TENON_DLPACK_MAJOR 1
#define TENON_DLPACK_MINOR 0

/* Device types that Tenon imports or exports. */
enum { TENON_DLPACK_CPU = 1 };

/* Bits of `flags` in tenon_dlpack. */
#define TENON_DLPACK_READ_ONLY ((uint64_t)1 << 0)
#define TENON_DLPACK_IS_COPIED ((uint64_t)1 << 1)
/* Each element of less than 8 bits occupies one byte. */
#define TENON_DLPACK_SUBBYTE_PADDED ((uint64_t)1 << 2)

typedef struct tenon_dlpack_device {
  int32_t type;
  int32_t id;
} tenon_dlpack_device;

typedef struct tenon_dlpack_dtype {
  uint8_t code; /* A TENON_CODE_* constant. */
  uint8_t bits;
  uint16_t lanes;
} tenon_dlpack_dtype;

typedef struct tenon_dlpack_tensor {
  void* data TENON_BORROWED;
  tenon_dlpack_device device;
  int32_t rank;
  tenon_dlpack_dtype dtype;
  int64_t* shape TENON_BORROWED TENON_COUNT(rank);
  /* Strides in elements; NULL for row-major without gaps. */
  int64_t* strides TENON_BORROWED TENON_NULLABLE TENON_COUNT(rank);
  uint64_t byte_offset;
} tenon_dlpack_tensor;

typedef struct tenon_dlpack_version {
  uint32_t major;
  uint32_t minor;
} tenon_dlpack_version;

typedef struct tenon_dlpack {
  tenon_dlpack_version version;
  void* manager TENON_BORROWED; /* Private data of the producer. */
  /* Releases the exported memory. */
  void (*deleter)(struct tenon_dlpack* self TENON_OWNED TENON_COUNT(1)) TENON_NULLABLE;
  uint64_t flags;
  tenon_dlpack_tensor tensor;
} tenon_dlpack;

/**
 * Exports a tensor to another library without a copy. The export is marked read-only because a
 * tensor's value never changes.
 *
 * @param scope       The scope. Work that computes the tensor is ordered before `stream`.
 * @param tensor      A tensor on a device with host-visible memory.
 * @param stream      The consumer's stream, as DLPack numbers it; NULL for host memory.
 * @param out_dlpack  Receives the export, which keeps the memory alive until its deleter is called,
 *                    once, from any thread.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type, the tensor is an inline scalar, was
 *     donated or belongs to another context, `stream` is not NULL for host memory, or `out_dlpack`
 *     is NULL.
 *   - TENON_UNIMPLEMENTED if DLPack has no device type for the device's memory, or neither the
 *     device nor this build can block until the tensor is computed (a browser's main thread).
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tensor_to_dlpack(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_tensor* tensor,
    void* stream TENON_BORROWED TENON_NULLABLE, tenon_dlpack** out_dlpack TENON_OWNED);

/**
 * Imports a tensor from another library, without a copy if the scope's device can use the memory in
 * place. Imported memory must not be written until its deleter runs. A copy removes that
 * restriction.
 *
 * @param scope       The scope in which the call runs.
 * @param dlpack      The memory to import, whose ownership is transferred. Its deleter runs exactly
 *                    once: when the last reference to the tensor is released, after the copy, or
 *                    when this call fails. Strides may be negative: elements then precede `data`.
 *                    The stride of an axis of size 1 is ignored.
 * @param stream      The stream on which the producer wrote the memory; NULL for host memory.
 * @param copy        Whether to copy even if the device could use the memory in place.
 * @param out_tensor  Receives the tensor.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `scope` is not a scope, `dlpack` has a different major version, its
 *     dtype, rank, sizes or strides are not supported by tensors, or a pointer is NULL.
 *   - TENON_UNIMPLEMENTED if the memory is not host memory.
 *   - TENON_OUT_OF_MEMORY if it is copied and the device's memory or the memory limit is exhausted.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tensor_from_dlpack(
    tenon_scope* scope TENON_THREADS(one_at_a_time),
    tenon_dlpack* dlpack TENON_OWNED TENON_COUNT(1), void* stream TENON_BORROWED TENON_NULLABLE,
    bool copy, tenon_tensor** out_tensor TENON_OWNED);

TENON_END_DECLS

#endif /* TENON_DLPACK_H_ */
