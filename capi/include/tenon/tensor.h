/* tenon/tensor.h - tensors: made from host memory, looked at, read back, printed.
 *
 * A tensor's value never changes. It has a dtype, a shape, strides and a share of some device's
 * memory; views share that memory, and nobody can tell. An inline scalar has no memory and no
 * device. Strides are counted in elements.
 *
 * Threads: any, several at once too, but one at a time for one scope. Tensors do not change, so all
 * threads may use one, in scopes of their own.
 *
 * Errors: besides what each function lists, those of every call (tenon/error.h): of one that
 * takes a scope above all TENON_FAILED_PRECONDITION if another thread is inside of it.
 */

#ifndef TENON_TENSOR_H_
#define TENON_TENSOR_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

/* ---- life --------------------------------------------------------------- */

/**
 * Adds an owner to a tensor.
 *
 * @param tensor  The tensor; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_tensor_retain(tenon_tensor* tensor TENON_NULLABLE TENON_THREADS(any));

/**
 * Takes an owner away from a tensor. Its memory is free with its last owner, views, tapes and
 * exports among them.
 *
 * @param tensor  The tensor; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_tensor_release(tenon_tensor* tensor TENON_NULLABLE TENON_THREADS(any));

/**
 * Gives a tensor's memory to the next call that takes it as an input, which may then write its
 * output there. After that call any use of the handle but its release is TENON_INVALID_ARGUMENT.
 * Memory that somebody else uses too is left as it is. No other thread may use the handle meanwhile
 * or afterwards.
 *
 * @param tensor  The tensor.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `tensor` is not a tensor, is an inline scalar, was lent by the host
 *     or another library, or was donated before.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tensor_donate(
    tenon_tensor* tensor TENON_THREADS(one_at_a_time));

/* ---- from host memory --------------------------------------------------- */

/**
 * Makes a tensor of a copy of host memory, on the scope's device.
 *
 * @param scope       Where.
 * @param dtype       The elements' type.
 * @param shape       `rank` sizes, none negative; may be NULL for rank 0.
 * @param rank        At most TENON_MAX_RANK.
 * @param data        The elements, row-major without gaps; any alignment. May be NULL if `size` is
 *                    0.
 * @param size        Their bytes, which must be what dtype and shape say.
 * @param out_tensor  Receives the tensor.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `scope` is not a scope, the dtype is unknown, the rank too high, a
 *     size negative, the bytes more than an int64 counts, `size` another number, or a pointer NULL.
 *   - TENON_OUT_OF_MEMORY if the device's memory or its limit is used up.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tensor_from_data(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_dtype dtype,
    const int64_t* shape TENON_BORROWED TENON_NULLABLE TENON_COUNT(rank), size_t rank,
    const void* data TENON_BORROWED TENON_NULLABLE TENON_COUNT(size), size_t size,
    tenon_tensor** out_tensor TENON_OWNED);

/**
 * Makes a tensor of host memory that is lent, without a copy where the device can use it in place,
 * else with one. The memory must not be written while it is lent, and no op will write to it.
 *
 * @param scope       Where.
 * @param dtype       The elements' type.
 * @param shape       `rank` sizes, none negative; may be NULL for rank 0.
 * @param rank        At most TENON_MAX_RANK.
 * @param strides     `rank` strides in elements, which keep every element inside of `data`; NULL
 *                    for row-major without gaps. A stride may be negative; that of an axis of size
 *                    1 is ignored.
 * @param data        The memory. Its first element is the tensor's first along axes whose stride is
 *                    positive, and the last along those whose stride is negative. It is copied if
 *                    it is not aligned for its dtype.
 * @param size        Its bytes, at least those that shape and strides reach.
 * @param deleter     Runs exactly once, when the memory is needed no more: with the tensor's last
 *                    owner, after the copy, or when this call fails.
 * @param out_tensor  Receives the tensor.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `scope` is not a scope, the dtype is unknown, the rank too high, a
 *     size negative, an element outside of `data`, or a pointer NULL.
 *   - TENON_OUT_OF_MEMORY if it is copied and the device's memory or its limit is used up.
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
 * A 0-d tensor whose value is inside of it: no memory, no device, no context. It takes its
 * partner's dtype, so adding one to a float16 tensor gives float16. Any thread. */

/**
 * Makes an inline scalar of a floating value. With an integer tensor it is an error.
 *
 * @param value  The value.
 *
 * @return The tensor, float32 where it has no partner; NULL only if the host's memory is used up.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_tensor* tenon_scalar_f64(double value);

/**
 * Makes an inline scalar of an integer.
 *
 * @param value  The value.
 *
 * @return The tensor, int64 where it has no partner; NULL only if the host's memory is used up.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_tensor* tenon_scalar_i64(int64_t value);

/**
 * Makes an inline scalar of a truth value.
 *
 * @param value  The value.
 *
 * @return The tensor, bool; NULL only if the host's memory is used up.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_tensor* tenon_scalar_bool(bool value);

/* ---- what it is --------------------------------------------------------- */

