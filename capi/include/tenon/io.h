/* tenon/io.h - named tensors in files, in the format safetensors.
 *
 * Files are untrusted: every size and offset is checked before it is used.
 *
 * Threads: any thread, also concurrently, but only one thread at a time may use a scope. An open
 * file is immutable.
 *
 * Errors: in addition to the errors that each function lists, any call can return those in
 * tenon/error.h. A call that takes a scope returns TENON_FAILED_PRECONDITION if another thread is
 * using that scope.
 */

#ifndef TENON_IO_H_
#define TENON_IO_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

/* One entry of a file's metadata. The layout is frozen. */
typedef struct tenon_metadata {
  tenon_string key;
  tenon_string value;
} tenon_metadata;

/* An open safetensors file, or the contents of one in memory. */
typedef struct tenon_safetensors tenon_safetensors;

/**
 * Writes named tensors to a file. The file is renamed to `path` only when it is complete.
 *
 * @param scope       The scope in which the call runs.
 * @param path        The file; an existing file is replaced.
 * @param names       `n_tensors` distinct names, none of them "__metadata__".
 * @param tensors     `n_tensors` tensors on any devices.
 * @param n_tensors   Number of tensors.
 * @param metadata    `n_metadata` entries with distinct keys; NULL for none.
 * @param n_metadata  Number of metadata entries.
 *
 * @return NULL, or an error for the caller to free; the file is then unchanged:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type, an array is NULL with a count above
 *     zero, a name or key occurs twice, is reserved or is not UTF-8, or a tensor was donated or
 *     belongs to another context.
 *   - TENON_NOT_FOUND if the folder does not exist.
 *   - TENON_UNAVAILABLE if the file cannot be written; the message states the reason.
 *   - Any error that tenon_tensor_read() returns.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_safetensors_save(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_string path,
    const tenon_string* names TENON_BORROWED TENON_COUNT(n_tensors),
    tenon_tensor* const* tensors TENON_BORROWED TENON_COUNT(n_tensors), size_t n_tensors,
    const tenon_metadata* metadata TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_metadata),
    size_t n_metadata);

/**
 * Writes named tensors to memory, in the file format.
 *
 * @param scope       The scope in which the call runs.
 * @param names       `n_tensors` distinct names, none of them "__metadata__".
 * @param tensors     `n_tensors` tensors on any devices.
 * @param n_tensors   Number of tensors.
 * @param metadata    `n_metadata` entries with distinct keys; NULL for none.
 * @param n_metadata  Number of metadata entries.
 * @param out_bytes   Receives the bytes, for tenon_string_release().
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT as for tenon_safetensors_save(), or if `out_bytes` is NULL.
 *   - TENON_OUT_OF_MEMORY if host memory is exhausted.
 *   - Any error that tenon_tensor_read() returns.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_safetensors_write(
    tenon_scope* scope TENON_THREADS(one_at_a_time),
    const tenon_string* names TENON_BORROWED TENON_COUNT(n_tensors),
    tenon_tensor* const* tensors TENON_BORROWED TENON_COUNT(n_tensors), size_t n_tensors,
    const tenon_metadata* metadata TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_metadata),
    size_t n_metadata, tenon_string* out_bytes TENON_OWNED);

/**
 * Opens a file and validates everything except the elements. Any thread.
 *
 * @param path      The file.
 * @param out_file  Receives the open file.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_NOT_FOUND if there is no such file.
 *   - TENON_UNAVAILABLE if it cannot be read.
 *   - TENON_DATA_LOSS if it is truncated, inconsistent or not a safetensors file; the message
 * states the fault and its position.
 *   - TENON_UNIMPLEMENTED if an element type is not supported.
 *   - TENON_INVALID_ARGUMENT if `out_file` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_safetensors_open(tenon_string path,
                                                          tenon_safetensors** out_file TENON_OWNED);

/**
 * Opens the output of tenon_safetensors_write(), or the content of a file, from memory. Any thread.
 *
 * @param data      The bytes, which are copied.
 * @param size      Number of bytes.
 * @param out_file  Receives the open file.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_DATA_LOSS and TENON_UNIMPLEMENTED as for tenon_safetensors_open().
 *   - TENON_INVALID_ARGUMENT if `data` is NULL with a size above zero, or `out_file` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_safetensors_open_memory(
    const void* data TENON_BORROWED TENON_COUNT(size), size_t size,
    tenon_safetensors** out_file TENON_OWNED);

/**
 * Adds a reference to an open file. Any thread.
 *
 * @param file  The file; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_safetensors_retain(tenon_safetensors* file TENON_NULLABLE TENON_THREADS(any));

/**
 * Releases a reference to an open file; the last one closes it. Any thread.
 *
 * @param file  The file; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_safetensors_release(tenon_safetensors* file TENON_NULLABLE TENON_THREADS(any));

/**
 * Counts the tensors of a file. Any thread.
 *
 * @param file  The file.
 *
 * @return The number; 0 if `file` is not a safetensors file.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_safetensors_count(const tenon_safetensors* file);

/**
 * Returns the name of a tensor by index, in the order of their elements in the file. Any thread.
 *
 * @param file   The file.
 * @param index  The tensor's index.
 *
 * @return Text that stays valid as long as the file; empty if `index` is out of range.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_safetensors_name(const tenon_safetensors* file, size_t index);

/**
 * Returns the dtype of a tensor. Any thread.
 *
 * @param file   The file.
 * @param index  The tensor's index.
 *
 * @return The dtype; TENON_DTYPE_NONE if `index` is out of range.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_dtype tenon_safetensors_dtype(const tenon_safetensors* file, size_t index);

/**
 * Returns the number of axes of a tensor. Any thread.
 *
 * @param file   The file.
 * @param index  The tensor's index.
 *
 * @return At most TENON_MAX_RANK; 0 if `index` is out of range.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_safetensors_rank(const tenon_safetensors* file, size_t index);

/**
 * Returns the sizes of a tensor. Any thread.
 *
 * @param file   The file.
 * @param index  The tensor's index.
 *
 * @return An array of length rank, valid as long as the file; NULL if `index` is out of range.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED const int64_t* tenon_safetensors_shape(const tenon_safetensors* file,
                                                                size_t index);

/**
 * Reads a tensor onto the scope's device.
 *
 * @param scope       The scope in which the call runs.
 * @param file        The file. Several threads may read one file, each in its scope.
 * @param index       The tensor's index.
 * @param out_tensor  Receives the tensor.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_OUT_OF_RANGE if `index` is too large.
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type or `out_tensor` is NULL.
 *   - TENON_DATA_LOSS if the file was truncated after it was opened.
 *   - TENON_OUT_OF_MEMORY if the device's memory or the memory limit is exhausted.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_safetensors_read(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_safetensors* file, size_t index,
    tenon_tensor** out_tensor TENON_OWNED);

/**
 * Reads a tensor by name onto the scope's device.
 *
 * @param scope       The scope in which the call runs.
 * @param file        The file. Several threads may read one file, each in its scope.
 * @param name        The tensor's name.
 * @param out_tensor  Receives the tensor.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_NOT_FOUND if the file has no tensor of that name; the message lists the names in the
 *     file.
 *   - Any error that tenon_safetensors_read() returns.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_safetensors_load(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_safetensors* file, tenon_string name,
    tenon_tensor** out_tensor TENON_OWNED);

/**
 * Counts the entries of a file's metadata. Any thread.
 *
 * @param file  The file.
 *
 * @return The number; 0 if `file` is not a safetensors file.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_safetensors_count_metadata(const tenon_safetensors* file);

/**
 * Returns an entry of a file's metadata by index, sorted by key. Any thread.
 *
 * @param file   The file.
 * @param index  The entry's index.
 *
 * @return Strings that stay valid as long as the file; empty if `index` is out of range.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_metadata tenon_safetensors_metadata(const tenon_safetensors* file, size_t index);

TENON_END_DECLS

#endif /* TENON_IO_H_ */
