/* tenon/passes.h - what the code of functions goes through before it runs.
 *
 * The first, "verify", checks it; what it complains of is a bug of Tenon. Each other makes code do
 * less and give the same, to the bit: equal calls are made once, calls that nothing needs not at
 * all, calls over the same elements in one go. One difference is possible: a call that would fail
 * and that nothing needs is not made ("drop").
 *
 * All are on. To leave one out is for finding out what it does; it holds for code that has not run
 * yet.
 */

#ifndef TENON_PASSES_H_
#define TENON_PASSES_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

/**
 * Counts the passes. Any thread.
 *
 * @return How many there are.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_count_passes(void);

/**
 * Tells what a pass is called. Any thread.
 *
 * @param index  Which one, in the order in which they run.
 *
 * @return A word; empty if there is none. It lives as long as the library.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_pass_name(size_t index);

/**
 * Tells what a pass does. Any thread.
 *
 * @param index  Which one.
 *
 * @return One clause; empty if there is none. It lives as long as the library.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_pass_summary(size_t index);

/**
 * Turns a pass off or on for the functions of a context.
 *
 * @param context  The context.
 * @param name     The pass.
 * @param enabled  False: code goes without it that has not run yet.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `context` is not a context or `name` is malformed.
 *   - TENON_NOT_FOUND if there is no such pass; the message lists what there is.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_context_set_pass(tenon_context* context TENON_THREADS(any),
                                                          tenon_string name, bool enabled);

TENON_END_DECLS

#endif /* TENON_PASSES_H_ */
