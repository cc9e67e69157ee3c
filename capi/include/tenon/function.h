/* tenon/function.h - functions: user code that is traced once and runs as its traces.
 *
 * A function is made of a callback that runs ordinary calls. When it is called, the callback runs
 * under trace: its calls are written down and compute nothing. What came of that, a trace, is what
 * runs, now and at every later call that is alike: one with the same static arguments and with
 * inputs of the same dtypes, ranks, sizes and devices. So what the callback does beside calls of
 * ops (printing, counting) happens when it is traced, and no more.
 *
 * A number that is an input (tenon_scalar_f64() and the like) may change from call to call; one
 * that is a static argument makes a trace for each value. Variables and generators that the
 * callback uses are read, assigned and drawn from at every call. Tensors that it finds outside are
 * inputs of the trace too, as they were when it was traced. A trace keeps alive what it uses of
 * both. Tapes record a call as one.
 *
 * Branches and loops by values are in tenon/control.h. Ops whose output sizes depend on data give
 * what is as large as each call says; of what a branch or a loop gives, sizes are the same in every
 * case. What the code needs to be a number (to add it to two rows, say) is an error in a call in
 * which it is another.
 *
 * Threads: any, but one at a time for one scope. Calls of one function in several scopes take turns
 * where they share variables or generators, and while one of them is traced.
 *
 * Errors: besides what each function lists, those of every call (tenon/error.h): of one that
 * takes a scope above all TENON_FAILED_PRECONDITION if another thread is inside of it.
 */

#ifndef TENON_FUNCTION_H_
#define TENON_FUNCTION_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

/* ---- static arguments --------------------------------------------------- */

enum {
  TENON_STATIC_NONE = 0,
  TENON_STATIC_BOOL = 1,   /* int_value: 0 or 1. */
  TENON_STATIC_INT = 2,    /* int_value. */
  TENON_STATIC_FLOAT = 3,  /* float_value; by its bits. */
  TENON_STATIC_STRING = 4, /* string_value. */
  TENON_STATIC_ENUM = 5,   /* int_value, of the enumeration that string_value names. */
  TENON_STATIC_HANDLE = 6, /* A tensor, variable, generator or function: that object. */
  TENON_STATIC_LIST = 7,   /* n_items values, in their order. */
  TENON_STATIC_MAP = 8     /* n_items values by their names, whose order does not matter. */
};

/* A value that is no tensor. Two are the same if their types and values are: 1, 1.0 and true are
 * three. Frozen. */
typedef struct tenon_static {
  int32_t kind; /* TENON_STATIC_*. */
  uint32_t n_items;
  tenon_string name; /* Of an argument, and of an item of a map; empty for none. */
  int64_t int_value;
  double float_value;
  tenon_string string_value;
  const void* handle TENON_BORROWED TENON_NULLABLE;
  const struct tenon_static* items TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_items);
} tenon_static;

/* ---- what a function is ------------------------------------------------- */

/* The code of a function. Runs on the thread that calls or traces the function, in the scope that
 * it receives. It fills the first of `out_outputs`, which are NULL before, with tensors that the
 * caller then owns, as many as it gives; or returns an error. */
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

/* The type of an input. Frozen. */
typedef struct tenon_input_spec {
  tenon_string name; /* For messages and files; empty: x0, x1 and so on. */
  tenon_dtype dtype; /* Of an inline scalar TENON_FLOAT32, TENON_INT64 or TENON_BOOL. */
  uint32_t rank;
  const int64_t* shape TENON_BORROWED TENON_NULLABLE TENON_COUNT(rank); /* Or TENON_SIZE_UNKNOWN. */
  /* A name for each unknown size, empty for none; NULL if none has one. Sizes with one name are
   * equal. */
  const tenon_string* size_names TENON_BORROWED TENON_NULLABLE TENON_COUNT(rank);
  bool is_scalar; /* An inline scalar. */
} tenon_input_spec;

