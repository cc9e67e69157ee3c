/* tenon/function.h - functions: callbacks that are traced once and then run as graphs.
 *
 * A function wraps a callback that makes ordinary calls. The first call traces the callback: its
 * calls are recorded and compute nothing. The resulting trace runs now and in every later call with
 * the same signature: the same static arguments, and inputs of the same dtypes, ranks, sizes and
 * devices. Anything that the callback does besides calling ops (printing, counting) therefore
 * happens only while it is traced.
 *
 * A number that is passed as an input (by tenon_scalar_f64(), for example) may differ in each call.
 * A number that is passed as a static argument causes one trace for each value. Every call reads
 * and assigns the variables that the callback uses, and draws from its generators. Other tensors
 * from outside are captured: they are inputs of the trace, with their values at the time of
 * tracing. A trace keeps its captures, variables and generators alive. Tapes record a call of a
 * function as a single op.
 *
 * Branches and loops that depend on values are in tenon/control.h. Ops may have data-dependent
 * output sizes, which differ from call to call. The outputs of a branch or a loop must have the
 * same sizes in every case. If tracing fixed an unknown size to a constant (for example to
 * broadcast it against 2), calls with another size fail.
 *
 * Threads: any thread, but only one thread at a time may use a scope. Concurrent calls of one
 * function in several scopes are serialised if they share variables or generators, and while one of
 * them is traced.
 *
 * Errors: in addition to the errors that each function lists, any call can return those in
 * tenon/error.h. A call that takes a scope returns TENON_FAILED_PRECONDITION if another thread is
 * using that scope.
 */

#ifndef TENON_FUNCTION_H_
#define TENON_FUNCTION_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

/* ---- static arguments --------------------------------------------------- */

enum {
  TENON_STATIC_NONE = 0,
  TENON_STATIC_BOOL = 1,   /* A bool: int_value is 0 or 1. */
  TENON_STATIC_INT = 2,    /* An integer: int_value. */
  TENON_STATIC_FLOAT = 3,  /* A number: float_value, compared bitwise. */
  TENON_STATIC_STRING = 4, /* A string: string_value. */
  TENON_STATIC_ENUM = 5,   /* int_value is a value of the enumeration that string_value names. */
  TENON_STATIC_HANDLE = 6, /* A tensor, variable, generator or function, compared by identity. */
  TENON_STATIC_LIST = 7,   /* A list: n_items values in `items`, in order. */
  TENON_STATIC_MAP = 8     /* A map: n_items named values in `items`, in any order. */
};

/* A static argument: a value that is not a tensor. Two static arguments are equal if both their
 * kinds and their values are equal, so 1, 1.0 and true are different. Frozen layout. */
typedef struct tenon_static {
  int32_t kind; /* A TENON_STATIC_* constant. */
  uint32_t n_items;
  tenon_string name; /* Name of the argument or the map item; empty for none. */
  int64_t int_value;
  double float_value;
  tenon_string string_value;
  const void* handle TENON_BORROWED TENON_NULLABLE;
  const struct tenon_static* items TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_items);
} tenon_static;

/* ---- definition --------------------------------------------------------- */

/* The body of a function. Runs on the thread that calls or traces the function, in the scope that
 * it receives. It stores its outputs in the first entries of `out_outputs`, which are initially
 * NULL, and the caller owns them; or it returns an error. */
typedef struct tenon_function_body {
  tenon_error* (*function)(void* payload, tenon_scope* scope TENON_THREADS(one_at_a_time),
                           tenon_tensor* const* inputs TENON_BORROWED TENON_COUNT(n_inputs),
                           size_t n_inputs,
                           const tenon_static* statics TENON_BORROWED TENON_COUNT(n_statics),
                           size_t n_statics,
                           tenon_tensor** out_outputs TENON_OWNED TENON_COUNT(max_outputs),
                           size_t max_outputs);
  void* payload;
  void (*destroy)(void* payload) TENON_NULLABLE;
} tenon_function_body;

/* The type of an input. The layout is frozen. */
typedef struct tenon_input_spec {
  tenon_string name; /* Name in messages and files; if empty, x0, x1 and so on. */
  tenon_dtype dtype; /* The dtype; for inline scalars TENON_FLOAT32, TENON_INT64 or TENON_BOOL. */
  uint32_t rank;
  /* `rank` sizes; an unknown size is TENON_SIZE_UNKNOWN. */
  const int64_t* shape TENON_BORROWED TENON_NULLABLE TENON_COUNT(rank);
  /* A name for each unknown size, empty for none; NULL if no size has a name. Sizes with the same
   * name are equal. */
  const tenon_string* size_names TENON_BORROWED TENON_NULLABLE TENON_COUNT(rank);
  bool is_scalar; /* Whether the input is an inline scalar. */
} tenon_input_spec;

