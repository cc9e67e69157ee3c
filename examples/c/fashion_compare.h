/* fashion_compare.h - compares the same training on two devices step by step. */

#ifndef EXAMPLES_FASHION_COMPARE_H_
#define EXAMPLES_FASHION_COMPARE_H_

#include "examples/c/fashion_training.h"

/* Trains for up to a hundred steps on `scope` and on the device in options->compare, and prints the
 * losses of both. A third training, on the device in options->compare, starts from weights that are
 * perturbed by one rounding error, which shows the effect of rounding alone. Returns whether that
 * effect explains the difference between the devices. */
bool fashion_compare(tenon_scope* scope, const fashion_options* options, const image_set* images);

#endif /* EXAMPLES_FASHION_COMPARE_H_ */
