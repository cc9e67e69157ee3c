/* tenon/program.h - programs: functions and variables saved in files, which can be opened, called
 * and trained.
 *
 * A program is a folder of standard files: an ONNX model for each signature of each function, one
 * safetensors file with their weights, and a tenon.json that lists which inputs and outputs of the
 * models are variables. Other runtimes can open the models. tenon_program_open() also reads a
 * single ONNX file with operator set versions 9 to 27.
 *
 * A function with several signatures consists of several traces under one name, for different
 * dtypes, ranks, sizes or static arguments. A call uses the signature that it matches. If several
 * match, it uses the one with the fewest unknown sizes; ties go to the first.
 *
 * The functions of an open program (tenon/function.h) can be called, traced and differentiated. Its
 * variables (tenon/variable.h) can be read, assigned and trained. Functions of one folder share
 * variables. Files are untrusted and validated.
 *
 * Threads: any thread, also concurrently, but only one thread at a time may use a scope. An open
 * program is immutable; its variables are not.
 *
 * Errors: in addition to the errors that each function lists, any call can return those in
 * tenon/error.h. A call that takes a scope returns TENON_FAILED_PRECONDITION if another thread is
 * using that scope.
 */

#ifndef TENON_PROGRAM_H_
#define TENON_PROGRAM_H_

#include <tenon/function.h>
#include <tenon/types.h>

TENON_BEGIN_DECLS

/* An open program. It is independent of its files, which may be changed or deleted afterwards. */
typedef struct tenon_program tenon_program;

/* Options of opening a program. Start from TENON_PROGRAM_OPTIONS_DEFAULT. */
typedef struct tenon_program_options {
  uint32_t struct_size;
  /* Whether a value whose shape contradicts its declaration in an ONNX file is an error. By default
   * the declaration is ignored, with one warning for each value. The models of a saved program are
   * always read strictly. */
  bool strict;
} tenon_program_options;

#define TENON_PROGRAM_OPTIONS_DEFAULT \
  { sizeof(tenon_program_options), false }

/**
 * Reads a program, with its weights on the scope's device.
 *
 * @param scope        The scope in which the call runs.
 * @param path         A folder that tenon_program_save() wrote, or an ONNX file. Weights in
 *                     external files are searched only in the folder of that file.
 * @param options      Options; NULL for the defaults: not strict.
 * @param out_program  Receives the program.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_NOT_FOUND if there is no such file or folder, or a referenced file is missing.
 *   - TENON_UNAVAILABLE if a file cannot be read.
 *   - TENON_DATA_LOSS if a file is truncated, inconsistent or not part of a program; the message
 *     names the file, and the node, tensor or byte.
 *   - TENON_UNIMPLEMENTED if it uses unsupported ops, attributes or versions; the message lists all
 *     such ops with their nodes.
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type, `out_program` is NULL or `options` has
 *     unknown nonzero fields.
 *   - TENON_OUT_OF_MEMORY if the device's memory or the memory limit is exhausted.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_program_open(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_string path,
    const tenon_program_options* options TENON_NULLABLE, tenon_program** out_program TENON_OWNED);

/**
 * Writes traces as a program: a folder with one `NAME.onnx` for each, `weights.safetensors` with
 * the current values of their variables and captures, and `tenon.json`. A name that occurs several
 * times is a function with several signatures; the second is `NAME.2.onnx`, and so on.
 *
 * Existing files of these names are replaced. Files that an earlier tenon.json lists and the new
 * one does not are removed; other files are not touched. All files are first written under
 * temporary names; only then are the files of an earlier program replaced. This replacement is not
 * atomic: if the process is killed during the replacement, the folder has no tenon.json, and the
 * earlier files are named `FILE.tenon-old`.
 *
 * Variables are named by tenon_variable_name(). Variables that a function assigns are inputs and
 * outputs of its model. Only the given traces and the variables that they use are written. Static
 * arguments are written with the signature that was traced for them, together with the function's
 * defaults.
 *
 * @param scope        The scope in which the call runs.
 * @param path         The folder; created if only its last component is missing.
 * @param names        `n_traces` names, which become file names.
 * @param traces       `n_traces` traces, from tenon_function_trace() or elsewhere.
 * @param n_traces     Number of traces; at least 1.
 *
 * @return NULL, or an error for the caller to free; the folder is then unchanged:
 *   - TENON_UNIMPLEMENTED if ONNX cannot express a call, such as a host callback, or a static
 *     argument is an object or has no name; the message lists all of them.
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type or belongs to another context, an array
 *     is NULL, a name is not a valid file name, or traces with the same name match the same calls
 *     or come from functions with different defaults.
 *   - TENON_NOT_FOUND if the parent folder of `path` does not exist.
 *   - TENON_UNAVAILABLE if a file cannot be written; the message states the reason.
 *   - Any error that tenon_tensor_read() returns for the variables.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_program_save(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_string path,
    const tenon_string* names TENON_BORROWED TENON_COUNT(n_traces),
    tenon_trace* const* traces TENON_BORROWED TENON_COUNT(n_traces), size_t n_traces);

/**
 * Adds a reference to a program. Any thread.
 *
 * @param program  The program; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_program_retain(tenon_program* program TENON_NULLABLE TENON_THREADS(any));

/**
 * Releases a reference to a program. Its functions and variables stay valid as long as they are
 * referenced. Any thread.
 *
 * @param program  The program; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_program_release(tenon_program* program TENON_NULLABLE TENON_THREADS(any));

/* ---- functions ---------------------------------------------------------- */

