/* tenon/io.h - named tensors in files, in the format safetensors.
 *
 * A file is taken for hostile until it is proven otherwise: every size and offset in it is checked
 * before it is used.
 *
 * Threads: any, several at once too, but one at a time for one scope. An open file does not change.
 *
 * Errors: besides what each function lists, those of every call (tenon/error.h): of one that
 * takes a scope above all TENON_FAILED_PRECONDITION if another thread is inside of it.
 */

#ifndef TENON_IO_H_
#define TENON_IO_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

/* One entry of a file's metadata. Frozen. */
typedef struct tenon_metadata {
  tenon_string key;
  tenon_string value;
} tenon_metadata;

/* An open file, or one in memory. */
typedef struct tenon_safetensors tenon_safetensors;

/**
 * Writes named tensors to a file, which takes its name only once it is whole.
 *
 * @param scope       Where.
 * @param path        The file; one that is there is replaced.
 * @param names       `n_tensors` names, each once and none "__metadata__".
 * @param tensors     `n_tensors` tensors; they may lie on any device.
 * @param n_tensors   How many.
 * @param metadata    `n_metadata` entries, each key once; NULL for none.
 * @param n_metadata  How many.
 *
 * @return NULL, or an error for the caller to free; the file is then what it was:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind, a list is NULL with a count above
 *     zero, a name or key occurs twice, is reserved or no UTF-8, or a tensor was donated or is of
 *     another context.
 *   - TENON_NOT_FOUND if the folder does not exist.
 *   - TENON_UNAVAILABLE if the file cannot be written; the message says why.
 *   - What tenon_tensor_read() gives.
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
 * Writes named tensors to memory, in the form of a file.
 *
 * @param scope       Where.
 * @param names       `n_tensors` names, each once and none "__metadata__".
 * @param tensors     `n_tensors` tensors; they may lie on any device.
 * @param n_tensors   How many.
 * @param metadata    `n_metadata` entries, each key once; NULL for none.
 * @param n_metadata  How many.
 * @param out_bytes   Receives the bytes, for tenon_string_release().
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT as for tenon_safetensors_save(), or if `out_bytes` is NULL.
 *   - TENON_OUT_OF_MEMORY if the host's memory is used up.
 *   - What tenon_tensor_read() gives.
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
 * Opens a file and checks all of it but the elements. Any thread.
 *
 * @param path      The file.
 * @param out_file  Receives the open file.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_NOT_FOUND if there is no such file.
 *   - TENON_UNAVAILABLE if it cannot be read.
 *   - TENON_DATA_LOSS if it is truncated, contradicts itself or is no such file; the message says
 *     where.
 *   - TENON_UNIMPLEMENTED if an element type in it is unknown here.
 *   - TENON_INVALID_ARGUMENT if `out_file` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_safetensors_open(tenon_string path,
                                                          tenon_safetensors** out_file TENON_OWNED);

/**
 * Opens what tenon_safetensors_write() gave, or the content of a file. Any thread.
 *
 * @param data      The bytes, which are copied.
 * @param size      How many.
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
 * Adds an owner to an open file. Any thread.
 *
 * @param file  The file; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_safetensors_retain(tenon_safetensors* file TENON_NULLABLE TENON_THREADS(any));

/**
 * Takes an owner away from an open file; the last one closes it. Any thread.
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
 * @return The number; 0 if `file` is not such a file.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_safetensors_count(const tenon_safetensors* file);

/**
 * Gives the name of a tensor. They stand in the order of their elements in the file. Any thread.
 *
 * @param file   The file.
 * @param index  The tensor's place.
 *
 * @return Text that lives as long as the file; empty if there are not so many.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_safetensors_name(const tenon_safetensors* file, size_t index);

/**
 * Gives the dtype of a tensor. Any thread.
 *
 * @param file   The file.
 * @param index  The tensor's place.
 *
 * @return The dtype; TENON_DTYPE_NONE if there are not so many.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_dtype tenon_safetensors_dtype(const tenon_safetensors* file, size_t index);

/**
 * Gives the number of axes of a tensor. Any thread.
 *
 * @param file   The file.
 * @param index  The tensor's place.
 *
 * @return At most TENON_MAX_RANK; 0 if there are not so many.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_safetensors_rank(const tenon_safetensors* file, size_t index);

/**
 * Gives the sizes of a tensor. Any thread.
 *
 * @param file   The file.
 * @param index  The tensor's place.
 *
 * @return As many as its rank, alive as long as the file; NULL if there are not so many.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED const int64_t* tenon_safetensors_shape(const tenon_safetensors* file,
                                                                size_t index);

/**
 * Reads a tensor onto the scope's device.
 *
 * @param scope       Where.
 * @param file        The file. Several threads may read one file, each in its scope.
 * @param index       The tensor's place.
 * @param out_tensor  Receives the tensor.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_OUT_OF_RANGE if there are not so many.
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind or `out_tensor` is NULL.
 *   - TENON_DATA_LOSS if the file became shorter since it was opened.
 *   - TENON_OUT_OF_MEMORY if the device's memory or its limit is used up.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_safetensors_read(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_safetensors* file, size_t index,
    tenon_tensor** out_tensor TENON_OWNED);

/**
 * Reads a tensor by name onto the scope's device.
 *
 * @param scope       Where.
 * @param file        The file. Several threads may read one file, each in its scope.
 * @param name        The tensor's name.
 * @param out_tensor  Receives the tensor.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_NOT_FOUND if the file has no tensor of that name; the message lists those that it has.
 *   - What tenon_safetensors_read() gives.
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
 * @return The number; 0 if `file` is not such a file.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_safetensors_count_metadata(const tenon_safetensors* file);

/**
 * Gives an entry of a file's metadata, in the order of their keys. Any thread.
 *
 * @param file   The file.
 * @param index  The entry's place.
 *
 * @return Texts that live as long as the file; empty if there are not so many.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_metadata tenon_safetensors_metadata(const tenon_safetensors* file, size_t index);

TENON_END_DECLS

#endif /* TENON_IO_H_ */
