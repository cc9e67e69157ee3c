/* tenon/introspect.h - a look behind the calls, for tools, tests and the conformance kit.
 *
 * Programs need none of this.
 */

#ifndef TENON_INTROSPECT_H_
#define TENON_INTROSPECT_H_

#include <tenon/custom.h>
#include <tenon/plugin.h>
#include <tenon/types.h>

TENON_BEGIN_DECLS

/**
 * Counts the ops that are built in. Any thread.
 *
 * @return The number.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_op_count(void);

/**
 * Gives the number of an op by its place. Any thread.
 *
 * @param index  The place, in the order of their numbers.
 *
 * @return TENON_OP_<name>; 0 if there are not so many.
 *
 * @since 0.1, unstable
 */
TENON_API uint32_t tenon_op_at(size_t index);

/**
 * Gives the types that a call of an op would return, or why it would fail. Nothing is computed.
 *
 * @param scope      Where.
 * @param op         TENON_OP_<name>, or the number of a custom op.
 * @param attrs      `tenon_<op>_attrs`; NULL for the defaults.
 * @param inputs     `n_inputs` types, promoted already; TENON_DTYPE_NONE for an optional input that
 *                   is absent.
 * @param n_inputs   How many.
 * @param out_types  Receives up to `n_types` types.
 * @param n_types    How many there is room for.
 * @param out_count  Receives how many outputs the op gives.
 *
 * @return NULL, or an error for the caller to free: what tenon_call() would give for tensors of
 *         these types.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_op_infer(
    tenon_scope* scope TENON_THREADS(one_at_a_time), uint32_t op,
    const void* attrs TENON_BORROWED TENON_NULLABLE,
    const tenon_type* inputs TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_inputs), size_t n_inputs,
    tenon_type* out_types TENON_COUNT(n_types), size_t n_types, size_t* out_count);

/**
 * Explains how a call would run: the device, by a kernel, as a view or by which parts, and what
 * every kernel that was passed over said. Nothing is computed.
 *
 * @param scope     Where.
 * @param op        TENON_OP_<name>, or the number of a custom op.
 * @param attrs     `tenon_<op>_attrs`; NULL for the defaults.
 * @param inputs    `n_inputs` tensors; NULL for an optional one that is not given.
 * @param n_inputs  How many.
 * @param out_text  Receives one or more lines, for tenon_string_release().
 *
 * @return NULL, or an error for the caller to free: what tenon_call() would give for wrong inputs.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_explain(
    tenon_scope* scope TENON_THREADS(one_at_a_time), uint32_t op,
    const void* attrs TENON_BORROWED TENON_NULLABLE,
    tenon_tensor* const* inputs TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_inputs),
    size_t n_inputs, tenon_string* out_text TENON_OWNED);

/**
 * Gives the very table that this library hands to plugins, for programs that drive one themselves.
 * Any thread.
 *
 * @return A table that lives for good.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED const tenon_host* tenon_host_table(void);

/**
 * Adds a plugin that the program holds itself, linked in or wrapped around another, and opens its
 * devices.
 *
 * @param context  The context.
 * @param name     What errors call it until its query function has told its name.
 * @param query    Its query function, which must stay valid for good.
 *
 * @return NULL, or an error for the caller to free: what tenon_context_load_plugin() gives for a
 *         file, and TENON_INVALID_ARGUMENT if `query` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_context_add_plugin(
    tenon_context* context TENON_THREADS(any), tenon_string name, tenon_plugin_query query);

TENON_END_DECLS

#endif /* TENON_INTROSPECT_H_ */
