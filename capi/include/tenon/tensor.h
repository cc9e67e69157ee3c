/* tenon/tensor.h - tensors: creation from host memory, properties, reading and printing.
 *
 * A tensor's value never changes. It has a dtype, a shape, strides and a reference to memory of
 * some device. Views share that memory, which is not observable. An inline scalar has no memory and
 * no device. Strides are in elements.
 *
 * Threads: any thread, also concurrently, but only one thread at a time may use a scope. Tensors
 * are immutable, so several threads may use the same tensor, each in its own scope.
 *
 * Errors: in addition to the errors that each function lists, any call can return those in
 * tenon/error.h. A call that takes a scope returns TENON_FAILED_PRECONDITION if another thread is
 * using that scope.
 */

#ifndef TENON_TENSOR_H_
#define TENON_TENSOR_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

/* ---- ownership ---------------------------------------------------------- */

/**
 * Adds a reference to a tensor.
 *
 * @param tensor  The tensor; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_tensor_retain(tenon_tensor* tensor TENON_NULLABLE TENON_THREADS(any));

/**
 * Releases a reference to a tensor. Its memory is freed when no tensor, view, tape or export
 * refers to it any more.
 *
 * @param tensor  The tensor; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_tensor_release(tenon_tensor* tensor TENON_NULLABLE TENON_THREADS(any));

/**
 * Releases several tensors, in order. Equivalent to a tenon_tensor_release() of each, but needs a
 * single call, which is faster in languages whose calls of C are expensive.
 *
 * @param tensors    `n_tensors` tensors; entries may be NULL.
 * @param n_tensors  The number of tensors.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_tensor_release_all(tenon_tensor* const* tensors TENON_OWNED TENON_NULLABLE
                                            TENON_COUNT(n_tensors) TENON_THREADS(any),
                                        size_t n_tensors);

/**
 * Donates a tensor to the next call that takes it as an input, which may then write its output to
 * the tensor's memory. After that call, any use of the handle except its release fails with
 * TENON_INVALID_ARGUMENT. Memory that has other users is not overwritten. No other thread may use
 * the handle during or after that call.
 *
 * @param tensor  The tensor.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `tensor` is not a tensor, is an inline scalar, uses imported memory
 *     of the host or another library, or was already donated.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tensor_donate(
    tenon_tensor* tensor TENON_THREADS(one_at_a_time));

/* ---- from host memory --------------------------------------------------- */

/**
 * Creates a tensor on the scope's device and copies host memory to it.
 *
 * @param scope       The scope in which the call runs.
 * @param dtype       The elements' type.
 * @param shape       `rank` sizes, none negative; may be NULL for rank 0.
 * @param rank        At most TENON_MAX_RANK.
 * @param data        The elements, row-major without gaps; any alignment. May be NULL if `size` is
 *                    0.
 * @param size        Number of bytes, which must match dtype and shape.
 * @param out_tensor  Receives the tensor.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `scope` is not a scope, the dtype is unknown, the rank is too high,
 *     a size is negative, the number of bytes exceeds an int64, `size` does not match, or a pointer
 *     is NULL.
 *   - TENON_OUT_OF_MEMORY if the device's memory or the memory limit is exhausted.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tensor_from_data(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_dtype dtype,
    const int64_t* shape TENON_BORROWED TENON_NULLABLE TENON_COUNT(rank), size_t rank,
    const void* data TENON_BORROWED TENON_NULLABLE TENON_COUNT(size), size_t size,
    tenon_tensor** out_tensor TENON_OWNED);

/**
 * Creates a tensor from imported host memory, without a copy if the device can use the memory in
 * place. The memory must not be written until `deleter` runs; ops do not write to it.
 *
 * @param scope       The scope in which the call runs.
 * @param dtype       The elements' type.
 * @param shape       `rank` sizes, none negative; may be NULL for rank 0.
 * @param rank        At most TENON_MAX_RANK.
 * @param strides     `rank` strides in elements, such that every element is inside `data`; NULL for
 *                    row-major without gaps. A stride may be negative; the stride of an axis of
 *                    size 1 is ignored.
 * @param data        The memory. Its first element is the tensor's first element along axes with a
 *                    positive stride, and the last along axes with a negative stride. It is copied
 *                    if it is not aligned for its dtype.
 * @param size        Number of bytes, at least those that shape and strides reach.
 * @param deleter     Runs exactly once, when the memory is no longer needed: when the last
 *                    reference to the tensor is released, after the copy, or when this call fails.
 * @param out_tensor  Receives the tensor.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `scope` is not a scope, the dtype is unknown, the rank is too high,
 *     a size is negative, an element is outside `data`, or a pointer is NULL.
 *   - TENON_OUT_OF_MEMORY if it is copied and the device's memory or the memory limit is exhausted.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tensor_from_host(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_dtype dtype,
    const int64_t* shape TENON_BORROWED TENON_NULLABLE TENON_COUNT(rank), size_t rank,
    const int64_t* strides TENON_BORROWED TENON_NULLABLE TENON_COUNT(rank),
    void* data TENON_BORROWED TENON_NULLABLE TENON_COUNT(size), size_t size, tenon_deleter deleter,
    tenon_tensor** out_tensor TENON_OWNED);

/* ---- inline scalars -----------------------------------------------------
 * A tensor of rank 0 whose value is stored inline: it has no memory, no device and no context. It
 * adopts the dtype of the tensor that it is combined with, so adding one to a float16 tensor gives
 * float16. Any thread. */

