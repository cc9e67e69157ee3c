/* tenon/program.h - programs in files: functions that are saved, opened, called and trained on.
 *
 * A program is a folder of standard files: an ONNX model for each signature of each function, their
 * weights in one file of the format safetensors, and a tenon.json that says which inputs and
 * outputs of the models are variables. Other runtimes open the models. tenon_program_open() also
 * reads a single ONNX file, whose operator sets may be of the versions 9 to 22.
 *
 * A function of several signatures is several traces under one name: for other dtypes, other ranks
 * or sizes, or other static arguments. A call is one of the signature that it fits; of several that
 * do, of the one that leaves the fewest sizes open, and of those the first.
 *
 * What is read is code like any other: its functions (tenon/function.h) are called, traced and
 * differentiated, and its variables (tenon/variable.h) are read, assigned and trained. Functions of
 * one folder share them. A file is taken for hostile until it is proven otherwise.
 *
 * Threads: any, several at once too, but one at a time for one scope. An open program does not
 * change; its variables do.
 *
 * Errors: besides what each function lists, those of every call (tenon/error.h): of one that
 * takes a scope above all TENON_FAILED_PRECONDITION if another thread is inside of it.
 */

#ifndef TENON_PROGRAM_H_
#define TENON_PROGRAM_H_

#include <tenon/function.h>
#include <tenon/types.h>

TENON_BEGIN_DECLS

/* An open program: what was read of its files, which may change or go afterwards. */
typedef struct tenon_program tenon_program;

