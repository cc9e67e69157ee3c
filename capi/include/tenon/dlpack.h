/* tenon/dlpack.h - tensors shared with other libraries, by the layout of DLPack 1.x.
 *
 * The structs have the layout that DLPack's version 1 fixes, under names of our own, so that a
 * program may include dlpack.h too and cast.
 *
 * Threads: any, but one at a time for one scope.
 *
 * Errors: besides what each function lists, those of every call (tenon/error.h): of one that
 * takes a scope above all TENON_FAILED_PRECONDITION if another thread is inside of it.
 */

#ifndef TENON_DLPACK_H_
#define TENON_DLPACK_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

#define TENON_DLPACK_MAJOR 1
#define TENON_DLPACK_MINOR 0

/* Kinds of devices that Tenon reads or writes. */
enum { TENON_DLPACK_CPU = 1 };

/* Bits of `flags`. */
#define TENON_DLPACK_READ_ONLY ((uint64_t)1 << 0)
#define TENON_DLPACK_IS_COPIED ((uint64_t)1 << 1)

typedef struct tenon_dlpack_device {
  int32_t type;
  int32_t id;
} tenon_dlpack_device;

typedef struct tenon_dlpack_dtype {
  uint8_t code; /* TENON_CODE_*. */
  uint8_t bits;
  uint16_t lanes;
} tenon_dlpack_dtype;

typedef struct tenon_dlpack_tensor {
  void* data TENON_BORROWED;
  tenon_dlpack_device device;
  int32_t rank;
  tenon_dlpack_dtype dtype;
  int64_t* shape TENON_BORROWED TENON_COUNT(rank);
  /* In elements; NULL for row-major without gaps. */
  int64_t* strides TENON_BORROWED TENON_NULLABLE TENON_COUNT(rank);
  uint64_t byte_offset;
} tenon_dlpack_tensor;

typedef struct tenon_dlpack_version {
  uint32_t major;
  uint32_t minor;
} tenon_dlpack_version;

typedef struct tenon_dlpack {
  tenon_dlpack_version version;
  void* manager TENON_BORROWED; /* The producer's. */
  /* Ends the loan. */
  void (*deleter)(struct tenon_dlpack* self TENON_OWNED TENON_COUNT(1)) TENON_NULLABLE;
  uint64_t flags;
  tenon_dlpack_tensor tensor;
} tenon_dlpack;

/**
 * Lends a tensor to another library without a copy. It is marked read-only: a tensor's value never
 * changes.
 *
 * @param scope       Where; what computes the tensor is ordered before `stream`.
 * @param tensor      A tensor on a device whose memory the host sees.
 * @param stream      The consumer's stream, as DLPack numbers it; NULL for host memory.
 * @param out_dlpack  Receives the loan, which keeps the memory alive until its deleter is called,
 *                    once, from any thread.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind, the tensor is an inline scalar, was
 *     donated or is of another context, `stream` is not NULL for host memory, or `out_dlpack` is
 *     NULL.
 *   - TENON_UNIMPLEMENTED if DLPack has no name for the device's memory, or neither the device nor
 *     this build can block until the tensor is there (a browser's main thread).
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tensor_to_dlpack(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_tensor* tensor,
    void* stream TENON_BORROWED TENON_NULLABLE, tenon_dlpack** out_dlpack TENON_OWNED);

/**
 * Makes a tensor of what another library lends, without a copy where the scope's device can use it
 * in place. What is lent must not be written until its deleter runs; a copy removes that duty.
 *
 * @param scope       Where.
 * @param dlpack      The loan, which is taken over: its deleter runs exactly once, with the
 *                    tensor's last owner, after the copy, or when this call fails. Strides may be
 *                    negative: elements then lie before `data`. The stride of an axis of size 1 is
 *                    ignored.
 * @param stream      The stream on which the producer wrote it; NULL for host memory.
 * @param copy        Whether to copy in any case.
 * @param out_tensor  Receives the tensor.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `scope` is not a scope, the loan is of another major version, its
 *     dtype, rank, sizes or strides are none that a tensor can have, or a pointer is NULL.
 *   - TENON_UNIMPLEMENTED if it is not host memory.
 *   - TENON_OUT_OF_MEMORY if it is copied and the device's memory or its limit is used up.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tensor_from_dlpack(
    tenon_scope* scope TENON_THREADS(one_at_a_time),
    tenon_dlpack* dlpack TENON_OWNED TENON_COUNT(1), void* stream TENON_BORROWED TENON_NULLABLE,
    bool copy, tenon_tensor** out_tensor TENON_OWNED);

TENON_END_DECLS

#endif /* TENON_DLPACK_H_ */
