/* tenon/introspect.h - a look behind the calls, for tools, tests and the conformance kit.
 *
 * Programs need none of this.
 *
 * Threads: any, but one at a time for one scope.
 *
 * Errors: besides what each function lists, those of every call (tenon/error.h): of one that
 * takes a scope above all TENON_FAILED_PRECONDITION if another thread is inside of it.
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
 * Tells what a trace would do with inputs of some types, as JSON: where and how each of its calls
 * would run, and the memory that they take. Nothing is computed.
 *
 *     {"inputs": [{"name": "x", "type": "f32[2,3]"}], "outputs": [...],
 *      "calls": [{"op": "matmul", "outputs": ["f32[2,4]"], "device": "cpu:0",
 *                 "runs": "kernel", "why": "", "level": 0}],
 *      "memory": {"variables": 48, "captures": 0, "inputs": 24, "outputs": 32, "peak": 32}}
 *
 * Calls are as they were written, before the passes (tenon/passes.h). One runs as a "kernel" of the
 * device, as a "view", in "parts" or "elsewhere", where "why" says what kernels of the device said
 * against it; as "blocks" of code that the "host" chooses, which follow one "level" deeper; or on
 * the "host". "peak" is the most bytes that values hold at once beside inputs, variables and
 * captures, if calls run one after the other.
 *
 * @param scope     Where.
 * @param trace     The trace, which no other thread may call meanwhile.
 * @param inputs    `n_inputs` types that it serves, without unknown sizes.
 * @param n_inputs  How many.
 * @param out_text  Receives the JSON, for tenon_string_release().
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind or of another context, the trace does
 *     not serve such inputs, or a pointer is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_introspect_trace(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_trace* trace,
    const tenon_type* inputs TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_inputs), size_t n_inputs,
    tenon_string* out_text TENON_OWNED);

/**
 * Describes an ONNX model as JSON: the version of ONNX's ops that it imports, the names and types
 * of its inputs and outputs, the ops of its nodes, and those ops that are unknown here with the
 * nodes that are of them. Inputs that the file has values for are left out. Any thread.
 *
 *     {"version": 13,
 *      "inputs": [{"name": "x", "type": "f32[2,N]"}],
 *      "outputs": [{"name": "y", "type": "f32[...]"}],
 *      "ops": ["Add", "com.example.Frob"],
 *      "unknown": [{"op": "com.example.Frob", "nodes": ["node 1"]}]}
 *
 * A type that no tensor here has is "tensor(string)" or the like, or "no tensor".
 *
 * @param data      The content of the file.
 * @param size      How many bytes.
 * @param out_text  Receives the JSON, for tenon_string_release().
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_DATA_LOSS if it is truncated, contradicts itself or is no such file; the message says
 *     at which byte.
 *   - TENON_UNIMPLEMENTED if it holds sparse tensors, or tensors of too many axes.
 *   - TENON_INVALID_ARGUMENT if `data` or `out_text` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_introspect_onnx_describe(
    const void* data TENON_BORROWED TENON_COUNT(size), size_t size,
    tenon_string* out_text TENON_OWNED);

/**
 * Runs an ONNX model once, node by node: each is a call of an op, on the device of the inputs.
 *
 * @param scope        Where.
 * @param data         The content of the file.
 * @param size         How many bytes.
 * @param inputs       `n_inputs` tensors of the types that the model declares, on one device.
 * @param n_inputs     How many; those that tenon_introspect_onnx_describe() names.
 * @param out_outputs  Receives up to `n_outputs` tensors.
 * @param n_outputs    How many are wanted; those at the end may be left out.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind, the number or the type of the inputs
 *     differs, more outputs are asked for than there are, or a pointer is NULL.
 *   - TENON_UNIMPLEMENTED if ops or attributes are unknown here; the message lists all such ops
 *     with their nodes. Also if tensors lie in other files.
 *   - What tenon_introspect_onnx_describe() and the ops give; the message names the node.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_introspect_onnx_run(
    tenon_scope* scope TENON_THREADS(one_at_a_time),
    const void* data TENON_BORROWED TENON_COUNT(size), size_t size,
    tenon_tensor* const* inputs TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_inputs),
    size_t n_inputs, tenon_tensor** out_outputs TENON_OWNED TENON_COUNT(n_outputs),
    size_t n_outputs);

/**
 * Reads a tensor that lies alone in a file, in ONNX's form (TensorProto), onto the scope's device.
 *
 * @param scope       Where.
 * @param data        The content of the file.
 * @param size        How many bytes.
 * @param out_tensor  Receives the tensor.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_DATA_LOSS if it is truncated or contradicts itself.
 *   - TENON_UNIMPLEMENTED if its elements are of a type that is unknown here, or lie in another
 *     file.
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind, or a pointer is NULL.
 *   - TENON_OUT_OF_MEMORY if the device's memory or its limit is used up.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_introspect_onnx_tensor(
    tenon_scope* scope TENON_THREADS(one_at_a_time),
    const void* data TENON_BORROWED TENON_COUNT(size), size_t size,
    tenon_tensor** out_tensor TENON_OWNED);

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