/* How a function is traced. Start from TENON_FUNCTION_OPTIONS_DEFAULT. */
typedef struct tenon_function_options {
  uint32_t struct_size;
  uint32_t max_outputs; /* The most outputs that the callback gives. */
  /* What calls may give; NULL: any inputs, for which traces are made as they come. */
  const tenon_input_spec* signature TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_signature);
  size_t n_signature;
  /* The static arguments of a call that leaves them out, by name. */
  const tenon_static* defaults TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_defaults);
  size_t n_defaults;
  uint32_t max_traces; /* Beyond, the one that was not used for longest is forgotten. */
  bool relax;          /* Whether a size that differs for the third time becomes unknown. */
  /* The bytes that a call under a tape keeps at most for its way back, beside its inputs. What the
   * way back needs beyond that is computed again, once, just before it is needed; the gradients are
   * the same to the bit. 0: nothing is kept. Inside of another function's callback, the call is a
   * part of that one's code which keeps so little, also for tapes in there; it cannot make
   * variables then. */
  uint64_t memory_budget_bytes;
} tenon_function_options;

#define TENON_FUNCTION_OPTIONS_DEFAULT \
  { sizeof(tenon_function_options), 16, NULL, 0, NULL, 0, 64, true, UINT64_MAX }

/**
 * Makes a function. Nothing runs yet.
 *
 * @param context       Where it belongs; kept alive by it.
 * @param name          For messages; copied.
 * @param body          The code. Its destructor runs with the last owner of the function, or when
 *                      this call fails.
 * @param options       How; NULL for the defaults: no signature, 16 outputs, 64 traces, relaxed.
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
 * Adds an owner to a function. Any thread.
 *
 * @param function  The function; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_function_retain(tenon_function* function TENON_NULLABLE TENON_THREADS(any));

/**
 * Takes an owner away from a function. Any thread.
 *
 * @param function  The function; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_function_release(tenon_function* function TENON_NULLABLE TENON_THREADS(any));

/* ---- calls -------------------------------------------------------------- */

/**
 * Calls a function: traces it if no trace serves the call, and runs the trace. Inside of another
 * function's callback, its calls become part of that one.
 *
 * A callback that makes variables is traced twice for its first call, since it may make them only
 * then: their first values are computed in between.
 *
 * @param scope        Where.
 * @param function     The function.
 * @param inputs       `n_inputs` tensors, inline scalars among them. Those that were donated are
 *                     used up by a call that succeeds, which may write its outputs there.
 * @param n_inputs     How many.
 * @param statics      `n_statics` static arguments.
 * @param n_statics    How many.
 * @param out_outputs  Receives the outputs; all NULL if the call fails.
 * @param n_outputs    How many there is room for.
 * @param out_count    Receives how many there are; NULL: they are exactly `n_outputs`.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind or of another context, an input was
 *     donated to an earlier call or does not fit the signature, a static value is malformed, or the
 * callback gives more outputs than there is room for, or fewer where they are to be exactly as
 * many.
 *   - TENON_FAILED_PRECONDITION if a traced tensor's value was asked for or a tensor came from
 *     another trace, the callback makes a variable at every call, or functions call each other
 *     without end.
 *   - TENON_OUT_OF_RANGE if an op finds an index out of range. That does not stop the function: it
 *     runs to its end and stores the variables that it assigns, before and after the op; then the
 *     call fails, or, on an asynchronous device, the scope's next wait or read. Only an assertion,
 *     tenon_check_numerics() and a host call stop a function; variables then hold what was assigned
 *     before. Called eagerly (tenon_context_run_functions_eagerly()), the callback stops at the op.
 *   - TENON_CANCELLED, TENON_OUT_OF_MEMORY, TENON_DEVICE_LOST and what else tenon_call() gives for
 *     the ops in it.
 *   - What the callback returned. What was traced before stays as it was.
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
 * Gives the trace that serves a call, without running it; it is made if there is none.
 *
 * @param scope      Where.
 * @param function   The function.
 * @param inputs     `n_inputs` tensors.
 * @param n_inputs   How many.
 * @param statics    `n_statics` static arguments.
 * @param n_statics  How many.
 * @param out_trace  Receives the trace.
 *
 * @return NULL, or an error for the caller to free: what tenon_function_call() gives when it
 * traces; TENON_FAILED_PRECONDITION inside of another function's callback.
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
 * Traces a function for inputs that are described, not given. Later calls that are alike use it.
 *
 * @param scope      Where; the inputs would lie on its device.
 * @param function   The function.
 * @param specs      `n_specs` types; sizes may be unknown.
 * @param n_specs    How many.
 * @param statics    `n_statics` static arguments.
 * @param n_statics  How many.
 * @param out_trace  Receives the trace.
 *
 * @return NULL, or an error for the caller to free: what tenon_function_call() gives when it
 * traces; TENON_INVALID_ARGUMENT too if the callback asks for the number that an unknown size is.
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
 * Tells whether calls in a scope are written down: inside of a function's callback.
 *
 * @param scope  The scope.
 *
 * @return False where calls compute, and if `scope` is not a scope.
 *
 * @since 0.1, unstable
 */
