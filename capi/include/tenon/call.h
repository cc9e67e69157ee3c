/* tenon/call.h - the one function through which every op is called.
 *
 * tenon/ops_gen.h wraps it for each op: tenon_add(scope, a, b, &c).
 *
 * Threads: any, but one at a time for one scope.
 *
 * Errors: besides what each function lists, those of every call (tenon/error.h): of one that
 * takes a scope above all TENON_FAILED_PRECONDITION if another thread is inside of it.
 */

#ifndef TENON_CALL_H_
#define TENON_CALL_H_

#include <tenon/op_attrs_gen.h>
#include <tenon/types.h>

TENON_BEGIN_DECLS

/**
 * Calls an op.
 *
 * Without a tape the op runs now, on the device where its inputs lie, or on the scope's where it
 * has none. With one it runs the same and is recorded. Types, shapes and attributes are checked
 * before anything is computed.
 *
 * @param scope        Where.
 * @param op           TENON_OP_<name>, or the number of a custom op.
 * @param attrs        `tenon_<op>_attrs` with its struct_size set; NULL for the defaults.
 * @param inputs       `n_inputs` tensors; NULL for an optional one that is not given.
 * @param n_inputs     How many. Optional ones at the end may be left out.
 * @param out_outputs  Receives `n_outputs` tensors. All NULL if the call fails.
 * @param n_outputs    How many: as many as the op gives, or fewer, and the rest is dropped. Of
 *                     split, unstack and meshgrid: as many as they give.
 *
 * @return NULL, or an error for the caller to free, whose message begins with the op's name:
 *   - TENON_NOT_FOUND if there is no such op.
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind, an input was donated to an earlier
 *     call or is of another context, the inputs lie on more than one device, their number, dtypes
 *     or shapes break one of the op's rules, an attribute does, or the op has another number of
 *     outputs.
 *   - TENON_UNIMPLEMENTED if the device cannot run the op for these dtypes and no other may, or if
 *     an output's size depends on data and the device cannot be waited for.
 *   - TENON_OUT_OF_RANGE if an index is outside of its axis; on a device that works on after a call
 *     has returned, a later read or wait gives it.
 *   - TENON_OUT_OF_MEMORY if the device's memory or its limit is used up.
 *   - TENON_CANCELLED if somebody cancelled the scope or its context meanwhile.
 *   - TENON_FAILED_PRECONDITION if the scope is in use on another thread.
 *   - TENON_DEVICE_LOST if the device is lost.
 *   - What the functions of a custom op returned.
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
  /* The name of an attribute that holds a size or a list of sizes: "shape", "starts". */
  tenon_string attribute;
  /* int64: of one axis for a list of sizes, without axes for a single size. */
  tenon_tensor* sizes;
} tenon_size_argument;

/**
 * Calls an op with sizes that are computed: fill, iota, broadcast_to, reshape, slice, pad, split,
 * the random ops and every other op with sizes among its attributes.
 *
 * In a traced function, sizes computed from tenon_shape() by add, sub, mul, floor_div, mod, neg,
 * minimum, maximum, prod, concat, stack, indexing and constants stay symbolic: one trace serves all
 * of them. The values of other int64 tensors are read when the function runs, which ends a segment
 * and makes the host wait for the device. Outside of a trace the host reads the values at once.
 *
 * @param scope        As in tenon_call().
 * @param op           As in tenon_call(), but no custom op.
 * @param attrs        As in tenon_call(); the attributes that `sizes` names are ignored.
 * @param sizes        `n_sizes` attributes and their values, each attribute at most once.
 * @param n_sizes      How many; 0 makes it tenon_call().
 * @param inputs       As in tenon_call().
 * @param n_inputs     As in tenon_call().
 * @param out_outputs  As in tenon_call().
 * @param n_outputs    As in tenon_call().
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if the op has no size attribute of that name, an attribute is named
 *     twice, or a value is not int64 or has the wrong number of axes.
 *   - What tenon_call() returns.
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
 * Gives the number of an op by its name. Any thread.
 *
 * @param context  Whose custom ops count too; NULL for none.
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
 * Gives the name of an op by its number. Any thread.
 *
 * @param context  Whose custom ops count too; NULL for none.
 * @param op       The number.
 *
 * @return Text that lives as long as the context; empty if there is no such op.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_op_name(tenon_context* context TENON_NULLABLE TENON_THREADS(any),
                                     uint32_t op);

TENON_END_DECLS

#endif /* TENON_CALL_H_ */
