/* tenon/passes.h - the optimisation passes for the graphs of functions.
 *
 * The first pass, "verify", checks the graph; any failure is a bug in Tenon. The other passes
 * reduce work and keep results bitwise equal: common subexpressions are computed once, dead calls
 * are eliminated, and calls over the same elements are fused. One difference is possible: a dead
 * call that would fail is eliminated ("dce").
 *
 * All passes are enabled by default. Disable a pass to find out its effect. This affects only
 * graphs that have not run yet.
 */

#ifndef TENON_PASSES_H_
#define TENON_PASSES_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

/**
 * Counts the passes. Any thread.
 *
 * @return The number of passes.
 *
 * @since 0.1, unstable
 */
TENON_API size_t tenon_count_passes(void);

/**
 * Returns the name of a pass. Any thread.
 *
 * @param index  The pass's index, in the order in which passes run.
 *
 * @return The name; empty if `index` is out of range. It is never freed.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_pass_name(size_t index);

/**
 * Returns a description of a pass. Any thread.
 *
 * @param index  The pass's index.
 *
 * @return One clause; empty if `index` is out of range. It is never freed.
 *
 * @since 0.1, unstable
 */
TENON_API tenon_string tenon_pass_summary(size_t index);

/**
 * Enables or disables a pass for the functions of a context.
 *
 * @param context  The context.
 * @param name     The name of the pass.
 * @param enabled  Whether to run the pass; applies to graphs that have not run yet.
 *
 * @return NULL, or an error for the caller to free:
 *   - TENON_INVALID_ARGUMENT if `context` is not a context or `name` is malformed.
 *   - TENON_NOT_FOUND if there is no such pass; the message lists the passes.
 *
 * @since 0.1, unstable
 */
TENON_API TENON_OWNED tenon_error* tenon_context_set_pass(tenon_context* context TENON_THREADS(any),
                                                          tenon_string name, bool enabled);

TENON_END_DECLS

#endif /* TENON_PASSES_H_ */