/**
 * Reads a program, its weights onto the scope's device.
 *
 * @param scope        Where.
 * @param path         A folder that tenon_program_save() wrote, or an ONNX file. Weights that lie
 *                     in other files are looked for beside it and nowhere else.
 * @param out_program  Receives the program.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_NOT_FOUND if there is no such file or folder, or a file is missing that another names.
 *   - TENON_UNAVAILABLE if one cannot be read.
 *   - TENON_DATA_LOSS if one is truncated, contradicts itself or is none of a program; the message
 *     names the file, and the node, tensor or byte.
 *   - TENON_UNIMPLEMENTED if it asks for ops, attributes or versions that are unknown here; the
 *     message lists all such ops with the nodes that are of them.
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind or `out_program` is NULL.
 *   - TENON_OUT_OF_MEMORY if the device's memory or its limit is used up.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_program_open(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_string path,
    tenon_program** out_program TENON_OWNED);

/**
 * Writes functions as a program: a folder with `NAME.onnx` for each, `weights.safetensors` with
 * what their variables hold now and the tensors that they found outside, and `tenon.json`. A name
 * that occurs several times is a function of so many signatures, of which the further ones are
 * `NAME.2.onnx` and so on.
 *
 * Files of such names that are there are replaced, and those that an earlier tenon.json lists and
 * this one does not are removed; others are left alone. All files are written beside their names
 * before the first of an earlier program goes. They cannot take their names in one step: a process
 * that ends just then leaves a folder without a tenon.json, in which the earlier files are
 * `FILE.tenon-old`.
 *
 * Variables are named by tenon_variable_name(). Those that a function assigns are inputs and
 * outputs of its model. Functions that are not given are not part of what is written, nor are
 * variables that no given one uses. Static arguments are written with the signature that they were
 * traced for, and the function's defaults with it.
 *
 * @param scope        Where.
 * @param path         The folder; it is made if only its last part is missing.
 * @param names        `n_traces` names, which become names of files.
 * @param traces       `n_traces` traces, of tenon_function_trace() or any other.
 * @param n_traces     How many; at least one.
 *
 * @return NULL, or an error for the caller to free; the folder is as it was then:
 *   - TENON_UNIMPLEMENTED if ONNX has no way to say what they do, as it has none for callbacks on
 *     the host, or a static argument is an object or has no name; the message lists all of that.
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind or of another context, a list is NULL,
 *     a name cannot be that of a file, or traces of one name serve the same calls or come from
 *     functions with different defaults.
 *   - TENON_NOT_FOUND if the folder around `path` does not exist.
 *   - TENON_UNAVAILABLE if a file cannot be written; the message says why.
 *   - What tenon_tensor_read() gives for the variables.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_program_save(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_string path,
    const tenon_string* names TENON_BORROWED TENON_COUNT(n_traces),
    tenon_trace* const* traces TENON_BORROWED TENON_COUNT(n_traces), size_t n_traces);

/**
 * Adds an owner to a program. Any thread.
 *
 * @param program  The program; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_program_retain(tenon_program* program TENON_NULLABLE TENON_THREADS(any));

/**
 * Takes an owner away from a program. Its functions and variables live on with their owners. Any
 * thread.
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
 * Gives the name of a function: as it was saved, or of a single ONNX file that of its graph. Any
 * thread.
 *
 * @param program  The program.
 * @param index    The function's place.
 *
 * @return Text that lives as long as the program; empty if there are not so many.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_program_function_name(const tenon_program* program TENON_THREADS(any),
                                                   size_t index);

/**
 * Gives a function by its name. Its variables are those of the program: what one function assigns
 * to them, and what the caller does, all of them see. Any thread.
 *
 * @param program       The program.
 * @param name          The function's name; empty for the only one.
 * @param out_function  Receives the function, which takes the inputs of its signatures, in their
 *                      order, and gives their outputs in theirs. A call that fits none of several
 *                      is an error that lists them.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_NOT_FOUND if there is no such function; the message lists those that there are.
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
 * @param function  The function's place.
 *
 * @return The number; 0 if there are not so many functions.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_program_count_signatures(const tenon_program* program TENON_THREADS(any),
                                                size_t function);

/**
 * Counts the inputs of a signature. Any thread.
 *
 * @param program    The program.
 * @param function   The function's place.
 * @param signature  The signature's place in it.
 *
 * @return The number; 0 if there are not so many functions or signatures.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_program_count_inputs(const tenon_program* program TENON_THREADS(any),
                                            size_t function, size_t signature);

/**
 * Gives the inputs of a signature as its file declares them: names, dtypes and sizes, those that
 * are open as TENON_SIZE_UNKNOWN. tenon_function_trace() takes them as they are; in names of sizes,
 * what it does not take is "_". Any thread.
 *
 * @param program    The program.
 * @param function   The function's place.
 * @param signature  The signature's place in it.
 *
 * @return As many as tenon_program_count_inputs() says, alive as long as the program; NULL if there
 *         are not so many functions or signatures.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED const tenon_input_spec* tenon_program_inputs(
    const tenon_program* program TENON_THREADS(any), size_t function, size_t signature);

/**
 * Counts the outputs of a signature. Any thread.
 *
 * @param program    The program.
 * @param function   The function's place.
 * @param signature  The signature's place in it.
 *
 * @return The number; 0 if there are not so many functions or signatures.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_program_count_outputs(const tenon_program* program TENON_THREADS(any),
                                             size_t function, size_t signature);

/**
 * Gives the outputs of a signature as its file declares them. Where that says nothing of an
 * output's type, its dtype is TENON_DTYPE_NONE and its rank 0. Any thread.
 *
 * @param program    The program.
 * @param function   The function's place.
 * @param signature  The signature's place in it.
 *
 * @return As many as tenon_program_count_outputs() says, alive as long as the program; NULL if
 *         there are not so many functions or signatures.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED const tenon_input_spec* tenon_program_outputs(
    const tenon_program* program TENON_THREADS(any), size_t function, size_t signature);

/**
 * Counts the static arguments of a signature. Any thread.
 *
 * @param program    The program.
 * @param function   The function's place.
 * @param signature  The signature's place in it.
 *
 * @return The number; 0 if there are not so many functions or signatures.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_program_count_statics(const tenon_program* program TENON_THREADS(any),
                                             size_t function, size_t signature);

/**
 * Gives the static arguments of a signature: those for which it was traced. A call of it gives
 * them, or leaves out what was a default of the function. Any thread.
 *
 * @param program    The program.
 * @param function   The function's place.
 * @param signature  The signature's place in it.
 *
 * @return As many as tenon_program_count_statics() says, by their names, alive as long as the
 *         program; NULL if there are not so many functions or signatures.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED const tenon_static* tenon_program_statics(
    const tenon_program* program TENON_THREADS(any), size_t function, size_t signature);

/* ---- variables ---------------------------------------------------------- */

/**
 * Counts the variables of a program: all tensors that its files hold, which training may change.
 * Any thread.
 *
 * @param program  The program.
 *
 * @return The number; 0 if `program` is not a program.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_program_count_variables(const tenon_program* program TENON_THREADS(any));

/**
 * Gives a variable of a program; its name is that in the files. Any thread.
 *
 * @param program  The program.
 * @param index    The variable's place.
 *
 * @return A variable that lives as long as the program and is not released; NULL if there are not
 *         so many.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED tenon_variable* tenon_program_variable(
    const tenon_program* program TENON_THREADS(any), size_t index);

/* ---- for tools ---------------------------------------------------------- */

/**
 * Describes a program as JSON: its functions with the static arguments that calls may leave out,
 * and their signatures: static arguments, the types of what enters and leaves, the ops of the nodes
 * with how often they occur, and the operator sets; and the variables. Any thread.
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