/**
 * Creates an inline scalar from a floating value. Combining it with an integer tensor is an error.
 *
 * @param value  The value.
 *
 * @return The tensor, float32 if it is used alone; NULL only if host memory is exhausted.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_tensor* tenon_scalar_f64(double value);

/**
 * Creates an inline scalar from an integer.
 *
 * @param value  The value.
 *
 * @return The tensor, int64 if it is used alone; NULL only if host memory is exhausted.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_tensor* tenon_scalar_i64(int64_t value);

/**
 * Creates an inline scalar from a bool.
 *
 * @param value  The value.
 *
 * @return The tensor, a bool; NULL only if host memory is exhausted.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_tensor* tenon_scalar_bool(bool value);

/* ---- properties --------------------------------------------------------- */

/**
 * Returns the dtype.
 *
 * @param tensor  The tensor.
 *
 * @return The dtype; TENON_DTYPE_NONE if `tensor` is not a tensor.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_dtype tenon_tensor_dtype(const tenon_tensor* tensor);

/**
 * Returns the number of axes.
 *
 * @param tensor  The tensor.
 *
 * @return At most TENON_MAX_RANK; 0 if `tensor` is not a tensor.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_tensor_rank(const tenon_tensor* tensor);

/**
 * Gets the size of one axis.
 *
 * Inside a function without a signature, reading a dynamic size specialises the trace to that size.
 * tenon_shape() returns the sizes as a tensor instead, so that one trace serves all sizes.
 *
 * @param tensor    The tensor.
 * @param axis      The axis; a negative one counts from the end.
 * @param out_size  Receives the size; 0 if the call fails.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `tensor` is not a tensor, it has no such axis, or `out_size` is
 * NULL.
 *   - TENON_FAILED_PRECONDITION inside a function, if the size is unknown in the function's
 *     signature or data-dependent, or if the tensor's function is not being traced on this thread.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tensor_size(const tenon_tensor* tensor, int64_t axis,
                                                     int64_t* out_size);

/**
 * Gets the sizes of all axes, or the error that tenon_tensor_size() returns for one of them.
 *
 * @param tensor     The tensor.
 * @param out_shape  Receives an array of length rank, valid as long as the tensor; NULL if the call
 *                   fails.
 * @param out_rank   Receives the rank; 0 if the call fails. May be NULL if not needed.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `tensor` is not a tensor, or `out_shape` is NULL.
 *   - TENON_FAILED_PRECONDITION inside a function, if a size is unknown in the function's signature
 *     or data-dependent, or if the tensor's function is not being traced on this thread.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tensor_read_shape(
    const tenon_tensor* tensor, const int64_t** out_shape TENON_BORROWED TENON_COUNT(out_rank),
    size_t* out_rank TENON_NULLABLE);

/**
 * Returns the sizes.
 *
 * Inside a function it reads every size as tenon_tensor_size() does. It cannot return an error. If
 * a size cannot be read, it returns the size in the call that is being traced, or 0 if there is
 * none, and the call of the function fails with the error of tenon_tensor_size(). An unknown size
 * of a tensor that outlives its tracing is 0.
 *
 * @param tensor  The tensor.
 *
 * @return An array of length rank, valid as long as the tensor; NULL if `tensor` is not a tensor.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED const int64_t* tenon_tensor_shape(const tenon_tensor* tensor);

/**
 * Returns the strides, in elements. Strides describe the memory layout only. Inside a function it
 * reads the sizes, as tenon_tensor_shape() does, and returns row-major strides for them.
 *
 * @param tensor  The tensor.
 *
 * @return An array of length rank, valid as long as the tensor; NULL if `tensor` is not a tensor.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED const int64_t* tenon_tensor_strides(const tenon_tensor* tensor);

/**
 * Returns the number of elements. Inside a function it reads the sizes, as tenon_tensor_shape()
 * does.
 *
 * @param tensor  The tensor.
 *
 * @return The product of the sizes; 0 if `tensor` is not a tensor.
 *
 * @since 0.1, unstable
 */
