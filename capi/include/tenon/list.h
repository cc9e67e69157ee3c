/* tenon/list.h - lists of tensors of one type, as values: what loops gather and go through.
 *
 *   tenon_list_create(scope, TENON_FLOAT32, shape, 2, 0, &list);
 *   tenon_list_set(scope, list, index, x, &longer);        the list with x at an index
 *   tenon_list_stack(scope, longer, NULL, &all);           its entries as one tensor
 *
 * A list is a tenon_tensor. It never changes: a list with another entry is another list, and shares
 * the rest with it. So lists are carried by loops, given by branches, taken and given by functions,
 * captured and differentiated as tensors are, eager and traced; the gradient by a list is a list.
 * Only the functions of this file and those of tenon/control.h and tenon/function.h take lists, and
 * the sources and cotangents of tapes may be lists; every other call answers with
 * TENON_INVALID_ARGUMENT and "is no tensor but a list of them".
 *
 * tenon_tensor_dtype(), _rank(), _shape(), _strides(), _count() and _bytes() say what each entry
 * is, and so does the type of a trace's input; tenon_tensor_device() says where they lie;
 * tenon_tensor_data() is NULL. tenon_tensor_is_list() tells a list from a tensor.
 *
 * An entry that was not set is zeros, beyond the end of the list too. Indices are int64 of rank 0,
 * inline scalars among them, and count from 0. What is set may be an inline scalar, which becomes a
 * tensor of the list's dtype.
 *
 * Threads: any, but one at a time for one scope.
 *
 * Errors: besides what each function lists, those of every call (tenon/error.h): of one that
 * takes a scope above all TENON_FAILED_PRECONDITION if another thread is inside of it.
 */

#ifndef TENON_LIST_H_
#define TENON_LIST_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

/**
 * Whether a tensor is a list of tensors. Any thread.
 *
 * @param tensor  The tensor.
 *
 * @return True for a list; false for a tensor, and for what is no tensor.
 *
 * @since 0.1, unstable
 */
TENON_API bool tenon_tensor_is_list(const tenon_tensor* tensor);

