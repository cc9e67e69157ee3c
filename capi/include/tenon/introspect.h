/* tenon/introspect.h - introspection for tools, tests and the conformance kit.
 *
 * Ordinary programs do not need this header.
 *
 * Threads: any thread, but only one thread at a time may use a scope.
 *
 * Errors: in addition to the errors that each function lists, any call can return those in
 * tenon/error.h. A call that takes a scope returns TENON_FAILED_PRECONDITION if another thread is
 * using that scope.
 */

#ifndef TENON_INTROSPECT_H_
#define TENON_INTROSPECT_H_

#include <tenon/custom.h>
#include <tenon/plugin.h>
#include <tenon/types.h>

TENON_BEGIN_DECLS

/**
 * Counts the built-in ops. Any thread.
 *
 * @return The number.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_op_count(void);

/**
 * Returns the number of a built-in op by index. Any thread.
 *
 * @param index  The index, in ascending order of op numbers.
 *
 * @return TENON_OP_<name>; 0 if `index` is out of range.
 *
 * @since 0.1, unstable
 */
TENON_API uint32_t tenon_op_at(size_t index);

/**
 * Infers the output types of an op call, or the error with which it would fail. Nothing is
 * computed.
 *
 * @param scope      The scope in which the call runs.
 * @param op         TENON_OP_<name>, or the number of a custom op.
 * @param attrs      `tenon_<op>_attrs`; NULL for the defaults.
 * @param inputs     `n_inputs` types after type promotion; TENON_DTYPE_NONE for an absent optional
 *                   input.
 * @param n_inputs   Number of inputs.
 * @param out_types  Receives up to `n_types` types.
 * @param n_types    Capacity of `out_types`.
 * @param out_count  Receives the number of outputs of the op.
 *
 * @return NULL, or an error for the caller to free: the error that tenon_call() would return for
 *         tensors of these types.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_op_infer(
    tenon_scope* scope TENON_THREADS(one_at_a_time), uint32_t op,
    const void* attrs TENON_BORROWED TENON_NULLABLE,
    const tenon_type* inputs TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_inputs), size_t n_inputs,
    tenon_type* out_types TENON_COUNT(n_types), size_t n_types, size_t* out_count);

/**
 * Explains how a call would run: on which device; whether by a kernel, as a view or by a
 * decomposition; and why each rejected kernel refused. Nothing is computed.
 *
 * @param scope     The scope in which the call runs.
 * @param op        TENON_OP_<name>, or the number of a custom op.
 * @param attrs     `tenon_<op>_attrs`; NULL for the defaults.
 * @param inputs    `n_inputs` tensors; NULL for an optional input that is omitted.
 * @param n_inputs  Number of inputs.
 * @param out_text  Receives one or more lines, for tenon_string_release().
 *
 * @return NULL, or an error for the caller to free: the error that tenon_call() would return for
 *         invalid inputs.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_explain(
    tenon_scope* scope TENON_THREADS(one_at_a_time), uint32_t op,
    const void* attrs TENON_BORROWED TENON_NULLABLE,
    tenon_tensor* const* inputs TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_inputs),
    size_t n_inputs, tenon_string* out_text TENON_OWNED);

/**
 * Describes as JSON what a trace would do for inputs of given types: where and how each of its
 * calls would run, and how much memory they need. Nothing is computed.
 *
 *     {"inputs": [{"name": "x", "type": "f32[2,3]"}], "outputs": [...],
 *      "calls": [{"op": "matmul", "outputs": ["f32[2,4]"], "device": "cpu:0",
 *                 "runs": "kernel", "why": "", "level": 0}],
 *      "memory": {"variables": 48, "captures": 0, "inputs": 24, "outputs": 32, "peak": 32}}
 *
 * Calls are listed as traced, before the passes (tenon/passes.h). "runs" is "kernel" (a kernel of
 * the device), "view" (no kernel runs), "parts" (the calls of the decomposition run), "elsewhere"
 * (a fallback to the CPU; "why" lists the reasons why the device's kernels refused), "blocks" (the
 * host selects branches or runs loop bodies, whose calls follow with "level" + 1) or "host" (a host
 * call). "peak" is the maximum number of bytes that values occupy at once if calls run one after
 * the other, without inputs, variables and captures.
 *
 * @param scope     The scope in which the call runs.
 * @param trace     The trace, which no other thread may call at the same time.
 * @param inputs    `n_inputs` types that match the trace, without unknown sizes.
 * @param n_inputs  Number of inputs.
 * @param out_text  Receives the JSON, for tenon_string_release().
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type or belongs to another context, the
 *     types do not match the trace, or a pointer is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_introspect_trace(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_trace* trace,
    const tenon_type* inputs TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_inputs), size_t n_inputs,
    tenon_string* out_text TENON_OWNED);

/**
 * Describes an ONNX model as JSON: the version of the ONNX operator set that it imports, the names
 * and types of its inputs and outputs, the ops of its nodes, and the unsupported ops with their
 * nodes. Inputs with initial values in the file are omitted. Any thread.
 *
 *     {"version": 13,
 *      "inputs": [{"name": "x", "type": "f32[2,N]"}],
 *      "outputs": [{"name": "y", "type": "f32[...]"}],
 *      "ops": ["Add", "com.example.Frob"],
 *      "unknown": [{"op": "com.example.Frob", "nodes": ["node 1"]}]}
 *
 * An unsupported type is listed as "tensor(string)" or the like, or "no tensor".
 *
 * @param data      The content of the file.
 * @param size      Number of bytes.
 * @param out_text  Receives the JSON, for tenon_string_release().
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_DATA_LOSS if it is truncated, inconsistent or not an ONNX model; the message gives the
 *     byte offset.
 *   - TENON_UNIMPLEMENTED if it holds sparse tensors, or tensors with too many axes.
 *   - TENON_INVALID_ARGUMENT if `data` or `out_text` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_introspect_onnx_describe(
    const void* data TENON_BORROWED TENON_COUNT(size), size_t size,
    tenon_string* out_text TENON_OWNED);

/**
 * Runs an ONNX model once. Each node is an eager op call on the device of the inputs.
 *
 * @param scope        The scope in which the call runs.
 * @param data         The content of the file.
 * @param size         Number of bytes.
 * @param inputs       `n_inputs` tensors of the types that the model declares, on one device.
 * @param n_inputs     Number of inputs, as listed by tenon_introspect_onnx_describe().
 * @param out_outputs  Receives up to `n_outputs` tensors.
 * @param n_outputs    Number of outputs to receive; trailing outputs may be left out.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type, the number or the types of the inputs
 *     differ from the model's, `n_outputs` exceeds the number of outputs, or a pointer is NULL.
 *   - TENON_UNIMPLEMENTED if ops or attributes are not supported; the message lists all such ops
 *     with their nodes. Also if tensors are stored in other files.
 *   - Any error of tenon_introspect_onnx_describe() and of the ops; the message names the node.
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
 * Reads a tensor from a file that holds a single ONNX TensorProto onto the scope's device.
 *
 * @param scope       The scope in which the call runs.
 * @param data        The content of the file.
 * @param size        Number of bytes.
 * @param out_tensor  Receives the tensor.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_DATA_LOSS if it is truncated or inconsistent.
 *   - TENON_UNIMPLEMENTED if its element type is not supported, or its elements are stored in
 *     another file.
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type, or a pointer is NULL.
 *   - TENON_OUT_OF_MEMORY if the device's memory or the memory limit is exhausted.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_introspect_onnx_tensor(
    tenon_scope* scope TENON_THREADS(one_at_a_time),
    const void* data TENON_BORROWED TENON_COUNT(size), size_t size,
    tenon_tensor** out_tensor TENON_OWNED);

/**
 * Returns the host table that this library passes to plugins, for programs that drive a plugin
 * themselves. Any thread.
 *
 * @return The table, which is never freed.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED const tenon_host* tenon_host_table(void);

/**
 * Registers a plugin by its query function (one that is statically linked, or that wraps another)
 * and opens its devices.
 *
 * @param context  The context.
 * @param name     Name used in errors until the query function reports the plugin's name.
 * @param query    Its query function, which must stay valid until the process ends.
 *
 * @return NULL, or an error for the caller to free: any error of tenon_context_load_plugin() for a
 *         file, and TENON_INVALID_ARGUMENT if `query` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_context_add_plugin(
    tenon_context* context TENON_THREADS(any), tenon_string name, tenon_plugin_query query);

TENON_END_DECLS

#endif /* TENON_INTROSPECT_H_ */