/**
 * Gives the dtype.
 *
 * @param tensor  The tensor.
 *
 * @return The dtype; TENON_DTYPE_NONE if `tensor` is not a tensor.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_dtype tenon_tensor_dtype(const tenon_tensor* tensor);

/**
 * Gives the number of axes.
 *
 * @param tensor  The tensor.
 *
 * @return At most TENON_MAX_RANK; 0 if `tensor` is not a tensor.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_tensor_rank(const tenon_tensor* tensor);

/**
 * Gives the size of one axis.
 *
 * Inside of a function that has no signature, reading a size that differs from call to call makes
 * the trace serve that size alone. tenon_shape() gives sizes as a tensor, for which one trace
 * serves all.
 *
 * @param tensor    The tensor.
 * @param axis      The axis; a negative one counts from the end.
 * @param out_size  Receives the size; 0 if the call fails.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `tensor` is not a tensor, it has no such axis, or `out_size` is
 * NULL.
 *   - TENON_FAILED_PRECONDITION inside of a function, if the size is unknown by the function's
 *     signature or depends on data, or if the tensor's trace is not under way on this thread.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tensor_size(const tenon_tensor* tensor, int64_t axis,
                                                     int64_t* out_size);

/**
 * Gives the sizes of all axes, or an error where they cannot be read: tenon_tensor_size() for each.
 *
 * @param tensor     The tensor.
 * @param out_shape  Receives as many sizes as the rank, alive as long as the tensor; NULL if the
 *                   call fails.
 * @param out_rank   Receives the rank; 0 if the call fails. NULL if it is not needed.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `tensor` is not a tensor, or `out_shape` is NULL.
 *   - TENON_FAILED_PRECONDITION inside of a function, if a size is unknown by the function's
 *     signature or depends on data, or if the tensor's trace is not under way on this thread.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tensor_read_shape(
    const tenon_tensor* tensor, const int64_t** out_shape TENON_BORROWED TENON_COUNT(out_rank),
    size_t* out_rank TENON_NULLABLE);

/**
 * Gives the sizes.
 *
 * Inside of a function it reads each of them, as tenon_tensor_size() does. It cannot return an
 * error: where a size cannot be read, it gives the size in the call that is traced, or 0 if there
 * is none, and the call of the function fails with the error that tenon_tensor_size() gives. The
 * size of a tensor that outlives its trace is 0 if it is unknown.
 *
 * @param tensor  The tensor.
 *
 * @return As many as its rank, alive as long as the tensor; NULL if `tensor` is not a tensor.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED const int64_t* tenon_tensor_shape(const tenon_tensor* tensor);

/**
 * Gives the strides, in elements. Strides describe the memory layout only. Inside of a function it
 * reads the sizes, as tenon_tensor_shape() does, and gives row-major strides for them.
 *
 * @param tensor  The tensor.
 *
 * @return As many as its rank, alive as long as the tensor; NULL if `tensor` is not a tensor.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED const int64_t* tenon_tensor_strides(const tenon_tensor* tensor);

/**
 * Gives the number of elements. Inside of a function it reads the sizes, as tenon_tensor_shape()
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
 * Gives the bytes that a dense copy of the value takes. Inside of a function it reads the sizes, as
 * tenon_tensor_shape() does.
 *
 * @param tensor  The tensor.
 *
 * @return The number of elements times the size of one; 0 if `tensor` is not a tensor.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_tensor_bytes(const tenon_tensor* tensor);

/**
 * Gives the name of the device on which a tensor lies.
 *
 * @param tensor  The tensor.
 *
 * @return Text like "cpu:0", alive as long as the tensor; empty for an inline scalar, a tensor that
 *         was donated, or what is no tensor.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_tensor_device_name(const tenon_tensor* tensor);

/**
 * Gives the device on which a tensor lies.
 *
 * @param tensor  The tensor.
 *
 * @return A device that lives as long as the tensor and is not released; NULL for an inline scalar,
 *         a tensor that was donated, or what is no tensor.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED tenon_device* tenon_tensor_device(const tenon_tensor* tensor);

/**
 * Gives a tensor as what gradients can be taken by.
 *
 * @param tensor  The tensor; NULL gives NULL.
 *
 * @return The same object under another type; no owner is added.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED tenon_value* tenon_tensor_as_value(tenon_tensor* tensor TENON_NULLABLE);

/* ---- the value ---------------------------------------------------------- */

