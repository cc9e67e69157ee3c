/* tenon/call.h - the one function through which every op is called.
 *
 * tenon/ops_gen.h wraps it for each op: tenon_add(scope, a, b, &c).
 *
 * Threads: any thread, but only one thread at a time may use a scope.
 *
 * Errors: in addition to the errors that each function lists, any call can return those in
 * tenon/error.h. A call that takes a scope returns TENON_FAILED_PRECONDITION if another thread is
 * using that scope.
 */

#ifndef TENON_CALL_H_
#define TENON_CALL_H_

#include <tenon/op_attrs_gen.h>
#include <tenon/types.h>

TENON_BEGIN_DECLS

/**
 * Calls an op.
 *
 * The op runs immediately, on the device that holds its inputs, or on the scope's device if it has
 * no inputs. An active tape also records the call. Types, shapes and attributes are checked before
 * anything is computed.
 *
 * @param scope        The scope in which the call runs.
 * @param op           TENON_OP_<name>, or the number of a custom op.
 * @param attrs        `tenon_<op>_attrs` with its struct_size set; NULL for the defaults.
 * @param inputs       `n_inputs` tensors; NULL for an optional input that is omitted.
 * @param n_inputs     Number of inputs. Trailing optional inputs may be left out.
 * @param out_outputs  Receives `n_outputs` tensors. All NULL if the call fails.
 * @param n_outputs    Number of outputs to receive. It may be smaller than the op's number of
 *                     outputs; the rest is dropped. For split, unstack and meshgrid it must equal
 *                     the number of outputs.
 *
 * @return NULL, or an error for the caller to free. Its message begins with the op's name:
 *   - TENON_NOT_FOUND if there is no such op.
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type, an input was donated to an earlier
 *     call or belongs to another context, or the inputs are on more than one device. Also if the
 *     number, dtypes or shapes of the inputs or an attribute break one of the op's rules, or
 *     `n_outputs` does not fit the op.
 *   - TENON_UNIMPLEMENTED if the device cannot run the op for these dtypes and no fallback is
 *     allowed, or if an output has a data-dependent size and the host cannot block until the device
 *     is done.
 *   - TENON_OUT_OF_RANGE if an index is outside its axis. On an asynchronous device a later read or
 *     wait returns this error.
 *   - TENON_OUT_OF_MEMORY if the device's memory or the memory limit is exhausted.
 *   - TENON_CANCELLED if the scope or its context was cancelled during the call.
 *   - TENON_FAILED_PRECONDITION if the scope is in use on another thread.
 *   - TENON_DEVICE_LOST if the device is lost.
 *   - Any error that the functions of a custom op return.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_call(
    tenon_scope* scope TENON_THREADS(one_at_a_time), uint32_t op,
    const void* attrs TENON_BORROWED TENON_NULLABLE,
    tenon_tensor* const* inputs TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_inputs),
    size_t n_inputs, tenon_tensor** out_outputs TENON_OWNED TENON_COUNT(n_outputs),
    size_t n_outputs);

/* Sizes that an attribute takes from a tensor instead of from the attribute struct. */
typedef struct tenon_size_argument {
  /* The name of an attribute that holds a size or a list of sizes: for example "shape". */
  tenon_string attribute;
  /* An int64 tensor: of rank 1 for a list of sizes, of rank 0 for a single size. */
  tenon_tensor* sizes;
} tenon_size_argument;

/**
 * Calls an op whose size attributes are given as tensors: fill, iota, broadcast_to, reshape, slice,
 * pad, split, the random ops and every other op with sizes among its attributes.
 *
 * In a traced function, sizes computed from tenon_shape() by add, sub, mul, floor_div, mod, neg,
 * minimum, maximum, prod, concat, stack, indexing and constants stay symbolic, so that one trace
 * serves all sizes. The values of other int64 tensors are read when the function runs, which ends a
 * segment and makes the host wait for the device. Outside a trace the host reads the values
 * immediately.
 *
 * @param scope        As in tenon_call().
 * @param op           As in tenon_call(), but not a custom op.
 * @param attrs        As in tenon_call(); the attributes that `sizes` names are ignored.
 * @param sizes        `n_sizes` attributes and their values, each attribute at most once.
 * @param n_sizes      Number of sizes; 0 makes the call equivalent to tenon_call().
 * @param inputs       As in tenon_call().
 * @param n_inputs     As in tenon_call().
 * @param out_outputs  As in tenon_call().
 * @param n_outputs    As in tenon_call().
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if the op has no size attribute of that name, an attribute is named
 *     twice, or a value is not int64 or has the wrong number of axes.
 *   - Any error that tenon_call() returns.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_call_sized(
    tenon_scope* scope TENON_THREADS(one_at_a_time), uint32_t op,
    const void* attrs TENON_BORROWED TENON_NULLABLE,
    const tenon_size_argument* sizes TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_sizes),
    size_t n_sizes, tenon_tensor* const* inputs TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_inputs),
    size_t n_inputs, tenon_tensor** out_outputs TENON_OWNED TENON_COUNT(n_outputs),
    size_t n_outputs);

/**
 * Looks up the number of an op by name. Any thread.
 *
 * @param context  The context whose custom ops are included; NULL for built-in ops only.
 * @param name     The name: "add".
 * @param out_op   Receives the number; 0 if the call fails.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_NOT_FOUND if there is no such op.
 *   - TENON_INVALID_ARGUMENT if `context` is not a context or `out_op` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_op_find(
    tenon_context* context TENON_NULLABLE TENON_THREADS(any), tenon_string name, uint32_t* out_op);

/**
 * Returns the name of an op by its number. Any thread.
 *
 * @param context  The context whose custom ops are included; NULL for built-in ops only.
 * @param op       The number.
 *
 * @return The name, valid as long as the context; empty if there is no such op.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_op_name(tenon_context* context TENON_NULLABLE TENON_THREADS(any),
                                     uint32_t op);

TENON_END_DECLS

#endif /* TENON_CALL_H_ */