/**
 * Counts the functions of a program. Any thread.
 *
 * @param program  The program.
 *
 * @return The number; 0 if `program` is not a program.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_program_count_functions(const tenon_program* program TENON_THREADS(any));

/**
 * Returns the name of a function: the name under which it was saved, or the graph's name for a
 * single ONNX file. Any thread.
 *
 * @param program  The program.
 * @param index    The function's index.
 *
 * @return Text that stays valid as long as the program; empty if `index` is out of range.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_program_function_name(const tenon_program* program TENON_THREADS(any),
                                                   size_t index);

/**
 * Gets a function by name. All functions share the variables of the program, so they read what the
 * caller or another function assigns. Any thread.
 *
 * @param program       The program.
 * @param name          The function's name; may be empty if there is only one.
 * @param out_function  Receives the function, which takes the inputs and returns the outputs of its
 *                      signatures, in their order. A call that matches no signature fails with an
 *                      error that lists them.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_NOT_FOUND if there is no such function; the message lists the functions.
 *   - TENON_INVALID_ARGUMENT if `program` is not a program or `out_function` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_program_get_function(
    tenon_program* program TENON_THREADS(any), tenon_string name,
    tenon_function** out_function TENON_OWNED);

/**
 * Counts the signatures of a function. Any thread.
 *
 * @param program   The program.
 * @param function  The function's index.
 *
 * @return The number; 0 if `function` is out of range.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_program_count_signatures(const tenon_program* program TENON_THREADS(any),
                                                size_t function);

/**
 * Counts the inputs of a signature. Any thread.
 *
 * @param program    The program.
 * @param function   The function's index.
 * @param signature  The signature's index within the function.
 *
 * @return The number; 0 if an index is out of range.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_program_count_inputs(const tenon_program* program TENON_THREADS(any),
                                            size_t function, size_t signature);

/**
 * Returns the inputs of a signature as its file declares them: names, dtypes and sizes, with
 * TENON_SIZE_UNKNOWN for unknown sizes. They can be passed to tenon_function_trace(): characters
 * that it does not accept in names of sizes are replaced by "_". Any thread.
 *
 * @param program    The program.
 * @param function   The function's index.
 * @param signature  The signature's index within the function.
 *
 * @return An array of tenon_program_count_inputs() elements, valid as long as the program; NULL if
 *         an index is out of range.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED const tenon_input_spec* tenon_program_inputs(
    const tenon_program* program TENON_THREADS(any), size_t function, size_t signature);

/**
 * Counts the outputs of a signature. Any thread.
 *
 * @param program    The program.
 * @param function   The function's index.
 * @param signature  The signature's index within the function.
 *
 * @return The number; 0 if an index is out of range.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_program_count_outputs(const tenon_program* program TENON_THREADS(any),
                                             size_t function, size_t signature);

/**
 * Returns the outputs of a signature as its file declares them. If the file does not declare an
 * output's type, its dtype is TENON_DTYPE_NONE and its rank 0. Any thread.
 *
 * @param program    The program.
 * @param function   The function's index.
 * @param signature  The signature's index within the function.
 *
 * @return An array of tenon_program_count_outputs() elements, valid as long as the program; NULL if
 *         an index is out of range.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED const tenon_input_spec* tenon_program_outputs(
    const tenon_program* program TENON_THREADS(any), size_t function, size_t signature);

/**
 * Counts the static arguments of a signature. Any thread.
 *
 * @param program    The program.
 * @param function   The function's index.
 * @param signature  The signature's index within the function.
 *
 * @return The number; 0 if an index is out of range.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_program_count_statics(const tenon_program* program TENON_THREADS(any),
                                             size_t function, size_t signature);

/**
 * Returns the static arguments for which a signature was traced. A call of the signature must pass
 * them, except those that equal a default of the function. Any thread.
 *
 * @param program    The program.
 * @param function   The function's index.
 * @param signature  The signature's index within the function.
 *
 * @return An array of tenon_program_count_statics() elements, sorted by name, valid as long as the
 *         program; NULL if an index is out of range.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED const tenon_static* tenon_program_statics(
    const tenon_program* program TENON_THREADS(any), size_t function, size_t signature);

/* ---- variables ---------------------------------------------------------- */

/**
 * Counts the variables of a program: all tensors in its files. Training may change them. Any
 * thread.
 *
 * @param program  The program.
 *
 * @return The number; 0 if `program` is not a program.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_program_count_variables(const tenon_program* program TENON_THREADS(any));

/**
 * Returns a variable of a program by index. Its name is its name in the files. Any thread.
 *
 * @param program  The program.
 * @param index    The variable's index.
 *
 * @return A variable that stays valid as long as the program and must not be released; NULL if
 *         `index` is out of range.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED tenon_variable* tenon_program_variable(
    const tenon_program* program TENON_THREADS(any), size_t index);

/* ---- for tools ---------------------------------------------------------- */

/**
 * Describes a program as JSON: its functions and its variables. A function has the defaults of its
 * static arguments, and its signatures: static arguments, types of inputs and outputs, ops with the
 * number of their nodes, and operator sets. Any thread.
 *
 *     {"functions": [{"name": "f", "defaults": {"training": false},
 *                     "signatures": [{"statics": {"training": true},
 *                                     "inputs": [{"name": "x", "type": "f32[2,N]"}],
 *                                     "outputs": [{"name": "y", "type": "f32[2,N]"}],
 *                                     "ops": {"Add": 2}, "operator_sets": {"ai.onnx": 20}}]}],
 *      "variables": [{"name": "w", "type": "f32[3]", "bytes": 12, "trainable": true}]}
 *
 * @param program   The program.
 * @param out_text  Receives the JSON, for tenon_string_release().
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `program` is not a program or `out_text` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_program_describe(
    const tenon_program* program TENON_THREADS(any), tenon_string* out_text TENON_OWNED);

TENON_END_DECLS

#endif /* TENON_PROGRAM_H_ */
