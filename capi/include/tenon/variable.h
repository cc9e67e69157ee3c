/* tenon/variable.h - variables: cells that hold a tensor.
 *
 * A tensor's value never changes; a variable's does. Reading it gives the tensor that it holds,
 * without a copy; assigning stores another one, and only its value, so no gradient passes through
 * it. A tape watches the variables that are read, unless they are not trainable. Its memory is free
 * with its last owner.
 *
 * Threads: any, several at once too, but one at a time for one scope. Which value a thread reads
 * while another assigns is for the program to order.
 *
 * Errors: besides what each function lists, those of every call (tenon/error.h): of one that
 * takes a scope above all TENON_FAILED_PRECONDITION if another thread is inside of it.
 */

#ifndef TENON_VARIABLE_H_
#define TENON_VARIABLE_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

/* How a variable is made. Start from TENON_VARIABLE_OPTIONS_DEFAULT. */
typedef struct tenon_variable_options {
  uint32_t struct_size;
  bool trainable;    /* Whether tapes watch it when it is read. */
  tenon_string name; /* For people; copied. */
} tenon_variable_options;

#define TENON_VARIABLE_OPTIONS_DEFAULT              \
  {                                                 \
    sizeof(tenon_variable_options), true, { "", 0 } \
  }

/**
 * Makes a variable.
 *
 * @param scope         Where.
 * @param initial       Its first value, which gives it its dtype, shape and device. An inline
 *                      scalar becomes a tensor on the scope's device.
 * @param options       How; NULL for the defaults: trainable, without a name.
 * @param out_variable  Receives the variable.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind, `initial` was donated, is of another
 *     context or is a list, or `out_variable` is NULL.
 *   - TENON_OUT_OF_MEMORY if the host's memory is used up, or for an inline scalar the device's.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_variable_create(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_tensor* initial,
    const tenon_variable_options* options TENON_NULLABLE,
    tenon_variable** out_variable TENON_OWNED);

/**
 * Adds an owner to a variable. Any thread.
 *
 * @param variable  The variable; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_variable_retain(tenon_variable* variable TENON_NULLABLE TENON_THREADS(any));

/**
 * Takes an owner away from a variable. Its memory is free with the last one, unless a tensor that
 * was read still has it. Any thread.
 *
 * @param variable  The variable; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_variable_release(tenon_variable* variable TENON_NULLABLE TENON_THREADS(any));

/**
 * Gives what a variable holds. The tapes of the scope watch it, if it is trainable and they watch
 * by themselves. A later assignment does not change what was read.
 *
 * @param scope       Where.
 * @param variable    The variable.
 * @param out_tensor  Receives the tensor, which shares the variable's memory.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind, the variable is of another context, or
 *     `out_tensor` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_variable_read(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_variable* variable,
    tenon_tensor** out_tensor TENON_OWNED);

/**
 * Lets a variable hold another tensor. Tapes do not record it.
 *
 * @param scope     Where.
 * @param variable  The variable.
 * @param value     A tensor of the variable's dtype, shape and device, or an inline scalar where
 *                  the variable is 0-d. Shared, not copied.
 *
 * @return NULL, or an error for the caller to free; the variable then holds what it held:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind, the dtype, shape or device differs, or
 *     the variable or `value` is of another context, or `value` was donated.
 *   - TENON_OUT_OF_MEMORY if the device's memory is used up, which an inline scalar needs.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_variable_assign(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_variable* variable, tenon_tensor* value);

/**
 * Gives the dtype. Any thread.
 *
 * @param variable  The variable.
 *
 * @return The dtype; TENON_DTYPE_NONE if `variable` is not a variable.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_dtype tenon_variable_dtype(const tenon_variable* variable);

/**
 * Gives the number of axes. Any thread.
 *
 * @param variable  The variable.
 *
 * @return At most TENON_MAX_RANK; 0 if `variable` is not a variable.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_variable_rank(const tenon_variable* variable);

/**
 * Gives the sizes. Any thread.
 *
 * @param variable  The variable.
 *
 * @return As many as its rank, alive as long as the variable; NULL if `variable` is not one.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED const int64_t* tenon_variable_shape(const tenon_variable* variable);

/**
 * Gives the name. Any thread.
 *
 * @param variable  The variable.
 *
 * @return Text that lives as long as the variable; empty if it has none or is no variable.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_variable_name(const tenon_variable* variable);

/**
 * Gives the name of the device on which a variable lies. Any thread.
 *
 * @param variable  The variable.
 *
 * @return Text like "cpu:0", alive as long as the variable; empty if `variable` is not one.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_variable_device_name(const tenon_variable* variable);

/**
 * Tells whether tapes watch a variable when it is read. Any thread.
 *
 * @param variable  The variable.
 *
 * @return True if they do; false if not, or if `variable` is not a variable.
 *
 * @since 0.1, unstable
 */
TENON_API bool tenon_variable_is_trainable(const tenon_variable* variable);

/**
 * Sets whether tapes watch a variable when it is read, from its next read on. Any thread.
 *
 * @param variable   The variable; NULL does nothing.
 * @param trainable  Whether they do.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_variable_set_trainable(tenon_variable* variable TENON_NULLABLE,
                                            bool trainable);

/* ---- values -------------------------------------------------------------
 * A value is a tensor or a variable: what gradients can be taken by. */

/**
 * Gives a variable as what gradients can be taken by. Any thread.
 *
 * @param variable  The variable; NULL gives NULL.
 *
 * @return The same object under another type; no owner is added.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED tenon_value* tenon_variable_as_value(
    tenon_variable* variable TENON_NULLABLE);

/**
 * Gives a value as a tensor. Any thread.
 *
 * @param value  The value.
 *
 * @return The same object, no owner added; NULL if it is not a tensor.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED tenon_tensor* tenon_value_as_tensor(tenon_value* value TENON_NULLABLE);

/**
 * Gives a value as a variable. Any thread.
 *
 * @param value  The value.
 *
 * @return The same object, no owner added; NULL if it is not a variable.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_BORROWED tenon_variable* tenon_value_as_variable(tenon_value* value TENON_NULLABLE);

/**
 * Adds an owner to a value. Any thread.
 *
 * @param value  The value; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_value_retain(tenon_value* value TENON_NULLABLE TENON_THREADS(any));

/**
 * Takes an owner away from a value. Any thread.
 *
 * @param value  The value; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_value_release(tenon_value* value TENON_NULLABLE TENON_THREADS(any));

TENON_END_DECLS

#endif /* TENON_VARIABLE_H_ */
