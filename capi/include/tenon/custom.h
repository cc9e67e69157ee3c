/* tenon/custom.h - custom gradients and custom ops.
 *
 * Callbacks run on the thread that made the outer call, in the scope that they receive. They return
 * NULL or an error created with tenon_error_create(). Their outputs are initially NULL.
 *
 * Threads: any thread, but only one thread at a time may use a scope.
 *
 * Errors: in addition to the errors that each function lists, any call can return those in
 * tenon/error.h. A call that takes a scope returns TENON_FAILED_PRECONDITION if another thread is
 * using that scope.
 */

#ifndef TENON_CUSTOM_H_
#define TENON_CUSTOM_H_

#include <tenon/tape.h>
#include <tenon/types.h>

TENON_BEGIN_DECLS

/* ---- custom gradients --------------------------------------------------- */

/* Arguments of a derivative; valid during the callback. */
typedef struct tenon_backward_args {
  uint32_t struct_size;
  uint32_t reserved;
  /* The inputs of the forward call; an optional input may be NULL. */
  tenon_tensor* const* inputs TENON_BORROWED TENON_COUNT(n_inputs);
  size_t n_inputs;
  /* The outputs of the forward call. */
  tenon_tensor* const* outputs TENON_BORROWED TENON_COUNT(n_outputs);
  /* The cotangent of each output; zeros if no gradient target depends on the output. */
  tenon_tensor* const* cotangents TENON_BORROWED TENON_COUNT(n_outputs);
  size_t n_outputs;
} tenon_backward_args;

/* A derivative (VJP): computes the cotangents of the inputs from those of the outputs. It fills
 * `out_grads` with tensors of the inputs' types, which the caller owns, or with NULL if an input
 * has no gradient. If it is written with ops, it can be differentiated again. */
typedef struct tenon_backward_function {
  tenon_error* (*function)(void* payload, tenon_scope* scope TENON_THREADS(one_at_a_time),
                           const tenon_backward_args* args,
                           tenon_tensor** out_grads TENON_OWNED TENON_COUNT(n_grads),
                           size_t n_grads);
  void* payload;
  void (*destroy)(void* payload) TENON_NULLABLE;
} tenon_backward_function;

/**
 * Calls `forward`, and makes tapes use `backward` as its derivative instead of differentiating the
 * ops that it calls.
 *
 * @param scope        The scope in which the call runs.
 * @param forward      Computes the outputs; tapes do not record its calls. Its destructor runs
 *                     before this call returns.
 * @param inputs       `n_inputs` tensors.
 * @param n_inputs     Number of inputs.
 * @param backward     The derivative; inside a function it is traced. Its destructor runs when no
 *                     tape and no trace needs it any more, or when this call fails.
 * @param out_outputs  Receives `n_outputs` tensors.
 * @param n_outputs    Number of outputs.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type, an input was donated or belongs to
 *     another context, a required function or array is NULL, or `forward` left an output NULL.
 *   - TENON_OUT_OF_MEMORY if the device's memory or the memory limit is exhausted.
 *   - Any error that `forward` returns. An error of `backward` is returned by
 *     tenon_tape_gradient().
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_custom_gradient(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_tensor_function forward,
    tenon_tensor* const* inputs TENON_BORROWED TENON_COUNT(n_inputs), size_t n_inputs,
    tenon_backward_function backward, tenon_tensor** out_outputs TENON_OWNED TENON_COUNT(n_outputs),
    size_t n_outputs);

/* ---- custom ops --------------------------------------------------------- */

/* A dtype and a shape. The layout is frozen. */
typedef struct tenon_type {
  tenon_dtype dtype; /* The dtype; TENON_DTYPE_NONE for an absent optional input. */
  uint32_t rank;
  int64_t shape[TENON_MAX_RANK];
} tenon_type;