/**
 * Makes an empty list of tensors of a dtype and sizes.
 *
 * @param scope     Where: on its device.
 * @param dtype     Of each entry.
 * @param shape     `rank` sizes of each entry.
 * @param rank      How many axes an entry has.
 * @param capacity  For so many entries there is memory from the start, side by side, so that they
 *                  are stacked without being copied once more; 0: each keeps its own. No bound: a
 *                  list grows beyond it.
 * @param out_list  Receives the list.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `scope` is none, there is no such dtype, a size or `capacity` is
 *     negative, the bytes of all do not fit, or `out_list` is NULL.
 *   - TENON_OUT_OF_MEMORY if there is no memory for `capacity` entries.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_list_create(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_dtype dtype,
    const int64_t* shape TENON_BORROWED TENON_NULLABLE TENON_COUNT(rank), size_t rank,
    int64_t capacity, tenon_tensor** out_list TENON_OWNED);

/**
 * Makes an empty list of tensors like one that is there.
 *
 * Inside of a function the sizes of that one may be unknown; then they are those of each call.
 *
 * @param scope     Where: on the device of `entry`.
 * @param entry     A tensor of the type of the entries; its value does not matter. An inline scalar
 *                  stands for float32, int64 or bool. A list makes a list of lists.
 * @param capacity  As for tenon_list_create().
 * @param out_list  Receives the list.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind or of another context, the tensor was
 *     donated, `capacity` is negative, or `out_list` is NULL.
 *   - TENON_OUT_OF_MEMORY if there is no memory for `capacity` entries.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_list_create_like(
    tenon_scope* scope TENON_THREADS(one_at_a_time), const tenon_tensor* entry, int64_t capacity,
    tenon_tensor** out_list TENON_OWNED);

/**
 * Gives the list with another entry at an index, which may lie anywhere.
 *
 * @param scope     Where.
 * @param list      The list; it stays as it is.
 * @param index     Where the entry goes.
 * @param tensor    The entry: of the dtype and the sizes of the list's.
 * @param out_list  Receives the list with the entry.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind or of another context, was donated,
 *     `list` is none, `index` is no int64 of rank 0 or negative, `tensor` is of another type than
 *     the entries, or `out_list` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_list_set(tenon_scope* scope TENON_THREADS(one_at_a_time),
                                                  const tenon_tensor* list,
                                                  const tenon_tensor* index,
                                                  const tenon_tensor* tensor,
                                                  tenon_tensor** out_list TENON_OWNED);

/**
 * Gives the list with another entry behind its last.
 *
 * @param scope     Where.
 * @param list      The list; it stays as it is.
 * @param tensor    The entry: of the dtype and the sizes of the list's.
 * @param out_list  Receives the list with the entry.
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
 * Gives the entry of a list at an index; zeros if it was not set.
 *
 * @param scope       Where.
 * @param list        The list.
 * @param index       Which entry.
 * @param out_tensor  Receives the entry.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind or of another context, was donated,
 *     `list` is none, `index` is no int64 of rank 0 or negative, or `out_tensor` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_list_get(tenon_scope* scope TENON_THREADS(one_at_a_time),
                                                  const tenon_tensor* list,
                                                  const tenon_tensor* index,
                                                  tenon_tensor** out_tensor TENON_OWNED);

/**
 * Gives how long a list is: one more than the last index that was set.
 *
 * @param scope       Where.
 * @param list        The list.
 * @param out_length  Receives an int64 of rank 0; inside of a function, that of each call.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind or of another context, was donated,
 *     `list` is none, or `out_length` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_list_length(
    tenon_scope* scope TENON_THREADS(one_at_a_time), const tenon_tensor* list,
    tenon_tensor** out_length TENON_OWNED);

/**
 * Gives the first entries of a list as one tensor, along a new first axis.
 *
 * Inside of a function, a length that is made of numbers and of sizes (what tenon_shape() gives of
 * some tensor, its parts, and sums, differences and products of these) is known without waiting: a
 * list that gathers what a loop over the first axis of `xs` makes is stacked by tenon_shape(xs)[0].
 * For one that only values say, the host waits at each call.
 *
 * @param scope       Where.
 * @param list        A list of tensors.
 * @param length      How many: an int64 of rank 0. NULL for all of them.
 * @param out_tensor  Receives the tensor, of one axis more than the entries.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind or of another context, was donated,
 *     `list` is none or one of lists, `length` is no int64 of rank 0 or negative, or `out_tensor`
 *     is NULL.
 *   - TENON_OUT_OF_MEMORY if there is no memory for so many.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_list_stack(tenon_scope* scope TENON_THREADS(one_at_a_time),
                                                    const tenon_tensor* list,
                                                    const tenon_tensor* length TENON_NULLABLE,
                                                    tenon_tensor** out_tensor TENON_OWNED);

/**
 * Gives the first entries of a list as one tensor, one behind the other along their first axis.
 *
 * @param scope       Where.
 * @param list        A list of tensors of rank 1 or more.
 * @param length      How many, as for tenon_list_stack().
 * @param out_tensor  Receives the tensor, of as many axes as the entries.
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
 * Gives the parts of a tensor along its first axis as a list. Nothing is copied.
 *
 * @param scope     Where.
 * @param tensor    A tensor of rank 1 or more.
 * @param out_list  Receives the list, as long as the first axis.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind or of another context, the tensor was
 *     donated, is a list or has rank 0, or `out_list` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_list_unstack(
    tenon_scope* scope TENON_THREADS(one_at_a_time), const tenon_tensor* tensor,
    tenon_tensor** out_list TENON_OWNED);

TENON_END_DECLS

#endif /* TENON_LIST_H_ */