/* Options for tracing a function. Start from TENON_FUNCTION_OPTIONS_DEFAULT. */
typedef struct tenon_function_options {
  uint32_t struct_size;
  uint32_t max_outputs; /* Maximum number of outputs of the callback. */
  /* The inputs that calls may pass; NULL: any inputs, which are traced on demand. */
  const tenon_input_spec* signature TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_signature);
  size_t n_signature;
  /* Default values of static arguments, by name, for calls that omit them. */
  const tenon_static* defaults TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_defaults);
  size_t n_defaults;
  uint32_t max_traces; /* Maximum number of traces kept; the least recently used is evicted. */
  bool relax;          /* Whether a size that has had three different values becomes dynamic. */
  /* Maximum number of bytes of residuals that a call under a tape saves for the backward pass,
   * besides its inputs. The backward pass rematerialises other residuals once, just before their
   * first use; gradients are bitwise the same. 0: only inputs are saved. If the call is made inside
   * another function's callback, the budget applies to the ops that the call adds to the outer
   * trace, and to tapes in that callback. Such a call cannot create variables. */
  uint64_t memory_budget_bytes;
} tenon_function_options;

#define TENON_FUNCTION_OPTIONS_DEFAULT \
  { sizeof(tenon_function_options), 16, NULL, 0, NULL, 0, 64, true, UINT64_MAX }

/**
 * Creates a function. Nothing runs yet.
 *
 * @param context       The context of the function, which keeps it alive.
 * @param name          The name used in messages; copied.
 * @param body          The body. Its destructor runs when the last reference to the function is
 *                      released, or when this call fails.
 * @param options       Options; NULL for the defaults: no signature, at most 16 outputs, at most 64
 *                      traces, and sizes that may become dynamic.
 * @param out_function  Receives the function.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `context` is not a context, the body has no function, a dtype, size
 *     or static value is malformed, or a pointer is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_function_create(
    tenon_context* context TENON_THREADS(any), tenon_string name, tenon_function_body body,
    const tenon_function_options* options TENON_NULLABLE,
    tenon_function** out_function TENON_OWNED);

/**
 * Adds a reference to a function. Any thread.
 *
 * @param function  The function; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_function_retain(tenon_function* function TENON_NULLABLE TENON_THREADS(any));

/**
 * Releases a reference to a function. Any thread.
 *
 * @param function  The function; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_function_release(tenon_function* function TENON_NULLABLE TENON_THREADS(any));

/* ---- calls -------------------------------------------------------------- */

