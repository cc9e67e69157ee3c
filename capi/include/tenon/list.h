/* tenon/list.h - immutable lists of tensors of one type, for example to collect the results of a
 * loop.
 *
 *   tenon_list_create(scope, TENON_FLOAT32, shape, 2, 0, &list);
 *   tenon_list_set(scope, list, index, x, &longer);        the list with x at an index
 *   tenon_list_stack(scope, longer, NULL, &all);           its entries as one tensor
 *
 * A list is a tenon_tensor. It is immutable: setting an entry creates a new list, which shares the
 * other entries. Therefore lists can be carried by loops, returned by branches, passed to and
 * returned by functions, captured and differentiated like tensors, eager and traced. The gradient
 * with respect to a list is a list. Only the functions of this file, tenon/control.h and
 * tenon/function.h take lists, and the sources and cotangents of tapes may be lists. Every other
 * call fails with TENON_INVALID_ARGUMENT and "is a list of tensors, not a tensor".
 *
 * tenon_tensor_dtype(), _rank(), _shape(), _strides(), _count() and _bytes() describe one entry,
 * and so does the type of a trace's input. tenon_tensor_device() returns the device of the entries.
 * tenon_tensor_data() returns NULL. tenon_tensor_is_list() distinguishes a list from a tensor.
 *
 * An entry that was not set reads as zeros, also beyond the end of the list. Indices start at 0 and
 * are int64 tensors of rank 0 or inline scalars. An inline scalar that is stored as an entry
 * becomes a tensor of the list's dtype.
 *
 * Threads: any thread, but only one thread at a time may use a scope.
 *
 * Errors: in addition to the errors that each function lists, any call can return those in
 * tenon/error.h. A call that takes a scope returns TENON_FAILED_PRECONDITION if another thread is
 * using that scope.
 */

#ifndef TENON_LIST_H_
#define TENON_LIST_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

/**
 * Returns whether a tensor is a list of tensors. Any thread.
 *
 * @param tensor  The tensor.
 *
 * @return True for a list; false for anything else.
 *
 * @since 0.1, unstable
 */
TENON_API bool tenon_tensor_is_list(const tenon_tensor* tensor);

