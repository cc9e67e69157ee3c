/* tenon/variable.h - variables: cells that hold a tensor.
 *
 * A tensor's value never changes; a variable's does. Reading a variable returns the tensor that it
 * holds, without a copy. Assigning replaces the tensor; only the value is stored, so no gradient
 * flows through an assignment. Tapes watch trainable variables that are read. The memory is freed
 * with the last reference.
 *
 * Threads: any thread, also concurrently, but only one thread at a time may use a scope. The
 * program must order reads and assignments of different threads.
 *
 * Errors: in addition to the errors that each function lists, any call can return those in
 * tenon/error.h. A call that takes a scope returns TENON_FAILED_PRECONDITION if another thread is
 * using that scope.
 */

#ifndef TENON_VARIABLE_H_
#define TENON_VARIABLE_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

/* Options of a variable. Start from TENON_VARIABLE_OPTIONS_DEFAULT. */
typedef struct tenon_variable_options {
  uint32_t struct_size;
  bool trainable;    /* Whether tapes watch it when it is read. */
  tenon_string name; /* A name for display. Tenon copies it. */
} tenon_variable_options;

#define TENON_VARIABLE_OPTIONS_DEFAULT              \
  {                                                 \
    sizeof(tenon_variable_options), true, { "", 0 } \
  }

/**
 * Creates a variable.
 *
 * @param scope         The scope in which the call runs.
 * @param initial       Its initial value, which determines its dtype, shape and device. An inline
 *                      scalar becomes a tensor on the scope's device.
 * @param options       Options; NULL for the defaults: trainable, no name.
 * @param out_variable  Receives the variable.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type, `initial` was donated, belongs to
 *     another context or is a list, or `out_variable` is NULL.
 *   - TENON_OUT_OF_MEMORY if host memory is exhausted, or, for an inline scalar, if device memory
 *     is exhausted.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_variable_create(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_tensor* initial,
    const tenon_variable_options* options TENON_NULLABLE,
    tenon_variable** out_variable TENON_OWNED);

/**
 * Adds a reference to a variable. Any thread.
 *
 * @param variable  The variable; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_variable_retain(tenon_variable* variable TENON_NULLABLE TENON_THREADS(any));

/**
 * Releases a reference to a variable. The last one frees its memory, unless a tensor that was read
 * still uses it. Any thread.
 *
 * @param variable  The variable; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_variable_release(tenon_variable* variable TENON_NULLABLE TENON_THREADS(any));

/**
 * Gets the tensor that a variable holds. If the variable is trainable, all tapes of the scope that
 * have the option `watch_trainable` watch it. A later assignment does not change the tensor.
 *
 * @param scope       The scope in which the call runs.
 * @param variable    The variable.
 * @param out_tensor  Receives the tensor, which shares the variable's memory.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type, the variable belongs to another
 *     context, or `out_tensor` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_variable_read(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_variable* variable,
    tenon_tensor** out_tensor TENON_OWNED);

/**
 * Assigns a tensor to a variable. Tapes do not record it.
 *
 * @param scope     The scope in which the call runs.
 * @param variable  The variable.
 * @param value     A tensor of the variable's dtype, shape and device, or an inline scalar if the
 *                  variable has rank 0. Shared, not copied.
 *
 * @return NULL, or an error for the caller to free; the variable is then unchanged:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type, the dtype, shape or device differs, or
 *     the variable or `value` belongs to another context, or `value` was donated.
 *   - TENON_OUT_OF_MEMORY if `value` is an inline scalar and the device's memory is exhausted.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_variable_assign(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_variable* variable, tenon_tensor* value);

/**
 * Returns the dtype. Any thread.
 *
 * @param variable  The variable.
 *
 * @return The dtype; TENON_DTYPE_NONE if `variable` is not a variable.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_dtype tenon_variable_dtype(const tenon_variable* variable);

/**
 * Returns the number of axes. Any thread.
 *
 * @param variable  The variable.
 *
 * @return At most TENON_MAX_RANK; 0 if `variable` is not a variable.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_variable_rank(const tenon_variable* variable);

/**
 * Returns the sizes. Any thread.
 *
 * @param variable  The variable.
 *
 * @return An array of length rank, valid as long as the variable; NULL if `variable` is not a
 *         variable.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED const int64_t* tenon_variable_shape(const tenon_variable* variable);

/**
 * Returns the name. Any thread.
 *
 * @param variable  The variable.
 *
 * @return Text that stays valid as long as the variable; empty if it has no name or is not a
 *         variable.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_variable_name(const tenon_variable* variable);

/**
 * Returns the name of the device that holds a variable. Any thread.
 *
 * @param variable  The variable.
 *
 * @return Text like "cpu:0", valid as long as the variable; empty if `variable` is not a variable.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_variable_device_name(const tenon_variable* variable);

/**
 * Returns whether tapes watch a variable when it is read. Any thread.
 *
 * @param variable  The variable.
 *
 * @return True if they do; false if not, or if `variable` is not a variable.
 *
 * @since 0.1, unstable
 */
TENON_API bool tenon_variable_is_trainable(const tenon_variable* variable);

/**
 * Sets whether tapes watch a variable when it is read, starting with its next read. Any thread.
 *
 * @param variable   The variable; NULL does nothing.
 * @param trainable  Whether they do.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_variable_set_trainable(tenon_variable* variable TENON_NULLABLE,
                                            bool trainable);

/* ---- values -------------------------------------------------------------
 * A value is a tensor or a variable: a possible gradient source. */

/**
 * Casts a variable to a value, the type of gradient sources. Any thread.
 *
 * @param variable  The variable; NULL gives NULL.
 *
 * @return The same object with another type; no reference is added.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED tenon_value* tenon_variable_as_value(
    tenon_variable* variable TENON_NULLABLE);

/**
 * Casts a value to a tensor. Any thread.
 *
 * @param value  The value.
 *
 * @return The same object, no reference added; NULL if it is not a tensor.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED tenon_tensor* tenon_value_as_tensor(tenon_value* value TENON_NULLABLE);

/**
 * Casts a value to a variable. Any thread.
 *
 * @param value  The value.
 *
 * @return The same object, no reference added; NULL if it is not a variable.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED tenon_variable* tenon_value_as_variable(tenon_value* value TENON_NULLABLE);

/**
 * Adds a reference to a value. Any thread.
 *
 * @param value  The value; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_value_retain(tenon_value* value TENON_NULLABLE TENON_THREADS(any));

/**
 * Releases a reference to a value. Any thread.
 *
 * @param value  The value; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_value_release(tenon_value* value TENON_NULLABLE TENON_THREADS(any));

TENON_END_DECLS

#endif /* TENON_VARIABLE_H_ */