/**
 * Gives the elements in place, where the host sees them and they lie row-major without gaps.
 *
 * @param tensor  The tensor.
 *
 * @return The first element, to be read and not written, alive as long as the tensor; NULL on a
 *         device whose memory the host does not see or whose work is asynchronous, for other
 *         strides, an inline scalar, a tensor that was donated, or what is no tensor.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED const void* tenon_tensor_data(const tenon_tensor* tensor);

/**
 * Copies the elements to host memory, row-major without gaps, and waits until they are there.
 *
 * @param scope     Where; the tensor may lie on another device.
 * @param tensor    The tensor.
 * @param out_data  The memory; any alignment. May be NULL if `size` is 0.
 * @param size      Its bytes, which must be tenon_tensor_bytes().
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind, the tensor was donated or is of
 *     another context, `size` is another number, or `out_data` is NULL.
 *   - TENON_UNIMPLEMENTED where neither the device nor this build can block (a browser's main
 *     thread); use tenon_tensor_read_async().
 *   - TENON_OUT_OF_MEMORY if the device's memory or its limit is used up, which it needs only for
 *     elements that do not lie row-major without gaps.
 *   - TENON_CANCELLED if somebody cancelled the scope or its context meanwhile.
 *   - TENON_DEVICE_LOST if the device is lost.
 *   - What went wrong while the value was computed, such as TENON_OUT_OF_RANGE for an index.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tensor_read(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_tensor* tensor,
    void* out_data TENON_BORROWED TENON_NULLABLE TENON_COUNT(size), size_t size);

/**
 * Copies the elements to host memory, row-major without gaps, and calls back when they are there.
 *
 * @param scope     Where; the tensor may lie on another device.
 * @param tensor    The tensor.
 * @param out_data  The memory, which stays valid until `done` runs; any alignment.
 * @param size      Its bytes, which must be tenon_tensor_bytes().
 * @param done      Runs once, on the context's callback thread, with what went wrong or NULL. Its
 *                  destructor also runs when this call fails.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind, the tensor was donated or is of
 *     another context, `size` is another number, `out_data` is NULL or `done` has no function.
 *     Whatever else goes wrong is told to `done`: what tenon_tensor_read() gives.
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
 * @param scope      Where.
 * @param tensor     One element of any dtype and rank; 64-bit integers round.
 * @param out_value  Receives the value; 0 if the call fails.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind, the tensor has not one element, was
 *     donated or is of another context, or `out_value` is NULL.
 *   - What tenon_tensor_read() gives.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tensor_item_f64(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_tensor* tensor, double* out_value);

/**
 * Reads the only element of a tensor as an integer; bool gives 0 or 1.
 *
 * @param scope      Where.
 * @param tensor     One element of an integer dtype or bool, of any rank.
 * @param out_value  Receives the value; 0 if the call fails.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind, the tensor has not one element, is
 *     floating, was donated or is of another context, or `out_value` is NULL.
 *   - TENON_OUT_OF_RANGE if a uint64 is above what an int64 holds.
 *   - What tenon_tensor_read() gives.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tensor_item_i64(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_tensor* tensor, int64_t* out_value);

/**
 * Gives a tensor of the same value on another device: a copy, unless it lies there already. Tapes
 * do not record it.
 *
 * @param scope       Where.
 * @param tensor      The tensor.
 * @param device      The name of the device, as for tenon_scope_set_device().
 * @param out_tensor  Receives the tensor.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_NOT_FOUND if there is no such device; the message lists those that there are.
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind, the tensor was donated or is of
 *     another context, or `out_tensor` is NULL.
 *   - TENON_OUT_OF_MEMORY if the device's memory or its limit is used up.
 *   - What else tenon_tensor_read() gives.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tensor_copy_to(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_tensor* tensor, tenon_string device,
    tenon_tensor** out_tensor TENON_OWNED);

/* ---- text --------------------------------------------------------------- */

/* How a tensor is printed. Start from TENON_FORMAT_OPTIONS_DEFAULT. */
typedef struct tenon_format_options {
  uint32_t struct_size;
  int32_t precision;  /* The most digits behind a floating point. */
  int64_t threshold;  /* More elements than this are summarised. */
  int32_t edge_items; /* How many a summary shows at each end of an axis. */
  int32_t line_width; /* Where lines are broken. */
  bool long_form;     /* Adds dtype, shape and device: "... : f32[2,3] on cpu:0". */
} tenon_format_options;

#define TENON_FORMAT_OPTIONS_DEFAULT \
  { sizeof(tenon_format_options), 8, 1000, 3, 75, false }

/**
 * Prints a tensor as NumPy prints an array with `str`.
 *
 * @param scope     Where.
 * @param tensor    The tensor.
 * @param options   How; NULL for the defaults, which are NumPy's.
 * @param out_text  Receives the text, for tenon_string_release(); it ends with a zero byte.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind, the tensor was donated or is of
 *     another context, an option is negative, or `out_text` is NULL.
 *   - What tenon_tensor_read() gives.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_tensor_format(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_tensor* tensor,
    const tenon_format_options* options TENON_NULLABLE, tenon_string* out_text TENON_OWNED);

TENON_END_DECLS

#endif /* TENON_TENSOR_H_ */