/**
 * Creates an empty list of tensors of a given dtype and shape.
 *
 * @param scope     The scope; the result is placed on its device.
 * @param dtype     The dtype of each entry.
 * @param shape     `rank` sizes of each entry.
 * @param rank      Number of axes of an entry.
 * @param capacity  Number of entries for which contiguous memory is preallocated, so that stacking
 *                  them needs no copy. 0: each entry has its own memory. The list can grow beyond
 *                  its capacity.
 * @param out_list  Receives the list.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `scope` is not a scope, the dtype is unknown, a size or `capacity`
 *     is negative, the total number of bytes overflows, or `out_list` is NULL.
 *   - TENON_OUT_OF_MEMORY if there is not enough memory for `capacity` entries.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_list_create(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_dtype dtype,
    const int64_t* shape TENON_BORROWED TENON_NULLABLE TENON_COUNT(rank), size_t rank,
    int64_t capacity, tenon_tensor** out_list TENON_OWNED);

/**
 * Creates an empty list of tensors of the same type as a given tensor.
 *
 * Inside a function the sizes of `entry` may be dynamic; the list then has the sizes of each call.
 *
 * @param scope     The scope in which the call runs. The list is on the device of `entry`.
 * @param entry     A tensor of the type of the entries; its value is ignored. An inline scalar
 *                  stands for float32, int64 or bool. If it is a list, the result is a list of
 *                  lists.
 * @param capacity  As for tenon_list_create().
 * @param out_list  Receives the list.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type or belongs to another context, the
 *     tensor was donated, `capacity` is negative, or `out_list` is NULL.
 *   - TENON_OUT_OF_MEMORY if there is not enough memory for `capacity` entries.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_list_create_like(
    tenon_scope* scope TENON_THREADS(one_at_a_time), const tenon_tensor* entry, int64_t capacity,
    tenon_tensor** out_list TENON_OWNED);

/**
 * Returns a copy of a list with the entry at an index replaced. The index may be beyond the end.
 *
 * @param scope     The scope in which the call runs.
 * @param list      The list, which is not changed.
 * @param index     The index of the entry.
 * @param tensor    The entry, with the dtype and sizes of the list's entries.
 * @param out_list  Receives the new list.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type or belongs to another context, was
 *     donated, `list` is not a list, `index` is negative or not an int64 of rank 0, `tensor` is of
 *     another type than the entries, or `out_list` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_list_set(tenon_scope* scope TENON_THREADS(one_at_a_time),
                                                  const tenon_tensor* list,
                                                  const tenon_tensor* index,
                                                  const tenon_tensor* tensor,
                                                  tenon_tensor** out_list TENON_OWNED);

/**
 * Returns a copy of a list with an entry appended.
 *
 * @param scope     The scope in which the call runs.
 * @param list      The list, which is not changed.
 * @param tensor    The entry, with the dtype and sizes of the list's entries.
 * @param out_list  Receives the new list.
 *
 * @return NULL, or an error for the caller to free: as tenon_list_set().
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_list_push(tenon_scope* scope TENON_THREADS(one_at_a_time),
                                                   const tenon_tensor* list,
                                                   const tenon_tensor* tensor,
                                                   tenon_tensor** out_list TENON_OWNED);

/**
 * Gets the entry of a list at an index; zeros if it was not set.
 *
 * @param scope       The scope in which the call runs.
 * @param list        The list.
 * @param index       The index of the entry.
 * @param out_tensor  Receives the entry.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type or belongs to another context, was
 *     donated, `list` is not a list, `index` is negative or not an int64 of rank 0, or `out_tensor`
 *     is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_list_get(tenon_scope* scope TENON_THREADS(one_at_a_time),
                                                  const tenon_tensor* list,
                                                  const tenon_tensor* index,
                                                  tenon_tensor** out_tensor TENON_OWNED);

/**
 * Gets the length of a list: the highest index that was set, plus 1.
 *
 * @param scope       The scope in which the call runs.
 * @param list        The list.
 * @param out_length  Receives an int64 of rank 0. Inside a function it is symbolic and has the
 *                    value of each call.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type or belongs to another context, was
 *     donated, `list` is not a list, or `out_length` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_list_length(
    tenon_scope* scope TENON_THREADS(one_at_a_time), const tenon_tensor* list,
    tenon_tensor** out_length TENON_OWNED);

/**
 * Stacks the first `length` entries of a list into one tensor along a new first axis.
 *
 * Inside a function, a length computed from constants and sizes (elements of tenon_shape(), and
 * their sums, differences and products) stays symbolic, so the host does not wait. For example, a
 * list filled by a loop over the first axis of `xs` can be stacked with length tenon_shape(xs)[0].
 * A length that depends on other values makes the host wait in each call.
 *
 * @param scope       The scope in which the call runs.
 * @param list        A list of tensors.
 * @param length      Number of entries, an int64 of rank 0; NULL for all entries.
 * @param out_tensor  Receives the tensor, which has one more axis than the entries.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type or belongs to another context, was
 *     donated, `list` is not a list or is a list of lists, `length` is negative or not an int64 of
 *     rank 0, or `out_tensor` is NULL.
 *   - TENON_OUT_OF_MEMORY if there is not enough memory for the result.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_list_stack(tenon_scope* scope TENON_THREADS(one_at_a_time),
                                                    const tenon_tensor* list,
                                                    const tenon_tensor* length TENON_NULLABLE,
                                                    tenon_tensor** out_tensor TENON_OWNED);

/**
 * Concatenates the first `length` entries of a list along their first axis.
 *
 * @param scope       The scope in which the call runs.
 * @param list        A list of tensors of rank 1 or more.
 * @param length      Number of entries, as in tenon_list_stack().
 * @param out_tensor  Receives the tensor, which has as many axes as the entries.
 *
 * @return NULL, or an error for the caller to free: as tenon_list_stack(), and
 *   - TENON_INVALID_ARGUMENT if the entries have rank 0.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_list_concat(
    tenon_scope* scope TENON_THREADS(one_at_a_time), const tenon_tensor* list,
    const tenon_tensor* length TENON_NULLABLE, tenon_tensor** out_tensor TENON_OWNED);

/**
 * Splits a tensor along its first axis into a list. Nothing is copied.
 *
 * @param scope     The scope in which the call runs.
 * @param tensor    A tensor of rank 1 or more.
 * @param out_list  Receives the list, whose length is the size of the first axis.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type or belongs to another context, the
 *     tensor was donated, is a list or has rank 0, or `out_list` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_list_unstack(
    tenon_scope* scope TENON_THREADS(one_at_a_time), const tenon_tensor* tensor,
    tenon_tensor** out_list TENON_OWNED);

TENON_END_DECLS

#endif /* TENON_LIST_H_ */
