/* tenon/generator.h - random numbers.
 *
 * A generator is an object with state: six uint32, the key (low and high word of the seed) and then
 * a counter of 128 bits, low word first. The algorithm is Philox4x32-10; the same state gives the
 * same bits on every device. Each draw advances the counter.
 *
 * Threads: any, several at once too, but one at a time for one scope. Draws from one generator
 * follow each other, in an order that is for the program to see to.
 *
 * Errors: besides what each function lists, those of every call (tenon/error.h): of one that
 * takes a scope above all TENON_FAILED_PRECONDITION if another thread is inside of it.
 */

#ifndef TENON_GENERATOR_H_
#define TENON_GENERATOR_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

/**
 * Makes a generator whose state lies on the scope's device.
 *
 * @param scope          Where.
 * @param seed           The key; the counter starts at 0.
 * @param out_generator  Receives the generator.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `scope` is not a scope or `out_generator` is NULL.
 *   - TENON_OUT_OF_MEMORY if the device's memory or its limit is used up.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_generator_create(
    tenon_scope* scope TENON_THREADS(one_at_a_time), uint64_t seed,
    tenon_generator** out_generator TENON_OWNED);

/**
 * Adds an owner to a generator. Any thread, at any time.
 *
 * @param generator  The generator; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_generator_retain(tenon_generator* generator TENON_NULLABLE TENON_THREADS(any));

/**
 * Takes an owner away from a generator. Any thread, at any time.
 *
 * @param generator  The generator; NULL does nothing.
 *
 * @since 0.1, unstable
 */
TENON_API void tenon_generator_release(
    tenon_generator* generator TENON_NULLABLE TENON_THREADS(any));

/**
 * Starts a generator anew, as if it were made with this seed.
 *
 * @param scope      Where.
 * @param generator  The generator.
 * @param seed       The key; the counter starts at 0.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind or the generator of another context.
 *   - TENON_OUT_OF_MEMORY if the device's memory or its limit is used up.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_generator_seed(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_generator* generator, uint64_t seed);

/**
 * Gives the state, to be saved.
 *
 * @param scope      Where.
 * @param generator  The generator.
 * @param out_state  Receives a tensor u32[6].
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind, the generator is of another context,
 *     or `out_state` is NULL.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_generator_read(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_generator* generator,
    tenon_tensor** out_state TENON_OWNED);

/**
 * Sets the state: what is drawn next is what was drawn when it was read.
 *
 * @param scope      Where.
 * @param generator  The generator.
 * @param state      A tensor u32[6] on the generator's device.
 *
 * @return NULL, or an error for the caller to free; the state is then what it was:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind, the state's type or device differs, or
 *     something is of another context.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_generator_assign(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_generator* generator,
    tenon_tensor* state);

/**
 * Calls an op that draws: one that takes a state and gives, as its last output, the next one, such
 * as random_uniform or dropout. The generator passes its state and keeps the next.
 *
 * @param scope        Where.
 * @param generator    The generator.
 * @param op           TENON_OP_<name>, or the number of a custom op.
 * @param attrs        `tenon_<op>_attrs`; NULL for the defaults.
 * @param inputs       `n_inputs` inputs of the op, one of which is NULL: the first NULL entry
 *                     stands where the op takes the state.
 * @param n_inputs     How many, the state's place included.
 * @param out_outputs  Receives `n_outputs` tensors: the op's outputs but the last.
 * @param n_outputs    How many.
 *
 * @return NULL, or an error for the caller to free; the state is then what it was:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind, no input is NULL, or the op's last
 *     output is no state.
 *   - What tenon_call() gives.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_generator_call(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_generator* generator, uint32_t op,
    const void* attrs TENON_BORROWED TENON_NULLABLE,
    tenon_tensor* const* inputs TENON_BORROWED TENON_COUNT(n_inputs), size_t n_inputs,
    tenon_tensor** out_outputs TENON_OWNED TENON_COUNT(n_outputs), size_t n_outputs);

/**
 * Draws numbers that are equally likely everywhere between two bounds.
 *
 * @param scope       Where.
 * @param generator   The generator.
 * @param dtype       A floating dtype.
 * @param shape       `rank` sizes; may be NULL for rank 0.
 * @param rank        At most TENON_MAX_RANK.
 * @param low         The least, which may occur.
 * @param high        The bound above, which does not occur.
 * @param out_tensor  Receives the tensor.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind, the generator is of another context,
 *     or the op random_uniform refuses dtype or shape.
 *   - TENON_OUT_OF_MEMORY if the device's memory or its limit is used up.
 *   - What tenon_call() gives.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_generator_uniform(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_generator* generator, tenon_dtype dtype,
    const int64_t* shape TENON_BORROWED TENON_NULLABLE TENON_COUNT(rank), size_t rank, double low,
    double high, tenon_tensor** out_tensor TENON_OWNED);

/**
 * Draws numbers of a normal distribution.
 *
 * @param scope       Where.
 * @param generator   The generator.
 * @param dtype       A floating dtype.
 * @param shape       `rank` sizes; may be NULL for rank 0.
 * @param rank        At most TENON_MAX_RANK.
 * @param mean        Its mean.
 * @param scale       Its standard deviation.
 * @param out_tensor  Receives the tensor.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if a handle is of another kind, the generator is of another context,
 *     or the op random_normal refuses dtype or shape.
 *   - TENON_OUT_OF_MEMORY if the device's memory or its limit is used up.
 *   - What tenon_call() gives.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_generator_normal(
    tenon_scope* scope TENON_THREADS(one_at_a_time), tenon_generator* generator, tenon_dtype dtype,
    const int64_t* shape TENON_BORROWED TENON_NULLABLE TENON_COUNT(rank), size_t rank, double mean,
    double scale, tenon_tensor** out_tensor TENON_OWNED);

TENON_END_DECLS

#endif /* TENON_GENERATOR_H_ */
