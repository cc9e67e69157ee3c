/* fashion_compare.h - the same training on two devices, step by step beside each other. */

#ifndef EXAMPLES_FASHION_COMPARE_H_
#define EXAMPLES_FASHION_COMPARE_H_

#include "examples/c/fashion_training.h"

/* Trains for the first steps, at most a hundred, on `scope` and on the device that the options
 * compare with, and prints the losses of both. How far rounding alone drives two trainings apart is
 * measured too: a third one, on the other device, starts from weights that are one rounding off.
 * Gives whether the devices agree to what that explains. */
bool fashion_compare(tenon_scope* scope, const fashion_options* options, const image_set* images);

#endif /* EXAMPLES_FASHION_COMPARE_H_ */