TENON_API int64_t tenon_tensor_count(const tenon_tensor* tensor);

/**
 * Returns the number of bytes of a dense copy of the value. Inside a function it reads the sizes,
 * as tenon_tensor_shape() does.
 *
 * @param tensor  The tensor.
 *
 * @return The number of elements times the size of one; 0 if `tensor` is not a tensor.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_tensor_bytes(const tenon_tensor* tensor);

/**
 * Returns the name of the device that holds a tensor.
 *
 * @param tensor  The tensor.
 *
 * @return Text like "cpu:0", valid as long as the tensor; empty for an inline scalar, a tensor that
 *         was donated, or anything that is not a tensor.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_tensor_device_name(const tenon_tensor* tensor);

/**
 * Returns the device that holds a tensor.
 *
 * @param tensor  The tensor.
 *
 * @return A device that stays valid as long as the tensor and must not be released; NULL for an
 *         inline scalar, a tensor that was donated, or anything that is not a tensor.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED tenon_device* tenon_tensor_device(const tenon_tensor* tensor);

/**
 * Casts a tensor to a value, the type of gradient sources.
 *
 * @param tensor  The tensor; NULL gives NULL.
 *
 * @return The same object with another type; no reference is added.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED tenon_value* tenon_tensor_as_value(tenon_tensor* tensor TENON_NULLABLE);

/* ---- the value ---------------------------------------------------------- */