/**
 * Calls a function: traces it if no trace matches the call, and runs the trace. Inside another
 * function's callback, its ops become part of the outer trace.
 *
 * A callback may create variables only in its first call. Such a callback is traced twice for that
 * call; the initial values of the variables are computed between the two traces.
 *
 * @param scope        The scope in which the call runs.
 * @param function     The function.
 * @param inputs       `n_inputs` tensors or inline scalars. A successful call consumes its donated
 *                     inputs and may write its outputs to their memory.
 * @param n_inputs     Number of inputs.
 * @param statics      `n_statics` static arguments.
 * @param n_statics    Number of static arguments.
 * @param out_outputs  Receives the outputs; all NULL if the call fails.
 * @param n_outputs    Capacity of `out_outputs`.
 * @param out_count    Receives the number of outputs; NULL if it must equal `n_outputs`.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type or belongs to another context, an input
 *     was donated to an earlier call or does not fit the signature, a static argument is malformed,
 *     or the callback returns more outputs than fit (or, without `out_count`, not exactly
 *     `n_outputs`).
 *   - TENON_FAILED_PRECONDITION if the callback reads the value of a traced tensor, uses a tensor
 *     of another trace, creates a variable in every call, or if functions recurse without end.
 *   - TENON_OUT_OF_RANGE if an op finds an index out of range. The function still runs to its end
 *     and performs all assignments of variables, before and after the op. Then the call fails or,
 *     on an asynchronous device, the scope's next wait or read fails. Only a failed assertion,
 *     tenon_check_numerics() or host call stops a function; variables then hold what was assigned
 *     before. If functions run eagerly (tenon_context_run_functions_eagerly()), the callback stops
 *     at the op.
 *   - TENON_CANCELLED, TENON_OUT_OF_MEMORY, TENON_DEVICE_LOST and any other error that tenon_call()
 *     returns for its ops.
 *   - Any error that the callback returns. Existing traces are not affected.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_function_call(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_function* function TENON_THREADS(any),
    tenon_tensor* const* inputs TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_inputs),
    size_t n_inputs,
    const tenon_static* statics TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_statics),
    size_t n_statics, tenon_tensor** out_outputs TENON_OWNED TENON_NULLABLE TENON_COUNT(n_outputs),
    size_t n_outputs, size_t* out_count TENON_NULLABLE);

/**
 * Gets the trace that matches a call, without running it. Traces the function if no trace matches.
 *
 * @param scope      The scope in which the call runs.
 * @param function   The function.
 * @param inputs     `n_inputs` tensors.
 * @param n_inputs   Number of inputs.
 * @param statics    `n_statics` static arguments.
 * @param n_statics  Number of static arguments.
 * @param out_trace  Receives the trace.
 *
 * @return NULL, or an error for the caller to free: any error of tenon_function_call() while
 *         tracing, or TENON_FAILED_PRECONDITION inside another function's callback.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_function_find_trace(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_function* function TENON_THREADS(any),
    tenon_tensor* const* inputs TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_inputs),
    size_t n_inputs,
    const tenon_static* statics TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_statics),
    size_t n_statics, tenon_trace** out_trace TENON_OWNED);

/**
 * Traces a function for input types instead of inputs. Later calls with matching inputs use the
 * trace.
 *
 * @param scope      The scope; the inputs are assumed to be on its device.
 * @param function   The function.
 * @param specs      `n_specs` input types; sizes may be unknown.
 * @param n_specs    Number of specs.
 * @param statics    `n_statics` static arguments.
 * @param n_statics  Number of static arguments.
 * @param out_trace  Receives the trace.
 *
 * @return NULL, or an error for the caller to free: any error of tenon_function_call() while
 *         tracing, or TENON_INVALID_ARGUMENT if the callback reads an unknown size as a number.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_function_trace(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_function* function TENON_THREADS(any),
    const tenon_input_spec* specs TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_specs),
    size_t n_specs,
    const tenon_static* statics TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_statics),
    size_t n_statics, tenon_trace** out_trace TENON_OWNED);

/**
 * Returns whether calls in a scope are being traced, as they are inside a function's callback.
 *
 * @param scope  The scope.
 *
 * @return False if calls compute, or if `scope` is not a scope.
 *
 * @since 0.1, unstable
 */
TENON_API bool tenon_scope_is_tracing(const tenon_scope* scope TENON_THREADS(one_at_a_time));

/**
 * Makes functions of a context run their callbacks eagerly in every call, for debugging.
 *
 * @param context   The context; anything else is ignored.
 * @param eagerly   True: calls no longer trace. False: calls trace again.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_context_run_functions_eagerly(tenon_context* context TENON_THREADS(any),
                                                   bool eagerly);

/**
 * Creates a function that computes the gradient of a function. It takes the same inputs and static
 * arguments. It returns the gradients of the sum of the floating outputs with respect to each
 * floating input that is not an inline scalar, in the order of the inputs. A gradient has the type
 * of its input. The gradient function can be differentiated again.
 *
 * @param function      The function, which the gradient keeps alive.
 * @param out_gradient  Receives the gradient.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `function` is not a function or `out_gradient` is NULL. Calls of
 *     the gradient also fail with it if there is no floating input or no floating output.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_function_gradient(
    tenon_function* function TENON_THREADS(any), tenon_function** out_gradient TENON_OWNED);

/* ---- inspection --------------------------------------------------------- */

/**
 * Counts the traces of a function. Any thread.
 *
 * @param function  The function.
 *
 * @return The number; 0 if `function` is not a function.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_function_count_traces(const tenon_function* function TENON_THREADS(any));

/**
 * Gets a trace of a function by index, in the order of creation. Any thread.
 *
 * @param function   The function.
 * @param index      Its index.
 * @param out_trace  Receives the trace.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_OUT_OF_RANGE if `index` is too large.
 *   - TENON_INVALID_ARGUMENT if `function` is not a function or `out_trace` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_function_get_trace(
    tenon_function* function TENON_THREADS(any), size_t index, tenon_trace** out_trace TENON_OWNED);

/**
 * Lists the traces of a function with their signatures, and why each was created. Any thread.
 *
 * @param function  The function.
 * @param out_text  Receives text to be freed with tenon_string_release().
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `function` is not a function or `out_text` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_function_explain(
    tenon_function* function TENON_THREADS(any), tenon_string* out_text TENON_OWNED);

/* ---- traces ------------------------------------------------------------- */