TENON_API bool tenon_scope_is_tracing(const tenon_scope* scope TENON_THREADS(one_at_a_time));

/**
 * Makes functions of a context run their callbacks as they are written at every call, for
 * debugging.
 *
 * @param context   The context; what is not one is left alone.
 * @param eagerly   True: nothing is traced from now on. False: as usual.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_context_run_functions_eagerly(tenon_context* context TENON_THREADS(any),
                                                   bool eagerly);

/**
 * Makes the gradient of a function a function. It takes the same inputs and static arguments, and
 * gives the gradients of the sum of the floating outputs: by each floating input that is no inline
 * scalar, in their order, of its type. Its gradient is one in turn.
 *
 * @param function      The function; kept alive by the other.
 * @param out_gradient  Receives the gradient.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `function` is not a function or `out_gradient` is NULL. Calls fail
 *     so where there is no floating input or no floating output.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_function_gradient(
    tenon_function* function TENON_THREADS(any), tenon_function** out_gradient TENON_OWNED);

/* ---- what happened ------------------------------------------------------ */

/**
 * Counts the traces that a function has. Any thread.
 *
 * @param function  The function.
 *
 * @return The number; 0 if `function` is not a function.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_function_count_traces(const tenon_function* function TENON_THREADS(any));

/**
 * Gives a trace of a function, in the order in which they were made. Any thread.
 *
 * @param function   The function.
 * @param index      Its place.
 * @param out_trace  Receives the trace.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_OUT_OF_RANGE if there are not so many.
 *   - TENON_INVALID_ARGUMENT if `function` is not a function or `out_trace` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_function_get_trace(
    tenon_function* function TENON_THREADS(any), size_t index, tenon_trace** out_trace TENON_OWNED);

/**
 * Lists the traces of a function with their signatures, and why each had to be made. Any thread.
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
 * Adds an owner to a trace. Any thread.
 *
 * @param trace  The trace; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_trace_retain(tenon_trace* trace TENON_NULLABLE TENON_THREADS(any));

/**
 * Takes an owner away from a trace, which lives on without its function. Any thread.
 *
 * @param trace  The trace; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_trace_release(tenon_trace* trace TENON_NULLABLE TENON_THREADS(any));

/**
 * Calls a trace, which never traces anew.
 *
 * @param scope        Where.
 * @param trace        The trace.
 * @param inputs       `n_inputs` tensors that it serves; donated ones as in tenon_function_call().
 * @param n_inputs     How many.
 * @param out_outputs  Receives `n_outputs` tensors; all NULL if the call fails.
 * @param n_outputs    How many, as tenon_trace_count_outputs() says.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind or of another context, an input was
 *     donated to an earlier call, the trace does not serve such inputs, or gives another number of
 * outputs.
 *   - TENON_CANCELLED, TENON_OUT_OF_MEMORY, TENON_DEVICE_LOST and what else tenon_call() gives for
 *     the ops in it.
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
 * Writes a trace down: its inputs, captures and states with their types, what must hold of unknown
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
 * Gives a variable of a trace, in the order in which they were first used. Any thread.
 *
 * @param trace  The trace.
 * @param index  Its place.
 *
 * @return A variable that lives as long as the trace and is not released; NULL if there are not so
 *         many.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED tenon_variable* tenon_trace_variable(
    const tenon_trace* trace TENON_THREADS(any), size_t index);

/**
 * Counts the calls of a trace that have effects (tenon/effects.h); those in the body of a loop or
 * in a branch once. Any thread.
 *
 * @param trace  The trace.
 *
 * @return The number; 0 if `trace` is not a trace.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_trace_count_effects(const tenon_trace* trace TENON_THREADS(any));

/**
 * Tells which op such a call calls, in the order in which they were written. Any thread.
 *
 * @param trace  The trace.
 * @param index  Its place.
 *
 * @return The op's name: print, assert, host_call, check_numerics, or a custom op's. It lives as
 *         long as the trace; empty if there are not so many.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_trace_effect(const tenon_trace* trace TENON_THREADS(any),
                                          size_t index);

TENON_END_DECLS

#endif /* TENON_FUNCTION_H_ */