/**
 * Returns a pointer to the elements if the host can read them in place: in host-visible memory,
 * row-major without gaps.
 *
 * @param tensor  The tensor.
 *
 * @return The first element, read-only, valid as long as the tensor. NULL if the device is
 *         asynchronous or its memory is not host-visible, and for other strides, an inline scalar,
 *         a donated tensor, or anything that is not a tensor.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED const void* tenon_tensor_data(const tenon_tensor* tensor);

/**
 * Copies the elements to host memory, row-major without gaps, and waits for the copy.
 *
 * @param scope     The scope in which the call runs. The tensor may be on another device.
 * @param tensor    The tensor.
 * @param out_data  The memory; any alignment. May be NULL if `size` is 0.
 * @param size      Number of bytes, which must be tenon_tensor_bytes().
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type, the tensor was donated or belongs to
 *     another context, `size` does not match, or `out_data` is NULL.
 *   - TENON_UNIMPLEMENTED if neither the device nor this build can block (a browser's main thread);
 *     use tenon_tensor_read_async().
 *   - TENON_OUT_OF_MEMORY if the device's memory or the memory limit is exhausted. The call needs
 *     device memory only if the elements are not row-major without gaps.
 *   - TENON_CANCELLED if the scope or its context was cancelled during the call.
 *   - TENON_DEVICE_LOST if the device is lost.
 *   - Any error in computing the value, such as TENON_OUT_OF_RANGE for an index.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tensor_read(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_tensor* tensor,
    void* out_data TENON_BORROWED TENON_NULLABLE TENON_COUNT(size), size_t size);

/**
 * Copies the elements to host memory, row-major without gaps, and runs a callback when they are
 * copied.
 *
 * @param scope     The scope in which the call runs. The tensor may be on another device.
 * @param tensor    The tensor.
 * @param out_data  The memory, which stays valid until `done` runs; any alignment.
 * @param size      Number of bytes, which must be tenon_tensor_bytes().
 * @param done      Runs once, on the context's callback thread, with an error or NULL. Its
 *                  destructor also runs when this call fails.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type, the tensor was donated or belongs to
 *     another context, `size` does not match, `out_data` is NULL or `done` has no function. All
 *     other errors of tenon_tensor_read() are passed to `done`.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tensor_read_async(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_tensor* tensor,
    void* out_data TENON_BORROWED TENON_NULLABLE TENON_COUNT(size), size_t size,
    tenon_done_callback done);

/**
 * Reads the only element of a tensor as a double.
 *
 * @param scope      The scope in which the call runs.
 * @param tensor     A tensor with one element, of any dtype and rank; 64-bit integers are rounded.
 * @param out_value  Receives the value; 0 if the call fails.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type, the tensor does not have exactly one
 *     element, was donated or belongs to another context, or `out_value` is NULL.
 *   - Any error that tenon_tensor_read() returns.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tensor_item_f64(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_tensor* tensor, double* out_value);

/**
 * Reads the only element of a tensor as an integer; a bool reads as 0 or 1.
 *
 * @param scope      The scope in which the call runs.
 * @param tensor     A tensor with one element, of an integer dtype or bool and any rank.
 * @param out_value  Receives the value; 0 if the call fails.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type, the tensor does not have exactly one
 *     element, is floating, was donated or belongs to another context, or `out_value` is NULL.
 *   - TENON_OUT_OF_RANGE if a uint64 value does not fit into an int64.
 *   - Any error that tenon_tensor_read() returns.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tensor_item_i64(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_tensor* tensor, int64_t* out_value);

/**
 * Gets a tensor with the same value on another device: a copy, unless the tensor is already there.
 * Tapes do not record it.
 *
 * @param scope       The scope in which the call runs.
 * @param tensor      The tensor.
 * @param device      The name of the device, as for tenon_scope_set_device().
 * @param out_tensor  Receives the tensor.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_NOT_FOUND if there is no such device; the message lists the available devices.
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type, the tensor was donated or belongs to
 *     another context, or `out_tensor` is NULL.
 *   - TENON_OUT_OF_MEMORY if the device's memory or the memory limit is exhausted.
 *   - Any other error that tenon_tensor_read() returns.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tensor_copy_to(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_tensor* tensor, tenon_string device,
    tenon_tensor** out_tensor TENON_OWNED);

/* ---- text --------------------------------------------------------------- */

/* Options for printing a tensor. Start from TENON_FORMAT_OPTIONS_DEFAULT. */
typedef struct tenon_format_options {
  uint32_t struct_size;
  int32_t precision;  /* Maximum number of digits after the decimal point. */
  int64_t threshold;  /* Tensors with more elements are summarised. */
  int32_t edge_items; /* Number of elements that a summary shows at each end of an axis. */
  int32_t line_width; /* Maximum number of columns in a line. */
  bool long_form;     /* Whether to append dtype, shape and device: "... : f32[2,3] on cpu:0". */
} tenon_format_options;

#define TENON_FORMAT_OPTIONS_DEFAULT \
  { sizeof(tenon_format_options), 8, 1000, 3, 75, false }

/**
 * Prints a tensor as NumPy prints an array with `str`.
 *
 * @param scope     The scope in which the call runs.
 * @param tensor    The tensor.
 * @param options   Options; NULL for the defaults, which are NumPy's.
 * @param out_text  Receives the text, for tenon_string_release(); it ends with a zero byte.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type, the tensor was donated or belongs to
 *     another context, an option is negative, or `out_text` is NULL.
 *   - Any error that tenon_tensor_read() returns.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tensor_format(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_tensor* tensor,
    const tenon_format_options* options TENON_NULLABLE, tenon_string* out_text TENON_OWNED);

TENON_END_DECLS

#endif /* TENON_TENSOR_H_ */
