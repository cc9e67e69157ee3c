/* progress.h - says how far the training is: a bar that moves on a terminal, plain lines elsewhere.
 */

#ifndef EXAMPLES_PROGRESS_H_
#define EXAMPLES_PROGRESS_H_

#include <stdbool.h>
#include <stddef.h>

typedef struct progress {
  bool terminal;
  size_t steps; /* Of one epoch. */
  size_t epochs;
  size_t images_per_step;
  double start;   /* Seconds, when training began. */
  double printed; /* Seconds, when a line was last printed. */
  size_t lines;   /* Plain lines printed in this epoch. */
} progress;

/* Seconds on a clock that only goes forward. */
double seconds(void);

progress progress_start(size_t epochs, size_t steps, size_t images_per_step);
/* After `step` steps of an epoch, both counted from 1. */
void progress_step(progress* p, size_t epoch, size_t step, double loss);
/* After an epoch and its test. */
void progress_epoch(progress* p, size_t epoch, double loss, double accuracy);

#endif /* EXAMPLES_PROGRESS_H_ */