/**
 * Adds a reference to a trace. Any thread.
 *
 * @param trace  The trace; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_trace_retain(tenon_trace* trace TENON_NULLABLE TENON_THREADS(any));

/**
 * Releases a reference to a trace. A trace may outlive its function. Any thread.
 *
 * @param trace  The trace; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_trace_release(tenon_trace* trace TENON_NULLABLE TENON_THREADS(any));

/**
 * Calls a trace. It never retraces.
 *
 * @param scope        The scope in which the call runs.
 * @param trace        The trace.
 * @param inputs       `n_inputs` tensors that match the trace; donated inputs are treated as in
 *                     tenon_function_call().
 * @param n_inputs     Number of inputs.
 * @param out_outputs  Receives `n_outputs` tensors; all NULL if the call fails.
 * @param n_outputs    Number of outputs, equal to tenon_trace_count_outputs().
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type or belongs to another context, an input
 *     was donated to an earlier call, the inputs do not match the trace, or the trace has a
 *     different number of outputs.
 *   - TENON_CANCELLED, TENON_OUT_OF_MEMORY, TENON_DEVICE_LOST and any other error that tenon_call()
 *     returns for its ops.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_trace_call(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_trace* trace TENON_THREADS(any),
    tenon_tensor* const* inputs TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_inputs),
    size_t n_inputs, tenon_tensor** out_outputs TENON_OWNED TENON_NULLABLE TENON_COUNT(n_outputs),
    size_t n_outputs);

/**
 * Counts the inputs of a trace. Any thread.
 *
 * @param trace  The trace.
 *
 * @return The number; 0 if `trace` is not a trace.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_trace_count_inputs(const tenon_trace* trace TENON_THREADS(any));

/**
 * Counts the outputs of a trace. Any thread.
 *
 * @param trace  The trace.
 *
 * @return The number; 0 if `trace` is not a trace.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_trace_count_outputs(const tenon_trace* trace TENON_THREADS(any));

/**
 * Formats a trace as text: its inputs, captures and states with their types, the guards on unknown
 * sizes, its calls and its outputs. Any thread.
 *
 * @param trace     The trace.
 * @param out_text  Receives text to be freed with tenon_string_release().
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `trace` is not a trace or `out_text` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_trace_text(tenon_trace* trace TENON_THREADS(any),
                                                    tenon_string* out_text TENON_OWNED);

/**
 * Formats the stages of a trace as text, as far as they exist: the graph as traced; the graph after
 * the passes, which the first execution creates; its segments, each a run of consecutive calls on
 * one device; and the launch plans, which the second execution with the same sizes records. A
 * launch is listed with its op, or with the ops that were fused into it, its inputs and its
 * outputs. The operand `block + N` is a temporary at byte N of the memory that the launches share.
 * The format may change. Any thread.
 *
 * @param trace     The trace.
 * @param out_text  Receives text to be freed with tenon_string_release().
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `trace` is not a trace or `out_text` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_trace_stages(tenon_trace* trace TENON_THREADS(any),
                                                      tenon_string* out_text TENON_OWNED);

/**
 * Counts the variables that a trace reads or assigns. Any thread.
 *
 * @param trace  The trace.
 *
 * @return The number; 0 if `trace` is not a trace.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_trace_count_variables(const tenon_trace* trace TENON_THREADS(any));

/**
 * Returns a variable of a trace by index, in the order of first use. Any thread.
 *
 * @param trace  The trace.
 * @param index  Its index.
 *
 * @return A variable that stays valid as long as the trace and must not be released; NULL if
 *         `index` is out of range.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED tenon_variable* tenon_trace_variable(
    const tenon_trace* trace TENON_THREADS(any), size_t index);

/**
 * Counts the calls of a trace that have effects (tenon/effects.h). A call in a loop body or branch
 * counts once. Any thread.
 *
 * @param trace  The trace.
 *
 * @return The number; 0 if `trace` is not a trace.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_trace_count_effects(const tenon_trace* trace TENON_THREADS(any));

/**
 * Returns the op of a call with effects by index, in program order. Any thread.
 *
 * @param trace  The trace.
 * @param index  Its index.
 *
 * @return The op's name: print, assert, host_call, check_numerics, or a custom op's name. Valid as
 *         long as the trace; empty if `index` is out of range.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_trace_effect(const tenon_trace* trace TENON_THREADS(any),
                                          size_t index);

TENON_END_DECLS

#endif /* TENON_FUNCTION_H_ */