/* Elements in host memory, row-major without gaps. The layout is frozen. */
typedef struct tenon_host_array {
  void* data TENON_BORROWED TENON_COUNT(size);
  size_t size; /* Number of bytes. */
  tenon_type type;
  uint64_t reserved; /* Always zero. */
} tenon_host_array;

/* The definition of an op. Requires `infer`, and either `compute` or `decompose`. Zero the struct
 * and set struct_size first. */
typedef struct tenon_custom_op {
  uint32_t struct_size;
  uint32_t n_inputs;
  uint32_t n_outputs; /* Number of outputs; at least 1. */
  /* The size in bytes of the op's attributes: a plain struct that begins with uint32_t struct_size
   * and contains no pointers. 0: the op has no attributes. Fields beyond a caller's struct_size are
   * zero. */
  uint32_t attrs_size;
  tenon_string name; /* Name: [a-z][a-z0-9_.]*, unique among the ops of this context. Copied. */

  /* In the four functions below, `attrs` is the op's complete attribute struct; NULL for an op
   * without attributes. */
  /* clang-format off */

  /* Infers the types of the outputs, or returns an error that describes what is wrong with the
   * inputs. */
  tenon_error* (*infer)(void* payload, const void* attrs TENON_BORROWED TENON_NULLABLE,
                        const tenon_type* inputs TENON_BORROWED TENON_COUNT(n_inputs),
                        size_t n_inputs, tenon_type* out_types TENON_COUNT(n_outputs),
                        size_t n_outputs);
  /* Computes the outputs in host memory, for every device; NULL if `decompose` is set. It writes to
   * the memory that `outputs` describe. */
  tenon_error* (*compute)(void* payload, const void* attrs TENON_BORROWED TENON_NULLABLE,
                          const tenon_host_array* inputs TENON_BORROWED TENON_COUNT(n_inputs),
                          size_t n_inputs,
                          const tenon_host_array* outputs TENON_BORROWED TENON_COUNT(n_outputs),
                          size_t n_outputs) TENON_NULLABLE;
  /* Computes the outputs by calling ops; their types must be those of `infer`. NULL if `compute` is
   * set. */
  tenon_error* (*decompose)(void* payload, tenon_scope* scope TENON_THREADS(one_at_a_time),
                            const void* attrs TENON_BORROWED TENON_NULLABLE,
                            tenon_tensor* const* inputs TENON_BORROWED TENON_COUNT(n_inputs),
                            size_t n_inputs,
                            tenon_tensor** out_outputs TENON_OWNED TENON_COUNT(n_outputs),
                            size_t n_outputs) TENON_NULLABLE;
  /* The derivative, as in tenon_backward_function; NULL to differentiate the decomposition, if
   * any. */
  tenon_error* (*backward)(void* payload, tenon_scope* scope TENON_THREADS(one_at_a_time),
                           const void* attrs TENON_BORROWED TENON_NULLABLE,
                           const tenon_backward_args* args,
                           tenon_tensor** out_grads TENON_OWNED TENON_COUNT(n_grads),
                           size_t n_grads) TENON_NULLABLE;
  /* clang-format on */

  void* payload;
  void (*destroy)(void* payload) TENON_NULLABLE;
} tenon_custom_op;

/**
 * Registers an op with a context. tenon_call() calls it by the number that this function assigns.
 * Any thread, also while other threads call ops.
 *
 * @param context  The context.
 * @param op       The op; copied. The payload's destructor runs when the context is destroyed, or
 *                 when this call fails. The op's functions may be called from any thread.
 * @param out_op   Receives its number, 2^31 or greater; 0 if the call fails.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `context` is not a context, the name is taken or malformed, a
 *     required function is NULL, the op has both `compute` and `decompose`, it has no outputs or
 *     more than 32 inputs or outputs, its attributes are too small for a struct_size, it sets
 *     fields that only a newer version supports, or a pointer is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_op_register(tenon_context* context TENON_THREADS(any),
                                                     const tenon_custom_op* op, uint32_t* out_op);

TENON_END_DECLS

#endif /* TENON_CUSTOM_H_ */
