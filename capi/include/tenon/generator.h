/* tenon/generator.h - random numbers.
 *
 * The state of a generator is six uint32: the key (low and high word of the seed), followed by a
 * counter of 128 bits, low word first. The algorithm is Philox4x32-10; the same state gives the
 * same bits on every device. Each draw advances the counter.
 *
 * Threads: any thread, also concurrently, but only one thread at a time may use a scope. Concurrent
 * draws from one generator are serialised; the program must ensure a defined order if it needs one.
 *
 * Errors: in addition to the errors that each function lists, any call can return those in
 * tenon/error.h. A call that takes a scope returns TENON_FAILED_PRECONDITION if another thread is
 * using that scope.
 */

#ifndef TENON_GENERATOR_H_
#define TENON_GENERATOR_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

/**
 * Creates a generator whose state is on the scope's device.
 *
 * @param scope          The scope in which the call runs.
 * @param seed           The key; the counter starts at 0.
 * @param out_generator  Receives the generator.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `scope` is not a scope or `out_generator` is NULL.
 *   - TENON_OUT_OF_MEMORY if the device's memory or the memory limit is exhausted.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_generator_create(
    tenon_scope* scope TENON_THREADS(one_at_a_time), uint64_t seed,
    tenon_generator** out_generator TENON_OWNED);

/**
 * Adds a reference to a generator. Any thread, at any time.
 *
 * @param generator  The generator; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_generator_retain(tenon_generator* generator TENON_NULLABLE TENON_THREADS(any));

/**
 * Releases a reference to a generator. Any thread, at any time.
 *
 * @param generator  The generator; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_generator_release(
    tenon_generator* generator TENON_NULLABLE TENON_THREADS(any));

/**
 * Resets a generator to the state of a new generator with this seed.
 *
 * @param scope      The scope in which the call runs.
 * @param generator  The generator.
 * @param seed       The key; the counter starts at 0.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type or the generator belongs to another
 *     context.
 *   - TENON_OUT_OF_MEMORY if the device's memory or the memory limit is exhausted.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_generator_seed(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_generator* generator, uint64_t seed);

/**
 * Gets the state, for example to save it.
 *
 * @param scope      The scope in which the call runs.
 * @param generator  The generator.
 * @param out_state  Receives a tensor u32[6].
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type, the generator belongs to another
 *     context, or `out_state` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_generator_read(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_generator* generator,
    tenon_tensor** out_state TENON_OWNED);

/**
 * Sets the state. Later draws return the same numbers as the draws after the state was read.
 *
 * @param scope      The scope in which the call runs.
 * @param generator  The generator.
 * @param state      A tensor u32[6] on the generator's device.
 *
 * @return NULL, or an error for the caller to free; the state is then unchanged:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type, the state's type or device differs, or
 *     an object belongs to another context.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_generator_assign(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_generator* generator,
    tenon_tensor* state);

/**
 * Calls a random op: an op such as random_uniform or dropout that takes a state and returns the
 * next state as its last output. The generator passes its state to the op and stores the next
 * state.
 *
 * @param scope        The scope in which the call runs.
 * @param generator    The generator.
 * @param op           TENON_OP_<name>, or the number of a custom op.
 * @param attrs        `tenon_<op>_attrs`; NULL for the defaults.
 * @param inputs       `n_inputs` inputs of the op, one of which is NULL: the first NULL entry is
 *                     the position of the state.
 * @param n_inputs     Number of inputs, including the state.
 * @param out_outputs  Receives `n_outputs` tensors: the op's outputs except the last.
 * @param n_outputs    Number of outputs.
 *
 * @return NULL, or an error for the caller to free; the state is then unchanged:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type, no input is NULL, or the op's last
 *     output is not a state.
 *   - Any error that tenon_call() returns.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_generator_call(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_generator* generator, uint32_t op,
    const void* attrs TENON_BORROWED TENON_NULLABLE,
    tenon_tensor* const* inputs TENON_BORROWED TENON_COUNT(n_inputs), size_t n_inputs,
    tenon_tensor** out_outputs TENON_OWNED TENON_COUNT(n_outputs), size_t n_outputs);

/**
 * Draws numbers from a uniform distribution on [low, high).
 *
 * @param scope       The scope in which the call runs.
 * @param generator   The generator.
 * @param dtype       A floating dtype.
 * @param shape       `rank` sizes; may be NULL for rank 0.
 * @param rank        At most TENON_MAX_RANK.
 * @param low         The lower bound, inclusive.
 * @param high        The upper bound, exclusive.
 * @param out_tensor  Receives the tensor.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type, the generator belongs to another
 *     context, or the op random_uniform does not accept the dtype or shape.
 *   - TENON_OUT_OF_MEMORY if the device's memory or the memory limit is exhausted.
 *   - Any error that tenon_call() returns.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_generator_uniform(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_generator* generator, tenon_dtype dtype,
    const int64_t* shape TENON_BORROWED TENON_NULLABLE TENON_COUNT(rank), size_t rank, double low,
    double high, tenon_tensor** out_tensor TENON_OWNED);

/**
 * Draws numbers from a normal distribution.
 *
 * @param scope       The scope in which the call runs.
 * @param generator   The generator.
 * @param dtype       A floating dtype.
 * @param shape       `rank` sizes; may be NULL for rank 0.
 * @param rank        At most TENON_MAX_RANK.
 * @param mean        Its mean.
 * @param scale       Its standard deviation.
 * @param out_tensor  Receives the tensor.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle has the wrong type, the generator belongs to another
 *     context, or the op random_normal does not accept the dtype or shape.
 *   - TENON_OUT_OF_MEMORY if the device's memory or the memory limit is exhausted.
 *   - Any error that tenon_call() returns.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_generator_normal(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_generator* generator, tenon_dtype dtype,
    const int64_t* shape TENON_BORROWED TENON_NULLABLE TENON_COUNT(rank), size_t rank, double mean,
    double scale, tenon_tensor** out_tensor TENON_OWNED);

TENON_END_DECLS

#endif /* TENON_GENERATOR_H_ */
