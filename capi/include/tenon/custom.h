/* tenon/custom.h - derivatives and ops that a program brings along.
 *
 * Callbacks run on the thread that made the outer call, in the scope that they receive, and return
 * NULL or an error that they made with tenon_error_create(). Their outputs are NULL before.
 *
 * Threads: any, but one at a time for one scope.
 *
 * Errors: besides what each function lists, those of every call (tenon/error.h): of one that
 * takes a scope above all TENON_FAILED_PRECONDITION if another thread is inside of it.
 */

#ifndef TENON_CUSTOM_H_
#define TENON_CUSTOM_H_

#include <tenon/tape.h>
#include <tenon/types.h>

TENON_BEGIN_DECLS

/* ---- custom gradients --------------------------------------------------- */

/* What a derivative may use; valid during the callback. */
typedef struct tenon_backward_args {
  uint32_t struct_size;
  uint32_t reserved;
  /* Those of the forward call; an optional one may be NULL. */
  tenon_tensor* const* inputs TENON_BORROWED TENON_COUNT(n_inputs);
  size_t n_inputs;
  /* Those of the forward call. */
  tenon_tensor* const* outputs TENON_BORROWED TENON_COUNT(n_outputs);
  /* One for each output; zeros where nothing reached it. */
  tenon_tensor* const* cotangents TENON_BORROWED TENON_COUNT(n_outputs);
  size_t n_outputs;
} tenon_backward_args;

/* A derivative: given the cotangents of the outputs, those of the inputs. It fills `out_grads` with
 * tensors of the inputs' types that the caller then owns; NULL where there is no gradient. Written
 * with ops, it can be differentiated again. */
typedef struct tenon_backward_function {
  tenon_error* (*function)(void* payload, tenon_scope* scope TENON_THREADS(one_at_a_time),
                           const tenon_backward_args* args,
                           tenon_tensor** out_grads TENON_OWNED TENON_COUNT(n_grads),
                           size_t n_grads);
  void* payload;
  void (*destroy)(void* payload) TENON_NULLABLE;
} tenon_backward_function;

/**
 * Computes tensors by a function whose derivative is another function, not that of its ops.
 *
 * @param scope        Where.
 * @param forward      Computes the outputs; tapes do not see what it calls. Its destructor runs
 *                     before this call returns.
 * @param inputs       `n_inputs` tensors.
 * @param n_inputs     How many.
 * @param backward     The derivative; inside of a function it runs under trace. Its destructor runs
 *                     when no tape and no trace needs it any more, or when this call fails.
 * @param out_outputs  Receives `n_outputs` tensors.
 * @param n_outputs    How many.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind, an input was donated or is of another
 *     context, a function or a list that it needs is NULL, or `forward` left an output NULL.
 *   - TENON_OUT_OF_MEMORY if the device's memory or its limit is used up.
 *   - What `forward` returned. What `backward` returns comes out of tenon_tape_gradient().
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_custom_gradient(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_tensor_function forward,
    tenon_tensor* const* inputs TENON_BORROWED TENON_COUNT(n_inputs), size_t n_inputs,
    tenon_backward_function backward, tenon_tensor** out_outputs TENON_OWNED TENON_COUNT(n_outputs),
    size_t n_outputs);

/* ---- custom ops --------------------------------------------------------- */

/* A dtype and a shape. Frozen. */
typedef struct tenon_type {
  tenon_dtype dtype; /* TENON_DTYPE_NONE for an optional input that is absent. */
  uint32_t rank;
  int64_t shape[TENON_MAX_RANK];
} tenon_type;

/* Elements in host memory, row-major without gaps. Frozen. */
typedef struct tenon_host_array {
  void* data TENON_BORROWED TENON_COUNT(size);
  size_t size; /* Bytes. */
  tenon_type type;
  uint64_t reserved; /* Zero. */
} tenon_host_array;

/* An op. It needs `infer`, and `compute` or `decompose`. Start from zeros with struct_size set. */
typedef struct tenon_custom_op {
  uint32_t struct_size;
  uint32_t n_inputs;
  uint32_t n_outputs; /* At least 1. */
  /* The bytes of the op's attributes, a plain struct that begins with uint32_t struct_size and
   * holds no pointers; 0 for none. What a caller leaves out is zero. */
  uint32_t attrs_size;
  tenon_string name; /* [a-z][a-z0-9_.]*, no op's of this context. Copied. */

  /* In all four `attrs` are the op's attributes, whole; NULL for an op that has none. */
  /* clang-format off */

  /* Gives the types of the outputs, or says what is wrong with the inputs. */
  tenon_error* (*infer)(void* payload, const void* attrs TENON_BORROWED TENON_NULLABLE,
                        const tenon_type* inputs TENON_BORROWED TENON_COUNT(n_inputs),
                        size_t n_inputs, tenon_type* out_types TENON_COUNT(n_outputs),
                        size_t n_outputs);
  /* Computes the outputs in host memory, on every device; NULL if there is `decompose`. It writes
   * to the memory that `outputs` describe. */
  tenon_error* (*compute)(void* payload, const void* attrs TENON_BORROWED TENON_NULLABLE,
                          const tenon_host_array* inputs TENON_BORROWED TENON_COUNT(n_inputs),
                          size_t n_inputs,
                          const tenon_host_array* outputs TENON_BORROWED TENON_COUNT(n_outputs),
                          size_t n_outputs) TENON_NULLABLE;
  /* Computes the outputs by calling ops, of the types that `infer` gives; NULL if there is
   * `compute`. */
  tenon_error* (*decompose)(void* payload, tenon_scope* scope TENON_THREADS(one_at_a_time),
                            const void* attrs TENON_BORROWED TENON_NULLABLE,
                            tenon_tensor* const* inputs TENON_BORROWED TENON_COUNT(n_inputs),
                            size_t n_inputs,
                            tenon_tensor** out_outputs TENON_OWNED TENON_COUNT(n_outputs),
                            size_t n_outputs) TENON_NULLABLE;
  /* The derivative, as in tenon_backward_function; NULL for that of the decomposition, or none. */
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
 * Adds an op to a context. It is called by tenon_call() with the number that it gets here. Any
 * thread, also while other threads call ops.
 *
 * @param context  The context.
 * @param op       What it is; copied. The payload's destructor runs with the context, or when this
 *                 call fails; its functions may be called from any thread.
 * @param out_op   Receives its number, from 2^31; 0 if the call fails.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `context` is not a context, the name is taken or malformed, a
 *     function that it needs is NULL, it has both `compute` and `decompose`, no outputs, or more
 *     than 32 inputs or outputs, its attributes are too small for a struct_size, it asks for what
 *     only a newer version knows, or a pointer is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_op_register(tenon_context* context TENON_THREADS(any),
                                                     const tenon_custom_op* op, uint32_t* out_op);

TENON_END_DECLS

#endif /* TENON_CUSTOM_H_ */
